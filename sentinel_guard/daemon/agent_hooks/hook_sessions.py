"""Which session a hook's payload belongs to: that of ``run``, else one of the client's own (ADR 0038).

Rules of this file:
1. Below ``run`` or ``shell-init`` a client's hooks speak for that session: one session, each call once.
2. Without, a session is known by the client and the client's own id of it: several in one process, one across
   processes and folders; a subagent's belongs to the one that started it. Its repository is that of its first payload.
   Its owner is the client's process, by pid and start time; another one becomes it only when that has ended.
3. A session that was killed stays so, whichever process goes on with it.
"""

from __future__ import annotations

import asyncio
import itertools
import shlex
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sentinel_guard.agents import registry
from sentinel_guard.agents.hook_dialect import HookEvent
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.session.session import State
from sentinel_guard.daemon.agent_hooks.open_calls import OpenCalls
from sentinel_guard.daemon.begin_session import SessionStarter
from sentinel_guard.daemon.live_sessions import HOOKS, Live, Sessions
from sentinel_guard.errors import PeerError
from sentinel_guard.host import agent_hook_files, shims
from sentinel_guard.host.git import repository
from sentinel_guard.host.machine import ancestry, processes

REMEMBERED = 500
"""Newest sessions among which one is looked for that was killed."""


class Key(NamedTuple):
    """By which a client's session is known."""

    client: str
    session: str


class HookSessions:
    def __init__(
        self,
        sessions: Sessions,
        beginnings: SessionStarter,
        now: Callable[[], float],
    ) -> None:
        self._sessions, self._beginnings, self._now = sessions, beginnings, now
        self._keys: dict[Key, str] = {}
        self._mains: dict[Key, Key] = {}
        """Of subagents with a session id of their own: the session to which they belong."""
        self._tops: dict[str, str] = {}
        self._calls: dict[str, OpenCalls] = {}

    def calls(self, live: Live) -> OpenCalls:
        """The open calls of a session."""
        return self._calls.setdefault(live.id, OpenCalls())

    def is_ours(self, live: Live, argv: Sequence[str], text: str) -> bool:
        """Whether a shell runs the hook program or a script of ours as a client does, or says one of our refusals."""
        return bool(text and text in self.calls(live).ours) or self._is_hook(argv, text)

    def _is_hook(self, argv: Sequence[str], text: str) -> bool:
        """Whether a shell runs the hook program or a script of ours, and nothing else."""
        if len(argv) == 2 and argv[1] in agent_hook_files.files(self._sessions.places):
            return True
        program = shlex.quote(str(self._sessions.places.githook_folder / shims.HOOK))
        words = text.removeprefix(f"{program} ").split(" ") if text.startswith(f"{program} ") else []
        dialect = registry.hooks_of(words[0]) if len(words) == 2 else None
        return dialect is not None and words[1] in dialect.events

    async def find(self, pid: int, client: str, event: HookEvent, cwd: str) -> Live:
        """The session of a hook that process ``pid`` runs; begun where there is none. Raises SentinelError."""
        place = self._sessions.locate(pid)
        if place and place.live.kind != HOOKS:
            return place.live
        if place and (live := self._asked_before(place.live, client, event)):
            return live
        owner = serving(pid, client)
        # A client runs the hooks of another one's settings, too: whose process it is counts.
        client = agent_of(owner) or client
        key = self._key(client, event)
        if live := self._known(key):
            self._take_over(live, owner)
            live.told_by_client = live.told_by_client or self._is_asked_by(owner, pid)
            return live
        root = await self._top(cwd)
        # Nothing is waited for between this look and the beginning: two calls of one reply begin one session.
        live = self._known(key)
        if live is None:
            live = self._beginnings.begin_beside(key, owner, root, processes.environ(owner.pid))
            self._keys[key] = live.id
        live.told_by_client = live.told_by_client or self._is_asked_by(owner, pid)
        return live

    def _asked_before(self, nearest: Live, client: str, event: HookEvent) -> Live | None:
        """The session of the hook's client, where that has asked in its name before and is the owner below which the
        hook stands nearest: what ``serving`` and the rest would find, without asking of each process what it is.
        """
        if nearest.session.client[0] != client:
            return None
        live = self._sessions.live.get(self._keys.get(self._key(client, event), ""))
        return live if live and live.told_by_client and live.session.owner == nearest.session.owner else None

    def _is_asked_by(self, owner: Peer, pid: int) -> bool:
        """Whether nothing stands between the client and the hook but shells that run our hook and nothing else.

        A program that calls the hook by hand can look so, too, if it takes the pains.
        """
        between = itertools.takewhile(lambda peer: peer != owner, ancestry.lineage(pid)[1:])
        return all(self._runs_hook(processes.command_line(peer.pid)) for peer in between)

    def _runs_hook(self, argv: Sequence[str]) -> bool:
        text = argv[2] if len(argv) == 3 and argv[1] == "-c" else ""
        return self._is_hook(argv, text)

    def _key(self, client: str, event: HookEvent) -> Key:
        """A subagent with a session id of its own belongs to the session that started it, at any depth."""
        own = Key(client, event.session)
        if not event.parent or own in self._keys:
            return own
        above = Key(client, event.parent)
        self._mains[own] = self._mains.get(above, above)
        return self._mains[own]

    def _take_over(self, live: Live, owner: Peer) -> None:
        """Make a process the owner of a session whose owner has ended. While that lives, whoever else asks in the
        session's name speaks for it: a child of the agent's may have any name.
        """
        before = live.session.owner
        if before == owner or live.session.over or live.id not in self._sessions.live:
            return
        if before is None or not processes.alive(before):
            self._beginnings.goes_on_in(live, owner)

    def rest(self, live: Live, subagent: str) -> None:
        """No call of this session's main agent, or of a subagent, is under way."""
        self.calls(live).rest(subagent)
        self.under_way(live)

    def under_way(self, live: Live) -> None:
        """What runs below a client that has no other layer is a step of the call that it was let make last."""
        owner = live.session.owner
        if live.kind != HOOKS or owner is None:
            return
        if last := self.calls(live).last:
            live.calls[owner.pid] = last
        else:
            live.calls.pop(owner.pid, None)

    def _known(self, key: Key) -> Live | None:
        ident = self._keys.get(key)
        live = self._sessions.live.get(ident) if ident else self._taken_up(key)
        if live:
            self._keys[key] = live.id
            return live
        return self._killed(key)

    def _taken_up(self, key: Key) -> Live | None:
        """A session that lived on over a restart of the daemon."""
        mine = (one for one in self._sessions.live.values() if one.kind == HOOKS)
        found = (one for one in mine if one.session.client == key)
        return next(found, None)

    def _killed(self, key: Key) -> Live | None:
        """The same session, where it was killed; what only ended begins anew."""
        for entry in self._sessions.store.entries(kinds=("session",), last=REMEMBERED):
            client = entry.data.get("client")
            if isinstance(client, list | tuple) and tuple(client) == key:
                found = self._sessions.find(entry.session)
                if found and found.session.state is State.KILLED:
                    return found
        return None

    async def _top(self, cwd: str) -> str:
        if cwd not in self._tops:
            found = await asyncio.to_thread(repository.top, cwd)
            if not found:
                return ""  # it may become a repository
            self._tops[cwd] = found
        return self._tops[cwd]


def serving(pid: int, client: str) -> Peer:
    """The process of the client that runs a hook: the nearest above it that is that agent's, else one that is no shell.

    Raises PeerError where nothing above it can be seen.
    """
    above = ancestry.lineage(pid)[1:]
    known = next((peer for peer in above if agent_of(peer) == client), None)
    found = known or next((peer for peer in above if not _is_shell(peer)), None)
    if found is None:
        raise PeerError(f"nobody can say which {client} runs the hook of process {pid}")
    return found


def agent_of(peer: Peer) -> str:
    """Name of the coding agent that a process is; empty for any other."""
    described = processes.describe(peer.pid)
    agent = registry.of_process(processes.executable(peer.pid), described.command) if described else None
    return agent.name if agent else ""


def _is_shell(peer: Peer) -> bool:
    return processes.executable(peer.pid).rpartition("/")[2] in shims.SHELLS
