"""What ``sed`` makes of a text, as far as its scripts are plain.

A script that is not leaves a text of which nothing is known: what is computed here is run, as it were, in its place.
https://www.gnu.org/software/sed/manual/sed.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.programs.files.edited_file_content import bounded
from sentinel_guard.core.analysis.programs.files.sed_patterns import compiled

MAX_EDITED = 64 * 1024
"""Characters of a file whose edit is followed."""

_REGEX = r"/(?:[^/\\\n]|\\.)*/I?"
_ADDRESS = re.compile(rf"(?P<from>\d+|\$|{_REGEX})(?:[ \t]*,[ \t]*(?P<to>\+?\d+|\$|{_REGEX}))?[ \t]*(?P<but>!?)[ \t]*")
_COMMAND = re.compile(
    r"s(?P<mark>[/|#,@!:;+])(?P<old>(?:(?!(?P=mark))[^\\\n]|\\[^\n])*)(?P=mark)(?P<new>(?:(?!(?P=mark))[^\\\n]|\\.)*)(?P=mark)"
    r"(?P<flags>[gIi]*)\s*(?=[;\n}]|\Z)|(?P<drop>d)\s*(?=[;\n}]|\Z)"
    r"|(?P<put>[aic])(?:[ \t]*\\\n|[ \t]*\\(?=[ \t])|[ \t]*(?=[^\s\\]))(?P<text>[^\\\n](?:[^\\\n]|\\[nt])*)(?:\n|\Z)",
    re.DOTALL,
)


def sed(scripts: Iterable[str], text: str, *, extended: bool) -> str:
    """The text after these scripts; UNKNOWN where they have other commands than ``s``, ``d``, ``a``, ``i``, ``c`` and
    groups of them.
    """
    if UNKNOWN in text or len(text) > MAX_EDITED:
        return UNKNOWN
    edits = _Edits(text, extended=extended)
    return edits.text if all(map(edits.follow, scripts)) else UNKNOWN


@dataclass(slots=True)
class _Line:
    """A line that was read; ``before`` and ``after``: what is printed beside it, whole lines."""

    text: str
    before: str = ""
    after: str = ""
    gone: bool = False


class _Edits:
    """Lines by their numbers. A command takes all of them before the next one does: none looks at what another left."""

    def __init__(self, text: str, *, extended: bool) -> None:
        found = text.split("\n")
        self._ends = found[-1] == ""
        self._lines = dict(enumerate(map(_Line, found[:-1] if self._ends else found), 1))
        self._extended = extended

    @property
    def text(self) -> str:
        told = "".join(
            line.before + ("" if line.gone else f"{line.text}\n") + line.after for line in self._lines.values()
        )
        last = self._lines.get(len(self._lines))
        cut = not self._ends and last is not None and not last.gone and not last.after
        return told[:-1] if cut else told

    def follow(self, script: str) -> bool:
        """Whether a script is one that can be followed; if so, the lines are what it makes of them."""
        at, groups = 0, [set(self._lines)]
        while (at := len(script) - len(script[at:].lstrip("; \t\n"))) < len(script):
            if script[at] == "}":
                del groups[-1]
                at += 1
                if not groups:
                    return False
                continue
            seen = {n for n in groups[-1] if not self._lines[n].gone}
            address = _ADDRESS.match(script, at)
            chosen = self._chosen(address, seen) if address else seen
            at = address.end() if address else at
            if chosen is not None and script[at : at + 1] == "{":
                groups.append(chosen)
                at += 1
                continue
            command = _COMMAND.match(script, at)
            several = address is not None and address["to"] is not None
            if chosen is None or command is None or (command["put"] == "c" and several):
                return False
            at = command.end()
            if not self._edit(command, chosen):
                return False
        return len(groups) == 1

    def _chosen(self, address: re.Match[str], seen: set[int]) -> set[int] | None:
        """The numbers of the lines that an address, or two with all between them, means among those that a command
        sees; None where nobody knows.
        """
        first, to = address["from"], address["to"]
        begins, ends = self._meant(first, seen), self._meant(to or "$", seen)
        if begins is None or ends is None or (first == "0" and (to or "$")[0] != "/"):
            return None
        if to is None:
            return seen - begins if address["but"] else seen & begins
        if first != "0" and first[0] != "/" and not seen.issuperset(begins & self._lines.keys()):
            return None  # sed begins behind a line that it did not see
        found, left = set[int](), -1  # the number up to which a range goes; -1 outside of one
        for n in sorted(seen):
            if left >= n:
                found.add(n)
                left = -1 if n in ends and to[0] == "/" else left
            elif n in begins or (first == "0" and n == 1):
                found.add(n)
                left = self._end(to, n)
                if to[0] == "+" and left in self._lines and left not in seen:
                    return None  # sed takes the next line that it sees for the last one
                left = -1 if first == "0" and n in ends else left
        return seen - found if address["but"] else found

    def _end(self, to: str, begin: int) -> int:
        if to[0] == "+":
            return begin + int(to)
        return int(to) if to.isdigit() else len(self._lines)

    def _meant(self, address: str, seen: set[int]) -> set[int] | None:
        if address[0] != "/":
            return {len(self._lines) if address == "$" else int(address)}
        body, _, flags = address[1:].rpartition("/")
        pattern = self._compiled(body, "/", flags)
        return None if pattern is None else {n for n in seen if pattern.search(self._lines[n].text)}

    def _compiled(self, text: str, mark: str, flags: str) -> re.Pattern[str] | None:
        """A pattern to search the lines for; None for one that may mean something else to sed, or take long."""
        lines = [line.text for line in self._lines.values() if not line.gone]
        pattern = compiled(text, mark, extended=self._extended, flags=flags)
        return pattern if pattern and bounded(pattern.pattern, lines) else None

    def _edit(self, command: re.Match[str], chosen: set[int]) -> bool:
        """What one command makes of the lines that are chosen; whether that is known."""
        lines = [self._lines[n] for n in sorted(chosen)]
        if command["put"]:
            text = command["text"].replace(r"\n", "\n").replace(r"\t", "\t") + "\n"
            for line in lines:
                line.before += text if command["put"] != "a" else ""
                line.after += text if command["put"] == "a" else ""
        if command["drop"] or command["put"] == "c":
            for line in lines:
                line.gone = True
        if command["mark"]:
            pattern = self._compiled(command["old"], command["mark"], command["flags"])
            new, every = command["new"], "g" in command["flags"]
            if pattern is None or len(new) > 2000 or _OTHER_SIGNS.search(new):
                return False
            if every and any(not found[0] for line in lines for found in pattern.finditer(line.text)):
                return False  # Python's takes nothing behind something for one more
            for line in lines:
                line.text = pattern.sub(_replacement(new), line.text, count=0 if every else 1)
        return True


_OTHER_SIGNS = re.compile(r"\\[a-mo-su-zA-Z0]")
"""What a replacement has besides groups, tabs and ends of lines: other letters, characters by number."""


def _replacement(text: str) -> Callable[[re.Match[str]], str]:
    r"""``&`` is all that matched, ``\1`` a group of it."""

    def replaced(match: re.Match[str]) -> str:
        def piece(found: re.Match[str]) -> str:
            sign = found[0]
            if sign == "&":
                return match[0]
            if sign[1].isdigit():
                group = int(sign[1])
                return (match[group] or "") if group <= (match.re.groups or 0) else ""
            return {"n": "\n", "t": "\t"}.get(sign[1], sign[1])

        return re.sub(r"&|\\.", piece, text, flags=re.DOTALL)

    return replaced
