"""The two-key gate on the outer terminal (R7)."""

from __future__ import annotations

import os
import signal
import sys
import time

import pexpect
import pytest

from tests.support.run_on_pty import ASK, BLOCK, ECHO, GRACE, ended
from tests.support.time_limits import limit
from tests.support.wait_until import settled


def asked(daemon, terminal, **fields):
    """An agent on whose terminal a question has just appeared."""
    child = terminal(sys.executable, "-c", ECHO)
    child.expect_exact("ready")
    daemon.tell("ask", **ASK, **fields)
    child.expect_exact(BLOCK)
    return child


def test_the_prompt_is_word_for_word_and_yes_is_sent(daemon, terminal):
    child = asked(daemon, terminal)
    for part in (b"./deploy --to prod", b"it cannot be undone", b"refused in 60 s"):
        assert part in child.before
    settled()
    child.send("y")
    assert daemon.wait("answer") == {"op": "answer", "question": "q1", "yes": True}
    child.expect_exact("\x1b[?1049l")
    settled()
    child.sendline("after")
    child.expect_exact("got after")


@pytest.mark.parametrize("key", ["n", "N", "\x03", "\x1b"], ids=["n", "N", "control-c", "escape"])
def test_no_is_sent(daemon, terminal, key):
    child = asked(daemon, terminal)
    settled()
    child.send("x\r")
    child.send(key)
    time.sleep(0.05)
    child.send(key)
    assert daemon.wait("answer")["yes"] is False


@pytest.mark.parametrize("name", ["TMUX", "STY", "WEZTERM_PANE"])
def test_in_a_multiplexer_the_answer_says_that_the_terminal_is_shared(daemon, terminal, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    child = asked(daemon, terminal)
    settled()
    child.send("y")
    assert daemon.wait("answer") == {"op": "answer", "question": "q1", "yes": True, "shared": True, "word": ""}


def test_in_a_multiplexer_a_word_can_be_demanded_behind_the_yes(daemon, terminal, monkeypatch):
    monkeypatch.setenv("TMUX", "1")
    child = asked(daemon, terminal, word="bakodu")
    settled()
    child.send("y")
    child.expect_exact("Type bakodu and Enter: ")
    assert not [m for m in daemon.heard if m["op"] == "answer"]
    child.send("bakodi\x7fu\r")
    assert daemon.wait("answer") == {"op": "answer", "question": "q1", "yes": True, "shared": True, "word": "bakodu"}


def test_on_a_terminal_of_the_persons_own_no_word_is_asked_for(daemon, terminal):
    child = asked(daemon, terminal, word="bakodu")
    settled()
    child.send("y")
    assert daemon.wait("answer") == {"op": "answer", "question": "q1", "yes": True}


@pytest.fixture
def grace(monkeypatch) -> float:
    """Seconds of silence that a question waits for: more than a test on a busy machine needs for some keys."""
    seconds = limit(1.0)
    monkeypatch.setenv(GRACE, str(seconds))
    return seconds


def test_type_ahead_and_haste_are_no_answer_and_reach_nobody(daemon, terminal, grace):
    child = terminal(sys.executable, "-c", ECHO)
    child.expect_exact("ready")
    child.send("half a line ")
    daemon.tell("ask", **ASK)
    child.send("yyyy\r")
    child.expect_exact(BLOCK)
    child.send("y\r")
    time.sleep(0.1)
    child.send("y\r")
    settled(grace)
    assert not [m for m in daemon.heard if m["op"] == "answer"]
    child.send("n")
    assert daemon.wait("answer")["yes"] is False
    settled()
    child.sendline("clean")
    child.expect("got .*clean")
    assert b"y" not in child.after


def test_what_the_terminal_replies_after_an_answer_reaches_the_agent(daemon, terminal):
    child = asked(daemon, terminal)
    settled()
    child.send("n")
    child.expect_exact("\x1b[?1049l")
    child.send("n\x1b[5;")
    time.sleep(0.01)
    child.send("7R")
    settled()
    child.sendline("!")
    child.expect("got .*!")
    assert child.after.endswith(b"\x1b[5;7R!")


def test_the_agents_output_waits_while_it_is_asked(daemon, terminal, tmp_path):
    go = tmp_path / "go"
    child = terminal("sh", "-c", f"echo ready; while [ ! -e {go} ]; do sleep 0.02; done; echo LATER; sleep 99")
    child.expect_exact("ready")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    go.touch()
    settled()
    with pytest.raises(pexpect.TIMEOUT):
        child.expect_exact("LATER", timeout=0.3)
    child.send("n")
    child.expect_exact("LATER")


def test_silence_is_a_no_and_the_countdown_is_seen(daemon, terminal):
    child = terminal("sleep", "99")
    daemon.wait("agent")
    daemon.tell("ask", **{**ASK, "seconds": 4})
    child.expect_exact("in 4 s")
    child.expect("in [123] s")
    assert daemon.wait("answer")["yes"] is False
    child.expect_exact("\x1b[?1049l")


def test_questions_queue_and_can_be_taken_away(daemon, terminal):
    child = terminal("sleep", "99")
    daemon.wait("agent")
    for n, action in enumerate(("FIRST", "SECOND", "THIRD")):
        daemon.tell("ask", **{**ASK, "question": f"q{n}", "action": action})
    child.expect_exact("Action: FIRST")
    daemon.tell("unask", question="q0")
    child.expect_exact("Action: SECOND")
    settled()
    child.send("y")
    assert daemon.wait("answer") == {"op": "answer", "question": "q1", "yes": True}
    child.expect_exact("Action: THIRD")
    settled()
    child.send("n")
    assert daemon.wait("answer", 2) == {"op": "answer", "question": "q2", "yes": False}
    child.expect_exact("\x1b[?1049l")


def test_the_agents_mouse_and_paste_modes_are_off_meanwhile(daemon, terminal):
    child = terminal("sh", "-c", "printf '\\033[?2004h\\033[?1000h'; echo ready; sleep 99")
    child.expect_exact("ready")
    daemon.tell("ask", **ASK)
    child.expect_exact("\x1b[?1049h\x1b[?1000l\x1b[?2004l")
    child.expect_exact(BLOCK)
    settled()
    child.send("n")
    child.expect_exact("\x1b[?1000h\x1b[?2004h\x1b[?1049l")


def test_a_daemon_that_dies_takes_its_question_with_it(daemon, terminal):
    child = terminal("sleep", "99")
    daemon.wait("agent")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    daemon.close()
    child.expect_exact("\x1b[?1049l")
    daemon.listen()
    daemon.wait("attach")


def test_a_key_that_is_held_down_answers_nothing(daemon, terminal, grace):
    child = terminal("sleep", "99")
    daemon.wait("agent")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    for _ in range(12):
        child.send("y")
        time.sleep(0.03)
    assert not [m for m in daemon.heard if m["op"] == "answer"]
    settled(grace)
    child.send("y")
    assert daemon.wait("answer")["yes"] is True


def test_a_key_that_was_typed_too_soon_is_no_answer_however_late_it_is_read(daemon, terminal, grace):
    child = terminal("sleep", "99")
    daemon.wait("agent")
    os.kill(child.pid, signal.SIGSTOP)  # as on a machine that has no time for it
    daemon.tell("ask", **ASK)
    child.send("y")
    os.kill(child.pid, signal.SIGCONT)
    child.expect_exact(BLOCK)
    os.kill(child.pid, signal.SIGSTOP)
    child.send("y")
    settled(grace)
    os.kill(child.pid, signal.SIGCONT)
    settled(grace)
    assert not [m for m in daemon.heard if m["op"] == "answer"]
    child.send("n")
    assert daemon.wait("answer")["yes"] is False


def test_the_person_is_told_of_a_daemon_that_stays_away(daemon, terminal):
    child = terminal("sleep", "99")
    daemon.wait("agent")
    daemon.close()
    child.expect_exact("the guard daemon is away")
    daemon.listen()
    child.expect_exact("the guard daemon is back")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)


def test_what_the_launcher_has_said_on_the_screen_is_not_said_twice(daemon, terminal):
    child = terminal("sh", "-c", "echo 'SENTINEL KILL SWITCH: why'; sleep 99")
    child.expect_exact("SENTINEL KILL SWITCH: why")
    daemon.tell("killed", text="SENTINEL KILL SWITCH: why", incident="docs/I.md")
    child.expect_exact("Incident report: docs/I.md")
    assert b"SWITCH" not in child.before
    assert ended(child) == 137


def test_a_kill_takes_the_screen_back_and_says_why(daemon, terminal):
    child = terminal("sh", "-c", "printf '\\033[?1049h\\033[?25lfull screen'; sleep 99")
    child.expect_exact("full screen")
    daemon.tell("killed", text="SENTINEL KILL SWITCH: why", incident="docs/I.md")
    child.expect_exact("\x1b[?25h\x1b[?1049l\x1b[0m\x1b[J")
    child.expect_exact("SENTINEL KILL SWITCH: why")
    child.expect_exact("Incident report: docs/I.md")
    assert ended(child) == 137
    assert b"\x07" in child.before
