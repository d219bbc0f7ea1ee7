"""Loops (R5) where little is to be seen: commands that fail without a word, background processes that write files,
clients that run their shell on a terminal of their own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest

from sentinel_guard.core.text.normalize_output import BLANK, UNSEEN
from tests.support.guarded_repository import BIN, Stage

LOOP = "SYSTEM INTERVENTION: Loop Detected."
TERMINAL_CLIENT = Path(__file__).parents[1] / "support" / "agents" / "terminal_client.py"
QUIET = ("exit 3", "false", "sh -c 'kill -TERM $$'")


@pytest.mark.parametrize("command", QUIET)
def test_the_third_failure_without_a_word_is_a_loop(stage, command):
    stage.commit()
    _, seen = stage.agent(command, command, command, command)
    assert "SENTINEL HINT" in seen[1]["err"]
    assert [LOOP in s["err"] for s in seen] == [False, False, True, True]
    assert seen[3]["code"] == 126, "and it runs no more"


def test_success_without_a_word_is_a_loop_late_and_no_loop_where_files_change(stage):
    stage.commit()
    edits = [task for n in range(22) for task in ("true", ["a.txt", f"{n}\n"])]
    _, seen = stage.agent(*edits, *["test -d ."] * 20)
    told = {n for n, s in enumerate(seen, 1) if s["err"]}
    assert told == {22 + 4, *range(22 + 8, 22 + 21)}
    assert "SENTINEL HINT" in seen[25]["err"] and LOOP in seen[29]["err"]


def test_a_server_that_starts_is_waited_for_without_a_word(stage):
    stage.commit()
    _, seen = stage.agent(*["curl -s http://127.0.0.1:1/health"] * 8)
    assert [s["code"] for s in seen] == [7] * 8
    assert [LOOP in s["err"] for s in seen] == [False] * 7 + [True]


def test_a_success_that_is_not_waited_for_is_on_record_before_what_comes_next(stage):
    stage.commit()
    commands = [f"echo {chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(300)]
    client = f"import subprocess\nfor command in {commands}: subprocess.run(['bash', '-c', command])"
    stage.sentinel("run", "--", sys.executable, "-c", client)
    kinds = [e["kind"] for e in stage.log() if e["kind"] in ("verdict", "outcome")]
    assert kinds.count("outcome") >= 300
    assert kinds[-600:] == ["verdict", "outcome"] * 300


def test_what_went_elsewhere_was_not_seen_to_be_empty(stage):
    stage.commit()
    client = "import subprocess; [subprocess.run(['bash', '-c', 'true'], stdout=subprocess.DEVNULL) for _ in range(22)]"
    stage.sentinel("run", "--", sys.executable, "-c", client)
    outcomes = [e["data"] for e in stage.log(kind="outcome")]
    assert len(outcomes) == 22 and not any("output" in data for data in outcomes)
    assert stage.log(kind="observation") == []


WRITERS = (
    ("while :; do date +%N; sleep 1.8; done > dev.log", "a server that says something now and then"),
    ("while :; do date +%N; sleep 1.8; done | tee -a dev.log >&2", "a log that is appended to"),
    ("while :; do date +%N >> dev.log; sleep 0.3; done", "a log that is opened for each line"),
    ("while :; do date +%N > status.json; sleep 1; done", "a file that is written anew each second"),
    # Made aside: who sees it there for a moment has seen a file that came and went, which is progress.
    ("while :; do date +%N > ../new; mv ../new build.js; sleep 1; done", "a file that is replaced each second"),
    ("while :; do date +%N > x; sleep 1; date +%N; done > dev.log", "both"),
)


@contextmanager
def writing(stage: Stage, script: str) -> Iterator[None]:
    """A process of the person's that writes in the work tree meanwhile."""
    options = {"cwd": stage.repo, "env": stage.environ, "stderr": subprocess.DEVNULL, "start_new_session": True}
    process = subprocess.Popen(["/bin/bash", "-c", script], **options)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(("script", "why"), WRITERS, ids=[row[1] for row in WRITERS])
def test_what_background_processes_write_is_no_progress(stage, script, why):
    stage.commit(a__txt="a\n")
    with writing(stage, script):
        _, seen = stage.agent(2, "exit 3", 2, "exit 3", 2, "exit 3")
    assert [LOOP in s["err"] for s in seen] == [False, False, True], why


@pytest.mark.parametrize(("script", "why"), WRITERS, ids=[row[1] for row in WRITERS])
def test_what_the_agent_changes_beside_them_is_progress(stage, script, why):
    stage.commit(a__txt="a\n")
    tries = [task for n in range(4) for task in (["a.txt", f"{n}\n"], 0.6, "exit 3")]
    with writing(stage, script):
        _, seen = stage.agent(*tries)
    assert not any(s["err"] for s in seen), why


def test_the_agents_own_server_is_a_background_process_as_well(stage):
    stage.commit(a__txt="a\n")
    server = "timeout 20 sh -c 'while :; do date +%N; sleep 0.1; done' > dev.log 2>&1 &"
    _, seen = stage.agent(server, 0.5, "exit 3", 0.5, "exit 3", 0.5, "exit 3", "cat dev.log")
    assert [LOOP in s["err"] for s in seen] == [False, False, False, True, True]


CHANGES = (
    ("echo x >> a.txt", "a call"),
    (["a.txt", "x\n"], "the agent's own process"),
    (["dev.log", "x\n"], "the same, a file that is called like a log"),
)


@pytest.mark.parametrize(("change", "why"), CHANGES, ids=[row[1] for row in CHANGES])
def test_who_may_make_progress(stage, change, why):
    stage.commit(a__txt="a\n")
    _, seen = stage.agent(*["exit 3", change] * 5)
    assert not any(s["err"] for s in seen if s["task"] == "exit 3"), why


def test_the_persons_edit_is_progress(stage):
    stage.commit(a__txt="a\n")
    with writing(stage, "while :; do echo >> a.txt; sleep 2.5; done"):
        _, seen = stage.agent("exit 3", 2.5, "exit 3", 2.5, "exit 3")
    assert not any(s["err"] for s in seen)


def on_terminal(stage: Stage, whose: str, *tasks: str) -> list[dict]:
    """A client on a terminal, whose commands print on a terminal of its own, or on its terminal."""
    _, _, *files = stage.tasks(*tasks)
    person = stage.terminal(
        str(BIN / "sentinel-guard"), "run", "--", sys.executable, str(TERMINAL_CLIENT), *files, whose
    )
    person.expect(pexpect.EOF)
    person.close()
    return stage.seen()


def test_a_clients_own_terminal_is_not_the_screen(stage):
    stage.commit()
    failing = "ls no-such-file"
    seen = on_terminal(stage, "own", *[failing] * 4, "true")
    assert all("No such file" in s["err"] for s in seen[:3]), "its shell prints on its terminal"
    assert [LOOP in s["err"] for s in seen] == [False, False, True, True, True]
    outcomes = [e["data"] for e in stage.log(kind="outcome")]
    assert [(d["error"], d.get("output"), d.get("excerpt")) for d in outcomes] == [(UNSEEN, None, None)] * 3


def test_what_prints_on_the_screen_is_seen_there(stage):
    stage.commit()
    on_terminal(stage, "inherited", "ls no-such-file", "exit 3")
    words, silence = [e["data"] for e in stage.log(kind="outcome")]
    assert words["excerpt"].strip().endswith("No such file or directory")
    assert (silence["error"], silence.get("excerpt")) == (BLANK, None)


def test_different_failures_that_nobody_saw_are_no_loop(stage):
    stage.commit()
    seen = on_terminal(stage, "own", *(f"ls no-such-{n}" for n in range(6)))
    assert LOOP not in "".join(s["err"] for s in seen)
