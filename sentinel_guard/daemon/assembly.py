"""Composition root of the daemon: construct and connect its parts, serve both sockets, stop when idle."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from sentinel_guard.agents import registry
from sentinel_guard.audit import head as head_file
from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.core.analysis.programs.databases import sql_statements
from sentinel_guard.core.analysis.world import AskingWorld
from sentinel_guard.core.frame_stack import with_room
from sentinel_guard.core.model import Action, Entry
from sentinel_guard.core.session.session import State
from sentinel_guard.daemon.agent_hooks.hook_sessions import HookSessions
from sentinel_guard.daemon.agent_socket import Server
from sentinel_guard.daemon.begin_session import SessionStarter
from sentinel_guard.daemon.call_outcomes import Outcomes
from sentinel_guard.daemon.file_integrity.watch_shims import ShimsWatch
from sentinel_guard.daemon.git_hook_requests import Githooks
from sentinel_guard.daemon.git_hook_worker import HookJudge
from sentinel_guard.daemon.guard import Guard
from sentinel_guard.daemon.help_and_usage_requests import AgentRequests
from sentinel_guard.daemon.live_sessions import HOOKS, RUN, Live
from sentinel_guard.daemon.operator_socket import Operators
from sentinel_guard.daemon.peer_connection import Connections, Link, Listener, raise_file_limit
from sentinel_guard.daemon.snapshots_and_rollback import Recovery
from sentinel_guard.daemon.verdict_reactions import Reactions
from sentinel_guard.daemon.write_incidents import Incidents
from sentinel_guard.errors import HostError, StoreError
from sentinel_guard.host import audit_witness, shims
from sentinel_guard.host.alert_channels import Alerts
from sentinel_guard.host.containers import container_engine
from sentinel_guard.host.git import committed_file, private_git_dir
from sentinel_guard.host.git.repository import Tracked
from sentinel_guard.host.githooks.push_of_other_repository import Push
from sentinel_guard.host.machine import allocator, birth_time, processes
from sentinel_guard.host.machine.process_control import forbid_tracing, take_short_turns
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.policy_files import Policies
from sentinel_guard.host.running_processes import RunningProcesses
from sentinel_guard.host.world import FolderMemory, HostWorld

IDLE = 600.0
"""Seconds without a session or a question after which the daemon ends by itself."""
WITNESS = 60.0
"""Seconds between two looks whether a witness is to be told."""
AGAIN = 1.0
"""Seconds from one look at the shims to the next where the state is gone: it may still be in the course of it."""
LOOK = 2.0
"""Seconds between two looks for sessions whose owner has gone."""
OPERATORS = 128
"""Connections of operators: runners, commands, windows."""
SWITCH = 0.0005
"""Seconds that a busy thread keeps the interpreter while another one waits for it."""
log = logging.getLogger(__name__)


class Daemon:
    """All parts, joined."""

    loop: asyncio.AbstractEventLoop | None = None
    """While it serves."""
    _burials: frozenset[asyncio.Task[None]] = frozenset()

    def __init__(self, places: StatePaths) -> None:
        self.places = places
        self.store = SqliteStore(places.database)
        self.now = _steady_clock()
        self.stopped, self.teller = asyncio.Event(), audit_witness.Teller()
        self.used, self.folders = time.monotonic(), FolderMemory()
        recovery = self.recovery = Recovery(places, self._living, self._ended)
        policies = self.policies = Policies(places, keeps=True, changed=self._policy_changed)
        self.alerts = Alerts(lambda: policies.load().alerts, self._alert_failed)
        self.beginnings = SessionStarter(
            places=places, store=self.store, policies=policies, recovery=recovery, now=self.now
        )
        sessions = self.sessions = self.beginnings.sessions
        incidents = Incidents(places, self.store, sessions, recovery, self.now)
        reactions = Reactions(sessions=sessions, recovery=recovery, incidents=incidents, now=self.now)
        self.reactions = reactions
        guard = Guard(
            sessions=sessions, reactions=reactions, tokens=self.beginnings.tokens, world=self._world, is_new=_is_new,
            now=self.now,
        )  # fmt: skip
        self.incidents = incidents
        outcomes = Outcomes(sessions, guard, self.beginnings.reviews, self.now)
        self.judging = HookJudge(places)
        githooks = Githooks(
            sessions=sessions,
            guard=guard,
            reactions=reactions,
            judging=self.judging,
            store=self.store,
            places=places,
            now=self.now,
        )
        hooks = HookSessions(sessions, self.beginnings, self.now)
        self.server = Server(
            sessions=sessions, guard=guard, reactions=reactions, outcomes=outcomes,
            faces=AgentRequests(sessions, self.now), githooks=githooks, hooks=hooks, now=self.now,
        )  # fmt: skip
        self.operators = Operators(
            sessions=sessions, beginnings=self.beginnings, reactions=reactions, now=self.now, stop=self.stopped.set
        )

    async def run(self) -> None:
        """Serve both sockets until stopped or idle."""
        self.store.seen = self.alerts.see
        self.beginnings.resume_all()
        for live in self.sessions.live.values():
            if not live.session.over:
                self.recovery.take_up(live)
        await self.beginnings.telemetry.take_up()
        loop = self.loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, told: log.error("%s: %r", told["message"], told.get("exception")))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stopped.set)
        with (
            contextlib.closing(self._listen(self.places.agent_socket, self.server, raise_file_limit() // 2)),
            contextlib.closing(self._listen(self.places.operator_socket, self.operators, OPERATORS)),
        ):
            self._say_where_it_listens()
            stands = _standing(self.places)
            shims_watch = ShimsWatch(self.sessions, self.reactions.look_at_shims)
            tasks = [loop.create_task(self._end_when_idle(stands)), loop.create_task(shims_watch.run())]
            tasks += [loop.create_task(self._tell_witnesses()), *map(loop.create_task, self._half_done())]
            await self.stopped.wait()
            for task in tasks:
                task.cancel()
        if _standing(self.places) == stands:
            for path in (self.places.agent_socket, self.places.operator_socket):
                path.unlink(missing_ok=True)
        for live in self.sessions.live.values():
            if live.watch:
                live.watch.stop()
        self.beginnings.telemetry.close()
        self.loop = None
        await asyncio.to_thread(self.alerts.close)
        witnesses = self.policies.load().audit.witness
        self.store.close()
        self._tell_head(witnesses)

    def _say_where_it_listens(self) -> None:
        """To clients of another kind of login, and to the launcher of the git hooks, which an older version may have
        put there.
        """
        self.places.say_where_it_listens()
        if self.places.githook_folder.exists():
            with contextlib.suppress(HostError):  # the hooks judge by themselves then
                shims.place_hooks(self.places, registry.hook_forms())

    async def _tell_witnesses(self) -> None:
        """At the start, and each minute in which something was recorded: the newest entry, to the places that the
        user's policy names.
        """
        while True:
            await asyncio.to_thread(self._tell_head, self.policies.load().audit.witness)
            await asyncio.sleep(WITNESS)

    def _tell_head(self, witnesses: Sequence[str]) -> None:
        head = head_file.read(head_file.path_of(self.places.database))
        if head and head.seq:
            self.teller.tell(witnesses, head)

    def _half_done(self) -> list[Coroutine[Any, Any, None]]:
        """The kills that are on record and were not carried out to their end, and the reports that were not written."""
        return [
            self.reactions.take_up(live)
            if live.session.state is State.KILLED and not live.buried.is_set()
            else self.incidents.finish(live)
            for live in (*self.sessions.live.values(), *self.beginnings.orphans)
        ]

    def _listen(self, path: Path, server: Server | Operators, most: int) -> Listener:
        connections = Connections(most)
        # Whoever holds the lock is the only daemon: a socket that lies here is stale.
        path.unlink(missing_ok=True)

        async def serve(link: Link) -> None:
            self.used = time.monotonic()
            # A daemon that stops cancels what still waits; nothing is to be said about it.
            gone = contextlib.suppress(ConnectionError, asyncio.CancelledError)
            try:
                with gone, connections.counted(server.counted_as(link)) as too_many:
                    if too_many:
                        server.refuse(link, too_many)
                    else:
                        await server.serve(link)
                    await link.close()
            finally:
                link.drop()

        return Listener(str(path), serve)

    async def _end_when_idle(self, stands: list[object]) -> None:
        loaded, guarded = False, time.monotonic()
        while True:
            await asyncio.sleep(LOOK)
            if _standing(self.places) != stands:
                # Nobody can reach it, and what it writes is not on record: whoever starts next takes the sessions up.
                log.warning("its sockets or its database are gone: ends")
                try:
                    await self._end_unshimmed()
                finally:
                    self.stopped.set()
            self._bury_orphans()
            if not loaded:
                await asyncio.to_thread(sql_statements.load)  # 100 ms, which the first statement would wait for
                keep_what_is_loaded()
                await asyncio.to_thread(allocator.use_huge_pages)
                loaded = True
            if self.sessions.live:
                guarded = time.monotonic()
            if time.monotonic() - max(self.used, guarded) > IDLE:
                self.stopped.set()

    async def _end_unshimmed(self) -> None:
        """Where the state is gone, or is being deleted, the shims go with it, and nobody else knows these sessions."""
        for seconds in (0.0, AGAIN if self.sessions.live else 0.0):
            await asyncio.sleep(seconds)
            await self.reactions.look_at_shims(*self.sessions.live.values())
        for live in [*self.sessions.live.values()]:
            await self.reactions.finished(live)

    def _bury_orphans(self) -> None:
        """End sessions whose owner has gone without a word: a shell was closed, or a runner was killed and had no
        connection, or took longer to end than that.
        """
        for live in list(self.sessions.live.values()):
            if live.runner or live.ending.locked() or (live.session.owner and processes.alive(live.session.owner)):
                continue
            if live.session.state is State.KILLED and live.kind == HOOKS and not live.buried.is_set():
                continue  # its rollback is under way
            if live.kind != RUN:
                self.beginnings.end_orphan(live)
            else:
                task = asyncio.create_task(self.operators.vanished(live))
                # The loop itself keeps no task alive.
                self._burials = frozenset((task, *(old for old in self._burials if not old.done())))

    def _living(self) -> frozenset[str]:
        # Asked from a thread. Those that begin first: one that has begun in between is live by then.
        beginning = self.beginnings.beginning
        return beginning.union([*self.sessions.live])

    def _ended(self) -> frozenset[str]:
        # The record first: a session that ends in between is still live for this look.
        ended = self.store.ended_sessions()
        return ended - self._living()

    def _alert_failed(self, words: str) -> None:
        """Told from the alerts' thread."""
        try:
            self.store.append(Entry(self.now(), "", "daemon", {"event": "alert-failed", "what": words}))
        except StoreError:
            log.exception("not on record: %s", words)
        if self.loop:
            self.loop.call_soon_threadsafe(self._tell_runners, f"SENTINEL: {words}")

    def _tell_runners(self, text: str) -> None:
        for live in [*self.sessions.live.values()]:
            if live.runner:
                live.runner.tell("notice", level="", text=text)

    def _policy_changed(self, old: str, new: str) -> None:
        """The user's own policy is another one; told from a thread, too. It is in force, recorded or not."""
        what = f"The user's policy was {f'changed: {new[:16]}' if new else 'removed'}, after {old[:16] or 'none'}."
        data = {"event": "policy-changed", "what": what, "old": old, "new": new}
        try:
            self.store.append(Entry(self.now(), "", "daemon", data, "L1"), durable=True)
        except StoreError:
            log.exception("the change of the policy could not be recorded")

    def _world(self, live: Live, action: Action) -> AskingWorld:
        # What the process itself inherited, not what it says: the analysis must see what the command will see.
        environ = processes.environ(action.who.pid) if action.who else dict(os.environ)
        session = live.session
        owner = {session.owner.pid if session.owner else 0}
        running = RunningProcesses(
            action.who.pid if action.who else 0,
            session=session.id,
            started=session.started,
            root=session.root,
            trees=lambda: private_git_dir.work_trees(session.root) if session.root else (action.cwd,),
            home=environ.get("HOME", ""),
            calls={*live.calls, *(shell.pid for shell in live.lines)} - owner,
            spare=self.sessions.guarded().pids,
            others=lambda: self.sessions.live,
        )

        def outside() -> dict[str, str]:
            return {**environ, "PATH": self.sessions.outside(environ.get("PATH", ""))}

        return HostWorld(
            environ,
            shims=(self.sessions.shims(live),),
            memory=self.folders,
            policy=live.policy(),
            root=session.root,
            committed=committed_file.read,
            engines=lambda name: container_engine.ask(name, environ, live.begun_in, session.started),
            others=running.select,
            pushes=lambda *push: self.judging.elsewhere(Push(*push[:-1]), live, outside(), push[-1]),
        )


def _is_new(live: Live, tracked: Tracked, path: str) -> bool:
    """Without a baseline the time of birth says it alone."""
    return live.watch.is_new(path, tracked) if live.watch else birth_time.is_younger(path, live.session.started)


def serve(places: StatePaths) -> None:
    """Run the daemon in this process until it is stopped or idle."""
    logging.basicConfig(level=_level(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    processes.call_ourselves("sentinel-guard")
    forbid_tracing()
    log.info("begins as process %s", processes.own_pid())
    keep_what_is_loaded()
    # A storm of file events keeps a thread busy, and verdicts and files to put back wait for it at every system call.
    sys.setswitchinterval(SWITCH)
    take_short_turns()
    with_room(lambda: asyncio.run(_serve(places)))
    log.info("has ended")


def keep_what_is_loaded() -> None:
    """What was imported lives as long as the process: the collector need not look at it again with every verdict."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


async def _serve(places: StatePaths) -> None:
    await Daemon(places).run()


def _standing(places: StatePaths) -> list[object]:
    """The files that make a daemon reachable and its record lasting, by identity; None for what is not there."""
    found: list[object] = []
    for path in (places.agent_socket, places.operator_socket, places.database):
        try:
            seen = path.lstat()
        except OSError:
            found.append(None)
        else:
            found.append((seen.st_dev, seen.st_ino))
    return found


def _level() -> int:
    return logging.DEBUG if os.environ.get("SENTINEL_DEBUG") else logging.INFO


def _steady_clock() -> Callable[[], float]:
    """Wall time that never goes back while this daemon lives: a clock that is set back frees nobody early or late."""
    wall, steady = time.time(), time.monotonic()
    return lambda: wall + time.monotonic() - steady
