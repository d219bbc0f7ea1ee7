"""``sentinel-guard replay``: what would be said now. From the log, and from the report alone. Nothing runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.commands.replay import replay
from sentinel_guard.core import decode_entries
from sentinel_guard.core.incidents import root_cause_and_sign_off, timeline
from sentinel_guard.core.incidents.incident_report import Incident, incident
from sentinel_guard.core.model import Entry
from sentinel_guard.core.session.session import Session
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.machine.state_paths import places
from tests.commands.test_incidents import plain
from tests.core.incidents.test_replay_incident import FAIL, story

NAME = "INCIDENT-1970-01-01T001700Z-s1"
LOOP = story((f"touch ran-{'x' * 300}", {}), *[("touch ran", FAIL)] * 3)


@pytest.fixture
def where(tmp_path):
    made = places({"SENTINEL_HOME": str(tmp_path / "g")})
    made.make()
    return made


@pytest.fixture
def repo(tmp_path):
    """A repository with one report."""
    folder = tmp_path / "r" / "docs" / "incidents"
    folder.mkdir(parents=True)
    (tmp_path / "r" / ".git").mkdir()
    verdict = decode_entries.unreported(LOOP, str(tmp_path / "r"))
    facts = Incident(NAME, verdict, Session("s1", str(tmp_path / "r")), timeline.entries_until_stop(LOOP))
    (folder / f"{NAME}.md").write_text(incident(facts))
    return tmp_path / "r"


@pytest.fixture
def logged(where, repo):
    store = SqliteStore(where.database)
    for entry in LOOP:
        store.append(replace(entry, data=dict(entry.data) | ({"root": str(repo)} if entry.kind == "session" else {})))
    text = (repo / "docs" / "incidents" / f"{NAME}.md").read_text()
    call = decode_entries.unreported(LOOP, "").action.id
    data = {
        "path": f"/r/{NAME}.md",
        "name": NAME,
        "seal": root_cause_and_sign_off.seal(text),
        "call": call,
        "upto": LOOP[-1].seq,
    }
    store.append(Entry(1e6, "s1", "incident", data))
    store.append(Entry(1e6, "s1", "verdict", {"id": "later", "tool": "shell", "response": "allow"}))
    store.close()


def laxer(where):
    where.policy.write_text("version = 1\n[loop]\nrepeats = 9\n")


def test_it_says_then_and_now_and_nothing_runs(where, repo, logged, capsys):
    assert replay(where, repo, "", as_json=False) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert [line.split("\t")[1:4] for line in lines[1:4]] == [["allow", "allow", ""]] * 3
    assert lines[-2].split("\t")[1:] == ["break (loop)", "break (loop)", "", "end of: touch ran"]
    assert lines[-1].startswith("It would be stopped at step ")
    assert "Steps from the audit log." in said.err and "of today" in said.err
    assert not list(repo.glob("ran*"))


def test_what_would_not_be_stopped_ends_with_1_and_is_marked(where, repo, logged, capsys):
    laxer(where)
    assert replay(where, repo, NAME, as_json=False) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("It would NOT be stopped")
    assert lines[-2].split("\t")[1:4] == ["break (loop)", "allow", "changed"]


def test_for_programs(where, repo, logged, capsys):
    assert replay(where, repo, NAME, as_json=True) == 0
    said = json.loads(capsys.readouterr().out)
    numbers = [s["step"] for s in said["steps"]]
    assert said["stopped"] and said["stopped_at"] == numbers[-1]
    assert numbers == sorted(numbers) and said["source"] == "the audit log"
    assert said["steps"][-1]["then"] == said["steps"][-1]["now"] == {"response": "break", "rule": "loop"}


def test_without_the_log_the_reports_own_table_is_judged(where, repo, capsys):
    assert replay(where, repo, "", as_json=True) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["source"] == "the report's own table"
    assert said["steps"][0]["now"] is None, "a command that was cut"
    assert said["stopped_at"] == said["steps"][-1]["step"]
    laxer(where)
    assert replay(where, repo, "", as_json=False) == 1
    assert "not known (cut)" in capsys.readouterr().out


def test_in_a_terminal_it_is_a_table(where, repo, logged, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    laxer(where)
    replay(where, repo, "", as_json=False)
    lines = plain(capsys.readouterr().out).splitlines()
    assert max(len(line) for line in lines if "It would" not in line) <= 80
    assert any("≠" in line and "break (loop)" in line for line in lines)


def test_a_report_without_a_stop_cannot_be_replayed(where, repo):
    (repo / "docs" / "incidents" / f"{NAME}.md").write_text("# no timeline\n")
    with pytest.raises(ConfigError, match="holds no step"):
        replay(where, repo, "", as_json=False)


def test_a_report_that_is_a_link_is_not_followed(where, repo):
    report = repo / "docs" / "incidents" / f"{NAME}.md"
    report.rename(repo / "x")
    report.symlink_to(repo / "x")
    with pytest.raises(HostError):
        replay(where, repo, "", as_json=False)
