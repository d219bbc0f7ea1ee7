"""The menu on a real terminal: its key, what is chosen, and the screen and the agent's input afterwards."""

from __future__ import annotations

import sys

import pytest

from tests.support.run_on_pty import ASK, BLOCK, ECHO
from tests.support.wait_until import settled

CHOICE = "Your choice: "


@pytest.fixture
def guarded_terminal(daemon, terminal):
    """An agent that echoes lines, in a session with a menu key."""
    daemon.replies["start"] = {**daemon.replies["start"], "menu_key": "ctrl-\\"}
    child = terminal(sys.executable, "-c", ECHO)
    child.expect_exact("Ctrl-\\ for the menu")
    child.expect_exact("ready")
    return child


def opened(child, key="\x1c"):
    child.send(key)
    child.expect_exact(CHOICE)
    settled()


@pytest.mark.parametrize("key", ["\x1c", "\x1b[92;5u", "\x1b[27;5;92~"], ids=["plain", "kitty", "xterm"])
def test_the_key_opens_it_and_going_on_leaves_all_as_it_was(guarded_terminal, key):
    child = guarded_terminal
    opened(child, key)
    child.send("g")
    child.expect_exact("\x1b[?1049l")
    settled()
    child.sendline("after")
    child.expect_exact("got after")


ASKED = (
    ("ACTIVE", "p", "pause", {"shared": False}),
    ("PAUSED", "r", "resume", {"shared": False}),
    ("ACTIVE", "ky", "kill", {"rollback": False}),
    ("ACTIVE", "by", "kill", {"rollback": True}),
)


@pytest.mark.parametrize("row", ASKED, ids=[row[1] for row in ASKED])
def test_what_is_chosen_is_asked_of_the_daemon(daemon, guarded_terminal, row):
    state, keys, op, fields = row
    daemon.replies["attach"] = {"state": state}
    opened(guarded_terminal)
    for key in keys:
        guarded_terminal.send(key)
        settled()
    assert daemon.wait(op) == {"op": op, "session": "s1", **fields}


def test_what_was_typed_before_the_key_is_the_agents_and_what_follows_is_not(daemon, guarded_terminal):
    child = guarded_terminal
    child.send("half\x1cp")
    child.expect_exact(CHOICE)
    settled()
    child.send("g")
    child.expect_exact("\x1b[?1049l")
    settled()
    child.sendline(" line")
    child.expect_exact("got half line")
    assert not [m for m in daemon.heard if m["op"] == "pause"], "what came with the key chooses nothing"


def test_a_paste_holds_no_key(guarded_terminal):
    guarded_terminal.send("\x1b[200~a\x16\x1cb\x1b[201~\r")
    guarded_terminal.expect_exact("got ")
    assert CHOICE.encode() not in guarded_terminal.before


def test_the_key_can_be_given_to_the_agent(daemon, terminal):
    daemon.replies["start"] = {**daemon.replies["start"], "menu_key": "ctrl-\\"}
    child = terminal("sh", "-c", "trap 'echo quit was heard; exit 7' QUIT; echo ready; while :; do sleep 0.1; done")
    child.expect_exact("ready")
    opened(child)
    child.send("a")
    child.expect_exact("quit was heard")


def test_without_a_menu_key_every_key_is_the_agents(daemon, terminal):
    child = terminal("sh", "-c", "trap 'echo quit was heard; exit 7' QUIT; echo ready; while :; do sleep 0.1; done")
    child.expect_exact("ready")
    child.send("\x1c")
    child.expect_exact("quit was heard")


def test_a_question_is_not_covered_by_the_menu(daemon, guarded_terminal):
    daemon.tell("ask", **ASK)
    guarded_terminal.expect_exact(BLOCK)
    settled()
    guarded_terminal.send("\x1c")
    settled()
    guarded_terminal.send("n")
    assert daemon.wait("answer")["yes"] is False
