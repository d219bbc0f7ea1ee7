"""Parse error messages of compilers, linters and test runners: file, line, message (R1).

Rules of this file:
1. A diagnostic repeats the tool's own words; nothing is made up.
2. One line, or a line with its neighbours, decides: the time is linear in the text.
3. Errors only: warnings and notes are the tool's own business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sentinel_guard.core.text.normalize_output import plain

MAX_FOUND = 20
MAX_LINES = 2_000
MAX_LINE = 500
"""Longer lines are cut: minified code is no message."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One complaint of one tool."""

    file: str
    """As the tool wrote it; empty where it named none."""
    line: int
    """From 1; 0 where it named none."""
    column: int
    message: str
    tool: str


_PLACE = r"(?P<file>(?:[A-Za-z]:)?[^\s:()'\"\[\]]{1,300}):(?P<line>\d{1,7})"
_COLUMN = r":(?P<column>\d{1,5})"

LINES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("tsc", re.compile(r"(?P<file>[^\s(]{1,300})\((?P<line>\d+),(?P<column>\d+)\): error (?P<message>TS\d+: .+)")),
    ("tsc", re.compile(rf"{_PLACE}{_COLUMN} - error (?P<message>TS\d+: .+)")),
    ("shellcheck", re.compile(rf"{_PLACE}{_COLUMN}: (?:error|warning|note): (?P<message>.+\[SC\d+\])")),
    ("gcc", re.compile(rf"{_PLACE}(?:{_COLUMN})?: (?:fatal )?error: (?P<message>.+)")),
    ("lint", re.compile(rf"{_PLACE}(?:{_COLUMN})?:? (?P<message>(?:[A-Z]{{1,5}}\d{{2,5}}|invalid-syntax:?) .+)")),
    ("go", re.compile(rf"(?:vet: )?(?P<file>[^\s:]{{1,300}}\.go):(?P<line>\d{{1,7}}){_COLUMN}: (?P<message>.+)")),
    ("make", re.compile(rf"{_PLACE}: \*\*\* (?P<message>.+)")),
    ("bash", re.compile(r"(?P<file>[^\s:]{1,300}): line (?P<line>\d+): (?P<message>.+)")),
    ("sh", re.compile(r"(?P<file>[^\s:]{1,300}): (?P<line>\d+): (?P<message>\S+: not found|Syntax error: .+)")),
    ("zsh", re.compile(r"(?P<file>zsh)(?::\d+)?: (?P<message>command not found: .+)")),
    ("bash", re.compile(r"-?(?P<file>bash|sh|dash): (?P<message>\S+: (?:command )?not found)")),
    ("ruby", re.compile(rf"{_PLACE}:in (?P<message>.+)")),
    ("php", re.compile(r"(?:PHP )?(?:Parse|Fatal) error: +(?P<message>.+) in (?P<file>\S+) on line (?P<line>\d+)")),
    ("python", re.compile(r"\S{0,300}python[\d.]*: (?P<message>No module named \S+)")),
    ("git", re.compile(r"(?P<message>fatal: .+)")),
    ("make", re.compile(r"g?make(?:\[\d+\])?: \*\*\* (?P<message>No rule .+|No targets .+)")),
    ("npm", re.compile(r"npm (?:ERR!|error) (?P<message>Missing script.+|code E\w+|\d{3} .+)")),
    ("cargo", re.compile(r"error: (?P<message>no such command.+|could not find .+)")),
)
"""Tried in this order on each line; the first that matches names the tool."""

_GENERIC = re.compile(
    rf"(?=[^\s:]*[A-Za-z]){_PLACE}(?:{_COLUMN})?: ?(?P<message>(?!in |warning|note|info)[^\d\s].+)", re.IGNORECASE
)
_BARE = re.compile(r"(?:[\w.]+: )?(?P<message>(?:[A-Z]\w*(?:Error|Exception)|[Ee]rror|ERROR)(?:\[\w+\])?: .+)")
_COMMAND_ITSELF = re.compile(r"-?(?:/\S*/)?(?:bash|sh|dash|zsh|ksh)|<string>|<stdin>|\(eval\)")
"""What stands in the place of a file where a shell, or an interpreter, complains of the text that it was given."""

_FRAME = re.compile(r'(?:  )?File "(?P<file>[^"]+)", line (?P<line>\d+)')
_MARGIN = "E   "
"""pytest puts it before the lines of an error that it shows."""
_RAISED = re.compile(r"(?P<message>[A-Za-z_][\w.]*(?:: .*)?)$")
_ARROW = re.compile(rf" *--> {_PLACE}{_COLUMN}")
_HEADER = re.compile(r"(?:error(?:\[\w+\])?: (?P<rust>.+)|(?P<ruff>(?:[A-Z]{1,5}\d{2,5}|invalid-syntax:) .+))")
_ESLINT = re.compile(r" +(?P<line>\d+):(?P<column>\d+) +error +(?P<message>\S.*)")
_PATH = re.compile(r"(?P<file>[^\s:]{1,300}\.[A-Za-z]{1,5})$")
_NODE = re.compile(r"(?P<file>\S{1,300}):(?P<line>\d+)$")
_SCRIPT = re.compile(r"^node:|\.[cm]?[jt]sx?$")
_NODE_AT = re.compile(
    r" +at (?:[^()\n]{1,200} \()?(?:file://)?(?P<file>/[^():\n]{1,300}):(?P<line>\d+):(?P<column>\d+)"
)
_JS_ERROR = re.compile(r"(?:Uncaught )?(?P<message>(?:[A-Z]\w*)?Error(?: \[\w+\])?: .+)")
_PYTEST_E = re.compile(r"E {3,}(?P<message>\S.*)")
_PYTEST_AT = re.compile(r"(?P<file>[^\s:]{1,300}\.py):(?P<line>\d+): (?P<message>[A-Z]\w+)$")
_SHELLCHECK = re.compile(r"In (?P<file>\S{1,300}) line (?P<line>\d+):$")
_SHELLCHECK_AT = re.compile(r" *\^-*\^? (?P<message>SC\d+ \((?:error|warning|info|style)\): .+)")

Lines = Sequence[str]


def diagnose(text: str) -> list[Diagnostic]:
    """What the tools in this output complain of, in their order; at most 20. Places first, bare messages only alone."""
    lines = [line[:MAX_LINE] for line in plain(text).split("\n")[:MAX_LINES]]
    found = _distinct(d for i in range(len(lines)) for d in _at(lines, i))
    placed = [d for d in found if d.line]
    return (placed or found or _distinct(_last_resort(lines)))[:MAX_FOUND]


def _distinct(found: Iterator[Diagnostic]) -> list[Diagnostic]:
    return list(dict.fromkeys(found))


def _at(lines: Lines, i: int) -> Iterator[Diagnostic]:
    """The complaint that line ``i`` makes, if any: the readers of several lines first."""
    for read in _READERS:
        if found := read(lines, i):
            yield found
            return
    line = lines[i]
    for tool, pattern in LINES:
        if match := pattern.match(line):
            yield _diagnostic(match, tool)
            return


def _last_resort(lines: Lines) -> Iterator[Diagnostic]:
    for pattern in (_GENERIC, _BARE):
        for line in lines:
            match = pattern.match(line)
            if match and "://" not in line[: match.end("message")]:
                yield _diagnostic(match, "")


def _diagnostic(match: re.Match[str], tool: str, message: str = "") -> Diagnostic:
    groups = match.groupdict()
    file = groups.get("file") or ""
    line = int(groups.get("line") or 0)
    if _COMMAND_ITSELF.fullmatch(file):
        file, line = "", 0
    column = int(groups.get("column") or 0)
    return Diagnostic(file, line, column, message or groups["message"].strip(), _refined(tool, file))


def _refined(tool: str, file: str) -> str:
    """The compiler by the name of its file, where several speak alike."""
    ending = file.rpartition(".")[2].lower()
    if tool == "gcc":
        return {"py": "mypy", "pyi": "mypy", "java": "javac", "rs": "rustc", "swift": "swiftc"}.get(ending, "gcc")
    return {"py": "ruff/flake8", "pyi": "ruff/flake8"}.get(ending, "lint") if tool == "lint" else tool


def _python(lines: Lines, i: int) -> Diagnostic | None:
    """A traceback: the innermost frame that is not a library's, and what was raised."""
    if not (match := _FRAME.match(lines[i].removeprefix(_MARGIN))):
        return None
    frames = [match]
    for line in (below.removeprefix(_MARGIN) for below in lines[i + 1 : i + 200]):
        if frame := _FRAME.match(line):
            frames.append(frame)
        elif line and not line.startswith(" "):
            raised = _RAISED.match(line)
            own = [f for f in frames if "site-packages" not in f["file"] and "/lib/python" not in f["file"]]
            return _diagnostic((own or frames)[-1], "python", raised["message"]) if raised else None
    return None


def _frame(lines: Lines, i: int) -> Diagnostic | None:
    first = not any(_FRAME.match(line.removeprefix(_MARGIN)) for line in lines[max(0, i - 3) : i])
    return _python(lines, i) if first else None


def _arrow(lines: Lines, i: int) -> Diagnostic | None:
    """As rustc and ruff write: a header, then ``--> file:line:column``."""
    if not (match := _ARROW.match(lines[i])):
        return None
    header = next((h for line in reversed(lines[max(0, i - 3) : i]) if (h := _HEADER.match(line))), None)
    if not header:
        return None
    return _diagnostic(match, "rustc" if header["rust"] else "ruff", header["rust"] or header["ruff"])


def _eslint(lines: Lines, i: int) -> Diagnostic | None:
    if not (match := _ESLINT.match(lines[i])):
        return None
    heading = next((p for line in reversed(lines[max(0, i - 100) : i]) if (p := _PATH.match(line))), None)
    message = " ".join(match["message"].split())
    return Diagnostic(heading["file"] if heading else "", int(match["line"]), int(match["column"]), message, "eslint")


def _node(lines: Lines, i: int) -> Diagnostic | None:
    """``file:line``, the code, a caret, and ``SomeError: ...`` a few lines below; frames below that name the place."""
    match = _NODE.match(lines[i])
    if not match or not _SCRIPT.search(match["file"]):
        return None
    below = lines[i + 1 : i + 30]
    error = next((e for line in below if (e := _JS_ERROR.match(line))), None)
    if not error:
        return None
    own = next((f for line in below if (f := _NODE_AT.match(line))), None)
    inside = match["file"].startswith("node:")
    return _diagnostic(own if inside and own else match, "node", error["message"])


def _pytest(lines: Lines, i: int) -> Diagnostic | None:
    if not (match := _PYTEST_AT.match(lines[i])):
        return None
    return _diagnostic(match, "pytest", _first_e(lines, i) or match["message"])


def _first_e(lines: Lines, i: int) -> str:
    """The first of the last block of ``E`` lines: it holds the message, the others the comparison."""
    message = ""
    for line in reversed(lines[max(0, i - 40) : i]):
        if said := _PYTEST_E.match(line):
            message = said["message"]
        elif message and not line.startswith("E"):
            break
    return message


def _shellcheck(lines: Lines, i: int) -> Diagnostic | None:
    if not (match := _SHELLCHECK.match(lines[i])):
        return None
    said = next((s for line in lines[i + 1 : i + 6] if (s := _SHELLCHECK_AT.match(line))), None)
    return _diagnostic(match, "shellcheck", said["message"]) if said else None


_READERS: tuple[Callable[[Lines, int], Diagnostic | None], ...] = (_frame, _arrow, _eslint, _node, _pytest, _shellcheck)
