"""The watchdog observer: what nobody announced is put back, what git itself does is not (SPEC section 5)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest

from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit
from tests.support.wait_until import settled, until

# A name that no analysis can know before it runs.
CODE = "import os, time, zlib; name = next(n for n in os.listdir() if zlib.crc32(n.encode()) == 1840094458)"
WRITE = f"""{sys.executable} -c "{CODE}; open(name, 'w').write('EVIL'); time.sleep(2)\""""


def test_a_program_that_writes_a_restricted_file_changes_nothing(stage):
    stage.commit()
    stage.agent(WRITE)
    assert (stage.repo / ".env").read_text() == "MODE=debug\n"
    [seen] = stage.log(kind="watch")
    assert seen["level"] == "L2" and seen["data"]["kind"] == "changed"
    assert Path(seen["data"]["kept"]).read_text() == "EVIL", "the tampered version is kept"


SELF_MADE = "open('made.' + 'pe' + 'm', 'w').write('A')"


def test_what_was_not_there_is_the_sessions_to_make_change_and_delete(stage):
    stage.commit(_env__example="A=\n")
    made = stage.repo / "made.pem"
    _, seen = stage.agent(
        "echo A=1 > .env.local", "sleep 1.2; echo B=2 >> .env.local; cat .env.local", "rm .env.local",
        f'{sys.executable} -c "{SELF_MADE}"', "sleep 1.2; cat made.pem; chmod 600 made.pem; echo B >> made.pem",
        "echo x > scratch.db", "sleep 0.1; rm scratch.db",
        "git add -f made.pem", "echo MODE=mine > .env", "echo 'version = 1' > sentinel.toml",
    )  # fmt: skip
    assert [s["code"] for s in seen] == [0] * 7 + [126] * 3, seen
    assert (seen[1]["out"], seen[4]["out"]) == ("A=1\nB=2\n", "A")
    assert made.read_text() == "AB\n"
    assert not stage.log(kind="watch")


def test_git_clean_is_refused_only_for_restricted_files_that_git_does_not_track(stage):
    stage.commit(a__txt="a\n", sentinel__toml="version = 1\n")
    untracks = "git rm -q --cached sentinel.toml; git clean -fdx -e .env"
    _, (clean, both, asked) = stage.agent("git clean -fdx", untracks, "git clean -fdx -e .env")
    assert ".env, which is restricted" in clean["err"] and "sentinel.toml" not in clean["err"]
    assert "sentinel.toml" in both["err"] and both["code"] == 126
    assert "restricted" not in asked["err"] and "it needs a person's yes" in asked["err"]


def test_branches_that_differ_in_restricted_files_can_be_switched_merged_and_stashed(stage):
    stage.commit(a__txt="a\n")
    stage.git("checkout", "-q", "-b", "new")
    stage.write("tests/server.pem", "one\n")
    stage.write("extra.pem", "only here\n")
    stage.git("add", "-f", "tests/server.pem", "extra.pem")
    stage.git("commit", "-qm", "keys")
    stage.git("checkout", "-q", "main")
    stage.write("tests/server.pem", "zero\n")
    stage.git("add", "-f", "tests/server.pem")
    stage.git("commit", "-qm", "another key")
    settle = "sleep 1.5; git status --porcelain"
    _, seen = stage.agent(
        "git checkout -q new", settle, "cat tests/server.pem extra.pem", "git checkout -q main", settle,
        "cat tests/server.pem; ls", "echo b > a.txt; git stash -q; git stash pop -q", settle,
    )  # fmt: skip
    told = [(s["code"], s["out"]) for s in seen]
    assert told == [
        (0, ""),
        (0, ""),
        (0, "one\nonly here\n"),
        (0, ""),
        (0, ""),
        (0, "zero\na.txt\ntests\n"),
        (0, ""),
        (0, " M a.txt\n"),
    ], seen
    assert not stage.log(kind="watch")


def test_git_is_no_cover_for_others(stage):
    stage.commit(a__txt="a\n")
    stage.git("branch", "other")
    stage.agent("git checkout -q other", WRITE)
    assert (stage.repo / ".env").read_text() == "MODE=debug\n"
    assert stage.log(kind="watch")


# Whose change it was.

EVIL, MINE = "MODE=evil\n", "MODE=mine\n"
BY_ITSELF = """
import os, sys, time, zlib
time.sleep(1.5)
name = next(n for n in os.listdir() if zlib.crc32(n.encode()) == 1840094458)
open(name, "w").write("MODE=evil\\n")
time.sleep(float(sys.argv[1]))
"""
"""An agent with a file tool of its own: it writes from its own process."""


class Session:
    """A guarded session in the background."""

    def __init__(self, stage, *tasks) -> None:
        self.stage = stage
        command = [str(BIN / "sentinel-guard"), "run", "--", *stage.tasks(*tasks)]
        self.process = subprocess.Popen(
            command, cwd=stage.repo, env=stage.environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert until(lambda: stage.log(kind="session"))
        # The guard must have seen the agent at rest before it can prove that it rested.
        time.sleep(1.5)

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.process.terminate()
        self.process.communicate(timeout=limit(30))

    def end(self) -> None:
        self.process.wait(timeout=limit(30))


def test_what_a_person_changes_while_the_agent_rests_is_theirs(stage):
    stage.commit()
    with Session(stage, 4) as session:
        stage.write(".env", MINE)
        stage.write(".env.local", "NEW=1\n")
        assert until(lambda: len(stage.log(kind="watch")) == 2)
        session.end()
    assert (stage.repo / ".env").read_text() == MINE and (stage.repo / ".env.local").exists()
    [first] = [e for e in stage.log(kind="watch") if e["data"].get("diff") == "-MODE=<masked>\n+MODE=<masked>"]
    assert (first["level"], first["data"]["done"]) == ("", "taken as yours")
    assert "taken as yours" in first["data"]["what"]


def test_while_a_call_runs_only_a_window_makes_it_theirs(stage):
    stage.commit()
    window = f"{stage.repo}/.env: what you change"
    with Session(stage, "sleep 12"):
        stage.write(".env", MINE)
        assert until(lambda: (stage.repo / ".env").read_text() == "MODE=debug\n")
        opened = stage.sentinel("allow", ".env", "--for", "1m")
        assert opened.returncode == 0 and window in opened.stdout, opened
        stage.sentinel("daemon", "stop", "--force")
        stage.sentinel("daemon", "start")
        assert until(lambda: window in stage.sentinel("allow", "--list").stdout)
        stage.write(".env", MINE)
        assert until(lambda: [e for e in stage.log(kind="watch") if "you opened" in e["data"]["what"]])
        assert stage.sentinel("allow", ".env", "--end").returncode == 0
        assert until(lambda: "No window is open" in stage.sentinel("allow", "--list").stdout)
        stage.write(".env", EVIL)
        assert until(lambda: (stage.repo / ".env").read_text() == MINE)
    said = [(e["data"]["action"], e["data"]["authorized_by"]) for e in stage.log(kind="human")]
    assert said == [("ALLOW", "user"), ("ALLOW", "user")]


def test_no_window_without_a_session_nor_from_inside_of_one(stage):
    stage.commit()
    alone = stage.sentinel("allow", ".env")
    assert alone.returncode == 1 and "No guarded session is running here" in alone.stderr
    assert stage.sentinel("allow", ".env", "--for", "3d").returncode == 1
    assert stage.sentinel("allow").returncode == 2
    _, [seen] = stage.agent("sentinel-guard allow .env")
    assert seen["code"] == 126 and "403 SENTINEL BLOCKED" in seen["err"]


LATER = f"""{sys.executable} -c "import time; time.sleep(1.5); {CODE}; open(name, 'w').write('EVIL')\""""


def test_what_the_agent_leaves_to_run_later_is_its_own(stage):
    stage.commit()
    done, _ = stage.agent(f"nohup {LATER} >/dev/null 2>&1 &", 4)
    assert (stage.repo / ".env").read_text() == "MODE=debug\n", done
    [seen] = stage.log(kind="watch")
    assert seen["data"]["done"] == "put back"


def test_an_agent_that_writes_by_itself_is_no_person_where_nobody_can_be_asked(stage):
    stage.commit()
    (stage.folder / "own.py").write_text(BY_ITSELF)
    stage.sentinel("run", "--", sys.executable, str(stage.folder / "own.py"), "1")
    assert (stage.repo / ".env").read_text() == "MODE=debug\n"
    [seen] = stage.log(kind="watch")
    assert seen["level"] == "L2" and seen["data"]["processes"]


ANSWERS = (("y", EVIL, "user", "a yes keeps it"), ("n", "MODE=debug\n", "", "a no puts it back"))


@pytest.mark.parametrize(("key", "stays", "by", "why"), ANSWERS, ids=[a[3] for a in ANSWERS])
def test_what_may_be_either_is_asked_about(stage, key, stays, by, why):
    stage.commit()
    (stage.folder / "own.py").write_text(BY_ITSELF)
    command = ["run", "--", sys.executable, str(stage.folder / "own.py"), "4"]
    with stage.terminal(str(BIN / "sentinel-guard"), *command) as person:
        person.expect_exact("Action: RESTRICTED_CHANGE")
        person.expect_exact("Confirm? (Y/N):")
        settled()
        assert (stage.repo / ".env").read_text() == EVIL, "it stands while it is asked about"
        person.send(key)
        assert until(lambda: (stage.repo / ".env").read_text() == stays and stage.log(kind="human"))
        person.expect(pexpect.EOF)
    [said] = stage.log(kind="human")
    assert (said["data"]["action"], said["data"]["authorized_by"]) == ("RESTRICTED_CHANGE", by)
    assert (stage.repo / ".env").read_text() == stays
    assert "evil" not in said["data"]["detail"] and "MODE=<masked>" in said["data"]["detail"]


def test_what_is_left_running_is_named(stage):
    stage.commit()
    done, _ = stage.agent("nohup sleep 3.14 >/dev/null 2>&1 &", 0.5)
    assert "still running, and no longer watched: sleep (pid " in done.stderr


def test_what_changes_while_the_daemon_is_dead_is_put_back_when_it_is_back(stage):
    stage.commit()
    with Session(stage, "sleep 10"):
        [running] = json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"]
        stage.write(".env", MINE)
        os.kill(running["pid"], signal.SIGKILL)
        stage.write(".env", EVIL)
        stage.write("deep/.env.new", EVIL)
        assert until(lambda: (stage.repo / ".env").read_text() == "MODE=debug\n", seconds=20)
    assert (stage.repo / "deep/.env.new").read_text() == EVIL, "nothing was there: it is the session's"
    assert not list(stage.repo.rglob(".sentinel-*"))
