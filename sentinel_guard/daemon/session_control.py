"""What a person does to a session from any terminal outside of all sessions: pause, resume, end it, answer for it (R7).

That they stand outside is the operator socket's to see.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import subprocess
import sys
import time
from typing import Any

from sentinel_guard.core.model import Question
from sentinel_guard.core.session.session import NEXT, Event
from sentinel_guard.core.session.session_health import status
from sentinel_guard.core.session.session_tally import KINDS, tally
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.daemon.verdict_reactions import Reactions
from sentinel_guard.errors import DaemonError, SentinelError
from sentinel_guard.host.second_factor import SecondFactor
from sentinel_guard.humans.question_inbox import OTHER_TERMINAL, Reply

LOOK = "sentinel-guard status"
QUESTIONS = "sentinel-guard questions"
OURS = (sys.executable, "-I", "-m", "sentinel_guard")
FORETOLD = {"later_too": "--later-too", "as_json": "--json"}
"""Fields of ``foretell`` that are options of the command."""
FORETELL_SECONDS = 300.0
MAX_SAID = 1 << 16
Fields = dict[str, Any]


class SessionControl:
    """Its methods take and give the fields of operator messages (docs/protocol.md); each raises DaemonError."""

    def __init__(self, sessions: Sessions, reactions: Reactions) -> None:
        self._sessions, self._reactions = sessions, reactions

    def named(self, message: Fields) -> Live:
        """The live session that a message names."""
        live = self._sessions.live.get(str(message["session"]))
        if live is None:
            raise DaemonError(f"There is no live session {message['session']}.", LOOK)
        if live.session.over:
            raise DaemonError(f"The session {live.id} is {live.session.state.value}.", LOOK)
        return live

    def pause(self, message: Fields) -> Fields:
        """Hold what a session's agent starts, until it is resumed."""
        live = self.named(message)
        if not _can(live, Event.PAUSE):
            raise DaemonError(f"The session is {live.session.state.value}: it waits for you already.", QUESTIONS)
        self._reactions.pause(live, _assurance(message))
        return {"state": live.session.state.value}

    def resume(self, message: Fields) -> Fields:
        """End a pause, a breaker's too, or a call for help (R8)."""
        live = self.named(message)
        if not _can(live, Event.RESUME):
            raise DaemonError(f"The session is {live.session.state.value}: there is no pause to end.", LOOK)
        self._reactions.resume(live, _assurance(message))
        return {"state": live.session.state.value}

    def say(self, message: Fields) -> Fields:
        """What a person says to the agent: a call for help that waits hears it, else its next command (R8)."""
        text = str(message["text"])
        if len(text) > MAX_SAID:
            raise DaemonError(f"More than {MAX_SAID} characters are not said at once.", "Say it in parts.")
        self._reactions.said(self.named(message), text, _assurance(message))
        return {}

    async def kill(self, message: Fields) -> Fields:
        """End a session; replies when that is carried out, its rollback too where one was asked for."""
        live = self.named(message)
        self._reactions.end_for_person(live, rollback=message["rollback"] is True)
        await live.buried.wait()
        return {"state": live.session.state.value}

    async def foretell(self, message: Fields) -> Fields:
        """What ``rollback --dry-run`` says: inside of a session its git would be judged as the agent's."""
        flags = [flag for key, flag in FORETOLD.items() if message.get(key) is True]
        named = ["--", str(message["session"])] if message.get("session") else []
        words = [*OURS, "rollback", "--dry-run", *flags, *named]
        run = functools.partial(subprocess.run, capture_output=True, text=True, errors="replace", check=False)
        try:
            done = await asyncio.to_thread(run, words, cwd=str(message["cwd"]), timeout=FORETELL_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as e:
            raise DaemonError(f"What a rollback would do cannot be looked up: {type(e).__name__}.", LOOK) from e
        return {"code": done.returncode, "out": done.stdout, "err": done.stderr}

    def questions(self, pid: int, *, watches: bool) -> Fields:
        """What is asked in all sessions. ``pid``: who looks; ``watches``: and goes on looking. From inside of a session
        nobody could answer.
        """
        if watches and not self.whose(pid):
            self._sessions.other_terminals.look()
        return {"questions": [_as_data(q) for live in self._sessions.live.values() for q in live.inbox.open()]}

    def whose(self, pid: int) -> str:
        """Id of the session that a process stands in; empty where it stands in none, or nobody can tell."""
        with contextlib.suppress(SentinelError):
            live = self._sessions.inside(pid)
            return live.id if live else ""
        return ""

    def status(self, live: Live, now: float) -> Fields:
        """State, metrics, and what a person has said yes to for a while."""
        grants = [
            {"grant": g.id, "action": g.action, "target": g.target, "seconds_left": round(g.until - now, 1)}
            for g in live.timed.live(now)
        ]
        return {**status(live.session, live.policy(), now), "grants": grants}

    def summary(self, live: Live) -> Fields:
        """What the session came to."""
        found = tally(self._sessions.store.entries(session=live.id, kinds=KINDS))
        counts = {"commands": found.commands, "refused": found.refused, "asked": found.asked}
        return {**counts, "held": round(found.held, 1)}

    def refusal(self, code: str) -> str:
        """Why a code of the second factor is not taken, in words; empty where it is."""
        return SecondFactor(self._sessions.places).refusal(code, time.time())

    def revoke(self, message: Fields) -> Fields:
        """End the yes that holds for a while: one, or all of a session."""
        live, ident = self.named(message), str(message.get("grant", ""))
        ended = live.timed.revoke(ident)
        if not ended:
            raise DaemonError(f"There is no such yes in {live.id}.", LOOK)
        self._reactions.revoked(live, ended, _assurance(message))
        return {"ended": [grant.id for grant in ended]}

    def decide(self, message: Fields) -> Fields:
        """Answer an open question. The first answer counts.

        Where policy demands a word behind the yes, it is given on the session's own terminal only.
        """
        live, ident, yes = self.named(message), str(message["question"]), message["yes"] is True
        asked = next((question for question in live.inbox.open() if question.id == ident), None)
        if yes and asked and asked.code:
            if why := self.refusal(str(message.get("code", ""))):
                raise DaemonError(f"The question is still open: {why}.", QUESTIONS)
        elif yes and asked and asked.typed_word:
            raise DaemonError("[gate] typed_word lets a yes be given on the session's own terminal only.", QUESTIONS)
        reason, timed = "" if yes else str(message.get("reason", "")), yes and message.get("timed") is True
        if not live.inbox.answer(ident, Reply(yes, OTHER_TERMINAL, reason=reason, timed=timed)):
            raise DaemonError(f"There is no open question {ident}.", QUESTIONS)
        return {}


def _assurance(message: Fields) -> str:
    """How sure it is that a person said so: a runner says whether an agent could type on its terminal."""
    if "shared" not in message:
        return OTHER_TERMINAL
    return "shared-terminal" if message["shared"] is True else "terminal"


def _can(live: Live, event: Event) -> bool:
    return (live.session.state, event) in NEXT


def _as_data(question: Question) -> Fields:
    ask = question.ask
    shown = {"action": ask.action, "target": ask.target, "risk": ask.risk, "until": question.until}
    return {
        "question": question.id,
        "session": question.session,
        "detail": question.detail,
        "why": question.why,
        "preview": [*question.preview],
        "details": question.details,
        "timed": question.timed,
        "code": question.code,
        **shown,
    }
