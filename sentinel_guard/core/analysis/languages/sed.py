"""sed scripts -> effects: what they run (``e``, ``s///e``), write (``w``, ``s///w``) and read (``r``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import STDIN, UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages.shared.program_values import abstract, field
from sentinel_guard.core.analysis.programs.files import sed_edits
from sentinel_guard.core.model import Effect

Effects = Iterable[Effect]

_BLANK = re.compile(r"[\s;]*")
_LINE = re.compile(r"[^\n]*")
_NUMBERS = re.compile(r"(?:\d+|\$)(?:~\d+)?|[+~]\d+")
_FLAGS = re.compile(r"[gpiImM0-9]*")
_STREAMS = ("/dev/stdout", "/dev/stderr")


_ALL_LINES = re.compile(r"\s*(?:1,\$|/\.?\*?/|/\^/|/\.\*/|1~1)?\s*d\s*;?\s*")
"""A script that leaves no line."""


class ScriptAction(NamedTuple):
    how: str
    """``run``, ``write``, ``read``, or ``parse`` where the script is none."""
    text: str
    edits: str | None = None
    """The script up to here, where what it makes of a line is run."""
    changed: bool = False
    """Only of lines that it changes (``s///e``)."""


def script_actions(script: str) -> list[ScriptAction]:
    """What a sed script does besides editing."""
    return list(_Script(script).read())


class _Script:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def read(self) -> Iterator[ScriptAction]:
        while self._skip(_BLANK) < len(self.text):
            start = self.at
            self._addresses()
            letter = self.text[self.at : self.at + 1]
            self.at += 1
            if letter in ("e", "w", "W", "r", "R"):
                yield from self._file(letter, self.text[:start])
            elif letter == "s":
                yield from self._substitute()
            elif letter == "y":
                self._delimited(2)
            elif letter in ("a", "i", "c"):
                self._text()
            elif letter in ("b", "t", "T", ":", "#"):
                self._skip(_LINE if letter == "#" else re.compile(r"[^\n;}]*"))
            # any other letter stands alone; numbers behind q and l are taken for addresses of nothing

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _addresses(self) -> None:
        r"""``1``, ``$``, ``/re/I``, ``\,re,``, two of them, and ``!``."""
        for _ in range(4):
            sign = self.text[self.at : self.at + 1]
            if sign == "/":
                self._delimited(1)
                self._skip(re.compile(r"[IM]*"))
            elif sign == "\\":
                self.at += 1
                self._delimited(1)
                self._skip(re.compile(r"[IM]*"))
            elif not self._skip_number():
                pass
            if self.text[self.at : self.at + 1] == "," or self.text[self.at : self.at + 2].strip() == ",":
                self._skip(re.compile(r"\s*,\s*"))
            else:
                break
        self._skip(re.compile(r"[\s!]*"))

    def _skip_number(self) -> bool:
        before = self.at
        self._skip(_NUMBERS)
        return self.at > before

    def _delimited(self, parts: int) -> list[str]:
        """``/a/b/``: the parts between this delimiter, which may stand escaped, or in brackets in the first one."""
        delimiter = self.text[self.at : self.at + 1]
        self.at += 1
        found: list[str] = []
        for _ in range(parts):
            start = self.at
            inside = False
            while self.at < len(self.text):
                char = self.text[self.at]
                if char == "\\":
                    self.at += 1
                elif char == "[" and not inside and not found and delimiter != "[":
                    inside = "]" in self.text[self.at + 2 : self.at + 200]
                    self.at += 1 if inside and self.text[self.at + 1 : self.at + 2] in ("]", "^") else 0
                elif char == "]" and inside:
                    inside = False
                elif char == delimiter and not inside:
                    break
                self.at += 1
            found.append(self.text[start : self.at])
            self.at += 1
        return found

    def _substitute(self) -> Iterator[ScriptAction]:
        _, new = self._delimited(2)
        for _ in range(8):
            self._skip(_FLAGS)
            flag = self.text[self.at : self.at + 1]
            if flag == "e":
                text = "" if re.search(r"&|\\\d", new) else re.sub(r"\\(.)", r"\1", new)
                yield ScriptAction("run", text, self.text[: self.at], changed=True)
                self.at += 1
            elif flag == "w":
                self.at += 1
                yield from self._file("w")
                return
            else:
                return

    def _file(self, letter: str, edits: str = "") -> Iterator[ScriptAction]:
        """The rest of the line is a name, or for ``e`` a command."""
        start = self.at
        text = self.text[start : self._skip(_LINE)].strip()
        if letter == "e":
            text = "" if text.rstrip("}; ") == "" else text
            yield ScriptAction("run", text, None if text else edits)
        elif text and text not in _STREAMS:
            yield ScriptAction("write" if letter in ("w", "W") else "read", text)

    def _text(self) -> None:
        """The text of ``a``, ``i`` and ``c``: to the end of the line, on and on behind a backslash."""
        while True:
            start = self.at
            line = self.text[start : self._skip(_LINE)]
            if not line.endswith("\\") or self.at >= len(self.text):
                return
            self.at += 1


def sed(call: Call) -> Effects:
    """The scripts do what they say; the operands are read, with ``-i`` edited in place."""
    operands = list(call.operands)
    inplace = call.has("-i", "-I", "--in-place")
    empty = operands.pop(0) if inplace and operands and operands[0].text == "" else None
    scripts = call.parsed.values("-e", "--expression", "-s-e")
    files = call.parsed.values("-f", "--file")
    doubted = empty is not None and not (scripts or files)  # a suffix to BSD's, and to GNU's the script
    if not scripts and not files and operands:
        scripts = [operands.pop(0)]
    lines = _lines(call, operands)
    for item in files:
        yield from call.read(item)
        text = call.stdin if item.text in STDIN else call.script_text(call.locate(item)) if item.known else None
        if text is not None:
            yield from _done(call, text, lines)
    yield from _done(call, "\n".join(abstract(call, item) for item in scripts), lines)
    for item in operands:
        emptied = ("empty",) if any(_ALL_LINES.fullmatch(script.text) for script in scripts) else ()
        yield from call.write(item, "inplace", *emptied) if inplace else call.read(item)
        if inplace and item.known:
            given = [abstract(call, script) for script in scripts] if not files else [UNKNOWN]
            _edit(call, item, given, sure=not doubted)


def _edit(call: Call, item: Field, scripts: Sequence[str], *, sure: bool) -> None:
    """For what runs the file behind this: its new text, and the old one beside it under ``-i.bak``."""
    text = call.script_text(call.locate(item))
    if text is None:
        return
    way = _way(call)
    known = way is not None and (text.isascii() or not _bytes(call))
    edited = sed_edits.sed(scripts, text, extended=way.extended) if way and known else UNKNOWN
    call.save(item, edited, sure=sure and call.world.is_replaced_by_name(item.text, call.cwd))
    if way and way.suffix:
        call.save(Field(f"{item.text}{way.suffix}"), text)


class _Way(NamedTuple):
    """How sed edits in place: ``-E``; what it adds to the name of the old file."""

    extended: bool = False
    suffix: str = ""


_KNOWN = re.compile(r"--(?:separate|unbuffered|follow-symlinks)|-[suEr]*")
_IN_PLACE = re.compile(r"(?:-[suEr]*i|--in-place(?:=|$))(?P<suffix>[\w.~-]*)")
_SCRIPT = re.compile(r"(?P<before>-[suEr]*)e(?P<glued>.*)|--expression(?P<given>=.*)?", re.DOTALL)


def _way(call: Call) -> _Way | None:
    """None where an option makes of sed something else, or it would refuse one; ``-iE`` is a suffix."""
    extended, suffix, value = False, "", False
    for word in call.fields[1:]:
        text, given = word.text, value
        value = False
        if given or not text.startswith("-") or text == "-":
            continue
        if not word.known or text == "--":
            return None
        script, inplace = _SCRIPT.fullmatch(text), _IN_PLACE.fullmatch(text)
        flags = text
        if text == "--regexp-extended":
            flags = "-E"
        elif inplace:
            suffix, flags = inplace["suffix"], text.partition("i")[0] if text[1] != "-" else ""
        elif script:
            flags = script["before"] or ""
            value = not (script["glued"] or script["given"])
        elif not _KNOWN.fullmatch(text):
            return None
        extended = extended or (not flags.startswith("--") and ("E" in flags or "r" in flags))
    return _Way(extended, suffix)


def _bytes(call: Call) -> bool:
    """Whether the text sets a locale in which a letter may be more than one character."""
    said = (call.scope.lookup(name) for name in ("LC_ALL", "LC_CTYPE", "LANG", "POSIXLY_CORRECT"))
    return any(held.isset and "utf" not in "".join(held.items).lower() for held in said)


def _lines(call: Call, operands: Sequence[Field]) -> str:
    """What it edits, as far as the text itself made it: ``e`` runs lines of it."""
    if not operands:
        return call.stdin or UNKNOWN
    made = call.world.made()
    found = [call.locate(item) if item.known else "" for item in operands]
    texts = [call.world.read(path) if path in made else None for path in found]
    return "".join(UNKNOWN if text is None else text for text in texts)


def _done(call: Call, script: str, lines: str) -> Iterator[Effect]:
    sandboxed = call.has("--sandbox", "--posix")
    for deed in script_actions(script) if not sandboxed else ():
        item = field(deed.text)
        if deed.how == "write":
            yield from call.write(item, "truncate")
        elif deed.how == "read":
            yield from call.read(item)
        elif deed.text and UNKNOWN not in deed.text:
            yield from call.runner.script(deed.text, call, call.command.program)
        elif deed.text or UNKNOWN in lines:
            yield call.opaque("what sed reads, run as commands", "code")
        if deed.edits is not None and UNKNOWN not in lines:
            yield from _run_lines(call, deed, lines)


def _run_lines(call: Call, deed: ScriptAction, lines: str) -> Iterator[Effect]:
    """``e`` runs the line as it is by then, ``s///e`` one that it has changed."""
    extended = call.has("-E", "-r", "--regexp-extended")
    edited = sed_edits.sed([(deed.edits or "").strip("; \n")], lines, extended=extended)
    if UNKNOWN in edited:
        yield call.opaque("what sed reads, run as commands", "code")
        return
    pairs = zip(lines.split("\n"), edited.split("\n"), strict=False)
    some = deed.changed and edited != lines
    text = "\n".join(b for a, b in pairs if a != b) if some else edited
    if text:
        yield from call.runner.script(text, call, call.command.program)


_OPTIONS = options(
    "-e= --expression= -f= --file= -l= --line-length= --in-place --quiet --silent --regexp-extended --separate "
    "--null-data --debug --posix --sandbox --unbuffered --follow-symlinks"
)
OPTIONS = dict.fromkeys(("sed", "gsed", "ssed"), _OPTIONS)
PROGRAMS = dict.fromkeys(("sed", "gsed", "ssed"), sed)
