"""What a terminal is told and what it says: modes that a program has set, keys apart from replies."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.humans.escape_sequence_parser import Keys, Modes

MODES = [
    (b"\x1b[?1049h", True, b"", b"", "the alternate screen alone"),
    (b"\x1b[?1049h\x1b[?1049l", False, b"", b"", "and back"),
    (b"\x1b[?47h", True, b"", b"", "its old name"),
    (b"\x1b[?2004;1049h", True, b"\x1b[?2004l", b"\x1b[?2004h", "several modes at once"),
    (b"\x1b[?1000h\x1b[?1006h", False, b"\x1b[?1000l\x1b[?1006l", b"\x1b[?1000h\x1b[?1006h", "a mouse"),
    (b"\x1b[?25l", False, b"\x1b[?25h", b"\x1b[?25l", "a hidden cursor"),
    (b"\x1b[>1u", False, b"\x1b[>0u", b"\x1b[<u", "kitty's keyboard"),
    (b"\x1b[>1u\x1b[<u", False, b"", b"", "kitty's keyboard put back"),
    (b"\x1b[>4;2m", False, b"\x1b[>4;0m", b"\x1b[>4;2m", "xterm's keyboard"),
    (b"\x1b[>4;2m\x1b[>4m", False, b"", b"", "xterm's keyboard put back"),
    (b"\x1b[2;10r", False, b"\x1b[r", b"\x1b[2;10r", "margins"),
    (b"\x1b[2;10r\x1b[r", False, b"", b"", "margins put back"),
    (b"\x1b[?1049h\x1b[?2004h\x1bc", False, b"", b"", "a full reset"),
    (b"\x1b[?7h\x1b[31mtext\x1b[K", False, b"", b"", "what does not matter"),
]


@pytest.mark.parametrize(("data", "alternate", "off", "on"), [r[:4] for r in MODES], ids=[r[4] for r in MODES])
def test_modes_are_followed_whole_and_byte_by_byte(data, alternate, off, on):
    whole, pieces = Modes(), Modes()
    whole.feed(data)
    for byte in data:
        pieces.feed(bytes([byte]))
    for modes in (whole, pieces):
        assert (modes.alternate, modes.quiet(), modes.restore(), modes.partial) == (alternate, off, on, b"")


PARTIAL = [
    (b"abc", b"", "text"),
    (b"abc\x1b", b"\x1b", "an escape alone"),
    (b"abc\x1b[38;5", b"\x1b[38;5", "half a colour"),
    (b"\x1b]0;title", b"\x1b]0;title", "half a title"),
    (b"\x1b]0;title\x07", b"", "a whole title"),
    ("é".encode()[:1], "é".encode()[:1], "half a letter"),
    ("日".encode()[:2], "日".encode()[:2], "two thirds of a letter"),
    ("日".encode(), b"", "a whole letter"),
    (b"\xff\xff", b"", "bytes that are no letter"),
    (b"\x1b]52;" + b"x" * 9000, b"", "too long to be kept"),
]


@pytest.mark.parametrize(("data", "partial"), [row[:2] for row in PARTIAL], ids=[row[2] for row in PARTIAL])
def test_what_is_unfinished_is_kept(data, partial):
    modes = Modes()
    modes.feed(data)
    assert modes.partial == partial


@given(st.binary(max_size=200), st.integers(0, 200))
def test_any_bytes_are_followed_and_how_they_are_cut_does_not_matter(data, cut):
    whole, pieces = Modes(), Modes()
    whole.feed(data)
    pieces.feed(data[:cut])
    pieces.feed(data[cut:])
    assert (whole.alternate, whole.quiet()) == (pieces.alternate, pieces.quiet())
    Keys().feed(data)


TYPED = [
    (b"y\r", b"y\r", b"", "letters"),
    (b"\x1b", b"\x1b", b"", "an Escape key"),
    (b"a\x1b[12;40Rb", b"ab", b"\x1b[12;40R", "where the cursor is"),
    (b"\x1b]11;rgb:00/00/00\x1b\\n", b"n", b"\x1b]11;rgb:00/00/00\x1b\\", "a colour"),
    (b"\x1b[?62;22cy\x1b[A", b"y", b"\x1b[?62;22c\x1b[A", "two of them"),
    (b"\x1b\x1b[A[", b"\x1b[", b"\x1b[A", "what stands around one is none"),
]


@pytest.mark.parametrize(("data", "keys", "replies"), [row[:3] for row in TYPED], ids=[row[3] for row in TYPED])
def test_keys_and_what_a_terminal_replies_are_told_apart(data, keys, replies):
    assert (Keys().feed(data), Keys().sequences(data)) == (keys, replies)


def test_a_reply_in_two_parts_is_one():
    keys = Keys()
    assert (keys.sequences(b"y\x1b[12;"), keys.sequences(b"40Ry")) == (b"", b"\x1b[12;40R")
    assert (keys.sequences(b"y\x1b[12;"), keys.unfinished(), keys.unfinished()) == (b"", b"\x1b[12;", b"")


def test_a_killed_program_leaves_nothing_switched_on():
    modes = Modes()
    modes.feed(b"\x1b[?1049h\x1b[?1003h\x1b[?25l\x1b[>1u")
    assert modes.leave() == b"\x1b[<9u\x1b[?25h\x1b[?1003l\x1b[?1049l\x1b[0m\x1b[J"


def test_what_is_said_after_a_killed_program_stands_below_its_text():
    screen = pyte.Screen(20, 6)
    modes, data = Modes(), b"\x1b[1;6rone\r\ntwo\r\n"
    modes.feed(data)
    pyte.ByteStream(screen).feed(data + modes.leave() + b"after")
    assert [line.rstrip() for line in screen.display[:3]] == ["one", "two", "after"]


def test_what_a_killed_program_drew_below_its_text_does_not_stay():
    screen, modes = pyte.Screen(20, 6), Modes()
    pyte.ByteStream(screen).feed(b"one\r\nline to type in\r\nfolder     model\r\x1b[A" + modes.leave() + b"after")
    assert [line.rstrip() for line in screen.display[:3]] == ["one", "after", ""]
