"""What cannot be read to its end, and what is known of a command in spite of an unknown part."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.core.analysis.test_analyse import ENV, effects_of, rows, shown
from tests.support.fakes import FakeWorld

ERRORS = [
    ("rm -rf ${x", ["opaque ${x delete ?", "opaque unterminated ${ at 10 parse ?"], "shells may not share it"),
    ("rm -rf 'x", ["delete x force recursive", "opaque unterminated ' at 7 syntax ?"], "one that all share"),
    ("bash -c 'rm .env\necho \"oops'", ["delete .env", 'opaque unterminated " at 18 syntax ?'], "the lines before it"),
    ("bash <<E\nrm .env", ["delete .env", "opaque unterminated heredoc at 16 data ?"], "a body without end runs"),
    ('fish -c "echo \'oops"', ["opaque unterminated ' at 5 parse ?"], "another language"),
    (
        "socat - EXEC:'sh -c \\\"ls x\\\"'",
        ["privilege remote shell", 'opaque unterminated " at 3 parse ?', 'network - EXEC:sh -c \\"ls x\\" data'],
        "no shell reads it",
    ),
    ('ssh h "echo \'oops"', ["network h", "opaque unterminated ' at 5 parse ?"], "a shell that nobody knows"),
]

SUFFIXES = [
    ('"$VENV/bin/python" -m pytest', [], "a program by its last name"),
    ('"$VENV"/bin/python -c "import os; os.remove(\'.env\')"', ["delete .env ?"], "it does what python does"),
    ('"$X/rm" -rf /', ["delete / force recursive ?"], "rm, unsure"),
    ('"$X/bash" -c ls', ["opaque /bash name ?"], "a shell stays unknown"),
    ('"$X/sudo" ls', ["opaque /sudo name ?"], "so does a wrapper"),
    ('"$X/p$Y" ls', ["opaque /p name ?"], "half a name is none"),
    ("$X/bin/python x", [], "without quotes too, where the text does not say what X is"),
    ("X=$(cat f); $X/bin/python x", ["opaque $X/bin/python name ?"], "else it may be several words"),
]

SEARCHES = [
    ("rm -rf $(find . -name old.log)", ["delete old.log force recursive"], "a search by name is looked up"),
    ("rm -rf $(find . -type d -name old.log)", [], "with its type"),
    ("rm -f $(find . -name '.e*' -type f)", [ENV], "with its type behind"),
    ("rm -rf $(find . -name nothing)", [], "one that finds nothing"),
    ("cd $(ls); rm $(find . -name old.log)", ["opaque $(find . -name old.log) delete ?"], "from nowhere known"),
    ("rm $(find . -name '*.log' -mtime +1)", ["opaque $(find . -name '*.log' -mtime +1) delete ?"], "another test"),
    ("rm $(find . -name '*.log' | head -1)", ["opaque $(find . -name '*.log' | head -1) delete ?"], "in which order?"),
    ("rm -f $(find . -name '.e*')", [ENV], "what it finds counts"),
    ("rm -rf $(find .git -name .git)", ["delete .git force recursive"], "the start itself counts"),
    ("find .git -name .git -exec rm -rf {} +", ["delete .git force recursive"], "for -exec too"),
    ("rm -f $(find '/tmp /' -name x)", ["opaque $(find '/tmp /' -name x) delete ?"], "blanks would split it"),
]


@pytest.mark.parametrize(("command", "expected"), rows(ERRORS + SUFFIXES + SEARCHES))
def test_what_it_would_do(command, expected):
    assert shown(effects_of(command)) == expected


def test_a_glob_that_was_not_looked_at_whole_proves_nothing() -> None:
    world = FakeWorld({"/w/.env": "A=1"})
    world.cut = True
    found = judged("rm .e*", world)
    assert any(e.kind is Kind.OPAQUE and "delete" in e.how for e in found)
    assert any(e.kind is Kind.DELETE and e.target == "/w/.env" and e.sure for e in found), "what it gave is there"


@pytest.mark.parametrize("command", ["find . -name '*.pyc' -delete", "find . -type f -name '*.pyc' -delete"])
@pytest.mark.parametrize("count", [300, 1500], ids=["many", "too many to tell"])
def test_many_files_of_one_name_are_not_everything(command, count):
    found = judged(command, FakeWorld({f"/w/src/m{n}.pyc": "" for n in range(count)}))
    assert not any("contents" in e.how for e in found)
    assert any(e.kind in (Kind.DELETE, Kind.OPAQUE) for e in found)


@pytest.mark.parametrize(("start", "asks"), [("/srv", True), (".", False)], ids=["outside", "in the repository"])
def test_a_search_that_was_cut_is_asked_about_outside_only(start, asks):
    world = FakeWorld({"/srv/a.conf": "", "/w/a.conf": ""})
    world.cut = True
    found = judged(f"find {start} -name '*.conf' -delete", world)
    assert any(e.kind is Kind.OPAQUE for e in found) is asks


def judged(command, world):
    return list(analyse(Action("a", "s", Layer.SHELL, "shell", {"command": command}, "/w", 0.0, "/w"), world))
