"""The menu of a guarded session on the person's terminal: go on, chat, pause, resume, roll back, kill.

Rules of this file:
1. Nothing is chosen by a paste or by keys that are held down: one key at a time counts.
2. What ends the session is asked once more.
"""

from __future__ import annotations

from sentinel_guard.humans.escape_sequence_parser import Keys
from sentinel_guard.humans.terminal_prompts import PLAIN, Drawn, Size, visible

GO_ON, CHAT, PAUSE, RESUME = "go on", "chat", "pause", "resume"
ROLL_BACK, KILL, PASS = "roll back", "kill", "pass"
_ENDS = {ROLL_BACK: "End the session and put the repository back to its start?", KILL: "End the session?"}
_AWAY = b"g\x1b\x03\r\n"
_YES, _NO = b"yY", b"nN\x1b\x03"
PAUSED = frozenset({"PAUSED", "AWAITING_HUMAN"})


def key_name(menu_key: str) -> str:
    """What a person reads for a ``[terminal] menu_key``; no menu for an empty one."""
    return menu_key.capitalize() if menu_key.startswith("ctrl-") else ""


def key_codes(name: str) -> tuple[bytes, ...]:
    """What a terminal may send for a ``menu_key``: the plain byte, and as kitty's keyboard and xterm say it."""
    if not key_name(name):
        return ()
    code = ord(name[-1])
    return bytes([code & 0x1F]), b"\x1b[%d;5u" % code, b"\x1b[27;5;%d~" % code


class Menu:
    """``choice`` stays None until a person has chosen."""

    def __init__(self, session: str, state: str, key: str) -> None:
        """``state``: the session's; ``key``: what a person calls the key that opened it."""
        self.choice: str | None = None
        self._session, self._state = session, state
        self.paused = state in PAUSED
        self._wants = ""
        """What is asked once more."""
        self._keys = Keys()
        rest = (b"r", RESUME, "resume") if self.paused else (b"p", PAUSE, "pause: what the agent starts waits")
        self._entries = (
            (b"g", GO_ON, "go on"),
            (b"c", CHAT, "chat: say something to the agent, which is paused meanwhile"),
            rest,
            (b"b", ROLL_BACK, "roll back: end the session, the repository goes back to its start"),
            (b"k", KILL, "kill: end the session, files stay as they are"),
            (b"a", PASS, f"give {key} to the agent"),
        )

    @property
    def headline(self) -> str:
        return "SENTINEL: the menu."

    @property
    def drawn(self) -> Drawn:
        return PLAIN

    @property
    def done(self) -> bool:
        return self.choice is not None

    def feed(self, data: bytes) -> None:
        """Take what was typed."""
        key = self._keys.feed(data)
        if len(key) != 1:
            return
        if self._wants:
            if key in _YES:
                self.choice = self._wants
            elif key in _NO:
                self._wants = ""
            return
        chosen = GO_ON if key in _AWAY else next((what for k, what, _ in self._entries if k == key.lower()), None)
        if chosen in _ENDS:
            self._wants = chosen
        elif chosen:
            self.choice = chosen

    def tick(self, now: float) -> None:
        """It waits for ever; the agent goes on meanwhile."""

    def lines(self, size: Size, now: float) -> list[str]:  # noqa: ARG002 - as Gate
        """The whole screen; the cursor belongs behind the last line."""
        width, rows = size
        head = f"[SENTINEL] {self._session} is {self._state}."
        entries = [f"  {key.decode()}  {words}" for key, _, words in self._entries]
        foot = f"{_ENDS[self._wants]} (Y/N): " if self._wants else "Your choice: "
        return [visible(line, width) for line in [head, "", *entries, "", foot]][-rows:]
