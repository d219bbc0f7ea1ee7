"""The event loop of ``run``: serves the agent's first process, the terminal and the daemon until the agent ends.

Rules of this file:
1. A killed session ends with 137 and the kill switch's words, whoever notices first.
2. Without the daemon the agent goes on (the launcher refuses what it tries); the runner comes back to it by itself.
3. Where nobody can be asked any more, the answer is no.
4. When the agent stops, the runner stops by the same signal, the person's terminal as it was: their shell has one job.
   Whoever continues the runner continues the agent, but for one that a kill has frozen, and but for the daemon, which
   does it for a word to the person.
"""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Any

from sentinel_guard.client import Operator
from sentinel_guard.commands.run.look_at_shims import ShimLook
from sentinel_guard.commands.run.person_actions import PersonActions
from sentinel_guard.commands.run.pty_proxy import Modal, PtyProxy
from sentinel_guard.commands.run.session_notices import (
    AWAY,
    BACK,
    IMPOSTOR,
    SWITCH,
    left_running,
    say,
    summary_words,
    tell,
    unsaid,
)
from sentinel_guard.errors import DaemonError, SentinelError
from sentinel_guard.host.machine.agent_process import AgentProcess
from sentinel_guard.host.machine.caught_signals import FORWARDED, Signals
from sentinel_guard.host.machine.pseudo_terminal import AgentTerminal, UserTerminal
from sentinel_guard.humans.approval_gate import Gate
from sentinel_guard.humans.session_menu import PAUSED
from sentinel_guard.humans.terminal_prompts import Chat
from sentinel_guard.humans.terminal_title import TerminalTitle

KILLED = 137
WANTS_TERMINAL = (signal.SIGTTIN, signal.SIGTTOU)
"""What stops a program in the background that reads from its terminal, or sets its modes."""
END_SECONDS = 120.0
"""A kill that is being carried out is waited for: its rollback may take a while."""
FIRST_RETRY, LAST_RETRY = 0.1, 5.0
TYPED = 0.5
"""Seconds from one word to the daemon that the person is typing to the next."""
SILENCE = 5.0
"""Seconds without the daemon after which the person is told."""

Fields = dict[str, Any]


class Runner:
    def __init__(
        self,
        operator: Operator,
        session: str,
        agent: AgentProcess,
        signals: Signals,
        screen: tuple[UserTerminal, AgentTerminal] | None,
        *,
        shims: ShimLook,
        secret: str = "",
        menu_key: str = "none",
        title: TerminalTitle | None = None,
    ) -> None:
        """``secret``: what the daemon that began the session knows; who takes its place must prove it.
        ``menu_key``: as ``[terminal] menu_key``.
        """
        self._secret, self._doubted, self._shims = secret, False, shims
        self._operator, self._session, self._agent, self._signals = operator, session, agent, signals
        self._outer = screen[0] if screen else None
        self._shared = bool(screen and screen[0].shared)
        self._person = PersonActions(session, menu_key, self._request, shared=self._shared)
        keys = self._person.codes
        self._stage = PtyProxy(*screen, self._heard, self._open_menu, keys, title=title) if screen else None
        self._summary = ""
        self._code: int | None = None
        self._killed, self._by_signal, self._stopped_by = "", False, 0
        self._lost_at = self._retry_at = self._typed_at = 0.0
        self._delay = FIRST_RETRY
        self._told = False
        self._events = {
            "ask": self._ask,
            "unask": self._unask,
            "notice": lambda event: self._notice(str(event.get("text", ""))),
            "chat": self._chat,
            "said": self._chat,
            "resumed": lambda _: self._close_chat(),
            "tail": self._tail,
            "killed": self._kill,
            "state": self._show_state,
        }

    def run(self) -> int:
        """Until the agent has ended or was killed; its exit code, 128 + n after death by signal n."""
        self._agent.go(foreground=not self._stage or self._stage.resume())
        while self._code is None:
            self._wait()
            self._keep_line()
            self._look_at_shims()
        return self._conclude(self._code)

    # --- the loop ---

    def _wait(self) -> None:
        poll = select.poll()
        poll.register(self._signals, select.POLLIN)
        ours = self._agent.filenos()
        for fd in (*ours, self._operator.fileno(), self._shims.fileno()):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        for fd, events in (self._stage.interests() if self._stage else {}).items():
            poll.register(fd, events)
        for fd, events in poll.poll(self._patience()):
            if fd == self._signals.fileno():
                self._on_signals()
            elif fd in ours:
                self._look_at_agent()
            elif fd == self._operator.fileno():
                self._hear()
            elif fd == self._shims.fileno():
                self._shims.heed()
            elif self._stage:
                self._stage.ready(fd, events)
        if self._operator.waiting:
            self._hear()
        if self._stage:
            self._tell_typed(time.monotonic())
            self._stage.tick(time.monotonic())
            if self._stage.gone:
                self._hang_up()
            elif self._stage.returned:
                self._continue()

    def _tell_typed(self, now: float) -> None:
        """Tell the daemon that the person has typed: what an agent writes down then may be their answer."""
        if self._stage and self._stage.typed and now - self._typed_at >= TYPED and not self._lost_at:
            self._stage.typed, self._typed_at = False, now
            try:
                self._operator.send("typed")
            except DaemonError:
                self._lose()

    def _patience(self) -> float:
        """Milliseconds that poll may wait."""
        if self._operator.waiting:
            return 0
        waits = [self._shims.patience(), self._stage.patience() if self._stage else None]
        if not self._operator.connected:
            waits.append(max(0.01, self._retry_at - time.monotonic()))
        return min(seconds * 1000 for seconds in waits if seconds is not None)

    def _on_signals(self) -> None:
        for number in self._signals.read():
            if number == signal.SIGCHLD:
                self._look_at_agent()
            elif number == signal.SIGWINCH and self._stage:
                self._stage.resized()
            elif number == signal.SIGCONT:
                self._continue()
            elif number == signal.SIGHUP and self._stage:
                self._hang_up()
            elif number in FORWARDED:
                self._agent.signal(number)

    def _look_at_agent(self) -> None:
        for status in self._agent.changes():
            if os.WIFSTOPPED(status):
                self._stopped(os.WSTOPSIG(status))
            elif self._code is None:
                code = os.waitstatus_to_exitcode(status)
                self._by_signal = code < 0
                self._code = 128 - code if code < 0 else code

    def _stopped(self, number: int) -> None:
        self._stopped_by = number
        if number in WANTS_TERMINAL and self._stage and self._stage.returned:
            self._continue()
        # A kill that freezes it looks the same as one that stopped itself; without the daemon nobody knows.
        elif number != signal.SIGSTOP or (not self._shims.harm and self._state() not in ("", "KILLED")):
            self._suspend()

    def _suspend(self) -> None:
        """Stop as the agent has stopped. What a terminal sends goes to the whole job: ours is raw, and sent nothing."""
        whole_job = self._stage is not None and self._stopped_by != signal.SIGSTOP
        while self._code is None:
            if self._stage:
                self._stage.pause()
            by = self._signals.stop(self._stopped_by, whole_job=whole_job)
            if by != self._operator.daemon:
                self._continue(refused=by is None)
                return
            # The daemon has something to tell the person: the agent stays stopped.
            self._hear()
            whole_job = False

    def _continue(self, *, refused: bool = False) -> None:
        """Go on, in the foreground or in the background; ``refused``: the kernel lets nobody stop our job."""
        foreground = not self._stage or self._stage.resume()
        if self._state() != "KILLED":
            self._stopped_by = 0
            self._agent.go_on(foreground=foreground or refused)

    def _hang_up(self) -> None:
        """The outer terminal has gone: the agent hears what it would hear without us."""
        stage, self._stage = self._stage, None
        if stage:
            stage.finish(killed=False)
        self._agent.signal(signal.SIGHUP)
        self._agent.signal(signal.SIGCONT)

    def _conclude(self, code: int) -> int:
        stage, self._stage = self._stage, None
        printed = ""
        if stage:
            printed = stage.printed()
            stage.finish(killed=self._by_signal)
        self._agent.close()
        if not self._killed and self._shims.look(now=True):
            self._kill({"text": self._shims.end()})
        # Where the whole folder is gone, a daemon cannot prove who it is, and carries the kill out without us.
        if not self._end(code) and self._shims.harm and self._shims.seek_daemon() and self._state():
            self._end(code)
        if self._killed:
            self._say(unsaid(self._killed, printed))
            return KILLED
        if self._summary:
            tell([self._summary])
        return code

    def _end(self, code: int) -> bool:
        """Tell the daemon; False where none answers: it ends the session by itself when it sees that we have gone."""
        try:
            ended = self._operator.request("end", session=self._session, code=code, seconds=END_SECONDS)
            for event in self._operator.poll():
                if event.get("event") == "killed":
                    self._kill(event)
        except SentinelError:
            return False
        self._summary = summary_words(ended.get("summary"), self._session) if self._outer else ""
        if left := ended.get("left"):
            self._say(left_running(left))
        if ended.get("state") == "KILLED" and not self._killed:
            self._killed = f"{SWITCH} this session was ended."
        return True

    # --- the daemon ---

    def _hear(self) -> None:
        try:
            events = self._operator.poll()
        except DaemonError:
            self._lose()
            return
        for event in events:
            handle = self._events.get(str(event.get("event")))
            if handle:
                handle(event)

    def _request(self, op: str, **fields: Any) -> Fields | None:
        """Ask the daemon; None where it is away, and where it refused (the person is told)."""
        try:
            return self._operator.request(op, **fields)
        except DaemonError:
            self._lose()
        except SentinelError as e:
            self._notice(f"SENTINEL: {e}")
        return None

    def _ask(self, event: Fields) -> None:
        if self._stage:
            now = time.monotonic()
            # Where nobody but the person types, the Y is enough.
            self._stage.show(Gate(event if self._shared else {**event, "word": ""}, now), now)
        else:
            self._request("answer", question=str(event.get("question", "")), yes=False)

    def _unask(self, event: Fields) -> None:
        if self._stage:
            gone = str(event.get("question", ""))
            self._stage.withdraw(lambda modal: isinstance(modal, Gate) and modal.id == gone, time.monotonic())

    def _chat(self, event: Fields) -> None:
        if self._stage:
            self._person.hear(self._stage, event)
        elif context := event.get("context"):
            self._notice(f"SENTINEL: the agent asks for your help: {context}")

    def _close_chat(self) -> None:
        if self._stage:
            self._stage.withdraw(lambda modal: isinstance(modal, Chat), time.monotonic())

    def _show_state(self, event: Fields) -> None:
        if self._stage:
            self._stage.state(str(event.get("state")))

    def _open_menu(self) -> None:
        if self._stage and (state := self._state()):
            self._stage.show(self._person.menu(state), time.monotonic())

    def _heard(self, modal: Modal) -> None:
        """A person has answered, chosen or entered something."""
        if self._stage:
            self._person.carry_out(modal, self._stage)

    def _tail(self, event: Fields) -> None:
        since = event.get("since")
        text = self._stage.tail(float(since)) if self._stage and isinstance(since, int | float) else ""
        try:
            self._operator.send("tail", id=event.get("id"), text=text)
        except DaemonError:
            self._lose()

    def _kill(self, event: Fields) -> None:
        self._agent.kill()
        text, incident = str(event.get("text", "")), str(event.get("incident", ""))
        self._killed = text if text.startswith(SWITCH) else f"{SWITCH} {text}"
        if incident:
            self._killed += f"\nIncident report: {incident}"
        self._by_signal, self._code = True, KILLED

    def _notice(self, text: str) -> None:
        if self._stage:
            self._stage.notice(text)
        else:
            self._say(text)

    def _say(self, text: str) -> None:
        say(text, self._outer.fd if self._outer else None)

    def _state(self) -> str:
        from sentinel_guard.commands.run.attach_session import session_state  # noqa: PLC0415 - where a daemon fell

        state = session_state(self._request, self._session, self._secret)
        if state is None:
            self._doubt()
        return state or ""

    def _doubt(self) -> None:
        """Nothing that it says is obeyed, and nothing is told to it."""
        self._operator.forget()
        self._lose()
        if not self._doubted and not self._killed:
            self._doubted = True
            self._notice(IMPOSTOR)

    # --- shims that are gone ---

    def _look_at_shims(self) -> None:
        if self._code is None and self._shims.look() and self._shims.overdue and self._state() != "KILLED":
            self._kill({"text": self._shims.end()})

    # --- a daemon that went away ---

    def _lose(self) -> None:
        """The connection is lost, and with it every open question."""
        if not self._lost_at:
            self._lost_at = self._retry_at = time.monotonic()
            self._delay = FIRST_RETRY
        if self._stage:
            self._stage.withdraw(lambda modal: isinstance(modal, Gate), time.monotonic())

    def _keep_line(self) -> None:
        now = time.monotonic()
        if not self._lost_at or now < self._retry_at:
            return
        if now - self._lost_at > SILENCE and not self._told:
            self._told = True
            self._notice(AWAY)
        self._retry_at = now + self._delay
        self._delay = min(self._delay * 1.5, LAST_RETRY)
        try:
            if self._operator.advance():
                self._come_back()
        except SentinelError:
            return

    def _come_back(self) -> None:
        self._lost_at = 0.0
        state = self._state()
        if state == "KILLED":
            self._kill({"text": "this session was ended."})
            return
        if self._lost_at:
            return
        if state:
            self._request("agent", session=self._session, pid=self._agent.pid, broker=self._agent.broker)
        if state not in PAUSED:
            self._close_chat()
        if self._told:
            self._told = False
            self._notice(BACK)
        if state and self._stopped_by:
            self._suspend()
