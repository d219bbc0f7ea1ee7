"""Incidents from end to end: reported, explained by the agent, signed off by the person, replayed (SPEC R9)."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from sentinel_guard.audit.sqlite import SqliteReader
from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit
from tests.support.wait_until import until

TRY = "ls no-such-file"


def reports(stage):
    return sorted((stage.repo / "docs/incidents").glob("INCIDENT-*.md"))


def state(stage):
    [line] = stage.sentinel("incidents").stdout.splitlines()
    return line.split("\t")[1]


def cited(text, command):
    """The number of the step that ran a command."""
    return next(line.split()[1] for line in text.splitlines() if f"| `{command}` |" in line)


def test_a_loop_is_reported_with_its_difference_explained_and_signed_off(stage):
    stage.commit(a__py="x = 1\n")
    stage.policy("[breaker]\nseconds = 1\n")
    _, seen = stage.agent("echo before > b.txt", TRY, f"echo try > c.txt; {TRY}", TRY, TRY, 1.2, "ls nothing-either")
    [report] = reports(stage)
    text = report.read_text()
    loop, _, session = text.partition("## Diff of the failure loop")[2].partition("## Diff of the session")
    assert "c.txt | +1 -0" in loop and "b.txt" not in loop
    assert "c.txt | +1 -0" in session and "b.txt | +1 -0" in session
    assert f"sentinel-guard incidents fill {report.stem}" in seen[-1]["err"], "asked once the session goes on"
    assert not any("not explained yet" in s["err"] for s in seen[:-1])
    shown = stage.sentinel("incidents", "show")
    assert (shown.returncode, shown.stderr) == (0, f"{report.stem}: sealed, unchanged.\n")
    assert shown.stdout.rstrip() == text.rstrip()
    first = cited(text, TRY)
    bad = stage.sentinel("incidents", "fill", report.stem, "--root-cause", "It failed.", "--action", "none")
    assert bad.returncode == 1 and "cites no step" in bad.stderr
    good = ("--root-cause", f"Step {first} looked for a file that was never made.", "--action", "Make it first.")
    assert stage.sentinel("incidents", "fill", report.stem, *good).returncode == 0
    assert state(stage) == "filled"
    assert stage.sentinel("incidents", "sign-off", report.stem, "--note", "seen").returncode == 0
    assert state(stage) == "signed off"
    assert report.read_text().startswith(text.partition("## Root cause")[0])
    events = [e["data"].get("event") for e in stage.log(kind="incident")]
    assert events == [None, "asked", "filled", "signed-off"]
    assert stage.log(kind="incident")[-1]["data"]["authorized_by"] == "user"
    again = stage.sentinel("replay", report.stem)
    assert again.returncode == 0 and "It would be stopped at step" in again.stdout
    stage.policy("[loop]\nrepeats = 9\n[failures]\nruns = 9\n")
    assert stage.sentinel("replay", report.stem).returncode == 1, "by a laxer policy it would not be stopped"
    assert stage.sentinel("log", "verify").returncode == 0


def test_a_kill_over_a_dirty_repository_is_explained_by_the_next_sessions_agent(stage):
    stage.commit(a__txt="a\n")
    stage.write("a.txt", "the person's own\n")
    done, _ = stage.agent("echo evil > a.txt", "rm -rf /")
    assert done.returncode == 137
    assert (stage.repo / "a.txt").read_text() == "the person's own\n"
    [report] = reports(stage)
    step = cited(report.read_text(), "rm -rf /")
    assert "?? docs/" in stage.git("status", "--porcelain"), "git shows it"
    good = (
        f"--root-cause 'Step {step}: I took / for the build folder.' --action 'Name the folder in full (step {step}).'"
    )
    done, seen = stage.agent(
        "echo fine",
        TRY,
        "ls nothing-either",
        f"sentinel-guard incidents fill {report.stem} --root-cause 'no step' --action x",
        f"sentinel-guard incidents fill {report.stem} {good}",
        f"sentinel-guard incidents sign-off {report.stem}",
    )
    assert f"an incident here is not explained yet ({report.stem})" in done.stderr, "the person is told at the start"
    assert [s["code"] for s in seen] == [0, 2, 2, 1, 0, 1]
    assert seen[0]["err"] == "", "honest work is not disturbed"
    assert f"sentinel-guard incidents fill {report.stem}" in seen[1]["err"] and seen[1]["out"] == ""
    assert "SENTINEL: INCIDENT" not in seen[2]["err"], "once"
    assert "cites no step" in seen[3]["err"]
    assert "403 SENTINEL BLOCKED: 'sign-off'" in seen[5]["err"], "only the person signs off"
    [filled] = [e for e in stage.log(kind="incident") if e["data"].get("event") == "filled"]
    assert filled["data"]["by"] == "agent"
    assert state(stage) == "filled"
    done, seen = stage.agent(TRY)
    assert "not explained" not in done.stderr + seen[0]["err"]
    assert stage.sentinel("replay").returncode == 0


def daemon_pid(stage):
    return json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"]


@pytest.mark.parametrize("command", [TRY, "rm -rf /"], ids=["a breaker", "a kill"])
def test_kill_9_of_the_daemon_before_the_report_and_it_is_written_all_the_same(alone, command):
    alone.commit(a__txt="a\n")
    alone.sentinel("daemon", "start")
    pid, reader = daemon_pid(alone), SqliteReader(alone.guard / "state" / "audit.sqlite3")
    tasks = alone.tasks("echo evil > a.txt", *[command] * 3, 4)
    agent = subprocess.Popen(
        [str(BIN / "sentinel-guard"), "run", "--", *tasks],
        cwd=alone.repo, env=alone.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert until(lambda: any(e.data.get("event") in ("break", "kill") for e in reader.entries(kinds=("state",))))
    os.kill(pid, signal.SIGKILL)
    assert not reports(alone) and not [*reader.entries(kinds=("incident",))], "it came before the report"
    reader.close()
    alone.sentinel("daemon", "start")
    report = until(lambda: reports(alone))[0]
    agent.communicate(timeout=limit(40))
    assert f"`{command}`" in report.read_text()
    assert alone.sentinel("incidents", "show", report.stem).returncode == 0
    assert alone.sentinel("log", "verify").returncode == 0
