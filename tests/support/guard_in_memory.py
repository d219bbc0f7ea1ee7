"""A guard in memory: one session, a person with scripted replies, a machine of dictionaries, time as a test wants."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from sentinel_guard.core.model import Action, Entry, Layer, Outcome, Usage
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Gate, Policy
from sentinel_guard.core.session import token_ledger
from sentinel_guard.core.session.session import Session
from sentinel_guard.daemon.guard import Guard, Judged
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.daemon.token_usage.read_records import TokenRecords
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.policy_files import builtin
from tests.support.fakes import Clock, FakeWorld, MemoryStore, PatientPeer, QuietReactions, ScriptedHuman

ROOT = "/home/ann/work"
PLACES = StatePaths(Path("/state"), Path("/run/sg"), Path("/config"))
POLICY = replace(merge(builtin()), confirm={"deploy": ("deploy",), "migrate": ("migrate",)}, gate=Gate(seconds=5))


def world(**fields) -> FakeWorld:
    files = {f"{ROOT}/.env": "MODE=debug\n", f"{ROOT}/a.txt": "a\n"}
    return FakeWorld(files, folders=(ROOT, f"{ROOT}/.git", "/etc", "/usr"), **fields)


class Stand:
    def __init__(self, *replies, policy: Policy = POLICY, store=None, interactive=True, now=None) -> None:
        self.store = MemoryStore() if store is None else store
        self.human = ScriptedHuman(*replies)
        self.policy, self.now = policy, now or Clock()
        self.sessions = Sessions(self.store, PLACES, lambda s: Live(s, lambda: self.policy))
        self.reactions = QuietReactions()
        self.guard = Guard(
            sessions=self.sessions,
            reactions=self.reactions,
            tokens=TokenRecords(self.sessions, self.now),
            world=lambda _live, _action: world(),
            is_new=lambda _live, _tracked, _path: False,
            now=self.now,
        )
        self.live = self.begin("s1", interactive=interactive)
        self._ids = itertools.count(1)

    def begin(self, ident: str, *, interactive=True, owner: Peer | None = None) -> Live:
        live = Live(Session(ident), lambda: self.policy, runner=self.human)
        pair = [owner.pid, owner.start] if owner else None
        self.sessions.note(
            live, [Entry(self.now(), ident, "session", {"root": ROOT, "interactive": interactive, "owner": pair})]
        )
        self.sessions.live[ident] = live
        return live

    def action(self, command: str, *, parent="") -> Action:
        ident = f"a{next(self._ids)}"
        return Action(ident, self.live.id, Layer.SHELL, "shell", {"command": command}, ROOT, self.now(), ROOT, parent)

    async def propose(self, command: str, *, parent="", peer: PatientPeer | None = None) -> Judged:
        return await self.guard.handle(self.live, self.action(command, parent=parent), peer or PatientPeer())

    async def call(self, command: str, *, code=0, error="") -> str:
        """One whole tool call; the word of what was said about its outcome."""
        judged = await self.propose(command)
        outcome = Outcome(judged.verdict.action.id, self.now(), code, error=error)
        verdict = self.guard.observe(self.live, judged, outcome)
        self.guard.tell(self.live, verdict, "said", outcome.at)
        return verdict.response.word

    def report(self, usage: Usage) -> None:
        """Tokens that the agent tells of."""
        self.sessions.note(self.live, [token_ledger.entry(self.live.id, self.now(), usage)])

    def verdict(self, command: str, **fields):
        return asyncio.run(self.propose(command, **fields)).verdict

    def kinds(self) -> list[str]:
        return [e.data.get("event") or e.kind for e in self.store.log]


@contextlib.asynccontextmanager
async def linked() -> AsyncIterator[tuple[Link, Link]]:
    """Two ends of one real connection."""
    ends = [Link(end) for end in socket.socketpair()]
    try:
        yield ends[0], ends[1]
    finally:
        for end in ends:
            await end.close()
