"""Start a guarded session, and restore the live sessions after a restart of the daemon."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sentinel_guard.agents import registry
from sentinel_guard.audit.base import Store
from sentinel_guard.core import encode_entries
from sentinel_guard.core.hash_chain import entry_hash
from sentinel_guard.core.model import Entry
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
from sentinel_guard.core.session.session import Event, Session, State
from sentinel_guard.daemon import agent_programs, restore_disabled_git_hooks, shell_origin
from sentinel_guard.daemon.file_integrity.watch_agent_settings import AgentSettings, Begun
from sentinel_guard.daemon.file_integrity.watch_session_files import SessionFileWatch
from sentinel_guard.daemon.held_calls import connections_after_reads
from sentinel_guard.daemon.live_sessions import HOOKS, RUN, SHELL, Live, Sessions
from sentinel_guard.daemon.root_cause_requests import Reviews
from sentinel_guard.daemon.session_secrets import SessionSecrets
from sentinel_guard.daemon.snapshots_and_rollback import Recovery
from sentinel_guard.daemon.token_usage.read_records import TokenRecords
from sentinel_guard.daemon.token_usage.telemetry_receiver import TelemetryReceiver
from sentinel_guard.errors import PeerError, SentinelError, StoreError
from sentinel_guard.host import session_proof, shims, trial_folders
from sentinel_guard.host.git import repository
from sentinel_guard.host.git.worktree_tree_hash import Worktrees
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.githooks.session_hook import SessionHook
from sentinel_guard.host.machine import cgroups, processes
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.policy_files import Policies
from sentinel_guard.host.recovery.baseline.session_baseline import MANIFEST
from sentinel_guard.host.secrets import allowlist_file, fingerprint_key, user_secret_files
from sentinel_guard.host.shim_integrity import UNSHIMMED, ShimIntegrity

log = logging.getLogger(__name__)
FRESH = 0.2
"""Seconds for which a policy is taken as read."""
PATIENCE = 0.2
"""Seconds for which a verdict waits for git to say whether a value that goes out is committed; else it is secret."""
LATER = 600.0
"""Seconds after the last entry of a session whose end nobody saw: what changed later is taken for the person's."""
Fields = dict[str, Any]


class SessionStarter:
    def __init__(
        self,
        *,
        places: StatePaths,
        store: Store,
        policies: Policies,
        recovery: Recovery,
        now: Callable[[], float],
    ) -> None:
        self._places, self._store, self._policies, self._recovery, self._now = places, store, policies, recovery, now
        self.sessions = Sessions(store, places, self.revive)
        self.reviews = Reviews(places, store, self.sessions, now)
        self.tokens = TokenRecords(self.sessions, now)
        self.orphans: list[Live] = []
        """Sessions that ended with the daemon that fell: what it did not report is still to be reported."""
        self.beginning: frozenset[str] = frozenset()
        """Sessions that begin: they have folders, and are not among the live ones yet."""
        self._hook = SessionHook()
        self._seen: dict[str, tuple[float, Policy]] = {}
        self._key = fingerprint_key.key_or_none(places)
        self.telemetry = TelemetryReceiver(places, self.sessions, self.tokens, self._key)

    async def begin(self, message: Fields, owner: Peer, environ: Mapping[str, str]) -> tuple[Live, Fields]:
        """Start a session in the repository of ``cwd``. ``environ``: whose it is. Raises HostError, PeerError."""
        root = await asyncio.to_thread(repository.writable_top, str(message["cwd"]))
        ident = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(self._now()))}-{secrets.token_hex(2)}"
        path = shims.without(str(message["path"]), f"{self._places.sessions}/")
        await asyncio.to_thread(self._policies.load, root)  # a project's file is anybody's
        live = self._live(Session(ident, root=root), path)
        live.kind = SHELL if message.get("kind") == SHELL else RUN
        self.beginning |= {ident}
        try:
            return await self._prepare(live, message, owner, environ)
        except BaseException:
            self._hook.end(ident, root)
            # What it has left is pruned as any ended session's is.
            with contextlib.suppress(SentinelError):
                end = {"code": -1, "reason": "it could not begin"}
                self.sessions.note(live, [Entry(self._now(), ident, "end", end)])
            raise
        finally:
            self.beginning -= {ident}

    async def _prepare(
        self, live: Live, message: Fields, owner: Peer, environ: Mapping[str, str]
    ) -> tuple[Live, Fields]:
        complaint = await asyncio.to_thread(self._hook.begin, live.id, live.session.root)  # the baseline has it, too
        # Neither waits for what the other finds. Two threads and no more: what computes holds up what opens files.
        baseline, (shimmed, settings, hooks) = await asyncio.gather(
            self._recovery.begin(live),
            asyncio.to_thread(self._make_files, live, str(message["cwd"]), owner, environ),
        )
        shimmed |= await self.telemetry.environ(live, message.get("command"), environ)
        data = _data(message, owner, live, live.path)
        data |= {"start_hash": baseline.head, "policy": self._policies.user_hash()}
        self.sessions.note(live, [Entry(self._now(), live.id, "session", data)])
        live.watch, live.begun_in = self._watch(live, settings), environ
        self._add(live)
        await asyncio.to_thread(self.reviews.remember, live)
        wrong = [f"Git hooks: {words}. Mend it: {install_hooks.INSTALL}" for words in (complaint, hooks) if words]
        notes = [*live.policy().warnings, *wrong, *self.reviews.note(live)]
        terminal, secret = live.policy().terminal, session_proof.make(self._places, live.id)
        return live, {
            "session": live.id, "environ": shimmed, "notes": notes, "secret": secret,
            "kernel": live.policy().kernel.mode, "shims": live.shims.record if live.shims else "",
            "menu_key": terminal.menu_key, "title": terminal.title,
        }  # fmt: skip

    def begin_beside(self, client: tuple[str, str], owner: Peer, root: str, environ: Mapping[str, str]) -> Live:
        """Start a session of a client whose hooks ask: it is there at once, its baseline is taken beside it (ADR 0038).

        ``client``: the agent's name, and its own id of the session. ``root``: empty outside of a repository. Raises
        HostError, StoreError.
        """
        ident = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(self._now()))}-{secrets.token_hex(2)}"
        path = shims.without(environ.get("PATH", os.defpath), f"{self._places.sessions}/")
        live = self._live(Session(ident, root=root), path)
        live.kind, live.begun_in = HOOKS, environ
        command = [*processes.command_line(owner.pid)]
        data = {**_data({"command": command}, owner, live, path), "client": [*client]}
        data |= {"start_hash": repository.head(root) if root else "", "policy": self._policies.user_hash()}
        self.sessions.note(live, [Entry(self._now(), ident, "session", data)])
        self._add(live)
        if root:
            self._recovery.follow(live, self._stand(live, owner))
        return live

    def _add(self, live: Live) -> None:
        self.sessions.live[live.id] = live
        self.sessions.shims_due.set()
        for other in self.sessions.live.values():
            other.renew_rules()  # what belongs to the guard in this one's repository is held in all of them

    async def _stand(self, live: Live, owner: Peer) -> None:
        """Take the baseline of a session that works already; then watch its files."""
        try:
            await asyncio.to_thread(self._hook.begin, live.id, live.session.root)
            await self._recovery.begin(live)
            folder, begun = self._places.session(live.id), Begun(live.session.root, live.session.root, live.begun_in)
            settings = await asyncio.to_thread(AgentSettings, folder, begun, live.policy())
            live.hooks, _ = await asyncio.to_thread(restore_disabled_git_hooks.standing, live.session.root, owner)
            await asyncio.to_thread(self.reviews.remember, live)
            if not live.session.over:
                live.watch = self._watch(live, settings)
        except SentinelError as e:
            what = f"no baseline could be taken: {e}. A kill rolls nothing back"
            if not trial_folders.is_gone(live.session.root):
                self.sessions.note(live, [Entry(self._now(), live.id, "daemon", {"what": what}, "L2")])

    def goes_on_in(self, live: Live, owner: Peer) -> None:
        """A client has taken its session up in another process. Raises StoreError."""
        entry = Entry(self._now(), live.id, "owner", {"owner": [owner.pid, owner.start]})
        self.sessions.note(live, [entry])
        if live.watch:
            live.watch.stop()
            live.watch = self._watch(live)

    def _has_no_baseline(self, live: Live) -> bool:
        """Whether a session of hooks had none yet when the daemon fell: what would be taken now is not its start."""
        return live.kind == HOOKS and not (self._places.session(live.id) / "baseline" / MANIFEST).exists()

    def _make_files(
        self, live: Live, cwd: str, owner: Peer, environ: Mapping[str, str]
    ) -> tuple[dict[str, str], AgentSettings, str]:
        """Its shims, the person's secrets, and what its watch will remember of the settings of agents.

        Returns the environment to set, those settings, and what is wrong with the git hooks that were installed there.
        """
        shimmed = shims.make(self._places, live.id, self._names(live), live.path)
        live.shims = ShimIntegrity.of(self._places.shims(live.id))
        folder = self._places.session(live.id)
        shimmed |= registry.environ(str(folder))
        settings = AgentSettings(folder, Begun(live.session.root, cwd, {**environ, **shimmed}), live.policy())
        live.hooks, wrong = restore_disabled_git_hooks.standing(live.session.root, owner)
        live.discretion.known()
        return shimmed, settings, wrong

    def group(self, live: Live) -> None:
        """Have the agent's first process put into a control group of the session, where one can be made.

        The kernel takes some 10 ms for it, and the agent does not wait: what it has started by then follows it.
        """
        live.grouping = asyncio.create_task(asyncio.to_thread(_enter_group, live))

    async def leave(self, live: Live) -> None:
        """Forget a session that has ended, once all that begins with it has come to its end."""
        self.sessions.live.pop(live.id, None)
        if live.grouping:
            await asyncio.wait((live.grouping,))  # whatever came of it
        cgroups.leave(live.group)
        restore_disabled_git_hooks.mend(live)
        await self._recovery.settled(live)
        await asyncio.to_thread(self._hook.end, live.id, live.session.root)

    def revive(self, session: Session) -> Live:
        """A session that is not live (any more), for judging what still comes from it."""
        return self._live(session, os.environ.get("PATH", os.defpath))

    def resume_all(self) -> None:
        """Take up the sessions that were live when the daemon fell; end those whose owner has gone.

        One that cannot be taken up is set aside, with a note, and what comes from it is refused.
        """
        for ident in self._store.live_sessions():
            try:
                self._resume(ident)
            except Exception as e:
                log.exception("the session %r is set aside", ident)
                self._set_aside(ident, e)

    def _resume(self, ident: str) -> None:
        begun = next(self._store.entries(session=ident, kinds=("session",)), None)
        if begun is None or entry_hash(begun.prev, begun) != begun.hash:
            raise StoreError("Its first entry is not the one that was recorded.")
        session = self.sessions.restore(ident)
        if session is None:
            raise StoreError("Its first entry cannot be read.")
        live = self.revive(session)
        try:
            self._take_up(live, begun.data)
        except BaseException:
            self.sessions.live.pop(ident, None)
            if live.watch:
                live.watch.stop()
            raise

    def _set_aside(self, ident: str, error: Exception) -> None:
        self.sessions.set_aside.add(ident)
        why = (
            str(error) if isinstance(error, SentinelError) else f"{type(error).__name__}; see {self._places.daemon_log}"
        )
        what = (
            f"The session {ident!a} could not be taken up ({why}). Its commands are refused; its folder stays. "
            "End its agent and start it anew; see 'sentinel-guard log verify'."
        )
        with contextlib.suppress(SentinelError):
            data = {"event": "session-set-aside", "what": what}
            self._store.append(Entry(self._now(), "", "daemon", data, "L2"), durable=True)

    def _take_up(self, live: Live, begun: Mapping[str, Any]) -> None:
        live.path, live.kind = str(begun.get("path") or live.path), str(begun.get("kind") or RUN)
        # An older version recorded none.
        live.shims = ShimIntegrity(self._places.shims(live.id), str(begun.get("shims") or ""))
        live.shims = None if live.kind == HOOKS else live.shims
        live.hooks = restore_disabled_git_hooks.restored(begun.get("hooks"))
        live.sourced = shell_origin.remembered(self._store.entries(session=live.id, kinds=("verdict",)))
        if live.session.state is State.ASKING:
            # Nobody waits for the answer any more: the launcher asks anew, and so does the gate.
            self.sessions.note(live, [encode_entries.state(live.id, self._now(), Event.ANSWERED, reason="restart")])
        if any(self._store.entries(session=live.id, kinds=("recovery",), last=1)):
            live.buried.set()
        killed = live.session.state is State.KILLED
        if live.session.owner and processes.alive(live.session.owner):
            self._hook.begin(live.id, live.session.root)
            live.watch = None if killed or self._has_no_baseline(live) else self._watch(live)
            self.reviews.remember(live)
            self.sessions.live[live.id] = live
        elif killed and not live.buried.is_set():
            self.sessions.live[live.id] = live
        else:
            if not live.session.over:
                self._note_harm(live)
                self._clear_away(live)
            self.end_orphan(live)
            self.orphans.append(live)

    def _note_harm(self, live: Live) -> None:
        """Put on record that a session which ended while no daemon ran had lost its shims. Nothing is rolled back: the
        person may have worked on since.
        """
        if live.shims and (harm := live.shims.harm()):
            what = f"{UNSHIMMED.format(harm)}: what its agent then did was not judged"
            self.sessions.note(live, [Entry(self._now(), live.id, "daemon", {"what": what}, "L2")])

    def _clear_away(self, live: Live) -> None:
        """End what is left of a session that ended while no daemon ran, and look once more at its restricted files."""
        if live.kind == RUN:
            processes.kill((), frozenset({processes.own_pid()}), live.mark)
        ended = max(entry.at for entry in self._store.entries(session=live.id, last=1))
        try:
            live.watch = watch = SessionFileWatch(live, self._places, self.sessions, self._now, self._remembered(live))
            watch.take_later(ended + LATER)
            watch.start()
        except (SentinelError, OSError) as e:
            log.warning("the restricted files of %s were not looked at once more: %s", live.id, e)

    def end_orphan(self, live: Live) -> None:
        """End a session whose owner has gone without a word."""
        connections_after_reads.note_reads(live, self.sessions, self._now())
        self.tokens.finish(live)
        if live.watch:
            live.watch.stop()
        agent_programs.end_servers(agent_programs.running(live), 0.0)
        if live.session.state is not State.ENDED:
            reason = "its agent has ended" if live.kind == HOOKS else "its owner has gone"
            self.sessions.note(live, [Entry(self._now(), live.id, "end", {"code": -1, "reason": reason})])
        restore_disabled_git_hooks.mend(live)
        self._hook.end(live.id, live.session.root)
        self.sessions.live.pop(live.id, None)
        cgroups.leave(live.group)

    def _live(self, session: Session, path: str) -> Live:
        folder = self._places.session(session.id) / "baseline"
        root, policy = session.root, functools.partial(self._policy, session.root)
        trees = Worktrees(root, folder, lambda p: bool(policy().restricts(p, root))) if root else None
        live = Live(session, policy, path, trees=trees)
        if root:
            live.discretion = SessionSecrets(
                _secrets(live), self._key, functools.partial(allowlist_file.reviewed, root)
            )
        return live

    def _policy(self, root: str) -> Policy:
        """The policy in force, looked at again after a moment: one call asks for it many times."""
        at = time.monotonic()
        seen, policy = self._seen.get(root) or (0.0, None)
        if policy is None or at - seen > FRESH:
            policy = self._policies.load(root)
            self._seen[root] = at, policy
        return policy

    def _names(self, live: Live) -> tuple[str, ...]:
        policy = live.policy()
        confirmed = (pattern.split(" ")[0] for patterns in policy.confirm.values() for pattern in patterns)
        return (*policy.shims, *confirmed, *registry.NAMED)

    def _watch(self, live: Live, settings: AgentSettings | None = None) -> SessionFileWatch:
        watching = SessionFileWatch(live, self._places, self.sessions, self._now, settings or self._remembered(live))
        watching.start()
        return watching

    def _remembered(self, live: Live) -> AgentSettings:
        """Of a session that began before this daemon."""
        root = live.session.root
        return AgentSettings(self._places.session(live.id), Begun(root, root, {}), live.policy())


def _secrets(live: Live) -> Callable[[], UserSecrets]:
    """Looks for the person's own secrets: in the work tree, and in what the session was started with."""
    cache, given = user_secret_files.Cache(), dict[str, str]()

    def collect() -> UserSecrets:
        session, watch = live.session, live.watch
        if session.owner and not given:
            # A runner's own cannot be read any more once it has begun; what runs below it has inherited that.
            pids = (session.owner.pid, *sorted(processes.tree(live.roots, frozenset())))
            given.update(next(filter(None, map(processes.environ, pids)), {}))
        held = watch.restricted if watch else ()
        root, base = Path(session.root), session.start_hash
        return user_secret_files.collect(
            root, live.policy(), given, cached=cache, restricted=held, base=base, patience=PATIENCE
        )

    return collect


def _enter_group(live: Live) -> None:
    live.group = cgroups.enter(live.agent, live.id)
    if live.group and live.session.owner:
        processes.join_group(live.session.owner, live.parts, live.group, live.id)


def _data(message: Fields, owner: Peer, live: Live, path: str) -> dict[str, object]:
    command = message.get("command", [])
    if not isinstance(command, list):
        raise PeerError("command is a list of words")
    return {
        "root": live.session.root,
        "command": [str(word) for word in command],
        "owner": [owner.pid, owner.start],
        "interactive": bool(message.get("interactive")),
        "path": path,
        "hooks": live.hooks,
        "shims": live.shims.record if live.shims else "",
        **({"kind": live.kind} if live.kind != RUN else {}),
    }
