"""Requests of a session's broker (face ``kernel``): the rules by which it holds system calls, and its questions.

Rules of this file:
1. Only the process that the runner announced is the broker.
2. What is held was asked about for a reason: each answer is on record before it leaves, but what the guard itself
   expects (a window of the person's, a checkout that git was allowed).
3. A held call is a step, never a tool call: who started it was counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shlex
import struct
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from sentinel_guard.core import response_text
from sentinel_guard.core.analysis.held_calls import CALLS
from sentinel_guard.core.analysis.secret_names import may_hold_secret
from sentinel_guard.core.checks.rules import OUTSIDE_RULES
from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.model import Action, Finding, Layer, Response, Verdict
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.policy.held_call_rules import released_with
from sentinel_guard.core.policy.target_placeholders import inside, within
from sentinel_guard.core.response_phrases import USER_DENIED
from sentinel_guard.core.wire_framing import Message
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.guard import Guard, Judged
from sentinel_guard.daemon.held_calls import broker_rules, connections_after_reads
from sentinel_guard.daemon.held_calls.broker_rules import HOME
from sentinel_guard.daemon.live_sessions import STEP, Live, Place, Sessions
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.daemon.verdict_reactions import Reactions
from sentinel_guard.daemon.waiting_launcher import Waiting
from sentinel_guard.errors import PeerError
from sentinel_guard.host import kernel_layer
from sentinel_guard.host.file_integrity.secret_reads import SecretReads
from sentinel_guard.host.machine import processes

FACE = "kernel"
RULES, RUN, REACH = "rules", "run", "reach"
BACK, LOOK_BACK = 5.0, 0.05
"""Seconds that a broker waits for its runner, which has lost the daemon as it has, and from one look to the next."""
LOOK, SELDOM = 1.0, 120.0
"""Seconds from one look whether the rules have changed to the next: where the session works, and at the most where
nothing of it runs and nothing tells of a change. Within 30 s after it has run it is known to work.
"""
TOGETHER = 0.02
"""Seconds in which what is told is looked at together."""
SHOWN = 500
"""Characters of a program's arguments that a question and the record show."""
_PROCESS = struct.Struct("<IQ")
JudgeProgram = Callable[[Link, wire_messages.Request, Place], Awaitable[Judged]]


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A question of the broker."""

    what: str
    object: str
    who: Peer
    argv: tuple[str, ...] = ()
    cwd: str = ""


def is_held(message: Message) -> bool:
    """Whether a request is a broker's."""
    return dict(message).get(b"F") == FACE.encode()


def parse(message: Message) -> HeldCall | None:
    """The question that a message holds; None for a request of rules. Raises PeerError."""
    one = dict(message)
    what = os.fsdecode(one.get(b"C", b""))
    if what == RULES:
        return None
    if what not in CALLS and what != RUN:
        raise PeerError(f"{what!r} is no held call of the protocol")
    if len(one.get(b"W", b"")) != _PROCESS.size or not one.get(b"O"):
        raise PeerError("a held call comes with its object and its process")
    argv = tuple(os.fsdecode(body) for tag, body in message if tag == b"A")
    if what == RUN and not argv:
        raise PeerError("a program comes with its arguments")
    who = Peer(*_PROCESS.unpack(one[b"W"]))
    return HeldCall(what, os.fsdecode(one[b"O"]), who, argv, os.fsdecode(one.get(b"D", b"")))


class HeldCallRequests:
    """``judge_program`` judges what is to run, as a shim's request."""

    def __init__(
        self,
        *,
        sessions: Sessions,
        guard: Guard,
        reactions: Reactions,
        judge_program: JudgeProgram,
        now: Callable[[], float],
    ) -> None:
        self._sessions, self._guard, self._reactions = sessions, guard, reactions
        self._judge_program, self._now = judge_program, now
        self._ids = itertools.count(1)

    async def serve(self, message: Message, link: Link) -> None:
        """One connection of a broker. Raises PeerError, SentinelError."""
        call = parse(message)
        live = await self._session_of(link)
        if live is None:
            raise PeerError(f"process {link.pid} is the broker of no session")
        if call is None:
            known_head = _head(message)
            if known_head:
                self._sessions.store.compare(known_head, "The broker of a session's held calls")
            try:
                await self._follow(live, link)
            finally:
                self._end_reads(live)
            return
        place = self._sessions.locate(call.who.pid)
        if place is None or place.live is not live or place.peer != call.who:
            raise PeerError(f"process {call.who.pid} is not in the session of its broker")
        if not self._reactions.whole(live):
            link.send(wire_messages.hold())
            await self._reactions.wait_until_whole(live)
        if call.what == RUN:
            await self._run(call, place, link)
        elif call.what == REACH or call.object in live.sockets:
            await self._connect(call, place, link)
        else:
            await self._change(call, place, link)
        live.renew_rules()

    async def _session_of(self, link: Link) -> Live | None:
        """The session whose broker this is. Behind a restart its runner, which announces it, may not be back yet."""
        until = time.monotonic() + BACK
        while True:
            found = next(
                (live for live in self._sessions.live.values() if live.broker and live.broker == link.peer), None
            )
            place = self._sessions.locate(link.pid) if found is None else None
            awaited = place is not None and place.live.broker is None and place.live.runner is None
            if not awaited or time.monotonic() > until:
                return found
            await asyncio.sleep(LOOK_BACK)

    # --- rules ---

    async def _follow(self, live: Live, link: Link) -> None:
        """Send the rules, and again whenever they have changed, for as long as the broker listens; and the newest entry
        of the log, which the session cannot reach there.
        """
        sent, told = None, None
        while True:
            self._watch_reads(live)
            connections_after_reads.note_reads(live, self._sessions, self._now())
            if (found := broker_rules.current(live, self._sessions)) is not sent:
                link.send(found)
                sent = found
            if (head := self._sessions.store.named) and head != told:
                link.send([(b"T", f"{head.seq} {head.hash}".encode())])
                told = head
            with contextlib.suppress(TimeoutError):
                # It says nothing more: it ends, with EOFError.
                await (_rest(live, link) if live.watch and live.watch.rests else link.receive(LOOK))

    def _watch_reads(self, live: Live) -> None:
        """Begin to see which files of secrets are read; a daemon before this one may have seen some."""
        if live.reads is None:
            with contextlib.suppress(OSError):
                live.reads = SecretReads(lambda: _secret_files(live))
                for entry in self._sessions.store.entries(session=live.id, kinds=("watch",)):
                    if entry.data.get("check") == "read":
                        live.reads.seen[str(entry.data["path"])] = entry.at

    def _end_reads(self, live: Live) -> None:
        """The broker is gone: what was read meanwhile is still put on record."""
        try:
            connections_after_reads.note_reads(live, self._sessions, self._now())
        finally:
            live.renew_rules()  # nobody waits for what is closed
            if live.reads:
                live.reads.close()
                live.reads = None

    # --- questions ---

    async def _connect(self, call: HeldCall, place: Place, link: Link) -> None:
        """To another machine, or to a socket that gives a right."""
        live, what = place.live, place.live.sockets.get(call.object, REACH)
        program = connections_after_reads.connecting(call.who.pid, live.session.started)
        if (what, program.words) in live.reaching or self._is_usual(what, place, program):
            link.send(wire_messages.leave("", 0))
            return
        asked_for = (place.parent or call.who, f"{what} {program.words}")
        findings = (connections_after_reads.question(live, call.object, program),) if what == REACH else ()
        if asked_for in live.kept:
            findings = (Finding("human", Response.DENY, USER_DENIED, rule=connections_after_reads.RULE),)
        judged = await self._guard.handle(live, self._action(call, place), Waiting(link, None), findings)
        live.grants.pop(judged.verdict.action.id, None)
        if judged.verdict.authorized_by:
            live.reaching.add((what, program.words))
        elif judged.verdict.response >= Response.ASK:
            live.kept.add(asked_for)
        await self._answer(judged, live, link)

    def _is_usual(self, what: str, place: Place, program: connections_after_reads.Connecting) -> bool:
        if what != REACH:
            return connections_after_reads.may_use_socket(place, program)
        connections_after_reads.note_reads(place.live, self._sessions, self._now())
        return connections_after_reads.is_expected(place.live, place, program)

    async def _change(self, call: HeldCall, place: Place, link: Link) -> None:
        live = place.live
        if not live.session.over and self._is_expected(call, live, by_git=_is_git(live, place)):
            link.send(wire_messages.leave("", 0))
            return
        environment = kernel_layer.environment_above(call.object, live.session.started)
        if environment and not (inside(live.session.root, environment) or inside(HOME, environment)):
            live.released.add(environment)
        action, root = self._action(call, place), live.session.root
        asked_for = (place.parent or call.who, released_with(call.object, root, HOME))
        refused = (Finding("human", Response.DENY, USER_DENIED),) if asked_for in live.kept else ()
        judged = await self._guard.handle(live, action, Waiting(link, None), refused)
        live.grants.pop(action.id, None)
        _remember(judged.verdict, live, asked_for)
        await self._answer(judged, live, link)

    def _action(self, call: HeldCall, place: Place) -> Action:
        now, root = self._now(), place.live.session.root
        program = shlex.join(processes.command_line(call.who.pid))[:SHOWN]
        gives = place.live.sockets.get(call.object, "")
        return Action(
            f"{now:.3f}-k{next(self._ids)}", place.live.id, Layer.KERNEL, call.what,
            {"object": call.object, "program": program, **({"gives": gives} if gives else {})}, root, now, root,
            place.parent or STEP, call.who,
        )  # fmt: skip

    def _is_expected(self, call: HeldCall, live: Live, *, by_git: bool) -> bool:
        """What the guard itself expects, and what a git that was let run does in another repository."""
        if live.watch and live.watch.lets_change(call.object, by_git=by_git):
            return True
        guarded = self._sessions.guarded()
        kept = (live.session.root, *guarded.folders, *guarded.settings)
        return by_git and not within(call.object, kept)

    async def _run(self, call: HeldCall, place: Place, link: Link) -> None:
        environ = processes.environ(call.who.pid)
        asked = wire_messages.Request(FACE, _command(call), call.cwd, environ)
        judged = await self._judge_program(link, asked, replace(place, parent=place.parent or STEP))
        if judged.verdict.response < Response.ASK and wire_messages.program(asked.argv) == "git":
            place.live.let_git_run(place.peer, judged.verdict.action.id)
        await self._answer(judged, place.live, link)

    async def _answer(self, judged: Judged, live: Live, link: Link) -> None:
        answer = response_text.answer(judged.verdict)
        link.send(wire_messages.leave(answer.text, 0 if answer.run else wire_messages.NO))
        await self._reactions.after(live, judged.verdict)


async def _rest(live: Live, link: Link) -> None:
    """Wait until something may have changed the rules, or was read. Raises TimeoutError, EOFError.

    A broker that came back takes the place of its earlier connection, which may not have ended yet.
    """
    loop, reads, told = asyncio.get_running_loop(), live.reads.fileno() if live.reads else -1, asyncio.Event()

    def wake() -> None:
        if not told.is_set():
            told.set()
            if reads >= 0:
                loop.remove_reader(reads)
            with contextlib.suppress(RuntimeError):  # it is over at this very moment
                resting.reschedule(loop.time() + TOGETHER)

    try:
        async with asyncio.timeout(SELDOM) as resting:
            live.renew_rules = wake
            if reads >= 0:
                loop.add_reader(reads, wake)
            await link.receive()
    finally:
        if reads >= 0 and not told.is_set() and live.renew_rules is wake:
            loop.remove_reader(reads)
        told.set()


def _secret_files(live: Live) -> tuple[str, ...]:
    """The restricted files of the session that hold secrets by their names, and those that nobody may read."""
    root, policy = live.session.root, live.policy()
    known = live.watch.restricted if live.watch else ()
    return tuple(path for path in known if may_hold_secret(path) or policy.hides(path, root))


def _command(call: HeldCall) -> tuple[str, ...]:
    """What is run: whatever name its caller gives it, but ``git-push`` is git with the subcommand ``push``."""
    _, dash, subcommand = call.argv[0].rpartition("/")[2].partition(f"{call.object.rpartition('/')[2]}-")
    return (call.object, *([subcommand] if dash and subcommand else []), *call.argv[1:])


def _remember(verdict: Verdict, live: Live, asked_for: tuple[str | Peer, str]) -> None:
    """What a person said of one file outside of the repository holds for the folder that they were shown."""
    if not any(f.rule in OUTSIDE_RULES for f in verdict.findings):
        return
    if verdict.authorized_by:
        live.released.add(asked_for[1])
    elif verdict.decisive and verdict.decisive.check == "human":
        live.kept.add(asked_for)


def _is_git(live: Live, place: Place) -> bool:
    """Whether a process is a git that was let run, or git's own helper below one."""
    return any(peer in live.gits for peer in (place.peer, *place.above))


def _head(message: Message) -> Head | None:
    """The entry of the log that a broker was told of by an earlier daemon. Raises PeerError."""
    told = dict(message).get(b"T")
    if told is None:
        return None
    seq, _, digest = told.decode("ascii", "replace").partition(" ")
    if not (seq.isdecimal() and len(seq) < 19 and digest):
        raise PeerError("a broker tells an entry by its number and its hash")
    return Head(int(seq), digest)
