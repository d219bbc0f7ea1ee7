"""Which session a hook asks for: found by the client below which it stands, once that has asked in its name."""

from __future__ import annotations

import asyncio
import os
from types import SimpleNamespace

import pytest

from sentinel_guard.agents.hook_dialect import HookEvent, Moment
from sentinel_guard.core.peer import Peer
from sentinel_guard.daemon.agent_hooks import hook_sessions
from sentinel_guard.daemon.agent_hooks.hook_sessions import HookSessions, Key
from sentinel_guard.daemon.live_sessions import HOOKS, Place

CLIENT, OTHER = Peer(71, 1), Peer(72, 1)


ROWS = [
    ("claude", "k", True, "k", "the client asks again"),
    ("claude", "k", False, "", "only a program has asked in its name so far"),
    ("codex", "k", True, "", "another client's hook, whose process it may be"),
    ("claude", "l", True, "", "another session of the client's"),
    ("claude", "m", True, "", "a session of another process of the client's"),
]


@pytest.mark.parametrize(("client", "session", "told", "found", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_who_asked_before_is_known_without_a_look_at_each_process(monkeypatch, client, session, told, found, why):  # noqa: PLR0917 - a row
    def live(name: str, owner: Peer) -> SimpleNamespace:
        state = SimpleNamespace(client=("claude", name), owner=owner, over=False)
        return SimpleNamespace(id=name, kind=HOOKS, session=state, told_by_client=told)

    known = {"k": live("k", CLIENT), "m": live("m", OTHER)}
    place = Place(known["k"], Peer(os.getpid(), 1))
    sessions = SimpleNamespace(live=known, locate=lambda _: place)
    hooks = HookSessions(sessions, None, None)
    hooks._keys = {Key("claude", name): name for name in known}

    def serving(_pid, _client):
        raise LookupError("each process above the hook is looked at")

    monkeypatch.setattr(hook_sessions, "serving", serving)
    asked = hooks.find(7, client, HookEvent(Moment.CALL, session), "/")
    if found:
        assert asyncio.run(asked).id == found
    else:
        with pytest.raises(LookupError):
            asyncio.run(asked)
