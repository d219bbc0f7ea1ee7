"""What a person reads after FATAL, and that the commands which stand there bring the agent's work back."""

from __future__ import annotations

import re
import subprocess

import pytest


def lines_after_the_switch(text: str) -> list[str]:
    _, _, said = text.partition("SENTINEL KILL SWITCH:")
    return [line.strip() for line in said.splitlines()]


def commands(lines, start):
    """The commands among the lines, as a person would copy them."""
    return [line for line in lines if line.startswith(start)]


def test_the_person_reads_where_the_repository_is_and_brings_the_agents_work_back(stage):
    stage.commit(a__txt="committed\n")
    start = stage.git("rev-parse", "HEAD").strip()
    stage.write("notes.txt", "my own notes, in no commit\n")
    done, _ = stage.agent(
        "echo theirs > theirs.txt && git add theirs.txt && git commit -qm theirs && git branch side",
        "git switch -qc other && git commit -q --allow-empty -m aside",
        "echo half > half.txt && echo changed > a.txt",
        "rm -rf /",
    )
    assert done.returncode == 137
    said = lines_after_the_switch(done.stderr)
    assert said[0].strip(), "what was tried"
    own = f"The repository is back at {start[:12]}, with your own work as it was at the session's start."
    assert own in said and any(line.startswith("Incident report: ") for line in said)
    assert stage.git("rev-parse", "HEAD").strip() == start
    assert (stage.repo / "notes.txt").read_text() == "my own notes, in no commit\n"
    assert not (stage.repo / "half.txt").exists() and (stage.repo / "a.txt").read_text() == "committed\n"

    back = [*commands(said, "git "), *commands(said, "sentinel-guard snapshots restore")]
    assert len(back) == 4, said  # two branches, the one that was moved, the files
    for command in back:
        ran = subprocess.run(
            ["sh", "-ec", command],
            cwd=stage.repo,
            env=stage.environ,
            input="y\n",  # to what it asks before files are written over
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, (command, ran.stderr)
    assert (stage.repo / "half.txt").read_text() == "half\n" and (stage.repo / "a.txt").read_text() == "changed\n"
    assert {"theirs", "aside"} <= set(stage.git("log", "--all", "--format=%s").split())
    assert "theirs" in stage.git("log", "--format=%s", "main")
    assert "aside" in stage.git("log", "--branches", "--format=%s")


ENDED_BY_THE_USER = (
    (("--rollback",), "The repository is as at the session's start", "nothing differed, so nothing was put back"),
    ((), "To put the repository back to where the session began: sentinel-guard rollback ", "it stays as it is"),
)


@pytest.mark.parametrize("row", ENDED_BY_THE_USER, ids=[row[2] for row in ENDED_BY_THE_USER])
def test_what_is_said_fits_what_was_done_and_the_report_says_the_same(stage, row):
    options, expected, _ = row
    stage.commit(a__txt="committed\n")
    agent = stage.on_terminal("sleep 600")
    agent.expect_exact("guarded")
    assert stage.sentinel("kill", "--yes", *options).returncode == 0
    agent.expect_exact("the user ended this session")
    agent.expect_exact(expected)
    rest = agent.read()
    assert "stands aside" not in rest
    [report] = (stage.repo / "docs" / "incidents").glob("INCIDENT-*.md")
    text = report.read_text()
    assert ("was put back to" in text) is False, "nothing was"
    assert ("as the agent left them" in text and "as at the session's start" in text) is False
    assert re.search("sentinel-guard rollback ", text) is None or options == ()
