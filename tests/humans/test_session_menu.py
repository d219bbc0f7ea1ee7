"""The menu of a session: what each key chooses, and what no key does."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentinel_guard.humans.session_menu import CHAT, GO_ON, KILL, PASS, PAUSE, RESUME, ROLL_BACK, Menu, key_codes

KEYS = (
    ([b"g"], GO_ON, "go on"),
    ([b"\x1b"], GO_ON, "escape goes away"),
    ([b"\r"], GO_ON, "Enter goes away"),
    ([b"c"], CHAT, "chat"),
    ([b"p"], PAUSE, "pause"),
    ([b"P"], PAUSE, "a capital"),
    ([b"r"], None, "nothing to resume"),
    ([b"a"], PASS, "the key is the agent's"),
    ([b"k"], None, "what ends the session is asked once more"),
    ([b"k", b"y"], KILL, "and a yes ends it"),
    ([b"k", b"n"], None, "a no does not"),
    ([b"k", b"n", b"g"], GO_ON, "the menu is there again after a no"),
    ([b"k", b"x"], None, "another key is no answer"),
    ([b"b", b"Y"], ROLL_BACK, "roll back"),
    ([b"ky"], None, "a paste chooses nothing"),
    ([b"x"], None, "a key that is none"),
    ([b"\x1b[A"], None, "an arrow"),
)


@pytest.mark.parametrize(("typed", "choice", "why"), KEYS, ids=[row[2] for row in KEYS])
def test_what_a_key_chooses(typed, choice, why):
    menu = Menu("s1", "ACTIVE", "Ctrl-\\")
    for data in typed:
        menu.feed(data)
    assert (menu.choice, menu.done) == (choice, choice is not None), why


@pytest.mark.parametrize("state", ["PAUSED", "AWAITING_HUMAN"])
def test_a_paused_session_is_resumed(state):
    menu = Menu("s1", state, "Ctrl-\\")
    menu.feed(b"p")
    assert menu.choice is None
    menu.feed(b"r")
    assert menu.choice == RESUME


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (20, 6), (5, 2)])
def test_it_fits_and_hides_nothing_a_terminal_would_obey(size):
    menu = Menu("s\x1b[2J", "ACTIVE", "Ctrl-\\")
    lines = menu.lines(size, 0.0)
    assert len(lines) <= size[1] and all(len(line) <= size[0] and "\x1b" not in line for line in lines)
    menu.feed(b"b")
    assert menu.lines((80, 24), 0.0)[-1].endswith("(Y/N): ")


def test_the_page_of_screens_shows_the_menu_as_it_is():
    page = (Path(__file__).parents[2] / "docs" / "terminal.md").read_text()
    for line in Menu("s1", "ACTIVE", "Ctrl-\\").lines((80, 24), 0.0)[1:]:
        assert line.rstrip() in page, "make screens"


CODES = (
    ("ctrl-\\", (b"\x1c", b"\x1b[92;5u", b"\x1b[27;5;92~")),
    ("ctrl-]", (b"\x1d", b"\x1b[93;5u", b"\x1b[27;5;93~")),
    ("ctrl-_", (b"\x1f", b"\x1b[95;5u", b"\x1b[27;5;95~")),
    ("none", ()),
    ("f13", ()),
)


@pytest.mark.parametrize(("name", "codes"), CODES, ids=[row[0] for row in CODES])
def test_what_a_terminal_sends_for_the_key(name, codes):
    assert key_codes(name) == codes
