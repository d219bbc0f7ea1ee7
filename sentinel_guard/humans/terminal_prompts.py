"""Terminal prompts for a person: the approval of an action (R7), the chat with an agent (R8), banners.

Rules of this file:
1. Nothing that comes from an agent reaches the terminal but through ``visible``: it cannot move the cursor, hide, or
   turn the order of what is shown.
2. The block of the gate is the protocol's, word for word, and the last thing on the screen.
3. Only a single ``y`` or ``Y`` is a yes, and only after every line of the question has stood on the screen: what does
   not fit is told in numbers and paged with Space. A no is taken at any time. Where a word is demanded, it is shown
   and typed behind the yes.
4. Time arrives as an argument, in seconds of a clock that only goes forward.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Iterable

from sentinel_guard.humans.escape_sequence_parser import Keys

ENOUGH_ROWS, ENOUGH_COLUMNS = 9, 20
TOO_SMALL = "Enlarge the terminal to answer."
MORE = 0x20
YES, NO = frozenset(b"yY"), frozenset(b"nN\x03\x1b")
AWAY = NO - frozenset(b"nN")
"""Keys that are a no where a word is being typed."""
MAX_SAID = 200
_USUAL = ("The agent wants to run:", "refused")
_HEADS = {"RESTRICTED_CHANGE": ("A restricted file has changed:", "put back")}
"""By action: what stands above the detail, and what becomes of it without an answer."""

# Printable by their category, and yet nothing is seen of them.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(map(chr, range(0xFE00, 0xFE10)))
_SUPPLEMENT = range(0xE0100, 0xE01F0)

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
    """The visible text in lines of at most so many columns."""
    lines = []
    for paragraph in text.splitlines() or [""]:
        rest = visible(paragraph)
        while True:
            line, rest = _fit(rest, max(1, width))
            lines.append(line)
            if not rest:
                break
    return lines


def banner(text: str) -> bytes:
    """Lines for the terminal, with the bell. Ends at the beginning of a line."""
    lines = [visible(line) for line in text.splitlines() if line.strip()]
    return b"\r" + b"".join(f"\x1b[0;1;33m{line}\x1b[0m\x1b[K\r\n".encode(errors="replace") for line in lines) + b"\x07"


def notification(text: str) -> bytes:
    """A desktop notification through the terminal (OSC 9, OSC 777), and the bell; draws nothing."""
    words = visible(text.splitlines()[0] if text else "", MAX_SAID).replace(";", ",")
    return f"\x1b]9;{words}\x07\x1b]777;notify;sentinel-guard;{words}\x07\x07".encode(errors="replace")


class Gate:
    """One question of the two-key gate. ``answer`` stays None until a person or the clock has decided."""

    def __init__(self, event: dict[str, object], now: float) -> None:
        said = {k: str(event.get(k, "")) for k in ("question", "action", "target", "risk", "detail", "why")}
        self.id, self._detail, self._why = said["question"], said["detail"], said["why"]
        self._block = (said["action"], said["target"], said["risk"])
        seconds = event.get("seconds")
        self.until = now + seconds if isinstance(seconds, int | float) and seconds > 0 else 0.0
        self.answer: bool | None = None
        self.typed = ""
        """The word behind the yes, as far as it has been typed."""
        self._word, self._confirmed = str(event.get("word", "")), False
        self._keys = Keys()
        self._readable = False
        self._size: Size = (0, 0)
        self._top = self._read = self._next = 0
        """Lines: the first on the screen, those that have stood on it, the first of the next page."""

    @property
    def headline(self) -> str:
        action, target, _ = self._block
        return f"SENTINEL asks: {action} {target}?"

    @property
    def done(self) -> bool:
        return self.answer is not None

    def feed(self, data: bytes) -> None:
        """Take what was typed. Several keys at once are a paste and no answer."""
        keys = self._keys.feed(data)
        if self._confirmed:
            self._feed_word(keys)
            return
        key = keys.strip(b"\r\n")
        if len(key) != 1:
            return
        if key[0] in YES and self._readable and self._word:
            self._confirmed = True
        elif key[0] in NO or (key[0] in YES and self._readable):
            self.answer = key[0] in YES
        elif key[0] == MORE:
            self._top = self._next

    def _feed_word(self, keys: bytes) -> None:
        for key in keys:
            if key in AWAY:
                self.answer = False
            elif key in b"\r\n" and self.typed:
                self.answer = self.typed == self._word
            elif key in b"\x7f\x08":
                self.typed = self.typed[:-1]
            elif chr(key).isascii() and chr(key).isprintable():
                self.typed = f"{self.typed}{chr(key)}"[:MAX_SAID]
            if self.done:
                return

    def tick(self, now: float) -> None:
        """Silence is a no."""
        if self.until and now >= self.until:
            self.answer = False

    def lines(self, size: Size, now: float) -> list[str]:
        """The whole screen; the cursor belongs behind the last line."""
        width, rows = size
        if size != self._size:
            self._size = size
            self._top = self._read = self._next = 0
        if width < ENOUGH_COLUMNS or rows < ENOUGH_ROWS:
            self._readable = False
            return [visible(TOO_SMALL, width)]
        action, target, risk = (visible(value, width - 10) for value in self._block)
        block = ["[SENTINEL SECURITY]", f"Action: {action}", f"Target: {target}", f"Risk: {risk}", "Confirm? (Y/N): "]
        if self._confirmed:
            block[-1] += "Y"
            block.append(visible(f"Type {self._word} and Enter: {self.typed}", width))
        return [*self._context(width, rows - len(block), now), *block]

    def _context(self, width: int, room: int, now: float) -> list[str]:
        """What is asked about and why, a page of it where it is too long, and the countdown; at most ``room`` lines."""
        said, countdown = self._said(width), visible(self._countdown(now), width)
        space = room - 2
        if len(said) <= space:
            self._readable = True
            return [*said, countdown, ""]
        page = said[self._top : self._top + space]
        end = self._top + len(page)
        self._read = max(self._read, end)
        self._readable = self._read >= len(said)
        self._next = end if end < len(said) else 0
        return [*page, visible(self._unseen(len(said) - len(page)), width), countdown]

    def _said(self, width: int) -> list[str]:
        """All that a yes is given to, whole: what the block has room for only in part, too."""
        names = ("Action", "Target", "Risk")
        cut = [f"{n}: {v}" for n, v in zip(names, self._block, strict=True) if columns(visible(v)) > width - 10]
        return [
            visible(_HEADS.get(self._block[0], _USUAL)[0], width),
            *(f"  | {line}" for line in wrap(self._detail, width - 4)),
            *(f"  {line}" for text in (*cut, *([self._why] if self._why else [])) for line in wrap(text, width - 2)),
        ]

    def _unseen(self, count: int) -> str:
        lines = f"… {count} lines are not shown. "
        return lines + ("Space: more." if self._readable else "Space: more. Y counts after the last.")

    def _countdown(self, now: float) -> str:
        if not self.until:
            return "Nothing goes on until you answer."
        no = _HEADS.get(self._block[0], _USUAL)[1]
        return f"Without an answer it is {no} in {max(0, round(self.until - now))} s."


class Chat:
    """The dialogue of the beacon. Lines that were entered wait in ``entered``; it is ``done`` after ``/resume``."""

    def __init__(self, context: str) -> None:
        self.entered: list[str] = []
        self.done = False
        self._said: list[tuple[str, str]] = []
        self._line = ""
        self._keys = Keys()
        self._decode = codecs.getincrementaldecoder("utf-8")("ignore").decode
        self.hear(context)

    @property
    def headline(self) -> str:
        return "SENTINEL: the agent asks for your help."

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
        head = [visible("[SENTINEL] The agent asks for your help, and waits.", width)]
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
