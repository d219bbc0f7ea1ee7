"""A pty proxy between the agent and the person's terminal: passes bytes on unchanged, and shows questions on top.

Rules of this file:
1. While nothing is asked, not a byte of ours is written and not a byte of the agent's or the person's is changed, but
   for the key of the menu, and for the terminal's title where the session's state changes.
2. While something is asked, nothing that is typed reaches the agent, and nothing that it prints reaches the screen.
3. What was typed before a question was on the screen, or too soon after, is no answer to it. That nobody types is seen,
   not concluded from the time: on a busy machine a key may be read long after it was typed.
4. What the agent had on the screen is there again afterwards.
5. While another job of the person's has the terminal, the agent's output goes there as that of any background job, and
   nothing is asked: a line says that a question waits.
"""

from __future__ import annotations

import os
import select
import time
from collections import deque
from collections.abc import Callable, Sequence

from sentinel_guard.host.machine.pseudo_terminal import AgentTerminal, UserTerminal
from sentinel_guard.humans.approval_gate import Gate
from sentinel_guard.humans.escape_sequence_parser import Keys, Modes
from sentinel_guard.humans.session_menu import Menu
from sentinel_guard.humans.terminal_prompts import PLAIN, Chat, banner, columns, notification, paint
from sentinel_guard.humans.terminal_title import TerminalTitle

GRACE = 0.15
"""Seconds of silence on the keyboard, once a question is on the screen, before it takes an answer."""
AFTERGLOW = 0.25
"""Seconds after an answer in which keys are dropped: the Enter that often follows a Y is not for the agent. What a
terminal replies to the agent is not: it would wait for that (Codex asks where the cursor is)."""
NUDGE = 0.3
"""Seconds that a full-screen program sees another window size, so that it draws itself anew. Some look only when the
size has not changed for a tenth of a second (opencode), or when what they have printed was read (Codex)."""
TICK = 0.25
AWAY_TICK = 0.2
"""Seconds between two looks whether the terminal is ours again: a shell's ``fg`` sends a job that runs no signal."""
WAITS = "{} It waits for you: fg."
READ = 1 << 16
BACKLOG = 1 << 18
"""Bytes waiting for a slow terminal before the agent has to wait too."""
RECENT = 1 << 16
DRAIN_READS = 256
FLUSH_SECONDS = 5.0

ESCAPE = b"\x1b"
"""May be the beginning of a terminal's reply: no proof of a person."""

Modal = Gate | Chat | Menu
PASTE = b"\x1b[200~"


class Recent:
    """The last 64 KiB that the agent's terminal printed, and when (seconds, monotonic)."""

    def __init__(self) -> None:
        self._pieces: deque[tuple[float, bytes]] = deque()
        self._size = 0

    def add(self, at: float, data: bytes) -> None:
        self._pieces.append((at, data))
        self._size += len(data)
        while self._size - len(self._pieces[0][1]) >= RECENT:
            self._size -= len(self._pieces.popleft()[1])

    def since(self, at: float) -> bytes:
        return b"".join(data for when, data in self._pieces if when >= at)[-RECENT:]


class PtyProxy:
    """``heard`` is called with a modal that is done (it is off the screen by then) or has lines entered, and
    ``called`` when one of ``menu_keys`` was pressed: what a terminal may send for it.
    """

    def __init__(
        self,
        outer: UserTerminal,
        inner: AgentTerminal,
        heard: Callable[[Modal], None],
        called: Callable[[], None] = lambda: None,
        menu_keys: Sequence[bytes] = (),
        *,
        title: TerminalTitle | None = None,
    ) -> None:
        self._outer, self._inner, self._heard = outer, inner, heard
        self._called, self._menu_keys = called, menu_keys
        self._title = title or TerminalTitle("", "")
        self._plain, self._term = bool(os.environ.get("NO_COLOR")), os.environ.get("TERM", "")
        self._to_person, self._to_agent, self._held = bytearray(), bytearray(), bytearray()
        self._modes, self._recent = Modes(), Recent()
        self._modals: list[Modal] = []
        self._shown: Modal | None = None
        self._drawn: list[str] = []
        self._after_answer = Keys()
        self._notices: list[str] = []
        self._deaf_until = self._nudged_until = 0.0
        self._hears = False
        """Whether the keyboard was seen to be silent since the question was shown."""
        self._away, self._adopted = True, False
        self._keys = Keys()
        self.typed = False
        """True when the person has typed something for the agent; who is told sets it back."""
        self.gone = False
        """True when the outer terminal has hung up."""

    # --- the event loop's side ---

    def interests(self) -> dict[int, int]:
        """Descriptor -> what to poll it for."""
        outer = select.POLLIN if not self._away and (self._shown or len(self._to_agent) < BACKLOG) else 0
        inner = select.POLLIN if not self._shown and len(self._to_person) < BACKLOG else 0
        outer |= select.POLLOUT if self._to_person else 0
        inner |= select.POLLOUT if self._to_agent else 0
        return {self._outer.fd: outer, self._inner.fd: inner}

    def ready(self, fd: int, events: int) -> None:
        """Move bytes on a descriptor that poll named, if it is one of ours."""
        if fd == self._inner.fd:
            if events & select.POLLIN and not self._shown and (data := self._read_agent()):
                self._emit(data)
            if events & select.POLLOUT:
                self._flush_to_agent()
        elif fd == self._outer.fd:
            if events & ~select.POLLOUT:
                self._read_person()
            if events & select.POLLOUT:
                self._flush_to_person()

    def patience(self) -> float | None:
        """Seconds until ``tick`` wants to be called."""
        if self._nudged_until:
            return NUDGE / 4
        if self._away:
            return AWAY_TICK
        if self._shown and not self._hears:
            return min(TICK, max(0.001, self._deaf_until - time.monotonic()))
        return TICK if self._modals else None

    def tick(self, now: float) -> None:
        if self._nudged_until and now >= self._nudged_until:
            self._nudged_until = 0.0
            self._inner.resize(self._outer.size())
        for modal in self._modals:
            modal.tick(now)
        self._settle(now)
        if self._shown and now >= self._deaf_until and not self._to_person:
            self._hears = self._hears or not self._outer.typed()

    # --- the runner's side ---

    def show(self, modal: Modal, now: float) -> None:
        """Queue something to be asked; the first one stands on the screen."""
        self._modals.append(modal)
        if self._away:
            self.notice(WAITS.format(modal.headline))
        self._settle(now)

    def withdraw(self, wanted: Callable[[Modal], bool], now: float) -> None:
        """Take modals away unanswered."""
        self._modals = [modal for modal in self._modals if not wanted(modal)]
        self._settle(now)

    def chat(self) -> Chat | None:
        """The dialogue that is open."""
        return next((modal for modal in self._modals if isinstance(modal, Chat)), None)

    def notice(self, text: str) -> None:
        """Say something to the person: a line, or beside a full-screen program a notification."""
        if self._shown:
            self._notices.append(text)
        else:
            on_screen = self._modes.alternate and not self._away
            said = notification(text, self._term) if on_screen else b"\r\n" + banner(text)
            self._put(self._cancel() + said + self._modes.partial)

    def state(self, state: str) -> None:
        """Show the session's state in the terminal's title."""
        if said := self._title.told(state, self._modes.title):
            self._put(self._cancel() + said + (b"" if self._shown else self._modes.partial))

    def resized(self) -> None:
        self._inner.resize(self._outer.size())
        if self._shown:
            self._draw(time.monotonic(), anew=True)

    def tail(self, since: float) -> str:
        """What the agent's terminal printed since then (``time.monotonic``)."""
        self._drain()
        return self._recent.since(since).decode(errors="replace")

    def printed(self) -> str:
        """What the agent has printed last and still stands on the screen; empty for a full-screen program."""
        text = self.tail(0.0)
        return "" if self._modes.alternate else text

    def pause(self) -> None:
        """Give the terminal back for a while, with the agent's last words on it and without what is being asked."""
        self._away = True
        self._settle(time.monotonic())
        self._drain()
        self._put(self._title.end())
        self._flush_in_time()
        self._outer.restore()

    def resume(self) -> bool:
        """Take the terminal, if it is ours to take: False where another job has it."""
        self._away = not self._outer.foreground()
        if not self._away:
            self._outer.raw()
            if not self._adopted:
                self._inner.adopt(self._outer.attributes())
                self._adopted = True
            self._put(self._title.begin())
            self.resized()
            self._settle(time.monotonic())
        return not self._away

    @property
    def returned(self) -> bool:
        """True where the terminal is ours again and nobody has said so."""
        return self._away and self._outer.foreground()

    def finish(self, *, killed: bool) -> None:
        """The agent has ended: show its last words, put the terminal back as it was."""
        self._modals.clear()
        self._settle(time.monotonic())
        self._drain()
        if killed:
            self._put(self._modes.leave())
        self._put(self._title.end())
        self._flush_in_time()
        self._outer.restore()
        self._inner.close()

    # --- bytes ---

    def _read_agent(self) -> bytes:
        try:
            data = os.read(self._inner.fd, READ)
        except OSError:
            return b""
        if data:
            self._recent.add(time.monotonic(), data)
        return data

    def _read_person(self) -> None:
        try:
            data = os.read(self._outer.fd, READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.gone = True
            return
        now = time.monotonic()
        if self._shown and not self._hears:
            # A key that is held down, or a paste that goes on, never becomes an answer.
            self._deaf_until = now + GRACE
        elif self._shown:
            self._shown.feed(data)
            self._settle(now)
        elif now < self._deaf_until:
            self.type(self._after_answer.sequences(data))
        else:
            before, pressed = self._until_menu_key(data)
            self.typed = bool(self._keys.feed(before).strip(ESCAPE)) or self.typed
            self.type(self._after_answer.unfinished() + before)
            if pressed:
                self._called()

    def _until_menu_key(self, data: bytes) -> tuple[bytes, bool]:
        """What is the agent's of what was typed, and whether the menu's key came behind it. A paste holds no keys."""
        found = [at for key in self._menu_keys if (at := data.find(key)) >= 0]
        return (data[: min(found)], True) if found and PASTE not in data else (data, False)

    def type(self, data: bytes) -> None:
        """Give the agent what the person has typed."""
        self._to_agent += data
        self._flush_to_agent()

    def _emit(self, data: bytes | bytearray) -> None:
        self._modes.feed(bytes(data))
        # A terminal that is not raw ends lines by itself; the last words before a stop come while it still is.
        self._put(data.replace(b"\r\n", b"\n") if self._away and not self._outer.is_raw else data)

    def _put(self, data: bytes | bytearray) -> None:
        self._to_person += data
        self._flush_to_person()

    def _drain(self) -> None:
        """Read what the agent's terminal has printed by now."""
        for _ in range(DRAIN_READS):
            data = self._read_agent()
            if not data:
                return
            if self._shown:
                self._held += data
            else:
                self._emit(data)

    def _flush_to_agent(self) -> None:
        _write(self._inner.fd, self._to_agent)

    def _flush_to_person(self) -> None:
        self.gone = not _write(self._outer.fd, self._to_person) or self.gone

    def _flush_in_time(self) -> None:
        limit = time.monotonic() + FLUSH_SECONDS
        poll = select.poll()
        poll.register(self._outer.fd, select.POLLOUT)
        while self._to_person and not self.gone and time.monotonic() < limit:
            poll.poll(100)
            self._flush_to_person()

    # --- modals ---

    def _settle(self, now: float) -> None:
        """Bring the screen in line with the queue, then tell who was heard."""
        done = [modal for modal in self._modals if modal.done]
        self._modals = [modal for modal in self._modals if not modal.done]
        front = self._modals[0] if self._modals and not self._away else None
        if front is not self._shown:
            self._change(front, now)
        elif front:
            self._draw(now)
        for modal in (*done, *(m for m in self._modals if isinstance(m, Chat) and m.entered)):
            self._heard(modal)

    def _change(self, front: Modal | None, now: float) -> None:
        if self._shown is None:
            self._open()
        self._shown = front
        self._outer.flush_input()
        self._hears = False
        if front is None:
            self._deaf_until = now + AFTERGLOW
            self._close(now)
            return
        self._draw(now, anew=True)
        self._put(notification(front.headline, self._term) if isinstance(front, Chat) else b"\x07")
        self._deaf_until = time.monotonic() + GRACE

    def _open(self) -> None:
        self._to_agent.clear()
        self._after_answer = Keys()
        self._put(self._cancel() + (b"" if self._modes.alternate else b"\x1b[?1049h") + self._modes.quiet())

    def _cancel(self) -> bytes:
        """Ends a sequence that the agent has only half written (CAN); its first half is written again afterwards."""
        return b"\x18" if self._modes.partial.startswith(b"\x1b") else b""

    def _close(self, now: float) -> None:
        modes, alternate = self._modes, self._modes.alternate
        self._put(b"\x1b[0m\x1b[2J" + modes.restore() + (b"" if alternate else b"\x1b[?1049l") + modes.partial)
        if alternate:
            width, rows = self._outer.size()
            self._inner.resize((width, rows - 1 if rows > 1 else rows + 1))
            self._nudged_until = now + NUDGE
        held, self._held = self._held, bytearray()
        self._emit(held)
        notices, self._notices = self._notices, []
        for text in notices:
            self.notice(text)

    def _draw(self, now: float, *, anew: bool = False) -> None:
        """Draw the front modal, or only the lines of it that have changed."""
        assert self._shown is not None
        before, self._drawn = self._drawn, self._shown.lines(self._outer.size(), now)
        drawn = PLAIN if self._plain else self._shown.drawn
        if anew or len(before) != len(self._drawn):
            self._put(f"\x1b[0m\x1b[2J\x1b[H{paint(self._drawn, drawn)}".encode(errors="replace"))
            return
        changed = [n for n, line in enumerate(self._drawn) if line != before[n]]
        if changed:
            first = len(self._drawn) - drawn.lines
            lines = "".join(
                f"\x1b[{n + 1};1H{paint(self._drawn[n : n + 1], drawn._replace(lines=n >= first))}\x1b[K"
                for n in changed
            )
            back = f"\x1b[{len(self._drawn)};{columns(self._drawn[-1]) + 1}H"
            self._put((lines + back).encode(errors="replace"))


def _write(fd: int, data: bytearray) -> bool:
    """Write what the descriptor takes now. False where nobody is there any more."""
    while data:
        try:
            count = os.write(fd, data)
        except BlockingIOError:
            break
        except OSError:
            data.clear()
            return False
        del data[:count]
    return True
