"""Server of the agent socket: a launcher requests a verdict on a command, and reports the command's outcome.

Rules of this file:
1. Every message gets an answer, and whatever goes wrong on our side is a refusal with words: never a pass or a
   hang.
2. One logical tool call counts once: what runs below a supervised call is a step of it.
3. Nothing runs before all is kept that it could destroy.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable
from dataclasses import replace

from sentinel_guard.core import response_text
from sentinel_guard.core.analysis.programs.git.changes_repository import changes_repository
from sentinel_guard.core.model import Action, Response
from sentinel_guard.core.response_phrases import UNGUARDED
from sentinel_guard.core.session.fold_entries import UnreadError
from sentinel_guard.core.wire_framing import Message
from sentinel_guard.daemon import (
    agent_programs,
    interactive_shells,
    restore_disabled_git_hooks,
    wire_messages,
)
from sentinel_guard.daemon.agent_hooks.hook_requests import HookRequests
from sentinel_guard.daemon.agent_hooks.hook_sessions import HookSessions
from sentinel_guard.daemon.call_outcomes import Begun, Outcomes
from sentinel_guard.daemon.git_hook_requests import Githooks
from sentinel_guard.daemon.guard import Guard, Judged
from sentinel_guard.daemon.held_calls import held_call_requests
from sentinel_guard.daemon.held_calls.held_call_requests import HeldCallRequests
from sentinel_guard.daemon.help_and_usage_requests import AgentRequests
from sentinel_guard.daemon.live_sessions import STEP, Live, Place, Sessions
from sentinel_guard.daemon.peer_connection import FIRST_WORD, Link
from sentinel_guard.daemon.shell_origin import agent_of, await_snapshot, origin
from sentinel_guard.daemon.verdict_reactions import Reactions
from sentinel_guard.daemon.waiting_launcher import Telling, left, waiting
from sentinel_guard.daemon.wire_messages import UNKNOWN, Origin
from sentinel_guard.errors import PeerError, SentinelError
from sentinel_guard.host import session_proof
from sentinel_guard.host.machine.find_program import find_program

log = logging.getLogger(__name__)
END = 0.2
"""Seconds that a call waits for the end of one before it."""
JUDGED = "SENTINEL_SHELL"
"""Pid of a shell that has been judged: the session's BASH_ENV does not send it here again (``host/shims``)."""


class Server:
    def __init__(
        self,
        *,
        sessions: Sessions,
        guard: Guard,
        reactions: Reactions,
        outcomes: Outcomes,
        faces: AgentRequests,
        githooks: Githooks,
        hooks: HookSessions,
        now: Callable[[], float],
    ) -> None:
        self._sessions, self._guard, self._reactions = sessions, guard, reactions
        self._ends: dict[str, set[asyncio.Event]] = {}
        """Of each session: calls that have ended and are not yet on record, whose launchers wait for nothing."""
        self._outcomes, self._faces, self._githooks, self._now = outcomes, faces, githooks, now
        self._ids, self._hooks = itertools.count(1), hooks
        self._hook_requests = HookRequests(
            sessions=sessions, hooks=hooks, guard=guard, reactions=reactions, outcomes=outcomes, now=now
        )
        self._held_calls = HeldCallRequests(
            sessions=sessions, guard=guard, reactions=reactions, judge_program=self._judge, now=now
        )

    def counted_as(self, link: Link) -> str:
        """Whose connection it is, of whom only so many are served at once: each process's own."""
        return f"process {link.pid}"

    def refuse(self, link: Link, why: str) -> None:
        """Tell a peer that is one too many."""
        words = response_text.refused("too many requests at once", why, "wait until some have ended")
        link.send(wire_messages.refusal(words))

    async def serve(self, link: Link) -> None:
        """One connection from its first byte to its last."""
        try:
            await self._converse(link)
        except EOFError:
            return
        except (PeerError, TimeoutError) as e:
            link.send(wire_messages.refusal(response_text.refused("the request was not understood", str(e))))
        except SentinelError as e:
            log.warning("refused: %s", e)
            link.send(wire_messages.refusal(response_text.refused(e.message, "nothing runs unrecorded", e.hint)))
        except Exception:
            log.exception("a request failed")
            link.send(
                wire_messages.refusal(
                    response_text.refused("the guard failed on this request", "see daemon.log", "sentinel-guard doctor")
                )
            )

    async def _converse(self, link: Link) -> None:
        message = await link.receive(FIRST_WORD)
        link.proof = session_proof.answer(self._sessions.places, message)
        if held_call_requests.is_held(message):
            await self._held_calls.serve(message, link)
            return
        asked = wire_messages.request(message)
        if asked.face == "githook":
            await self._githooks.serve(asked, link)
            return
        if asked.face == "hook":
            await self._hook_requests.serve(asked, link)
            return
        place = await located(self._sessions, link.pid, asked.environ.get("SENTINEL_CALL", ""))
        if place is None:
            raise SentinelError(UNGUARDED, "Start the agent with 'sentinel-guard run -- AGENT'.")
        if asked.face in ("help", "usage"):
            await self._faces.serve(asked, place, link)
            return
        if not self._reactions.whole(place.live):
            link.send(wire_messages.hold())
            await self._reactions.wait_until_whole(place.live)
        if asked.face == "line":
            await self._line(link, asked, place)
            return
        if self._is_the_persons_own(asked, place):
            await self._run(link, asked, place, self._guard.admit(place.live, self._action(asked, place)))
            return
        judged = await self._judge(link, asked, place)
        if judged.verdict.response >= Response.ASK:
            answer = response_text.answer(judged.verdict)
            link.send(wire_messages.refusal(answer.text, answer.code))
            await self._reactions.after(place.live, judged.verdict)
            return
        await self._run(link, asked, place, judged)

    async def _line(self, link: Link, asked: wire_messages.Request, place: Place) -> None:
        shell = interactive_shells.shell(asked, place)
        # Its parent is what the shell stands below, and not the line before.
        above = place.above[place.above.index(shell) + 1 :]
        judged = await self._judge(link, asked, replace(place, parent=place.live.call_above(above) or STEP))
        answer = response_text.answer(judged.verdict)
        if answer.run:
            place.live.let_line_run(shell, judged.verdict.action.id)
        link.send(wire_messages.leave(answer.text, 0 if answer.run else wire_messages.NO))
        await self._reactions.after(place.live, judged.verdict)

    async def _judge(self, link: Link, asked: wire_messages.Request, place: Place) -> Judged:
        restore_disabled_git_hooks.mend(place.live)
        live, action, waiter = place.live, self._action(asked, place), waiting(link, asked, place)
        asked_at = self._now()
        if not action.parent:
            await self._ends_before(live)
        if not action.parent and live.snapshot_begun:
            await await_snapshot(place, waiter.hold)
            action = replace(action, at=self._now())
        brought = await restore_disabled_git_hooks.look(live, asked, place.peer)
        brought = (*brought, *agent_programs.objections(asked), *interactive_shells.unread(action))
        telling = Telling(waiter, live, lambda: left(place, asked_at))
        try:
            return await self._guard.handle(live, action, telling, brought)
        finally:
            telling.close()

    def _action(self, asked: wire_messages.Request, place: Place) -> Action:
        place.live.begun = True
        now = self._now()
        begun_by = origin(place, asked.argv) if asked.face == "shell" else UNKNOWN
        text = wire_messages.script(asked.argv) or ""
        if begun_by.agent and self._hooks.is_ours(place.live, asked.argv, text):
            begun_by = replace(begun_by, for_itself=True)
        own = place.is_agent or begun_by.for_itself or agent_programs.is_agent(asked)
        # A client whose hooks ask about every call of its model's starts anything else for itself.
        own = own or (asked.face == "shim" and self._hooks.calls(place.live).asked and place.by_itself)
        counts = not own and _is_call(asked, place)
        hooked = "" if place.parent or not counts else self._hooked(asked, place.live, begun_by)
        return wire_messages.action(
            asked,
            ident=f"{now:.3f}-{next(self._ids)}",
            session=place.live.id,
            root=place.live.session.root,
            parent=place.parent or hooked or ("" if counts else STEP),
            who=place.peer,
            at=now,
            origin=begun_by,
            typed=interactive_shells.is_typed(asked, place),
        )

    def _hooked(self, asked: wire_messages.Request, live: Live, begun_by: Origin) -> str:
        """The call that a hook has asked about, and that this shell carries out; empty for any other."""
        text = begun_by.command if begun_by.command is not None else wire_messages.script(asked.argv)
        call = self._hooks.calls(live).awaiting(text) if asked.face == "shell" and text else None
        return call.begun.judged.verdict.action.id if call and call.begun else ""

    def _is_the_persons_own(self, asked: wire_messages.Request, place: Place) -> bool:
        """True for the interpreter of the agent's own script: the person started it, by name, on their command line."""
        command = place.live.session.command
        tail = asked.argv[-len(command) :] if command else ()
        named = bool(tail) and tail[0].rsplit("/", 1)[-1] == command[0].rsplit("/", 1)[-1] and tail[1:] == command[1:]
        options = asked.argv[1 : -len(command)] if named else ()
        plain = all(word.startswith("-") and not {"c", "s"} & set(word) for word in options)
        return place.is_agent and not place.live.begun and named and plain and len(asked.argv) > len(command)

    async def _run(self, link: Link, asked: wire_messages.Request, place: Place, judged: Judged) -> None:
        live, action = place.live, judged.verdict.action
        call = self._hooks.calls(live).of_action(action.parent)
        name = wire_messages.program(asked.argv)
        path = find_program(name, self._outside(asked.environ.get("PATH", live.path)))
        if name == "git":
            live.let_git_run(place.peer, action.id)
        text = response_text.answer(judged.verdict).text
        if path is None:
            link.send(wire_messages.refusal(f"{name}: command not found", 127))
        elif agent_programs.is_agent(asked):
            path, argv, said = agent_programs.start(asked, place, path)
            text = "\n".join(filter(None, (text, said)))
            # Its own shells are judged, as steps of the call that it runs in: below a call none would come here.
            environ: list[tuple[str, str | None]] = [("SENTINEL_CALL", None)]
            link.send(wire_messages.run(path, supervise=False, environ=environ, text=text, argv=argv))
        elif action.parent and not call:
            words, settings = interactive_shells.start(asked, place, self._sessions.shims(live))
            environ = [*settings, (JUDGED, str(link.pid))]
            link.send(wire_messages.run(path, supervise=False, environ=environ, argv=words, text=text))
        else:
            # What a hook has asked about is that call: its outcome is this one's.
            begun = (call and call.begun) or await self._outcomes.begin(live, judged)
            if call:
                call.carried_out = True
            ident = begun.judged.verdict.action.id
            environ = [("SENTINEL_CALL", ident), *restore_disabled_git_hooks.environment(live, action, place.peer)]
            go = wire_messages.run(
                path, supervise=True, ends_at_success=begun.nothing_to_say, environ=environ, text=text
            )
            await self._supervise(link, place, begun, go)

    async def _supervise(self, link: Link, place: Place, begun: Begun, go: Message) -> None:
        live = place.live
        live.calls[link.pid] = begun.judged.verdict.action.id
        try:
            link.send(go)
            ended = wire_messages.ended(await link.receive())
        finally:
            live.calls.pop(link.pid, None)
        done = asyncio.Event()
        if begun.nothing_to_say:
            self._ends.setdefault(live.id, set()).add(done)
        try:
            verdict, text = await self._outcomes.end(live, begun, ended)
        finally:
            self._ends.get(live.id, set()).discard(done)
            done.set()
            if not self._ends.get(live.id, True):
                del self._ends[live.id]
        link.send(wire_messages.leave(text, ended.exit))
        await self._reactions.after(live, verdict)

    async def _ends_before(self, live: Live) -> None:
        """A success whose launcher did not wait is on record before the call that comes next."""
        if live.calls:
            await asyncio.sleep(0)  # what has come is read first: it may be the end of one of them
            await asyncio.sleep(0)
        if ends := self._ends.get(live.id):
            await asyncio.wait([asyncio.create_task(done.wait()) for done in ends], timeout=END)

    def _outside(self, path: str) -> str:
        return self._sessions.outside(path)


async def located(sessions: Sessions, pid: int, call: str) -> Place | None:
    """Where a process stands. One that an ended session left running has that session's record read beside the loop:
    of ten thousand calls it takes half a second.
    """
    try:
        return sessions.locate(pid, call, reads=False)
    except UnreadError as e:
        await asyncio.to_thread(sessions.restore, str(e))
        return sessions.locate(pid, call)


def _is_call(asked: wire_messages.Request, place: Place) -> bool:
    """A tool call, to be counted; not a shell that reads from elsewhere, nor what an agent asks git for by itself."""
    if asked.face == "shell":
        return wire_messages.runs_something(asked.argv)
    if wire_messages.program(asked.argv) != "git" or not (place.by_itself or agent_of(place)):
        return True
    options, subcommand = wire_messages.git_words(asked.argv)
    at, git_dir = len(options) + 1 if subcommand else 0, asked.environ.get("GIT_DIR", "")
    return changes_repository(asked.argv, at, asked.cwd, git_dir, place.live.session.root)
