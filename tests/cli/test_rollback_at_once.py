"""``sentinel-guard rollback`` without the command line's parts: what is read of its words, and its question."""

from __future__ import annotations

import io

import pytest

from sentinel_guard.cli import rollback_at_once

USUAL = {"session": "", "dry_run": False, "yes": False, "later_too": False, "as_json": False}
WORDS = (
    ((), {}, "the newest session, with a question"),
    (("s1",), {"session": "s1"}, "a session"),
    (("--yes", "s1", "--later-too"), {"session": "s1", "yes": True, "later_too": True}, "options around it"),
    (("--dry-run", "--json"), {"dry_run": True, "as_json": True}, "for programs"),
    (("--json",), None, "goes with --dry-run only: click says so"),
    (("--help",), None, "click shows it"),
    (("--dry",), None, "no option: click says so"),
    (("s1", "s2"), None, "one too many"),
    (("--", "s1"), None, "click's way to end the options"),
    (("",), None, "an empty name"),
)


@pytest.mark.parametrize(("words", "given"), [w[:2] for w in WORDS], ids=[w[2] for w in WORDS])
def test_words_are_read_as_click_reads_them_or_left_to_it(words, given):
    assert rollback_at_once.options(words) == (None if given is None else USUAL | given)


ANSWERS = (
    ("y\n", True, 1, "a yes"),
    (" YES \n", True, 1, "a yes in any letters"),
    ("\n", False, 1, "nothing is a no"),
    ("n\n", False, 1, "a no"),
    ("what?\ny\n", True, 2, "what is neither is asked about again"),
)


@pytest.mark.parametrize(("typed", "told", "asked"), [a[:3] for a in ANSWERS], ids=[a[3] for a in ANSWERS])
def test_the_question(monkeypatch, capsys, typed, told, asked):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert rollback_at_once.confirm("Put it back?") is told
    out, err = capsys.readouterr()
    assert out == "" and err.count("Put it back? [y/N]: ") == asked


def test_an_answer_that_is_no_text_is_asked_about_again(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), "utf-8"))
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(KeyboardInterrupt):
        rollback_at_once.confirm("Put it back?")
    assert capsys.readouterr().err.count("[y/N]: ") == 2


@pytest.mark.parametrize("stdin", [None, io.StringIO("")], ids=["closed", "at its end"])
def test_where_nobody_answers_nothing_is_done(monkeypatch, stdin):
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(KeyboardInterrupt):
        rollback_at_once.confirm("Put it back?")
