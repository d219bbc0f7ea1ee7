"""Incidents that nobody has explained: who is asked, when, and what goes on record."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.incidents import root_cause_and_sign_off
from sentinel_guard.core.incidents.incident_report import Incident, incident, name
from sentinel_guard.core.incidents.root_cause_and_sign_off import Review
from sentinel_guard.core.model import Entry, Layer
from sentinel_guard.core.session.session import Event, Session
from sentinel_guard.daemon.root_cause_requests import DAY, FRESH_DAYS, Reviews
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.machine.state_paths import StatePaths
from tests.core.incidents.test_incident_report import FACTS, VERDICT
from tests.support.fakes import Clock
from tests.support.guard_in_memory import Stand

NOW = 1_795_255_872.0


class Desk:
    """A session in a repository with reports, and what asks about them."""

    def __init__(self, folder) -> None:
        self.root = folder / "r"
        (self.root / "docs/incidents").mkdir(parents=True)
        self.stand = Stand(now=Clock(NOW))
        self.live = self.stand.live
        self.live.session = replace(self.live.session, root=str(self.root))
        places = StatePaths(folder / "state", folder / "run", folder / "config")
        self.reviews = Reviews(places, self.stand.store, self.stand.sessions, self.stand.now)

    def report(self, days=0.0, session="old", change=str):
        """A sealed report, so many days old; its path."""
        ident = name(NOW - days * DAY, session)
        text = incident(Incident(ident, VERDICT, Session(session, str(self.root)), FACTS.entries))
        path = self.root / "docs/incidents" / f"{ident}.md"
        path.write_text(change(text))
        data = {"path": str(path), "name": ident, "seal": root_cause_and_sign_off.seal(text)}
        self.stand.store.append(Entry(NOW, session, "incident", data))
        return path

    def begin(self):
        self.reviews.remember(self.live)
        return self.reviews.note(self.live)

    def fails(self, code=1, **changes):
        return asyncio.run(self.reviews.ask(self.live, replace(self.stand.action("make"), **changes), code))

    def entries(self, event):
        return [e for e in self.stand.store.log if e.data.get("event") == event]


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


def fill(text):
    return root_cause_and_sign_off.fill_in(text, Review("Step 2.", ("x",)), "by")


ASKED = (
    ({}, 1, "a fresh one"),
    ({"days": FRESH_DAYS - 0.1}, 1, "nearly too old"),
    ({"days": FRESH_DAYS + 0.1}, 0, "too old"),
    ({"change": fill}, 0, "filled in"),
    ({"change": lambda t: t.replace(root_cause_and_sign_off.SEAL, "")}, 1, "damaged: still not explained"),
)


@pytest.mark.parametrize(("report", "count"), [a[:2] for a in ASKED], ids=[a[2] for a in ASKED])
def test_what_is_asked_about(desk, report, count):
    path = desk.report(**report)
    assert len(desk.begin()) == count
    assert (path.stem in desk.fails()) is bool(count)


def test_nothing_is_said_where_there_is_nothing(desk):
    assert desk.begin() == []
    assert desk.fails() == ""


def test_what_is_signed_off_is_not_asked_about(desk):
    path = desk.report()
    desk.reviews.signed_off(str(path), "fine")
    assert desk.begin() == []


def test_a_link_is_no_report(desk):
    path = desk.report()
    path.rename(desk.root / "elsewhere")
    path.symlink_to(desk.root / "elsewhere")
    assert desk.begin() == []


QUIET = (
    ({"code": 0}, "a success: standard error may mean failure to whoever reads it"),
    ({"layer": Layer.SHIM}, "a program that a program has started reads it"),
    ({"parent": "a1"}, "a step of a call"),
)


@pytest.mark.parametrize("call", [q[0] for q in QUIET], ids=[q[1] for q in QUIET])
def test_rule_1_honest_work_is_not_disturbed(desk, call):
    desk.report()
    desk.begin()
    assert desk.fails(**call) == ""
    assert desk.fails() != "", "it is asked later"


def test_rule_1_it_is_asked_once_in_a_session_and_on_record(desk):
    desk.report(days=1)
    newest = desk.report(session="new")
    desk.begin()
    said = desk.fails()
    assert newest.stem in said and "(1 more after it)" in said
    assert desk.fails() == ""
    [asked] = desk.entries(root_cause_and_sign_off.ASKED)
    assert len(asked.data["names"]) == 2 and asked.session == "s1"
    assert desk.begin() == [], "a daemon that was started anew does not ask again"


def test_after_a_breaker_it_is_asked_once_the_session_goes_on(desk):
    desk.live.unexplained = (str(desk.report()),)
    desk.stand.sessions.note(desk.live, [encode_entries.state("s1", NOW, Event.BREAK, until=NOW + 60)])
    assert desk.fails() == "", "while it is paused it could do nothing about it"
    desk.stand.sessions.note(desk.live, [encode_entries.state("s1", NOW, Event.RESUME)])
    assert desk.fails() != ""


def test_what_was_filled_in_meanwhile_is_not_asked_about(desk):
    path = desk.report()
    desk.begin()
    path.write_text(fill(path.read_text()))
    assert desk.fails() == "" and not desk.entries(root_cause_and_sign_off.ASKED)


@pytest.mark.parametrize(("inside", "by"), [(True, "agent"), (False, "person")])
def test_who_filled_it_in_is_on_record(desk, inside, by):
    path = desk.report(change=fill)
    desk.reviews.filled(str(path), desk.live if inside else None)
    [entry] = desk.entries(root_cause_and_sign_off.FILLED)
    assert (entry.data["by"], entry.data["in"], entry.session) == (by, "s1" if inside else "", "old")
    assert len(entry.data["digest"]) == 64 and entry.data["name"] == path.stem


def test_a_sign_off_is_on_record_as_the_users_and_comes_once(desk):
    path = desk.report()
    desk.reviews.signed_off(str(path), "token=ghp_" + "a" * 36)
    [entry] = desk.entries(root_cause_and_sign_off.SIGN_OFF)
    assert entry.data["authorized_by"] == "user" and "ghp_" not in entry.data["note"]
    with pytest.raises(ConfigError, match="already"):
        desk.reviews.signed_off(str(path), "")


REFUSED = (
    (lambda d: d.report(), ConfigError, "root cause is empty", "it is still the template"),
    (lambda d: d.report(change=lambda t: fill(t).replace("L4 FATAL", "L1")), ConfigError, "CHANGED", "rule 3"),
    (lambda d: d.root / "README.md", ConfigError, "no incident report", "another file"),
    (
        lambda d: d.root / "docs/incidents/INCIDENT-2026-11-21T101112Z-x.md",
        HostError,
        "cannot be read",
        "a missing one",
    ),
)


@pytest.mark.parametrize(("make", "error", "words"), [r[:3] for r in REFUSED], ids=[r[3] for r in REFUSED])
def test_what_is_no_explained_report_does_not_go_on_record(desk, make, error, words):
    path = make(desk)
    with pytest.raises(error, match=words):
        desk.reviews.filled(str(path), None)
    assert not desk.entries(root_cause_and_sign_off.FILLED)
