"""File integrity monitoring of a session: unannounced changes of restricted files are put back (DESIGN section 2).

Rules of this file:
1. A change is put back first and told then: nothing waits for a log or a person.
2. What may be the person's own is not overruled where they can be asked; no answer is a no.
3. The event loop tells and asks; files are looked at in the watcher's threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Ask, Entry, Kind, Question, Verdict
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.policy import presets
from sentinel_guard.core.policy.compare_settings import Key
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.session.session import Event, State
from sentinel_guard.daemon.file_integrity import changed_settings, file_change_alerts
from sentinel_guard.daemon.file_integrity.change_attribution import attribute
from sentinel_guard.daemon.file_integrity.expected_checkouts import checks_out
from sentinel_guard.daemon.file_integrity.file_change_alerts import AlertRateLimit
from sentinel_guard.daemon.file_integrity.restricted_at_start import restricted_at_start
from sentinel_guard.daemon.file_integrity.watch_agent_settings import AgentSettings
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.file_integrity.file_change import ChangeDecision, Tampering
from sentinel_guard.host.file_integrity.file_watcher import Watcher
from sentinel_guard.host.file_integrity.process_activity import Activity
from sentinel_guard.host.file_integrity.restore_restricted_files import RestrictedFileRestorer
from sentinel_guard.host.file_integrity.restorer_group import RestorerGroup
from sentinel_guard.host.machine import processes
from sentinel_guard.host.machine.deep_folders import HEAVY
from sentinel_guard.host.machine.processes import Process
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline.start_inventory import StartInventory
from sentinel_guard.humans.question_inbox import Channel, Reply

log = logging.getLogger(__name__)
ALLOW = "ALLOW"
"""Action of a person's word that opens a window; where its ``until`` is its own time, it closes one."""
CHANGE = "RESTRICTED_CHANGE"
WHY = (
    "It cannot be told whether you or the agent did it. Y: what is there now stays. "
    "N: it becomes what it was, and the other version is kept."
)
STALE = 0.25
"""Seconds from one look to the next whether an open question is still one."""
ANSWERED = 2.0
"""Seconds after a key in which an agent writes down the answer to a question of its own."""
OUTSIDE = 2
"""Place among a session's restorers of the one for what lies outside of the repository."""
WINDOW = 60.0
"""Seconds for which a change that was the person's is known to be: longer than one look takes."""
_GENERATED = HEAVY - {".git"}
LISTED, SELDOM = 1.0, 60.0
"""Seconds from one look for settings files that nothing told of to the next: where the session worked since, or not."""


class SessionFileWatch:
    """The observer of one session, and what it does about what it sees."""

    def __init__(
        self, live: Live, places: StatePaths, sessions: Sessions, now: Callable[[], float], settings: AgentSettings
    ) -> None:
        folder = places.session(live.id)
        baseline = api.load(folder / "baseline")
        root, (policy, again) = baseline.root, restricted_at_start(folder, live.policy())
        self.root = root
        files = {name: baseline.files[name] for name in baseline.restricted if name in baseline.files}
        self.restricted = tuple(f"{root}/{name}" for name in files)
        self._live, self._sessions, self._now = live, sessions, now
        self._loop = asyncio.get_running_loop()
        self._activity, self._acted, self.rests = Activity(live.session.owner), 0.0, False
        self._toll = AlertRateLimit()
        self._own = AlertRateLimit(free=1, pause=file_change_alerts.OWN_PAUSE)
        restorer = RestrictedFileRestorer(
            root, baseline.vault, files, folder, judge=self._judge, sisters=lambda: self._sisters(0),
            lets_create=lambda path: _lets_create(live.policy(), path, root) == "allow",
        )  # fmt: skip
        self._start = StartInventory(folder / "baseline", live.session.started)
        self.settings = settings
        self._listed, self._moved, self._folders = -SELDOM, 0.0, self.settings.files.folders()
        self.guardian = RestorerGroup(
            [
                (lambda path: bool(restorer.knows(path) or _restricts(policy, path, root)), restorer),
                *self.settings.members(self._judge, lambda place: self._sisters(1 + place)),
            ]
        )
        self._watcher = Watcher(
            root,
            lambda path: _restricts(policy, path, root) or self.settings.files.concerns(path),
            lambda change: self._look_at(change.path),
            lambda: self._tell(self.guardian.sweep()),
            on_gone=lambda path: self._tell(self.guardian.check_below(path)),
            near=lambda: [*restorer.folders(), *self._folders],
            known=self.guardian.knows,
            explored=lambda folder: self.settings.is_inside(folder) or self.settings.files.leads_to(folder),
            search=again,
            tick=self._tick,
        )
        self._doubtful: dict[str, Tampering] = {}
        self._asking: asyncio.Task[None] | None = None
        self._questions = itertools.count(1)
        self._reopen()

    def start(self) -> None:
        """Raises HostError where the tree cannot be watched."""
        self._watcher.start()

    def stop(self) -> None:
        """The last look comes after the last event; what is still in question then is put back."""
        self._watcher.stop()
        if self._asking and not self._loop.is_closed():
            self._asking.cancel()
        self._tell(self.guardian.sweep(by_content=True))
        self._settle(self.guardian.in_question, yes=False)
        self._tell_hushed(math.inf)

    @property
    def members(self) -> frozenset[Peer]:
        """The processes that were seen below the session's owner, and run."""
        return self._activity.members

    def take_later(self, at: float) -> None:
        """What changed later than that (epoch seconds) is the person's: stands when this watch ends."""
        for path in self.restricted:
            with contextlib.suppress(OSError):
                if os.lstat(path).st_ctime > at:
                    self.guardian.announce(path, time.time() + WINDOW, since=at)

    def expect(self, verdict: Verdict, seconds: float) -> None:
        """An allowed action announces what it changes itself, for so long."""
        self._acted = time.time()
        self._watcher.hurry()
        observed = self._live.policy().protection.preset == presets.OBSERVE
        for effect in verdict.effects:
            if effect.kind not in (Kind.WRITE, Kind.DELETE):
                continue
            if observed or self.concerns(effect.target):
                self.guardian.announce(effect.target, self._acted + seconds)
            elif _lets_create(self._live.policy(), effect.target, self.root) and not self.guardian.knows(effect.target):
                self.guardian.let_create(effect.target)
        commands = (e.command for e in verdict.effects if e.command)
        if any(c.program == "git" and checks_out(c) for c in commands):
            self.guardian.expect_git(time.time() + seconds)

    # --- windows: the person's own changes ---

    def allow(self, path: str, seconds: float) -> float:
        """Open a window for changes of this path; 0 seconds close it. Until when (epoch seconds). Raises StoreError."""
        at = self._now()
        word = {"action": ALLOW, "target": path, "until": at + seconds, "yes": True, "why": "", "assurance": "terminal"}
        self._sessions.note(self._live, [Entry(at, self._live.id, "human", word | {"authorized_by": "user"})])
        self._open(path, at, at + seconds)
        return at + seconds

    def windows(self) -> dict[str, float]:
        """The open windows: absolute path -> until (epoch seconds)."""
        return self.guardian.windows()

    def concerns(self, path: str) -> bool:
        """Whether a path is a settings file of an agent that is watched, or a folder of such files."""
        return self.settings.files.may_hold(path)

    def compares_keys(self, path: str) -> bool:
        """Whether a path is a settings file that its agent rewrites by itself: the keys that count are put back."""
        row = self.settings.files.row(path)
        return row is not None and bool(row.file.keys)

    def is_new(self, path: str, tracked: Callable[[tuple[str, ...]], frozenset[str]]) -> bool:
        """Whether nothing was at a path when the session began, and nothing of the person's is now."""
        return not self.guardian.knows(path) and self._start.is_new(path, tracked)

    def lets_change(self, path: str, *, by_git: bool) -> bool:
        """Whether a change of a restricted path that is about to happen would stand: in a window, by a git that may
        bring it to what its index holds, or where files are generated and nothing is watched.
        """
        now, below = time.time(), path.removeprefix(f"{self.root}/").split("/")
        opened = any(f"{path}/".startswith(f"{name}/") and until > now for name, until in self.windows().items())
        unwatched = not self.guardian.knows(path) and not _GENERATED.isdisjoint(below[:-1])
        held = path.startswith(f"{self.root}/") and (unwatched or (by_git and self.guardian.expects_git(path)))
        return opened or (held and bool(self._live.policy().restricts(path, self.root)))

    def _reopen(self) -> None:
        """The windows that a person opened before the daemon was started anew."""
        for said in self._sessions.said(self._live.id):
            until = said.data.get("until")
            if said.data.get("action") == ALLOW and isinstance(until, int | float):
                self._open(str(said.data["target"]), said.at, float(until))

    def _open(self, path: str, at: float, until: float) -> None:
        self.guardian.close(path)
        if until > at:
            self.guardian.announce(path, until, since=at)

    # --- whose it was; in the watcher's threads ---

    def _look_at(self, path: str) -> None:
        self._tell([self.guardian.check(path)])
        self._renew_rules()

    def _renew_rules(self) -> None:
        """What the session's broker is told may be another now."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: self._live.renew_rules())  # noqa: PLW0108 - as it is by then

    def _tick(self) -> bool:
        """Whether the session does anything."""
        if self._activity.due:
            self._look()
        self._tell(self.guardian.sweep())
        if time.monotonic() - self._listed > (SELDOM if self._listed > self._moved else LISTED):
            self._listed, self._folders = time.monotonic(), self.settings.files.folders()
            self._tell(self.guardian.check(path) for path in self.settings.files.present())
        self._tell_hushed(time.time())
        rested, self.rests = self.rests, not (self._live.calls or self._activity.moved)
        self._moved = self._moved if self.rests else time.monotonic()
        if rested and not self.rests:
            self._renew_rules()
        return not self.rests

    def _look(self) -> None:
        self._activity.look(shell=not self._live.agent, parts=self._live.parts)

    def _judge(self, path: str, since: float, keys: tuple[Key, ...]) -> ChangeDecision:
        """The strictest of what all sessions say that watch the path; an agent may write a person's answer down."""
        words = {watch.whose(since) for watch in self._watching(path)}
        word = next(w for w in (ChangeDecision.PUT_BACK, ChangeDecision.ASK, ChangeDecision.TAKE) if w in words)
        return ChangeDecision.TAKE if self._is_answer(path, keys) else word

    def _is_answer(self, path: str, keys: tuple[Key, ...]) -> bool:
        """Whether an agent writes these keys down as the person's answer, and the person has just typed."""
        if not self.settings.files.are_answers(path, keys):
            return False
        return any(time.time() - watch.typed < ANSWERED for watch in self._watching(path))

    @property
    def typed(self) -> float:
        """When the person last typed something for the agent (epoch seconds)."""
        return self._live.typed

    def whose(self, since: float) -> ChangeDecision:
        """What this session's doing says about a change after that moment (epoch seconds)."""
        return attribute(self._live, self._activity, since, self._acted)

    def _watching(self, path: str) -> list[SessionFileWatch]:
        """The sessions that watch a path: those in this repository, and of what lies outside all that know it."""
        if self.settings.is_inside(path):
            return self._alive(lambda watch: watch.root == self.root)
        return self._alive(lambda watch: watch.concerns(path))

    def _alive(self, wanted: Callable[[SessionFileWatch], bool]) -> list[SessionFileWatch]:
        others = [live.watch for live in [*self._sessions.live.values()]]
        found = (w for w in others if isinstance(w, SessionFileWatch) and w is not self and wanted(w))
        return [self, *found]

    def _sisters(self, number: int) -> list[RestrictedFileRestorer]:
        """The restorers of the same kind and tree."""
        found = self._alive(lambda watch: number == OUTSIDE or watch.root == self.root)
        return [watch.guardian.restorers[number] for watch in found]

    def _tell(self, found: Iterable[Tampering | None]) -> None:
        for tampering in found:
            if tampering is None or self._loop.is_closed():
                continue
            if tampering.word is ChangeDecision.TAKE and self._is_answer(tampering.path, tampering.keys):
                tampering = replace(tampering, answered=True)  # noqa: PLW2901 - the same, known better
            if tampering.word is ChangeDecision.TAKE and not (tampering.problem or tampering.keys):
                self.restricted = tuple(dict.fromkeys((*self.restricted, tampering.path)))
                self._renew_rules()
            if tampering.word is ChangeDecision.ASK:
                self._doubtful[tampering.path] = tampering
                self._loop.call_soon_threadsafe(self._ask_soon)
            elif times := self._toll.times(tampering.path, tampering.at):
                versions = self.guardian.versions(tampering)
                told = changed_settings.counted(self._sessions.places, tampering, versions)
                seen = [] if tampering.word is ChangeDecision.TAKE else self._running()
                diff = file_change_alerts.difference(tampering, versions)
                self._loop.call_soon_threadsafe(self._record, told, times, diff, seen)

    def _tell_hushed(self, at: float) -> None:
        if not self._loop.is_closed() and (count := self._toll.hushed(at)):
            entry = file_change_alerts.flood(self._now(), self._live.id, self._live.session.root, count)
            self._loop.call_soon_threadsafe(self._put_on_record, entry)

    def _running(self) -> list[Process]:
        before = self._activity.known
        self._look()
        return [*filter(None, map(processes.describe, sorted(before | self._activity.known)))]

    def _record(self, tampering: Tampering, times: int, diff: str, seen: list[Process]) -> None:
        text = file_change_alerts.sentence(tampering, times)
        self._put_on_record(file_change_alerts.entry(self._now(), self._live.id, tampering, text, diff=diff, seen=seen))
        if self._live.runner and self._worth_a_line(tampering):
            shown = file_change_alerts.notice(tampering, self._live.session.root, text, diff, seen)
            self._live.runner.tell("notice", level=file_change_alerts.level(tampering), text=shown)

    def _put_on_record(self, entry: Entry) -> None:
        try:
            self._sessions.note(self._live, [entry])
        except SentinelError:
            log.exception("a change of %s could not be recorded", entry.data["path"])

    def _worth_a_line(self, tampering: Tampering) -> bool:
        """Who edits a file knows it: of that one line now and then, for the case that it was somebody else."""
        if tampering.word is not ChangeDecision.TAKE or tampering.problem:
            return True
        return not (tampering.agreed or tampering.answered) and bool(self._own.times(tampering.path, tampering.at))

    # --- asking ---

    def _ask_soon(self) -> None:
        if self._asking is None or self._asking.done():
            self._asking = self._loop.create_task(self._ask())

    async def _ask(self) -> None:
        """One question at a time; what changes meanwhile is asked about next."""
        while paths := self.guardian.in_question:
            yes = False
            try:
                yes = await self._put(paths)
            except SentinelError:
                log.exception("a question about %s could not be recorded", paths)
            await asyncio.to_thread(self._settle, paths, yes=yes)

    async def _put(self, paths: tuple[str, ...]) -> bool:
        live = self._live
        while live.session.state is State.ASKING:
            await live.answered.wait()
        runner, gate, at = live.runner, live.policy().gate, self._now()
        names = [path.removeprefix(f"{live.session.root}/") for path in paths]
        shown = {"question": f"w{next(self._questions)}", "action": CHANGE, "target": ", ".join(names)}
        shown["detail"] = await asyncio.to_thread(self._detail, paths)
        ask = Ask(shown["action"], shown["target"], "HIGH")
        until = at + gate.seconds if gate.seconds else 0
        asked = (shown["question"], live.id, ask, shown["detail"], WHY, at, until, gate.typed_word)
        question = Question(*asked, code=gate.needs_code(CHANGE))
        reply = Reply(yes=False, assurance="none", why="lost")
        with self._held(shown):
            if runner:
                reply = await self._reply(question, runner, gate.seconds, paths)
        self._sessions.note(live, [Entry(self._now(), live.id, "human", shown | reply.as_data())])
        return reply.yes and not live.session.over

    async def _reply(self, question: Question, runner: Channel, seconds: float, paths: tuple[str, ...]) -> Reply:
        """The person's word. The question is taken back when nothing of it is in doubt: it was undone, or put back."""
        # What is in doubt is put back at once where the person is out of reach: nothing of it is lost by that.
        asking = asyncio.ensure_future(self._live.inbox.ask(question, runner, seconds, stays=False))
        try:
            while not {*paths}.isdisjoint(self.guardian.in_question):
                if (await asyncio.wait([asking], timeout=STALE))[0]:
                    return asking.result()
            return Reply(yes=False, assurance="none", why="moot")
        finally:
            asking.cancel()

    @contextlib.contextmanager
    def _held(self, shown: Mapping[str, str]) -> Iterator[None]:
        """What the session asks for meanwhile waits, as it does at the gate; a pause or a chat goes on as it is."""
        live = self._live
        holds = live.session.state is State.ACTIVE
        if holds:
            live.answered.clear()
            self._sessions.note(live, [encode_entries.state(live.id, self._now(), Event.ASK, **shown)])
        try:
            yield
        finally:
            if holds:
                self._sessions.note(live, [encode_entries.state(live.id, self._now(), Event.ANSWERED)])
                live.answered.set()

    def _detail(self, paths: tuple[str, ...]) -> str:
        rows = [self._doubtful[path] for path in paths if path in self._doubtful]
        differences = [file_change_alerts.difference(t, self.guardian.versions(t)) for t in rows]
        return file_change_alerts.detail([*zip(rows, differences, strict=True)])

    def _settle(self, paths: tuple[str, ...], *, yes: bool) -> None:
        self._tell([self.guardian.settle(path, yes=yes) for path in paths])


def _lets_create(policy: Policy, path: str, root: str) -> str:
    """What ``[paths] create`` says of a restricted path of the repository; empty where it says nothing."""
    pattern = policy.restricts(path, root) if path.startswith(f"{root}/") else ""
    return policy.paths.create if policy.lets_create(pattern) else ""


def _restricts(policy: Policy, path: str, root: str) -> bool:
    """Whether a path of the repository is restricted."""
    return path.startswith(f"{root}/") and bool(policy.restricts(path, root))
