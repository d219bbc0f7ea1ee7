"""Text with colours, tables and trees: what fits, what is cut, and what a program reads of it."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.humans.styled_text import Printer, Styled, cut, fold
from sentinel_guard.humans.text_tables import Column, Tree, table

FOLDED = (
    ("one two three", 7, ["one two", "three"], "between words"),
    ("one two", 7, ["one two"], "what fits"),
    ("abcdefgh", 3, ["abc", "def", "gh"], "a word that is too long"),
    ("a\n\nb", 9, ["a", "", "b"], "its own lines stay"),
    ("    indented text", 12, ["    indented", "text"], "what stands before the first word"),
    ("漢字漢字", 4, ["漢字", "漢字"], "characters of two columns"),
    ("漢字", 1, ["漢", "字"], "no room: a character a line, and an end"),
    ("", 5, [""], "nothing is a line"),
)


@pytest.mark.parametrize("row", FOLDED, ids=[row[3] for row in FOLDED])
def test_a_text_is_folded(row):
    text, width, lines, _ = row
    assert [line.plain for line in fold(Styled.of(text), width)] == lines


@given(st.text(alphabet="ab 漢\n", max_size=60), st.integers(-3, 20))
def test_folding_ends_fits_and_loses_no_word(text, width):
    lines = [line.plain for line in fold(Styled.of(text), width)]
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(Styled.of(line).columns <= max(width, 2) for line in lines)


def test_styles_stay_with_their_characters():
    text = Styled.of("one ", ("two three", "red"), " four").over("bold", 2, 7)
    assert text.coded() == "on\x1b[1me \x1b[0m\x1b[1;31mtwo\x1b[0m\x1b[31m three\x1b[0m four"
    assert [line.plain for line in fold(text, 9)] == ["one two", "three", "four"]
    assert cut(text, 6).plain == "one t…" and cut(text, 99) == text


@pytest.mark.parametrize(("coloured", "said"), [(True, "\x1b[31ma\x1b[0m b\n"), (False, "a b\n")])
def test_colours_are_for_terminals(coloured, said):
    sink = io.StringIO()
    Printer(sink, width=20, coloured=coloured).put(("a", "red"), " b  ")
    assert sink.getvalue() == said
    assert not Printer(sink).coloured, "a file is none"


def test_no_color(monkeypatch):
    sink = io.StringIO()
    sink.isatty = lambda: True
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Printer(sink).coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Printer(sink).coloured


ABOUT = (Column("id"), Column("n", right=True), Column("what", folds=True))
TABLES = (
    (40, ["id    n  what", "ab    1  some words", "abc  22  x"], "what fits"),
    (17, ["id    n  what", "ab    1  some", "         words", "abc  22  x"], "the last column folds"),
    (8, ["…   n  w", "       h"], "no room: the others are cut, the last one folds all the same"),
)


@pytest.mark.parametrize(("width", "lines"), [row[:2] for row in TABLES], ids=[row[2] for row in TABLES])
def test_a_table_fits(width, lines):
    rows = [("ab", "1", "some words"), ("abc", "22", "x")]
    shown = [line.plain.rstrip() for line in table(ABOUT, rows, width, gap=2)]
    assert shown[: len(lines)] == lines
    assert max(map(len, shown)) <= width


def test_a_table_without_rows_has_its_heading():
    assert [line.plain for line in table(ABOUT, [], 40)] == ["id n what"]


def test_a_tree_is_drawn():
    tree = Tree(Styled.of("top"))
    tree.add("one").add("below one, folded")
    tree.add("two")
    assert [line.plain for line in tree.lines(18)] == [
        "top", "├── one", "│   └── below one,", "│       folded", "└── two",
    ]  # fmt: skip
