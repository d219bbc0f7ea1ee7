"""``sentinel-guard incidents``: reports are listed, shown safely, filled in and signed off."""

from __future__ import annotations

import io
import json
import re
import time
from pathlib import Path

import pytest

from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.commands import incidents
from sentinel_guard.commands.incident_view import render
from sentinel_guard.core.incidents import root_cause_and_sign_off
from sentinel_guard.core.incidents.incident_report import Incident, incident
from sentinel_guard.core.incidents.root_cause_and_sign_off import Review
from sentinel_guard.core.model import Entry
from sentinel_guard.core.session.session import Session
from sentinel_guard.errors import ConfigError, HostError, SentinelError
from sentinel_guard.host.machine.state_paths import places
from tests.core.incidents.test_incident_report import FACTS, VERDICT
from tests.support.fake_daemon import FakeDaemon

OLD = "INCIDENT-2026-11-20T100000Z-aa11"
NAME = "INCIDENT-2026-11-21T090000Z-bb22"
GOOD = Review("Step 2 was wrong.", ("look first", "ask"))


@pytest.fixture(autouse=True)
def _zone(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def where(tmp_path):
    made = places({"SENTINEL_HOME": str(tmp_path / "g")})
    made.make()
    return made


@pytest.fixture
def repo(tmp_path, where):
    """Two reports: one of an older version, one that is sealed."""
    root = tmp_path / "r"
    folder = root / "docs" / "incidents"
    folder.mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "src" / "deep").mkdir(parents=True)
    (folder / f"{OLD}.md").write_text("intro\n# Circuit breaker: loop\n\tindented \x1b[2J\n")
    (folder / f"{OLD}.patch").write_text("diff")
    (folder / "README.md").write_text("# not a report")
    facts = Incident(NAME, VERDICT, Session("s", str(root), command=("agent",)), FACTS.entries)
    (folder / f"{NAME}.md").write_text(incident(facts))
    record(where, {"path": f"/elsewhere/{NAME}.md", "seal": root_cause_and_sign_off.seal(incident(facts))})
    return root


def record(where, data):
    store = SqliteStore(where.database)
    store.append(Entry(1.0, "s", "incident", data))
    store.close()


def text(repo):
    return (repo / "docs" / "incidents" / f"{NAME}.md").read_text()


def out(capsys):
    return capsys.readouterr().out


def plain(said):
    return re.sub(r"\x1b\[[0-9;]*m", "", said)


@pytest.mark.parametrize("folder", ["", "src/deep"])
def test_reports_are_listed_oldest_first_from_anywhere_in_the_repository(where, repo, capsys, folder):
    assert incidents.list_reports(where, repo / folder) == 0
    assert [line.split("\t")[:4] for line in out(capsys).splitlines()] == [
        [OLD, "open", "2026-11-20 10:00:00 +00:00", ""],
        [NAME, "open", "2026-11-21 09:00:00 +00:00", "L4"],
    ]


def test_the_list_for_programs(where, repo, capsys):
    incidents.list_reports(where, repo, as_json=True)
    [_, newest] = json.loads(out(capsys))["incidents"]
    assert newest["name"] == NAME and newest["path"].endswith(f"{NAME}.md")
    assert newest["headline"] == "Kill switch (system.delete): 'rm -rf /': it deletes the system."


NAMES = [
    ("no name is the newest", "", "Kill switch"),
    ("the whole name", OLD, "Circuit breaker"),
    ("the file's name", f"{OLD}.md", "Circuit breaker"),
    ("the path", f"docs/incidents/{OLD}.md", "Circuit breaker"),
    ("the id", "aa11", "Circuit breaker"),
    ("the day", "11-21", "Kill switch"),
]


@pytest.mark.parametrize(("name", "words"), [row[1:] for row in NAMES], ids=[row[0] for row in NAMES])
def test_a_report_is_found_by_its_name(where, repo, capsys, name, words):
    assert incidents.show(where, repo, name) == 0
    assert words in out(capsys)


def test_in_a_pipe_it_is_the_markdown_itself_and_the_seal_is_said_beside(where, repo, capsys):
    incidents.show(where, repo, NAME)
    said = capsys.readouterr()
    assert said.out.rstrip("\n") == text(repo).rstrip("\n")
    assert said.err == f"{NAME}: sealed, unchanged.\n"


CHANGES = (
    (lambda t: t.replace("rm -rf /", "ls"), 1, "CHANGED since it was written", "the machine's part"),
    (lambda t: t.replace(root_cause_and_sign_off.SEAL, ""), 1, "CHANGED since it was written", "the mark"),
    (lambda t: f"{t}\nby the agent\n", 0, "sealed, unchanged", "the agent's part"),
    (lambda t: t.replace("\n", "\r\n"), 0, "sealed, unchanged", "line ends, by git"),
    (lambda t: t.replace("| Session | s |", "| Session | t |"), 1, "CHANGED since", "the session that it names"),
)


@pytest.mark.parametrize(("change", "code", "words"), [c[:3] for c in CHANGES], ids=[c[3] for c in CHANGES])
def test_a_change_is_seen(where, repo, capsys, change, code, words):  # noqa: PLR0917 - a row of the table
    report = repo / "docs" / "incidents" / f"{NAME}.md"
    report.write_bytes(change(text(repo)).encode())
    assert incidents.show(where, repo, NAME) == code
    assert words in capsys.readouterr().err


def test_what_an_agent_wrote_cannot_steer_the_terminal(where, repo, capsys):
    incidents.show(where, repo, "aa11")
    assert out(capsys).endswith("        indented \\x1b[2J\n")


REFUSED = [
    ("nothing has the name", "zz", "No incident report has 'zz' in the name"),
    ("several have the name", "INCIDENT", "2 incident reports have 'INCIDENT' in the name"),
    ("a path elsewhere is no name", "../../etc/passwd", "No incident report has"),
]


@pytest.mark.parametrize(("name", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_wrong_name_is_refused_with_words(where, repo, name, words):
    with pytest.raises(ConfigError, match=words) as e:
        incidents.show(where, repo, name)
    assert "sentinel-guard incidents" in e.value.hint


def test_no_reports_are_said(where, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert incidents.list_reports(where, tmp_path / "empty") == 0
    assert "There is no incident report in" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="There is no incident report"):
        incidents.show(where, tmp_path / "empty", "")


def test_a_report_that_cannot_be_read_is_said_and_the_others_are_listed(where, repo, capsys):
    (repo / "docs" / "incidents" / "INCIDENT-2026-11-22T000000Z-cc33.md").symlink_to("nowhere")
    with pytest.raises(HostError, match="cannot be read"):
        incidents.show(where, repo, "")
    incidents.list_reports(where, repo)
    assert [line.split("\t")[1] for line in out(capsys).splitlines()] == ["open", "open", "unreadable"]


def in_a_terminal(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")


def test_in_a_terminal_of_80_columns_the_timeline_stays_a_table(where, repo, capsys, monkeypatch):
    in_a_terminal(monkeypatch)
    incidents.show(where, repo, NAME)
    lines = plain(out(capsys)).splitlines()
    assert max(map(len, lines)) <= 80
    assert "|---|" not in "\n".join(lines)
    [row] = [line for line in lines if line.startswith("2 ")]
    assert row.split()[:4] == ["2", "10:11:04.042", "verdict", "make"]
    assert lines[-1] == f"{NAME}: sealed, unchanged."


def test_in_a_terminal_the_list_is_a_table(where, repo, capsys, monkeypatch):
    in_a_terminal(monkeypatch)
    incidents.list_reports(where, repo)
    lines = plain(out(capsys)).splitlines()
    assert lines[0].split() == ["incident", "state", "what"]
    assert max(map(len, lines)) <= 80


def test_an_older_report_without_a_timeline_is_shown(where, repo, capsys, monkeypatch):
    in_a_terminal(monkeypatch)
    assert incidents.show(where, repo, OLD) == 0
    assert "Circuit breaker" in out(capsys)


@pytest.fixture
def daemon(where):
    """The real command's side of the wire; the daemon's own checks have their own tests."""
    fake = FakeDaemon(where)
    yield fake
    fake.close()


def test_the_agents_part_is_filled_in_and_recorded(where, repo, daemon, capsys):
    before = text(repo).partition(root_cause_and_sign_off.SEAL)[0]
    assert incidents.fill(where, repo, NAME, GOOD) == 0
    assert text(repo).partition(root_cause_and_sign_off.SEAL)[0] == before
    assert root_cause_and_sign_off.read(text(repo)) == GOOD
    [asked] = [m for m in daemon.heard if m["op"] == "filled"]
    assert asked["path"].endswith(f"docs/incidents/{NAME}.md")
    assert "sign-off" in out(capsys)


BAD = (
    (Review("Step 99 was wrong.", ("x",)), "has no step 99", "a step that is not there"),
    (Review("", ("x",)), "root cause is empty", "no cause"),
)


@pytest.mark.parametrize(("given", "words"), [b[:2] for b in BAD], ids=[b[2] for b in BAD])
def test_what_is_not_good_enough_changes_nothing(where, repo, daemon, given, words):
    before = text(repo)
    with pytest.raises(ConfigError, match=words):
        incidents.fill(where, repo, NAME, given)
    assert text(repo) == before


def test_a_report_whose_sealed_part_was_changed_is_not_filled_in(where, repo, daemon):
    (repo / "docs" / "incidents" / f"{NAME}.md").write_text(text(repo).replace("L4 FATAL", "L1"))
    with pytest.raises(ConfigError, match="CHANGED since it was written"):
        incidents.fill(where, repo, NAME, GOOD)


def test_what_is_signed_off_is_not_filled_in(where, repo, daemon):
    record(where, {"name": NAME, "event": root_cause_and_sign_off.SIGN_OFF})
    with pytest.raises(ConfigError, match="signed off"):
        incidents.fill(where, repo, NAME, GOOD)


def test_a_sign_off_is_recorded_and_then_written_below(where, repo, daemon, capsys):
    incidents.fill(where, repo, NAME, GOOD)
    assert incidents.sign_off(where, repo, NAME, "fine") == 0
    assert [m["note"] for m in daemon.heard if m["op"] == "sign-off"] == ["fine"]
    assert re.search(r"\nSigned off by the user, 20[0-9: -]+ UTC: fine\n$", text(repo))
    assert "not filled in" not in out(capsys)


def test_without_a_name_it_is_the_newest_that_is_not_signed_off(where, repo, daemon):
    folder = repo / "docs" / "incidents"
    newer = "INCIDENT-2999-01-01T000000Z-zz"
    (folder / f"{newer}.md").write_text(text(repo))
    incidents.sign_off(where, repo, "", "")
    record(where, {"name": newer, "event": root_cause_and_sign_off.SIGN_OFF})
    incidents.sign_off(where, repo, "", "")
    assert [Path(m["path"]).stem for m in daemon.heard if m["op"] == "sign-off"] == [newer, NAME]


LONG = "/home/somebody/" + "a-folder/" * 12 + "file.txt"


@pytest.mark.parametrize("before", ["", "The file is at ", "# A heading\n\nShort.\n\n```\nx\n\ny\n```\n\n"])
def test_a_path_can_be_copied_from_a_rendered_report(before):
    lines = [line.plain for line in render(f"{before}`{LONG}` was changed.\n\nThe end of it.\n", 60)]
    assert [line for line in lines if LONG in line] and "The end of it." in lines


RENDERED = (
    ("# A\n\nOne\ntwo `x|y` **b**.\n", "A\n\nOne two x|y b.\n", "a heading, a paragraph, what is marked in it"),
    ("- " + "a " * 20 + "\n- b", "  - " + "a " * 12 + "a\n    " + "a " * 6 + "a\n  - b", "a list, folded below itself"),
    ("| | |\n|---|---|\n| Rule | a \\| b &lt;c |\n", "Rule  a | b <c\n", "a table"),
    ("````diff\n+a\n```\n````\n<!-- sentinel: x -->\n", "  +a\n  ```\n", "a fence in a fence; a comment is not shown"),
    ("```\nnever closed", "", "what is not closed"),
)


@pytest.mark.parametrize(("text", "shown"), [row[:2] for row in RENDERED], ids=[row[2] for row in RENDERED])
def test_a_report_is_rendered(text, shown):
    assert "\n".join(line.plain.rstrip() for line in render(text, 30)) == shown


def test_a_sign_off_that_the_daemon_refuses_is_not_written(where, repo, daemon):
    daemon.replies["sign-off"] = {"ok": False, "error": "403", "hint": ""}
    before = text(repo)
    with pytest.raises(SentinelError, match="403"):
        incidents.sign_off(where, repo, NAME, "")
    assert text(repo) == before


def test_a_sign_off_without_a_root_cause_says_so(where, repo, daemon, capsys):
    incidents.sign_off(where, repo, NAME, "")
    assert "Its root cause was not filled in." in out(capsys)


def test_what_is_given(tmp_path, monkeypatch):
    assert incidents.given("why", ("a", "b"), None) == Review("why", ("a", "b"))
    monkeypatch.setattr("sys.stdin", io.StringIO("from standard input"))
    assert incidents.given("-", ("a",), None).cause == "from standard input"
    file = tmp_path / "f.md"
    file.write_text("## Root cause\nStep 1.\n## Action items\n- a\n")
    assert incidents.given("", (), file) == Review("Step 1.", ("a",))
    with pytest.raises(ConfigError, match="takes the place"):
        incidents.given("why", (), file)
    with pytest.raises(HostError, match="cannot be read"):
        incidents.given("", (), tmp_path / "none")
