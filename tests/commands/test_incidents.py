"""``sentinel-guard incidents``: reports are listed and shown, safely."""

from __future__ import annotations

import pytest

from sentinel_guard.commands import incidents
from sentinel_guard.errors import ConfigError, HostError

FIRST = "INCIDENT-2026-11-20T100000Z-aa11"
SECOND = "INCIDENT-2026-11-21T090000Z-bb22"


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "docs" / "incidents"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (folder / f"{SECOND}.md").write_text("# Kill switch\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    (folder / f"{FIRST}.md").write_text("intro\n# Circuit breaker: loop\n\tindented \x1b[2J\n")
    (folder / f"{FIRST}.patch").write_text("diff")
    (folder / "README.md").write_text("# not a report")
    return tmp_path


@pytest.mark.parametrize("where", ["", "src/deep"])
def test_reports_are_listed_oldest_first_from_anywhere_in_the_repository(repository, capsys, where):
    assert incidents.list_reports(repository / where) == 0
    assert capsys.readouterr().out.splitlines() == [f"{FIRST}\tCircuit breaker: loop", f"{SECOND}\tKill switch"]


NAMES = [
    ("no name is the newest", "", "Kill switch"),
    ("the whole name", FIRST, "Circuit breaker"),
    ("the file's name", f"{FIRST}.md", "Circuit breaker"),
    ("the id", "aa11", "Circuit breaker"),
    ("the day", "11-21", "Kill switch"),
]


@pytest.mark.parametrize(("name", "words"), [row[1:] for row in NAMES], ids=[row[0] for row in NAMES])
def test_a_report_is_found_by_its_name(repository, capsys, name, words):
    assert incidents.show(repository, name) == 0
    assert words in capsys.readouterr().out


def test_what_an_agent_wrote_cannot_steer_the_terminal(repository, capsys):
    incidents.show(repository, "aa11")
    assert capsys.readouterr().out.endswith("        indented \\x1b[2J\n")


REFUSED = [
    ("nothing has the name", "zz", "No incident report has 'zz' in the name"),
    ("several have the name", "INCIDENT", "2 incident reports have 'INCIDENT' in the name"),
    ("a path is no name", "../../etc/passwd", "No incident report has"),
]


@pytest.mark.parametrize(("name", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_wrong_name_is_refused_with_words(repository, name, words):
    with pytest.raises(ConfigError, match=words) as e:
        incidents.show(repository, name)
    assert "sentinel-guard incidents" in e.value.hint


def test_no_reports_are_said(tmp_path, capsys):
    assert incidents.list_reports(tmp_path) == 0
    assert "There is no incident report in" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="There is no incident report"):
        incidents.show(tmp_path, "")


def test_a_report_that_cannot_be_read_is_an_error_with_words(repository):
    (repository / "docs" / "incidents" / "INCIDENT-2026-11-22T000000Z-cc33.md").symlink_to("nowhere")
    with pytest.raises(HostError, match="cannot be read: No such file"):
        incidents.show(repository, "")


def test_a_terminal_gets_rendered_markdown(repository, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    incidents.show(repository, "bb22")
    out = capsys.readouterr().out
    assert "Kill switch" in out
    assert "|---|" not in out
