"""The terminal's title: the session's state, the agent's own title, and what stood there before."""

from __future__ import annotations

import pytest

from sentinel_guard.humans.escape_sequence_parser import Modes
from sentinel_guard.humans.terminal_title import MAX_TITLE, TerminalTitle


def begun(term="xterm-256color", command="claude"):
    title = TerminalTitle(command, term)
    return title, title.begin()


def test_it_is_set_at_the_start_and_given_back_at_the_end():
    title, first = begun()
    assert first == b"\x1b[22;2t\x1b]2;guarded: claude\x07"
    assert title.begin() == b"", "once"
    assert title.end() == b"\x1b]2;\x07\x1b[23;2t"
    assert title.end() == b"" and title.told("ASKING", b"") == b"", "and nothing after that"


STATES = [
    (["ASKING"], b"", b"\x1b]2;SENTINEL ASKS: claude\x07", "a question"),
    (["PAUSED"], b"", b"\x1b]2;SENTINEL: paused: claude\x07", "a pause"),
    (["ASKING", "ACTIVE"], b"", b"\x1b]2;guarded: claude\x07", "and back"),
    (["ASKING", "ACTIVE"], b"vim: app.py", b"\x1b]2;vim: app.py\x07", "back to the agent's own title"),
    (["ACTIVE"], b"vim", b"", "no change, no byte"),
]


@pytest.mark.parametrize(("states", "own", "said"), [row[:3] for row in STATES], ids=[row[3] for row in STATES])
def test_each_state_has_its_words(states, own, said):
    title, _ = begun()
    for state in states:
        shown = title.told(state, own)
    assert shown == said


@pytest.mark.parametrize("term", ["", "dumb", "linux", "vt100", "network"])
def test_a_terminal_that_would_print_it_gets_none(term):
    title, first = begun(term)
    assert first == title.told("ASKING", b"") == title.end() == b""


def test_a_command_cannot_end_the_sequence():
    _, first = begun(command="a\x07\x1b[2Jb" + "x" * 100)
    assert first.count(b"\x1b") == 2 and first.count(b"\x07") == 1
    assert len(first) < MAX_TITLE + 20


def test_the_agents_title_is_seen_whole_however_it_is_split():
    modes = Modes()
    for byte in b"ab\x1b]0;one\x07\x1b]2;two \xc3\xbc\x1b\\c":
        modes.feed(bytes([byte]))
    assert modes.title == "two ü".encode()
