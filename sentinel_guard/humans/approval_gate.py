"""The approval of an action on a person's terminal (R7).

Rules of this file:
1. The block of the gate is the protocol's, word for word, and the last thing on the screen.
2. Only a single ``y`` or ``Y`` (or ``t``, where that is offered) is a yes, and only after every line of the question
   has stood on the screen: what does not fit is told in numbers and paged with Space. A no is taken at any time. Where
   a word is demanded, it is shown and typed behind the yes; a code of the second factor is not shown.
3. Details and a reason change no answer: who reads on or writes has not decided yet, or has said no.
4. Time arrives as an argument, in seconds of a clock that only goes forward.
"""

from __future__ import annotations

import codecs

from sentinel_guard.humans.escape_sequence_parser import Keys
from sentinel_guard.humans.terminal_prompts import MAX_SAID, Drawn, Size, columns, visible, wrap

ENOUGH_ROWS, ENOUGH_COLUMNS = 9, 20
TOO_SMALL = "Enlarge the terminal to answer."
MORE = 0x20
YES, NO = frozenset(b"yY"), frozenset(b"nN\x03\x1b")
TIMED, DETAILS, REASON = frozenset(b"tT"), frozenset(b"dD"), frozenset(b"rR")
AWAY = NO - frozenset(b"nN")
"""Keys that are a no where a word or a reason is being typed."""
BLOCK = 5
"""Lines of the protocol's block, the title among them."""
COLOURS = {"LOW": "1", "MEDIUM": "1;33", "HIGH": "1;31", "CRITICAL": "1;31"}
"""Risk -> parameters of the block's SGR sequence."""
_USUAL = ("The agent wants to run:", "refused")
_HEADS = {"RESTRICTED_CHANGE": ("A restricted file has changed:", "put back")}
"""By action: what stands above the detail, and what becomes of it without an answer."""
_NOT_YET = "Not yet: Space shows the rest, and Y counts after the last line."


class Gate:
    """One question of the two-key gate. ``answer`` stays None until a person or the clock has decided."""

    def __init__(self, event: dict[str, object], now: float) -> None:
        said = {
            k: str(event.get(k, ""))
            for k in ("question", "action", "target", "risk", "detail", "why", "details", "wrong")
        }
        self.id, self._detail, self._why, self._details = (said[k] for k in ("question", "detail", "why", "details"))
        self._block = (said["action"], said["target"], said["risk"])
        preview = event.get("preview")
        self._preview = [str(line) for line in preview] if isinstance(preview, list) else []
        self.until = now + _seconds(event, "seconds") if _seconds(event, "seconds") else 0.0
        self._offered = _seconds(event, "timed")
        """Seconds for which a yes may hold for all of this kind; 0: that is not offered."""
        self.answer: bool | None = None
        self.timed = False
        """Whether the yes is to hold for all of this kind for a while."""
        self.typed = ""
        """The word behind the yes, as far as it has been typed."""
        self.reason = ""
        """What the agent is told with a no."""
        self._word, self._confirmed, self._writes = str(event.get("word", "")), False, False
        self.wants_code = event.get("code") is True
        """Whether a code of the second factor is to be typed behind a yes."""
        self._keys, self._decode = Keys(), codecs.getincrementaldecoder("utf-8")("ignore").decode
        self._hint = said["wrong"] and f"{said['wrong'].capitalize()}."
        self._in_details = False
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

    @property
    def drawn(self) -> Drawn:
        fits = self._size[0] >= ENOUGH_COLUMNS and self._size[1] >= ENOUGH_ROWS
        return Drawn(self._tail, COLOURS.get(self._block[2], "1")) if fits else Drawn()

    @property
    def _tail(self) -> int:
        return BLOCK + (self._confirmed or self._writes)

    # --- keys ---

    def feed(self, data: bytes) -> None:
        """Take what was typed. Several keys at once are a paste and no answer."""
        keys = self._keys.feed(data)
        if self._confirmed or self._writes:
            self._feed_line(keys)
            return
        key = keys.strip(b"\r\n")
        if len(key) == 1:
            self._pressed(key[0])

    def _pressed(self, key: int) -> None:
        self._hint = ""
        timed = key in TIMED and self._offered > 0
        if key in YES or timed:
            self._agree(timed=timed)
        elif key in DETAILS and self._details:
            self._in_details, self._top = not self._in_details, 0
        elif key in REASON:
            self._writes = True
        elif self._in_details and key in b"q\x1b":
            self._in_details, self._top = False, 0
        elif key in NO:
            self.answer = False
        elif key == MORE:
            self._top = self._next
        else:
            self._hint = f"{visible(chr(key))} is no answer."

    def _agree(self, *, timed: bool) -> None:
        if not self._readable:
            self._hint = _NOT_YET
            return
        self.timed = timed
        if self._word or self.wants_code:
            self._confirmed = True
        else:
            self.answer = True

    def _feed_line(self, keys: bytes) -> None:
        """The word behind a yes, or the reason of a no, with Enter at its end."""
        line = self.reason if self._writes else self.typed
        for char in self._decode(keys):
            if ord(char) in AWAY:
                self.answer, line = False, ""
            elif char in "\r\n" and (line or self._writes):
                self.answer = not self._writes and (self.wants_code or line == self._word)
            elif char in "\x7f\x08":
                line = line[:-1]
            elif char.isprintable():
                line = f"{line}{char}"[:MAX_SAID]
            if self.done:
                break
        self.reason, self.typed = (line, "") if self._writes else ("", line)

    def tick(self, now: float) -> None:
        """Silence is a no."""
        if self.until and now >= self.until:
            self.answer = False

    # --- lines ---

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
            block.append(visible(self._behind_a_yes(), width))
        elif self._writes:
            block[-1] += "N"
            block.append(_end(f"Reason for the agent, and Enter: {self.reason}", width))
        return [*self._context(width, rows - len(block), now), *block]

    def _behind_a_yes(self) -> str:
        if self.wants_code:
            return f"Code of your second factor, and Enter: {'*' * len(self.typed)}"
        return f"Type {self._word} and Enter: {self.typed}"

    def _context(self, width: int, room: int, now: float) -> list[str]:
        """What is asked about and why, a page of it where it is too long, and the countdown; at most ``room`` lines."""
        countdown, keys = visible(self._countdown(now), width), visible(self._hint or self._offer(), width)
        said = self._more(width) if self._in_details else self._said(width)
        space = room - 2
        if len(said) <= space and not self._in_details:
            self._readable, self._next = True, 0
            apart = [""] if len(said) + 2 <= space else []
            return [*said, *apart, countdown, keys, *apart]
        wanted = [keys] if room > 4 else []
        space -= len(wanted)
        page = said[self._top : self._top + space]
        end = self._top + len(page)
        self._next = end if end < len(said) else 0
        if not self._in_details:
            self._read = max(self._read, end)
            self._readable = self._read >= len(said)
        return [*page, visible(self._unseen(len(said) - len(page)), width), countdown, *wanted]

    def _said(self, width: int) -> list[str]:
        """All that a yes is given to, whole: what the block has room for only in part, too."""
        names = ("Action", "Target", "Risk")
        cut = [f"{n}: {v}" for n, v in zip(names, self._block, strict=True) if columns(visible(v)) > width - 10]
        return [
            visible(_HEADS.get(self._block[0], _USUAL)[0], width),
            *(f"  | {line}" for line in wrap(self._detail, width - 4)),
            *(
                f"  {line}"
                for text in (*self._preview, *cut, *filter(None, [self._why]))
                for line in wrap(text, width - 2)
            ),
        ]

    def _more(self, width: int) -> list[str]:
        return [f"  {line}" for line in wrap(self._details, width - 2)]

    def _unseen(self, count: int) -> str:
        if self._in_details:
            return f"Details: {count} lines are not shown. Space: more. d: back." if count else "Details. d: back."
        lines = f"… {count} lines are not shown. "
        return lines + ("Space: more." if self._readable else "Space: more. Y counts after the last.")

    def _offer(self) -> str:
        """The keys beside Y and N."""
        timed = f"   t: yes to this kind for {self._offered / 60:.0f} min" if self._offered else ""
        return f"r: no, with a reason{'   d: details' if self._details else ''}{timed}"

    def _countdown(self, now: float) -> str:
        if not self.until:
            return "Nothing goes on until you answer."
        no = _HEADS.get(self._block[0], _USUAL)[1]
        return f"Without an answer it is {no} in {max(0, round(self.until - now))} s."


def _seconds(event: dict[str, object], name: str) -> float:
    given = event.get(name)
    return float(given) if isinstance(given, int | float) and given > 0 else 0.0


def _end(text: str, width: int) -> str:
    """A line that is being typed: its end, where it is too long."""
    shown = visible(text)
    while columns(shown) > width - 1:
        shown = shown[1:]
    return shown
