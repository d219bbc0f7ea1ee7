"""The rules that a session's broker gets: made before it asks, anew when something has changed."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from sentinel_guard.daemon.held_calls import broker_rules
from sentinel_guard.daemon.held_calls.broker_rules import HOME
from sentinel_guard.host import agent_hook_files, kernel_layer
from tests.support.guard_in_memory import Stand


@pytest.fixture
def stand():
    found = Stand()
    found.live.reads = object()
    return found


def current(stand):
    return broker_rules.current(stand.live, stand.sessions)


def test_a_broker_gets_what_was_prepared_for_it(stand):
    broker_rules.prepare(stand.live, stand.sessions)
    prepared = stand.live.broker_rules[1]
    assert prepared
    assert current(stand) is prepared
    assert current(stand) is prepared


def test_rules_are_made_anew_where_reads_cannot_be_seen(stand):
    broker_rules.prepare(stand.live, stand.sessions)
    prepared, stand.live.reads = stand.live.broker_rules[1], None
    assert current(stand) is not prepared


def test_rules_are_made_anew_where_a_person_has_let_something_go(stand):
    before = current(stand)
    stand.live.released.add("/var/other")
    assert current(stand) != before
    assert current(stand) is current(stand)


def test_the_sockets_are_looked_for_once(stand, monkeypatch):
    broker_rules.prepare(stand.live, stand.sessions)
    monkeypatch.setattr(kernel_layer, "terminal_sockets", None)
    stand.live.released.add("/var/other")
    assert current(stand)


def test_a_tool_folder_of_the_environment_in_which_the_session_began(stand):
    # A runner that has its agent lets nobody of the same user read its environment (prctl(2), PR_SET_DUMPABLE).
    folder = f"{HOME}/elsewhere/cargo"
    stand.live.begun_in = {"CARGO_HOME": folder, **os.environ}
    assert any(os.fsencode(folder) in rule for _, rule in current(stand))
    assert not any(os.fsencode(str(Path(folder).parent / "go")) in rule for _, rule in current(stand))


def test_settings_that_an_agent_writes_anew_by_itself_are_not_held(stand, monkeypatch):
    theirs, ours = "/home/u/.qwen/settings.json", "/home/u/.clinerules/hooks/PreToolUse"
    monkeypatch.setattr(agent_hook_files, "files", lambda _: (theirs, ours))
    stand.live.watch = SimpleNamespace(restricted=(), compares_keys=lambda path: path == theirs)
    held = b"\n".join(rule for _, rule in current(stand))
    assert theirs.encode() not in held, "the watch looks at its keys: an agent moves it away and back at its start"
    assert ours.encode() in held
