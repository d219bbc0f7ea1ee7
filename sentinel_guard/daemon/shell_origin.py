"""Who started a shell: the coding agent, and the model's own command inside the agent's wrapper (ADR 0013).

Rules of this file:
1. Only a process that is a known agent's (``agents/registry``) and started the shell itself is believed to wrap.
2. A snapshot of the person's shell is believed if the agent made it before its model had done anything, in the agent's
   own folder, and it is as it was when it was first loaded. After a restart of the daemon: as before the first call.
3. What an agent runs for itself is told by its text, and by how it was started: a model may write such a text.
4. A folder that a wrapper puts in front of PATH is the agent's own, by where its program lies.
5. A wrapper that is not understood stays: the whole text is judged.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import re
import stat
import time
from collections.abc import Awaitable, Callable, Iterable

from sentinel_guard.agents import registry
from sentinel_guard.agents.base import CodingAgent
from sentinel_guard.core.model import Entry
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.live_sessions import Identity, Place
from sentinel_guard.daemon.wire_messages import UNKNOWN, Origin
from sentinel_guard.host.machine import processes

SNAPSHOT_SECONDS = 3.0
"""For which a call waits for a snapshot that is being made."""
LOADS_SECONDS = 0.5
"""Between the end of the shell that makes one and the shell that tries it."""


def agent_of(place: Place) -> CodingAgent | None:
    """The coding agent whose process the peer's parent is; None where that is none."""
    return _agent(place.above[0].pid) if place.above else None


def agent_above(place: Place) -> CodingAgent | None:
    """The nearest coding agent that the peer stands below; None where that is none."""
    return next(filter(None, (_agent(each.pid) for each in place.above)), None)


def _agent(pid: int) -> CodingAgent | None:
    described = processes.describe(pid)
    return registry.of_process(processes.executable(pid), described.command) if described else None


def origin(place: Place, argv: tuple[str, ...]) -> Origin:
    """Who started a shell with these arguments, and what the model wrote of it. A step of a call has no origin."""
    agent = None if place.parent else agent_of(place)
    if agent is None:
        return UNKNOWN
    text = wire_messages.script(argv)
    if text is None:
        return Origin(agent.name)
    if agent.starts_for_itself(text) and not agent.is_call(argv, processes.environ(place.peer.pid)):
        _note_snapshot(place, agent, text)
        return Origin(agent.name, for_itself=True)
    framed = agent.unwrap(text)
    if framed is None or not (_is_believed(place, agent, framed.snapshot) and _are_its_own(place, agent, framed.tools)):
        return Origin(agent.name, unknown_wrapper=framed is not None or agent.is_unknown_wrapper(text))
    return Origin(agent.name, framed.command, framed.around)


async def await_snapshot(place: Place, hold: Callable[[], Awaitable[None]]) -> None:
    """Let a call of the model's wait while its agent makes the snapshot with which it will start later calls.

    A call that ended before would make the snapshot one that may be the model's. A person's shell may start slowly.
    """
    live, began = place.live, time.monotonic()
    ended = math.inf
    while live.snapshot_begun and not _model_has_acted(place):
        now = time.monotonic()
        if not processes.alive(live.snapshot_begun):
            ended = min(ended, now)
        if now > min(began + SNAPSHOT_SECONDS, ended + LOADS_SECONDS):
            live.snapshot_begun = None  # no call waits for it again
            return
        await hold()
        await asyncio.sleep(0.01)


def _note_snapshot(place: Place, agent: CodingAgent, text: str) -> None:
    if _model_has_acted(place):
        return
    if agent.begins_snapshot and re.fullmatch(agent.begins_snapshot, text):
        place.live.snapshot_begun = place.peer
    if path := agent.snapshot_of(text):
        place.live.snapshot_begun = None
        place.live.sourced.setdefault(path, None)


def _model_has_acted(place: Place) -> bool:
    """Whether a tool call of the session has ended: from then on a file may be the model's own."""
    return any(call.outcome for call in place.live.session.calls)


def _are_its_own(place: Place, agent: CodingAgent, tools: str) -> bool:
    """Whether a folder of programs came with the agent's own."""
    return not tools or tools == agent.tools(processes.executable(place.above[0].pid))


def _is_believed(place: Place, agent: CodingAgent, path: str) -> bool:
    """Whether a snapshot is the one that the agent made before its model acted, in its own folder, unchanged since."""
    if not path:
        return True
    folder, live = agent.snapshot_folder(processes.environ(place.above[0].pid)), place.live
    if path.rpartition("/")[0] != folder or path not in live.sourced:
        return False
    identity: Identity = ()
    with contextlib.suppress(OSError):
        identity = _identity(os.stat(path))  # noqa: PTH116 - every call of an agent comes here
    live.sourced[path] = live.sourced[path] if live.sourced[path] is not None else identity
    return live.sourced[path] == identity


def _identity(seen: os.stat_result) -> Identity:
    return (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def remembered(verdicts: Iterable[Entry]) -> dict[str, Identity | None]:
    """The snapshots that may be believed after a restart, by a session's verdicts: what an agent made before the first
    call, and nobody has touched since (the time of a file's last change is the kernel's, ctime).
    """
    made: list[str] = []
    for entry in verdicts:
        if not entry.data.get("parent"):
            known = ((path, _unchanged(path, entry.at)) for path in made)
            return {path: identity for path, identity in known if identity}
        agent = registry.named(str(entry.data.get("agent", ""))) if entry.data.get("for_itself") else None
        arguments = entry.data.get("arguments")
        text = arguments.get("command") if isinstance(arguments, dict) else None
        if agent and isinstance(text, str) and (path := agent.snapshot_of(text)):
            made.append(path)
    return dict.fromkeys(made)


def _unchanged(path: str, since: float) -> Identity:
    with contextlib.suppress(OSError):
        seen = os.lstat(path)
        if stat.S_ISREG(seen.st_mode) and seen.st_ctime < since:
            return _identity(seen)
    return ()
