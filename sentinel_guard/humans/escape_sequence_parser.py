"""Parse terminal escape sequences: the modes that a program has set, and the keys that a person pressed.

Rules of this file:
1. Bytes are only read; what they are is never changed on their way.
2. A sequence that is split between two reads counts once, when it is whole.
3. What an overlay switches off is exactly what the program had on (xterm's control sequences, kitty's keyboard).
"""

from __future__ import annotations

import re

ALTERNATE = frozenset({47, 1047, 1049})
# Mouse reports, focus reports, bracketed paste, synchronised output: all would garble a question or its answer.
DISTURBING = frozenset({1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026})
CURSOR = 25
MAX_PARTIAL = 4096

_WHOLE = re.compile(
    rb"\x1b(?:\[\?(?P<modes>[\d;]*)(?P<on>[hl])"
    rb"|\[(?P<kitty>[<>=])(?P<flags>[\d;]*)u"
    rb"|\[>4(?:;(?P<other>\d*))?m"
    rb"|\[(?P<margins>[\d;]*)r"
    rb"|\[!(?P<soft>p)"
    rb"|\](?:0|2);(?P<title>[^\x07\x1b]{0,512})(?:\x07|\x1b\\)"
    rb"|(?P<reset>c))"
)
_STRING = re.compile(rb"\x1b[\]PX^_][^\x07\x1b]*")
_PARTIAL = re.compile(rb"\x1b(?:[ -/]*|\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?)\Z")
_KEY_SEQUENCE = re.compile(
    rb"\x1b\[M...|\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b[\]P_^X].*?(?:\x07|\x1b\\)|\x1b[^\[\]OP_^X\x1b]", re.DOTALL
)
_PARTIAL_KEY = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|O|[\]P_^X].*)\Z", re.DOTALL)


class Modes:
    """The modes that a program's output has set on its terminal."""

    def __init__(self) -> None:
        self.partial = b""
        """The beginning of a sequence or character whose rest has not come yet."""
        self.title = b""
        """The terminal's title, as the program has set it last."""
        self._forget()

    @property
    def alternate(self) -> bool:
        """True while the program is in the alternate screen."""
        return bool(self._on & ALTERNATE)

    def feed(self, data: bytes) -> None:
        seen = self.partial + data
        for found in _WHOLE.finditer(seen):
            self._apply(found)
        self.partial = _unfinished(seen)

    def quiet(self) -> bytes:
        """Switches off what would disturb a question, and shows the cursor."""
        off = b"".join(b"\x1b[?%dl" % mode for mode in sorted(self._on & DISTURBING))
        keys = (b"\x1b[>0u" if self._kitty else b"") + (b"\x1b[>4;0m" if self._other else b"")
        cursor = b"\x1b[?25h" if self._hidden else b""
        return off + keys + cursor + (b"\x1b[r" if self._margins else b"")

    def restore(self) -> bytes:
        """Undoes ``quiet``."""
        on = b"".join(b"\x1b[?%dh" % mode for mode in sorted(self._on & DISTURBING))
        keys = (b"\x1b[<u" if self._kitty else b"") + (b"\x1b[>4;%sm" % self._other if self._other else b"")
        cursor = b"\x1b[?25l" if self._hidden else b""
        return on + keys + cursor + (b"\x1b[%sr" % self._margins if self._margins else b"")

    def leave(self) -> bytes:
        """What a program that was killed did not live to say: everything off, back to the main screen, and nothing of
        its own below its last words.
        """
        off = b"".join(b"\x1b[?%dl" % mode for mode in sorted(self._on))
        keys = (b"\x1b[<9u" if self._kitty else b"") + (b"\x1b[>4;0m" if self._other else b"")
        cursor = b"\x1b[?25h" if self._hidden else b""
        # Margins that are taken off send the cursor home, to what stands on the screen (DECSTBM): it is put back.
        return (b"\x1b7\x1b[r\x1b8" if self._margins else b"") + keys + cursor + off + b"\x1b[0m\x1b[J"

    def _forget(self) -> None:
        self._on: frozenset[int] = frozenset()
        self._hidden = False
        self._kitty = 0
        self._other = b""
        self._margins = b""

    def _apply(self, found: re.Match[bytes]) -> None:
        if found["title"] is not None:
            self.title = found["title"]
        elif found["reset"]:
            self._forget()
        elif found["soft"]:
            self._hidden, self._margins = False, b""
        elif found["kitty"]:
            self._apply_kitty(found["kitty"], _numbers(found["flags"]))
        elif found["margins"] is not None:
            self._margins = found["margins"]
        elif found["on"]:
            self._apply_modes(_numbers(found["modes"]), on=found["on"] == b"h")
        else:
            self._other = (found["other"] or b"").strip(b"0")

    def _apply_modes(self, modes: list[int], *, on: bool) -> None:
        kept = {mode for mode in modes if mode in ALTERNATE | DISTURBING}
        self._on = self._on | kept if on else self._on - (ALTERNATE if kept & ALTERNATE else frozenset()) - kept
        if CURSOR in modes:
            self._hidden = not on

    def _apply_kitty(self, sign: bytes, numbers: list[int]) -> None:
        first = numbers[0] if numbers else 0
        if sign == b">":
            self._kitty += 1
        elif sign == b"<":
            self._kitty = max(0, self._kitty - (first or 1))
        else:
            self._kitty = max(self._kitty, 1 if first else 0)


class Keys:
    """What a person typed, apart from the sequences that arrows, mice, pastes and terminal replies send."""

    def __init__(self) -> None:
        self._partial = b""

    def feed(self, data: bytes) -> bytes:
        """Plain bytes. An Escape key that stands alone stays."""
        return _KEY_SEQUENCE.sub(b"", self._whole(data))

    def sequences(self, data: bytes) -> bytes:
        """The sequences alone."""
        return b"".join(found[0] for found in _KEY_SEQUENCE.finditer(self._whole(data)))

    def unfinished(self) -> bytes:
        """The beginning of a sequence whose rest has not come yet; it is forgotten here."""
        partial, self._partial = self._partial, b""
        return partial

    def _whole(self, data: bytes) -> bytes:
        seen = self.unfinished() + data
        # A sequence inside of another's beginning is no sequence.
        cut = _PARTIAL_KEY.search(_KEY_SEQUENCE.sub(lambda found: b"." * len(found[0]), seen))
        if not cut:
            return seen
        rest = seen[cut.start() :]
        self._partial = rest if len(rest) <= MAX_PARTIAL else b""
        return seen[: cut.start()]


def _numbers(text: bytes) -> list[int]:
    return [int(part) for part in text.split(b";") if part]


def _unfinished(seen: bytes) -> bytes:
    """The unfinished sequence or UTF-8 character at the end; nothing if it is too long to be kept."""
    escape = seen.rfind(b"\x1b")
    if escape >= 0 and escape == len(seen) - 1:  # the first half of what ends a string (ST)?
        string = seen.rfind(b"\x1b", 0, escape)
        escape = string if string >= 0 and _STRING.fullmatch(seen, string, escape) else escape
    if escape >= 0 and (found := _PARTIAL.match(seen, escape)):
        return found[0] if len(found[0]) <= MAX_PARTIAL else b""
    for length in range(1, min(4, len(seen) + 1)):
        first = seen[-length]
        if first < 0x80:
            break
        if first >= 0xC0:
            needs = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
            return seen[-length:] if length < needs and first <= 0xF4 else b""
    return b""
