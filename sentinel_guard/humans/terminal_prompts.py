"""Text on a person's terminal: what of a text is shown, the chat with an agent (R8), banners, colours.

Rules of this file:
1. Nothing that comes from an agent reaches the terminal but through ``visible``: it cannot move the cursor, hide, or
   turn the order of what is shown.
2. Time arrives as an argument, in seconds of a clock that only goes forward.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sentinel_guard.humans.escape_sequence_parser import Keys

MAX_SAID = 200

# Printable by their category, and yet nothing is seen of them.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(map(chr, range(0xFE00, 0xFE10)))
_SUPPLEMENT = range(0xE0100, 0xE01F0)

_NOTIFICATIONS = {
    9: "\x1b]9;{}\x07",
    777: "\x1b]777;notify;sentinel-guard;{}\x07",
    # Of kitty's own the identifier lets a later one take the place of an earlier one.
    99: "\x1b]99;i=sentinel-guard:u=2;{}\x1b\\",
}
"""OSC code -> its sequence."""
_KNOWN_TO = (("kitty", (99,)), ("foot", (99,)), ("ghostty", (9,)), ("wezterm", (9,)), ("rxvt", (777,)))
"""Part of a terminal's name -> the one that it is sent."""
_UNKNOWN_TO = (9, 777)

Size = tuple[int, int]
"""Columns, rows."""


def visible(text: str, width: int = 0) -> str:
    r"""The text with all that a terminal would obey, reorder or not show written out (``\x1b``, ``\u202e``).

    With a width, cut to that many columns, the cut marked.
    """
    shown = text if text.isascii() and text.isprintable() else "".join(map(_seen, text))
    if not width or columns(shown) <= width:
        return shown
    kept = _fit(shown, width - 1)[0]
    return f"{kept}…" if columns(kept) < width else "…"


def columns(text: str) -> int:
    """How many columns a terminal needs for it."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def wrap(text: str, width: int) -> list[str]:
    """The visible text in lines of at most so many columns, every character of it; broken behind a space where one is
    near.
    """
    lines = []
    for paragraph in text.splitlines() or [""]:
        rest = visible(paragraph)
        while True:
            line, after = _fit(rest, max(1, width))
            space = line.rfind(" ") + 1
            if after and space > len(line) // 2:
                line, after = line[:space], line[space:] + after
            lines.append(line)
            rest = after
            if not rest:
                break
    return lines


def banner(text: str) -> bytes:
    """Lines for the terminal, with the bell. Ends at the beginning of a line."""
    lines = [visible(line) for line in text.splitlines() if line.strip()]
    return b"\r" + b"".join(f"\x1b[0;1;33m{line}\x1b[0m\x1b[K\r\n".encode(errors="replace") for line in lines) + b"\x07"


def notification(text: str, term: str) -> bytes:
    """A desktop notification through the terminal, and the bell; draws nothing. ``term``: the terminal's name (TERM).

    One that knows more than one of the sequences would show it more than once.
    """
    words = visible(text.splitlines()[0] if text else "", MAX_SAID).replace(";", ",")
    codes = next((codes for name, codes in _KNOWN_TO if name in term), _UNKNOWN_TO)
    said = "".join(_NOTIFICATIONS[code].format(words) for code in codes)
    return f"{said}\x07".encode(errors="replace")


class Drawn(NamedTuple):
    """What of a screen has a colour: the last lines, whole, so that no byte comes between two of them."""

    lines: int = 0
    colour: str = ""
    """Parameters of a terminal's SGR sequence."""


PLAIN = Drawn()


def paint(lines: Sequence[str], drawn: Drawn) -> str:
    """Lines of a screen as a terminal that is raw takes them."""
    if not drawn.lines or not drawn.colour:
        return "\r\n".join(lines)
    plain, coloured = lines[: -drawn.lines], "\r\n".join(lines[-drawn.lines :])
    return "\r\n".join([*plain, f"\x1b[{drawn.colour}m{coloured}\x1b[0m"])


class Chat:
    """The dialogue of the beacon, or one that the person begins.

    Lines that were entered wait in ``entered``; it is ``done`` after ``/resume``.
    """

    def __init__(self, context: str = "") -> None:
        """``context``: what the agent asks for; empty where it asks for nothing."""
        self.entered: list[str] = []
        self.done = False
        self._said: list[tuple[str, str]] = []
        self._line = ""
        self._keys = Keys()
        self._decode = codecs.getincrementaldecoder("utf-8")("ignore").decode
        if context:
            self.hear(context)

    @property
    def headline(self) -> str:
        return "SENTINEL: the agent asks for your help." if self._asked else "SENTINEL: the chat."

    @property
    def _asked(self) -> bool:
        return any(who == "agent" for who, _ in self._said)

    @property
    def drawn(self) -> Drawn:
        return PLAIN

    def hear(self, context: str) -> None:
        """The agent says something; the same words twice (a daemon that came back) stand once."""
        if ("agent", context) not in self._said[-1:]:
            self.add("agent", context)

    def add(self, who: str, text: str) -> None:
        self._said = [*self._said, (who, text)][-MAX_SAID:]

    def feed(self, data: bytes) -> None:
        for char in self._decode(self._keys.feed(data)):
            if char in "\r\n":
                self._enter()
            elif char in "\x7f\x08":
                self._line = self._line[:-1]
            elif char in "\x03\x15":
                self._line = ""
            elif char.isprintable():
                self._line += char

    def tick(self, now: float) -> None:
        """A dialogue has no limit in time."""

    def lines(self, size: Size, now: float) -> list[str]:  # noqa: ARG002 - as Gate
        """The whole screen; the cursor belongs behind the last line."""
        width, rows = max(size[0], 10), size[1]
        words = "The agent asks for your help, and waits." if self._asked else "Your agent reads it when it goes on."
        head = [visible(f"[SENTINEL] {words}", width)]
        foot = ["", *wrap("Enter sends a line; /resume gives the agent its autonomy back.", width), self._prompt(width)]
        talk = [line for who, text in self._said for line in _speech(who, text, width)]
        room = max(0, rows - len(head) - len(foot))
        return [*head, *(talk[-room:] if room else []), *foot][-rows:]

    def _prompt(self, width: int) -> str:
        """The end of the line that is being typed, where it is too long."""
        shown = visible(self._line)
        while columns(shown) > width - 3:
            shown = shown[1:]
        return f"> {shown}"

    def _enter(self) -> None:
        line, self._line = self._line.strip(), ""
        if line == "/resume":
            self.done = True
        elif line:
            self.entered.append(line)


def _speech(who: str, text: str, width: int) -> Iterable[str]:
    first = f"{who}: "
    for n, line in enumerate(wrap(text, max(1, width - len(first)))):
        yield (first if n == 0 else " " * len(first)) + line


def _seen(char: str) -> str:
    if char.isprintable() and char not in _UNSEEN and ord(char) not in _SUPPLEMENT:
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _fit(text: str, width: int) -> tuple[str, str]:
    """What fits into so many columns, and the rest."""
    used = 0
    for n, char in enumerate(text):
        used += _columns(char)
        if used > width and n:
            return text[:n], text[n:]
    return text, ""
