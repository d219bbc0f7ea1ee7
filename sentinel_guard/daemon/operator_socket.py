"""Server of the operator socket: operations for a person's commands and for the runner of a session.

Rules of this file:
1. What gives power (start, answer, say, pause, resume, kill, sign-off, stop) is never taken from a process inside a
   guarded session: refused, recorded (L2); the second try is L4.
2. A runner speaks for its own session only, on the connection that began or took up that session. A person in another
   terminal names the session that they pause, resume or kill, and the question that they answer.
3. A runner that vanishes without a word ends its session, and every process of it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import sentinel_guard
from sentinel_guard.core import encode_entries
from sentinel_guard.core.checks.rules import OPERATOR_RULE
from sentinel_guard.core.model import Action, Finding, Layer, Response, Verdict
from sentinel_guard.daemon import agent_programs
from sentinel_guard.daemon.begin_session import SessionStarter
from sentinel_guard.daemon.held_calls import broker_rules
from sentinel_guard.daemon.live_sessions import RUN, Live, Sessions
from sentinel_guard.daemon.peer_connection import FIRST_WORD, Link
from sentinel_guard.daemon.runner_channel import RunnerChannel
from sentinel_guard.daemon.session_control import SessionControl
from sentinel_guard.daemon.verdict_reactions import Reactions
from sentinel_guard.daemon.wire_messages import PROTOCOL
from sentinel_guard.errors import DaemonError, PeerError, SentinelError
from sentinel_guard.host import session_proof
from sentinel_guard.host.machine import ancestry, processes

log = logging.getLogger(__name__)
POWER = frozenset(
    {
        "start",
        "agent",
        "attach",
        "answer",
        "decide",
        "say",
        "pause",
        "resume",
        "kill",
        "typed",
        "end",
        "stop",
        "allow",
        "revoke",
    }
) | {"sign-off"}
NO_SESSION = "No guarded session is running here."
LONGEST = 86_400.0
"""Seconds that a window for a person's own changes may be open."""
Fields = dict[str, Any]


class Operators:
    def __init__(
        self,
        *,
        sessions: Sessions,
        beginnings: SessionStarter,
        reactions: Reactions,
        now: Callable[[], float],
        stop: Callable[[], None],
    ) -> None:
        self._sessions, self._beginnings, self._reactions = sessions, beginnings, reactions
        self.control = SessionControl(sessions, reactions)
        self._now, self._stop = now, stop

    def counted_as(self, link: Link) -> str:
        """Whose connection it is, of whom only so many are served at once: all processes of a session are one, and so
        are all that may be orphans of one.
        """
        try:
            live = self._sessions.inside(link.pid)
        except PeerError:
            return "who is gone"
        except SentinelError:
            return "who was set aside"
        owners = [one.session.owner for one in self._sessions.live.values() if one.session.owner]
        if live or not owners:
            return f"session {live.id}" if live else f"process {link.pid}"
        stray = ancestry.is_stray(link.pid, min(owner.start for owner in owners))
        return "those left without a parent and a terminal" if stray else f"process {link.pid}"

    def refuse(self, link: Link, why: str) -> None:
        """Tell a peer that is one too many."""
        link.send_json({"ok": False, "error": f"Too many requests at once: {why}.", "hint": "Close some of them."})

    async def serve(self, link: Link) -> None:
        """One operator's connection from its first message to its last."""
        desk = _Desk(self, link)
        try:
            message = await link.receive_json(FIRST_WORD)
            while True:
                await self._answer(desk, message)
                message = await link.receive_json()
        except (EOFError, TimeoutError):
            return
        except PeerError as e:
            link.send_json({"ok": False, "error": e.message, "hint": e.hint})
        finally:
            await desk.gone()

    async def _answer(self, desk: _Desk, message: Fields) -> None:
        link = desk.link
        try:
            op = str(message.get("op", ""))
            if op in POWER:
                await self._refuse_from_inside(link, op)
            said = await desk.ops.get(op, _unknown)(message)
        except SentinelError as e:
            link.send_json({"ok": False, "error": e.message, "hint": e.hint})
        except (KeyError, TypeError, ValueError) as e:
            link.send_json({"ok": False, "error": f"the message is not as docs/protocol.md says: {e!r}", "hint": ""})
        except Exception:
            log.exception("an operation failed")
            link.send_json({"ok": False, "error": "the guard failed on this", "hint": "See daemon.log."})
        else:
            if said is not None:
                link.send_json({"ok": True, **said})

    async def _refuse_from_inside(self, link: Link, op: str) -> None:
        # A forked child can connect, hand its socket on and be gone: then nobody can say where it stood.
        if link.peer is None or not processes.alive(link.peer):
            raise PeerError(f"{op!r} came over a connection whose maker is gone")
        live = self._sessions.inside(link.pid)
        if live is None:
            return
        again = bool(live.session.strikes)
        what = f"'{op}' was tried from inside the guarded session"
        finding = Finding(
            "operators",
            Response.KILL if again else Response.DENY,
            what,
            "only the person outside has this power",
            "Ask the user",
            rule=OPERATOR_RULE,
        )
        at = self._now()
        action = Action(
            f"{at:.3f}-op",
            live.id,
            Layer.CLI,
            f"operator:{op}",
            {"pid": link.pid},
            "",
            at,
            live.session.root,
            "session",
        )
        verdict = Verdict(action, (), (finding,))
        self._sessions.note(live, encode_entries.of_verdict(verdict, "", poll=False, policy=live.policy()))
        await self._reactions.after(live, verdict)
        raise SentinelError(f"403 SENTINEL BLOCKED: {what}; {finding.why}.", f"{finding.instead}.")

    def hello(self) -> Fields:
        count = sum(not live.session.over for live in self._sessions.live.values())
        return {
            "version": sentinel_guard.__version__,
            "pid": processes.own_pid(),
            "protocol": PROTOCOL,
            "sessions": count,
        }

    def status(self, link: Link) -> Fields:
        now = self._now()
        found = [self.control.status(live, now) for live in self._sessions.live.values()]
        return {"sessions": found, "inside": self.control.whose(link.pid)}

    async def start(self, message: Fields, link: Link, runner: RunnerChannel) -> tuple[Live, Fields]:
        owner = processes.identify(int(message["pid"]))
        if owner is None or owner not in ancestry.lineage(link.pid):
            raise PeerError("a session's owner is the process that asks, or one of its ancestors")
        live, said = await self._beginnings.begin(message, owner, processes.environ(link.pid))
        if live.kind == RUN:
            live.runner = runner
        if live.policy().kernel.mode != "off":
            # Once the runner has its answer, and starts the broker.
            asyncio.get_running_loop().call_soon(broker_rules.prepare, live, self._sessions)
        return live, said

    def attach(self, message: Fields, link: Link, runner: RunnerChannel) -> Live:
        live = self._own(message)
        if live.session.owner is None or live.session.owner.pid != link.pid:
            raise PeerError("this session has another owner")
        live.runner = runner
        live.inbox.put_again(runner, self._now())
        return live

    def proof(self, live: Live, message: Fields) -> Fields:
        """That this daemon knows the session's secret, where the runner asks for it."""
        nonce = str(message.get("nonce", ""))
        return {"proof": session_proof.attached(self._sessions.places, live.id, nonce)} if nonce else {}

    def group(self, live: Live) -> None:
        """Have the agent's first process put into a group of its session."""
        self._beginnings.group(live)

    async def end(self, live: Live, message: Fields) -> Fields:
        await self._reactions.look_once_more(live)
        # While the session lives, so that what their tools still try is judged.
        inside = await asyncio.to_thread(agent_programs.running, live)
        servers = await asyncio.to_thread(agent_programs.end_servers, inside) if inside else []
        self._beginnings.tokens.finish(live)
        self._reactions.end(live, int(message.get("code", 0)), servers)
        await self._reactions.reported(live)
        left = await self._reactions.left_running(live) if inside else []
        await self._beginnings.leave(live)
        summary = self.control.summary(live)
        return {"state": live.session.state.value, "summary": summary, **({"left": left} if left else {})}

    def allow(self, message: Fields) -> Fields:
        """Open windows for a person's own changes of restricted files; 0 seconds close them."""
        path, seconds = str(message["path"]), float(message["span"])
        if not 0 <= seconds <= LONGEST:
            raise PeerError(f"a window is open for at most {LONGEST:.0f} seconds")
        watches = [live.watch for live in self._around(path) if live.watch]
        if not watches:
            raise DaemonError(NO_SESSION, f"Edit {path}: nothing puts it back.")
        if not seconds and not any(path in watch.windows() for watch in watches):
            raise DaemonError(f"No window is open for {path}.", "sentinel-guard allow --list")
        return {"until": max(watch.allow(path, seconds) for watch in watches)}

    def windows(self, message: Fields) -> Fields:
        """The open windows of the sessions around a folder."""
        around = self._around(str(message["cwd"]))
        found = [(live, live.watch.windows()) for live in around if live.watch]
        rows = [{"session": live.id, "path": p, "until": t} for live, opened in found for p, t in opened.items()]
        return {"sessions": [live.id for live in around], "windows": rows}

    def _around(self, path: str) -> list[Live]:
        """The live sessions whose repository holds a path, or that watch it elsewhere."""
        return [
            live
            for live in self._sessions.live.values()
            if not live.session.over
            and live.session.root
            and (f"{path}/".startswith(f"{live.session.root}/") or (live.watch and live.watch.concerns(path)))
        ]

    def stop(self, message: Fields) -> Fields:
        count = self.hello()["sessions"]
        if count and not message.get("force"):
            raise DaemonError(
                f"{count} guarded session(s) are alive; without the daemon all their commands are refused.",
                "End them first, or use 'sentinel-guard daemon stop --force'.",
            )
        self._stop()
        return {}

    async def filled(self, message: Fields, link: Link) -> Fields:
        """The agent's part of an incident report was filled in, by the agent or by a person."""
        live = self._sessions.inside(link.pid)
        await asyncio.to_thread(self._beginnings.reviews.filled, str(message["path"]), live)
        return {}

    async def sign_off(self, message: Fields) -> Fields:
        said = str(message["path"]), str(message.get("note", ""))
        await asyncio.to_thread(self._beginnings.reviews.signed_off, *said)
        return {}

    async def vanished(self, live: Live) -> None:
        """The runner's connection is gone: a session whose runner lives on is waited for, another one ends."""
        if live.session.owner and processes.alive(live.session.owner):
            return
        async with live.ending:
            if self._sessions.live.get(live.id) is not live:
                return  # it has ended in the ordinary way
            await self._reactions.look_once_more(live)
            # Without its runner nobody guards what it started: the terminal is gone, and so is the session.
            await self._reactions.sweep_away(live)
            self._beginnings.end_orphan(live)

    def _own(self, message: Fields) -> Live:
        live = self._sessions.live.get(str(message["session"]))
        if live is None:
            raise DaemonError(f"There is no live session {message['session']}.", "sentinel-guard status")
        return live


async def _unknown(message: Fields) -> Fields:
    raise PeerError(f"{message.get('op')!r} is no operation of this daemon")


def _at_once(work: Callable[[Fields], Fields]) -> Callable[[Fields], Awaitable[Fields]]:
    """An operation that waits for nothing."""

    async def done(message: Fields) -> Fields:
        return work(message)

    return done


class _Desk:
    """One operator's connection: its operations, bound to the session that it began."""

    def __init__(self, operators: Operators, link: Link) -> None:
        self.link, self._all = link, operators
        self._runner = RunnerChannel(link, operators.control.refusal)
        self._live: Live | None = None
        self.ops: dict[str, Callable[[Fields], Awaitable[Fields | None]]] = {
            "hello": _at_once(lambda _: operators.hello()),
            "status": _at_once(lambda _: operators.status(link)),
            "start": self._start,
            "agent": _at_once(self._agent),
            "attach": self._attach,
            "answer": self._answered,
            "questions": _at_once(lambda m: operators.control.questions(link.pid, watches=m.get("watches") is True)),
            "decide": _at_once(operators.control.decide),
            "revoke": _at_once(operators.control.revoke),
            "foretell": operators.control.foretell,
            "say": self._say,
            "pause": self._pause,
            "kill": self._kill,
            "resume": self._resume,
            "tail": self._tailed,
            "typed": self._typed,
            "end": self._end,
            "filled": self._filled,
            "sign-off": operators.sign_off,
            "stop": _at_once(operators.stop),
            "allow": _at_once(operators.allow),
            "windows": _at_once(operators.windows),
        }

    async def gone(self) -> None:
        if self._live and self._live.runner is self._runner:
            self._live.runner = None
            self._runner.lost()
            # The process may still be on its way out when its socket closes.
            await asyncio.sleep(0.2)
            await self._all.vanished(self._live)

    async def _start(self, message: Fields) -> Fields:
        self._live, said = await self._all.start(message, self.link, self._runner)
        return said

    def _agent(self, message: Fields) -> Fields:
        live = self._mine(message)
        live.agent = int(message["pid"])
        live.baseline_due.set()
        agent_programs.find_parts(live, int(message.get("broker") or 0))
        self._all.group(live)
        return {}

    async def _attach(self, message: Fields) -> Fields:
        live = self._live = self._all.attach(message, self.link, self._runner)
        return {"state": live.session.state.value, **self._all.proof(live, message)}

    async def _answered(self, message: Fields) -> Fields:
        shared, word = message.get("shared") is True, str(message.get("word", ""))
        reason = str(message.get("reason", ""))
        said = {"yes": message["yes"] is True, "timed": message.get("timed") is True, "shared": shared}
        code = str(message.get("code", ""))
        self._runner.answered(str(message["question"]), word=word, reason=reason, code=code, **said)
        return {}

    async def _pause(self, message: Fields) -> Fields:
        return self._all.control.pause(self._checked(message))

    async def _kill(self, message: Fields) -> Fields:
        return await self._all.control.kill(self._checked(message))

    async def _say(self, message: Fields) -> Fields:
        return self._all.control.say(self._checked(message))

    async def _resume(self, message: Fields) -> Fields:
        return self._all.control.resume(self._checked(message))

    async def _typed(self, _: Fields) -> None:
        if self._live:
            self._live.typed = time.time()

    async def _tailed(self, message: Fields) -> None:
        self._runner.tailed(str(message["id"]), str(message["text"]))

    async def _end(self, message: Fields) -> Fields:
        return await self._all.end(self._mine(message), message)

    async def _filled(self, message: Fields) -> Fields:
        return await self._all.filled(message, self.link)

    def _checked(self, message: Fields) -> Fields:
        """The message, where it is of another terminal, or names the session of this runner."""
        if self._live:
            self._mine(message)
        return message

    def _mine(self, message: Fields) -> Live:
        if self._live is None or self._live.id != str(message["session"]):
            raise PeerError("this connection began no such session")
        return self._live
