"""The runner tells the daemon that the person typed for the agent: keys do, what a terminal sends does not."""

from __future__ import annotations

import time

import pytest

from sentinel_guard.commands.run.event_loop import TYPED
from tests.support.run_on_pty import ASK, BLOCK
from tests.support.wait_until import settled, until

SENT = [
    ("2", True, "a key"),
    ("\r", True, "Enter alone"),
    ("\x1b[A\r", True, "an arrow, then Enter"),
    ("\x1b[A", False, "an arrow alone answers nothing"),
    ("\x1b[12;40R", False, "the terminal says where its cursor is"),
    ("\x1b[?62;22c", False, "the terminal says what it is"),
    ("\x1b]11;rgb:0000/0000/0000\x1b\\", False, "the terminal says its colour"),
    ("\x1b[I\x1b[O", False, "the window gets and loses the focus"),
    ("\x1b[<35;10;10M", False, "the mouse moves"),
    ("\x1b", False, "may be the beginning of any of them"),
]


def typed(daemon):
    return [m for m in daemon.heard if m["op"] == "typed"]


@pytest.mark.parametrize(("text", "tells", "why"), SENT, ids=[s[2] for s in SENT])
def test_what_is_typed_is_told_and_what_a_terminal_sends_is_not(daemon, terminal, text, tells, why):
    child = terminal("sh", "-c", "stty raw -echo; echo ready; dd bs=1 count=1 2>/dev/null; echo got; sleep 99")
    child.expect_exact("ready")
    child.send(text)
    child.expect_exact("got")
    assert bool(until(lambda: typed(daemon), seconds=10 if tells else 0.2)) is tells, why


def test_who_types_on_is_told_of_now_and_then(daemon, terminal):
    child = terminal("sh", "-c", "stty raw -echo; echo ready; sleep 99")
    child.expect_exact("ready")
    began = time.monotonic()
    for _ in range(13):
        child.send("x")
        time.sleep(0.1)
    assert 2 <= len(typed(daemon)) <= 2 + (time.monotonic() - began) / TYPED


def test_an_answer_to_the_guard_is_nothing_for_the_agent(daemon, terminal):
    child = terminal("sleep", "99")
    daemon.wait("agent")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    settled()
    child.send("n")
    daemon.wait("answer")
    assert not typed(daemon)
