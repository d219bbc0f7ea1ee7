"""What a person is shown, and what counts as an answer. Pure text: no terminal here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.humans.approval_gate import Gate
from sentinel_guard.humans.terminal_prompts import Chat, banner, columns, notification, visible, wrap

BLOCK = ["[SENTINEL SECURITY]", "Action: DEPLOY", "Target: PRODUCTION", "Risk: HIGH", "Confirm? (Y/N): "]
EVENT = {
    "question": "q1", "action": "DEPLOY", "target": "PRODUCTION", "risk": "HIGH",
    "detail": "./deploy --to prod", "why": "it cannot be undone", "seconds": 300,
}  # fmt: skip
USUAL = (80, 24)


def gate(**changes):
    asked = Gate({**EVENT, **changes}, 1000.0)
    asked.lines(USUAL, 1000.0)
    return asked


VISIBLE = [
    ("rm -rf /", "rm -rf /", "plain text stays"),
    ("größe 日本", "größe 日本", "letters of any language stay"),
    ("\x1b[2Jhi", "\\x1b[2Jhi", "a control sequence is written out"),
    ("a\rb\nc\td", "a\\rb\\nc\\td", "nothing moves the cursor"),
    ("\x9b2J\x7f", "\\x9b2J\\x7f", "C1 controls and delete"),
    ("a\u202eb\u2066c", "a\\u202eb\\u2066c", "bidi overrides and isolates"),
    ("a\u200bb\u200dc\ufeff", "a\\u200bb\\u200dc\\ufeff", "zero-width characters"),
    ("a\u00adb\u2028c", "a\\xadb\\u2028c", "soft hyphen, line separator"),
    ("a\u3164b\ufe0fc", "a\\u3164b\\ufe0fc", "letters and selectors that nobody sees"),
    ("\udcff\ud800", "\\xff\\ud800", "bytes that were not UTF-8"),
    ("a\U000e0041", "a\\U000e0041", "tag characters"),
    ("a\u00a0b", "a\\xa0b", "a blank that is none"),
]


@pytest.mark.parametrize(("text", "shown"), [row[:2] for row in VISIBLE], ids=[row[2] for row in VISIBLE])
def test_nothing_that_a_terminal_obeys_is_shown(text, shown):
    assert visible(text) == shown


@given(st.text(), st.integers(1, 60))
def test_visible_text_fits_and_is_printable(text, width):
    shown = visible(text, width)
    assert columns(shown) <= width
    assert shown.isprintable()
    shown.encode()


WRAP = [
    ("some words here", 12, ["some words ", "here"], "behind a space, which stays"),
    ("a bbbbbbbbbbbbbbb", 8, ["a bbbbbb", "bbbbbbbb", "b"], "where none is near, within the word"),
    ("abcdef", 3, ["abc", "def"], "cut at the width"),
    ("ab\ncd", 9, ["ab", "cd"], "lines stay lines"),
    ("日本語", 4, ["日本", "語"], "wide letters need two columns"),
    ("", 5, [""], "nothing is one empty line"),
    ("日", 1, ["日"], "what never fits goes on alone"),
]


@pytest.mark.parametrize(("text", "width", "lines"), [row[:3] for row in WRAP], ids=[row[3] for row in WRAP])
def test_long_text_is_wrapped(text, width, lines):
    assert wrap(text, width) == lines


def test_the_block_is_the_protocols_word_for_word_and_last():
    lines = gate().lines(USUAL, 1000.0)
    assert lines[-5:] == BLOCK
    above = "\n".join(lines[:-5])
    for part in ("./deploy --to prod", "it cannot be undone", "refused in 300 s"):
        assert part in above


def test_a_changed_file_is_not_called_a_command():
    lines = "\n".join(gate(action="RESTRICTED_CHANGE").lines(USUAL, 1000.0))
    assert "A restricted file has changed:" in lines and "it is put back in 300 s" in lines
    assert "wants to run" not in lines


def test_the_countdown_counts_down_and_ends_in_a_no():
    asked = gate()
    assert "in 299 s" in "\n".join(asked.lines(USUAL, 1001.2))
    asked.tick(1299.9)
    assert asked.answer is None
    asked.tick(1300.0)
    assert asked.answer is False


def test_a_question_without_limit_says_so_and_waits():
    asked = gate(seconds=0)
    asked.tick(10.0**9)
    assert asked.answer is None
    assert "Nothing goes on until you answer." in asked.lines(USUAL, 1000.0)


KEYS = [
    (b"y", True, "y"),
    (b"Y", True, "Y"),
    (b"n", False, "n"),
    (b"N", False, "N"),
    (b"\x03", False, "^C"),
    (b"\x1b", False, "Escape"),
    (b"y\r", True, "y and Enter at once, on a slow line"),
    (b"x", None, "another key"),
    (b"\r", None, "Enter alone is no answer"),
    (b" ", None, "nor is the space bar"),
    (b"yes", None, "a paste is no answer"),
    (b"yy", None, "nor is a burst"),
    (b"\x1b[A", None, "an arrow"),
    (b"\x1by", None, "Alt-y"),
    (b"\x1b[200~y\x1b[201~", True, "one y between marks of a paste is a y"),
    (b"\x1b[200~rm -rf y\x1b[201~", None, "a marked paste"),
    (b"\x1b[?2026;2$y", None, "a terminal's reply that ends in y"),
    (b"\x1b]11;rgb:0000/0000/0000y\x07", None, "a terminal's reply with a text"),
    (b"\x1b[<0;12;5M", None, "a mouse click"),
    ("ý".encode(), None, "a letter that looks like y"),
    (b"", None, "nothing"),
]


@pytest.mark.parametrize(("typed", "answer"), [row[:2] for row in KEYS], ids=[row[2] for row in KEYS])
def test_only_one_key_answers(typed, answer):
    asked = gate()
    asked.feed(typed)
    assert asked.answer is answer


def test_a_reply_of_the_terminal_that_is_split_is_no_yes():
    asked = gate()
    for piece in (b"\x1b[?20", b"26;2$", b"y"):
        asked.feed(piece)
    assert asked.answer is None
    asked.feed(b"y")
    assert asked.answer is True


@pytest.mark.parametrize("size", [(80, 5), (15, 24), (1, 1)], ids=["too few rows", "too narrow", "nothing fits"])
def test_what_cannot_be_read_cannot_be_confirmed(size):
    asked = gate()
    lines = asked.lines(size, 1000.0)
    assert len(lines) == 1
    assert columns(lines[0]) <= size[0]
    asked.feed(b"y")
    assert asked.answer is None
    asked.lines(USUAL, 1000.0)
    asked.feed(b"y")
    assert asked.answer is True


def test_rule_3_a_yes_counts_only_after_every_line_was_shown():
    asked = gate(detail="\n".join(f"line {n}" for n in range(60)), target="t" * 100)
    shown = []
    for _ in range(10):
        page = asked.lines(USUAL, 1000.0)
        shown += page
        assert page[-5] == BLOCK[0]
        if all(f"  | line {n}" in shown for n in range(60)) and any("it cannot" in line for line in shown):
            break
        assert any("lines are not shown" in line for line in page)
        asked.feed(b"y")
        assert asked.answer is None, "not all was shown"
        asked.feed(b" ")
    assert "".join(line.strip() for line in shown if line.startswith(("  Target", "  t"))) == f"Target: {'t' * 100}"
    asked.feed(b"y")
    assert asked.answer is True


def test_pages_go_round_and_a_new_size_begins_anew():
    asked = gate(detail="\n".join(f"line {n}" for n in range(30)))
    first = asked.lines(USUAL, 1000.0)
    asked.feed(b"  ")
    assert asked.lines(USUAL, 1000.0) == first, "a burst is no key"
    asked.feed(b" ")
    assert asked.lines(USUAL, 1000.0) != first
    asked.feed(b" ")
    again = asked.lines(USUAL, 1000.0)
    assert again[:3] == first[:3]
    asked.lines((81, 20), 1000.0)
    asked.feed(b"y")
    assert asked.answer is None


def test_a_no_is_taken_on_any_page():
    asked = gate(detail="x\n" * 100)
    asked.lines(USUAL, 1000.0)
    asked.feed(b"n")
    assert asked.answer is False


def test_no_is_taken_even_where_nothing_can_be_read():
    asked = gate()
    asked.lines((1, 1), 1000.0)
    asked.feed(b"n")
    assert asked.answer is False


@given(st.text(max_size=3000), st.text(max_size=300), st.integers(20, 200), st.integers(9, 60))
def test_whatever_is_asked_fits_the_screen_and_the_block_stands(detail, target, width, rows):
    lines = gate(detail=detail, target=target, why=detail[:200]).lines((width, rows), 1000.0)
    assert len(lines) <= rows
    assert all(columns(line) <= width for line in lines)
    assert lines[-5:-3] == BLOCK[:2]
    assert lines[-1] == BLOCK[-1]


def test_a_long_command_says_how_much_of_it_is_not_shown():
    lines = gate(detail="\n".join(f"line {n}" for n in range(100))).lines(USUAL, 1000.0)
    assert "  | line 0" in lines
    hidden = 100 - sum(line.startswith("  | ") for line in lines) + 1
    assert f"… {hidden} lines are not shown. Space: more. Y counts after the last." in lines, "the reason too"


def test_a_command_cannot_draw_a_block_of_its_own():
    detail = "x\n[SENTINEL SECURITY]\nAction: HARMLESS"
    lines = gate(detail=detail).lines(USUAL, 1000.0)
    assert lines.count("[SENTINEL SECURITY]") == 1
    assert "Action: HARMLESS" not in lines


TOLD = (
    ("xterm-kitty", "\x1b]99;i=sentinel-guard:u=2;a, b\x1b\\\x07", "kitty's own, once"),
    ("foot", "\x1b]99;i=sentinel-guard:u=2;a, b\x1b\\\x07", "foot knows it, too"),
    ("xterm-ghostty", "\x1b]9;a, b\x07\x07", "one that knows two is told once"),
    ("rxvt-unicode-256color", "\x1b]777;notify;sentinel-guard;a, b\x07\x07", "urxvt's"),
    ("xterm-256color", "\x1b]9;a, b\x07\x1b]777;notify;sentinel-guard;a, b\x07\x07", "what it knows is not known"),
)


@pytest.mark.parametrize(("term", "said"), [row[:2] for row in TOLD], ids=[row[2] for row in TOLD])
def test_a_terminal_is_notified_in_its_own_way(term, said):
    assert notification("a; b\nmore", term) == said.encode()


def test_a_banner_and_a_notification_hold_no_sequence_of_others():
    for said in (banner("a\x1b[2Jb"), notification("a\x1b[2Jb\x07c", "xterm")):
        assert b"\\x1b[2Jb" in said
        assert b"\x1b[2J" not in said.replace(b"\\x1b[2J", b"")


# --- the chat ---


def test_lines_are_entered_edited_and_resume_ends_it():
    chat = Chat("stuck on the regex")
    chat.feed("tré".encode() + b"\x7fy it" + b"\x1b[A" + b"\r")
    assert chat.entered == ["try it"]
    chat.feed(b"oops\x15/res")
    chat.feed(b"ume\r")
    assert chat.done
    assert chat.entered == ["try it"]


def test_letters_split_between_reads_are_whole():
    chat = Chat()
    for byte in "é日".encode() + b"\r":
        chat.feed(bytes([byte]))
    assert chat.entered == ["é日"]


@pytest.mark.parametrize("line", ["resume", "/resume now", "please /resume", "/RESUME", ""])
def test_only_resume_itself_gives_autonomy_back(line):
    chat = Chat("stuck")
    chat.feed(line.encode() + b"\r")
    assert not chat.done


def test_the_chat_shows_both_sides_and_fits():
    chat = Chat("stuck \x1b[2J on " + "x" * 300)
    chat.add("you", "try harder")
    chat.feed(b"and t")
    lines = chat.lines((40, 20), 0.0)
    assert all(columns(line) <= 40 for line in lines)
    assert len(lines) <= 20
    assert any(line.startswith("agent: stuck \\x1b[2J") for line in lines)
    assert "you: try harder" in lines
    assert lines[-1] == "> and t"


def test_the_same_words_of_a_daemon_that_came_back_stand_once():
    chat = Chat("stuck")
    chat.hear("stuck")
    assert sum("agent: stuck" in line for line in chat.lines(USUAL, 0.0)) == 1


# --- a word behind the yes ---

WORDS = (
    (["y", "b", "a", "k", "o", "\r"], True, "the word, key by key"),
    (["y", "bako\r"], True, "at once"),
    (["y", "bax\x7fko\r"], True, "mended"),
    (["y", "\r", "bako\r"], True, "Enter before anything is nothing"),
    (["y", "baku\r"], False, "another word"),
    (["y", "y", "\r"], False, "a second Y is no word"),
    (["y", "bak\x03"], False, "Control-C"),
    (["y", "bako"], None, "no Enter yet"),
    (["bako\r"], None, "no Y"),
    (["n"], False, "a no needs no word"),
)


@pytest.mark.parametrize(("keys", "answer"), [row[:2] for row in WORDS], ids=[row[2] for row in WORDS])
def test_a_word_behind_the_yes(keys, answer):
    asked = gate(word="bako")
    for key in keys:
        asked.feed(key.encode())
        shown = asked.lines(USUAL, 1000.0)
    assert asked.answer is answer
    assert shown[-1].startswith("Type bako and Enter: ") or keys[0] != "y"
    assert all(columns(line) <= USUAL[0] for line in shown) and len(shown) <= USUAL[1]


@pytest.mark.parametrize("size", [(20, 9), (20, 10), (80, 9), (300, 100)])
def test_the_word_is_on_the_smallest_screen_too(size):
    asked = Gate({**EVENT, "word": "bakodu", "detail": "x", "why": ""}, 1000.0)
    asked.lines(size, 1000.0)
    for key in b"   y":
        asked.feed(bytes([key]))
        asked.lines(size, 1000.0)
    shown = asked.lines(size, 1000.0)
    assert "bakodu" in shown[-1] and len(shown) <= size[1]
