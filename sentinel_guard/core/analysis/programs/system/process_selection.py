"""Which processes a command chooses: pgrep, pkill, killall, pidof, ps with grep and awk behind it, lsof, fuser, ss.

Options that leave fewer of them (``-u``, ``--older``) are passed over: this user's processes are all that count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Options, Parsed, options, parse
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.posix_expressions import compiled, extended
from sentinel_guard.core.analysis.running_processes import By, Criterion, Selection
from sentinel_guard.core.model import Command

_PGREP = options(
    "--signal= -u= --euid= -U= --uid= -P= --parent= -g= --pgroup= -G= --group= -t= --terminal= -s= --session= -F= "
    "--pidfile= -O= --older= -r= --runstates= -d= --delimiter= --ns= --nslist= --full --exact --ignore-case --newest "
    "--oldest --inverse --list-name --list-full --count"
)
_KILLALL = options("-s= --signal= -u= --user= -o= --older-than= -y= --younger-than= -n= --ns= -Z= --context=")
_GREP = options("-e= --regexp= -A= -B= -C= -m= --max-count= --color= -f= --file= --invert-match --ignore-case")
_PIDOF = options("-o= -S=")
_SIGNAL = re.compile(r"-(?:\d+|(?:SIG)?[A-Z]{2,}\d*)")
_BY_PID = ("-P", "--parent", "-g", "--pgroup", "-t", "--terminal", "-s", "--session", "-F", "--pidfile", "-v",
           "--inverse", "-G", "--group")  # fmt: skip
"""They choose by what no name says."""
_PORT = re.compile(r":(\d{1,5}(?:,\d{1,5})*)\b")
_LISTEN = "LISTEN"
_AWK = re.compile(r"(!?)\s*/((?:[^/\\]|\\.)+)/")
_NAMES_ONLY = re.compile(r"\b(?:comm|ucmd)\b")
_LINES = re.compile(r"\b(?:args|cmd|command)\b")
_PID_FILE = re.compile(r".*\.pid")
_SAID = re.compile(r"[A-Za-z]|\d{4}")
"""A port, too; fewer digits stand in each line of a list."""
_FOLDER_OF_PROCESS = re.compile(r"/proc/(?!self/|thread-self/|\$\{?\$)[^/]+/cwd/?")
"""Of another process than the one that asks."""
_GREPS = ("grep", "egrep", "fgrep", "rg", "ag")
_LOOKS = frozenset(("pgrep", "pidof", "ps", "lsof", "fuser", "ss", "netstat"))
_FILTERS = frozenset(
    (*_GREPS, "awk", "gawk", "mawk", "cut", "head", "tail", "sort", "uniq", "sed", "tr", "tee", "xargs")
)
"""What these print was looked up, where anything was."""


def signalled(command: Command, target: str) -> Selection | None:
    """Whom a signal reaches that goes to a name, pattern or port; None where that is not how it is aimed."""
    chooses = _SIGNALLED.get(command.program)
    return chooses(command, target) if chooses else None


def _pgrep(command: Command, pattern: str | None = None) -> Selection | None:
    given = _parsed(command, _PGREP)
    if pattern is None:
        pattern = given.operands[0].text if given.operands else ""
    if not pattern or _has(given, *_BY_PID):
        return None
    by = By.LINE if _has(given, "-f", "--full") else By.NAME
    found = _criterion(pattern, by, whole=_has(given, "-x", "--exact"), ignores_case=_has(given, "-i", "--ignore-case"))
    newest, oldest = _has(given, "-n", "--newest"), _has(given, "-o", "--oldest")
    return found and Selection((found,), one="newest" if newest else "oldest" if oldest else "")


def _killall(command: Command, name: str) -> Selection | None:
    given = _parsed(command, _KILLALL)
    if _has(given, "-i", "--interactive") or "/" in name:
        return None
    pattern = name if _has(given, "-r", "--regexp") else re.escape(name[:15])
    whole = not _has(given, "-r", "--regexp")
    found = _criterion(pattern, By.NAME, whole=whole, ignores_case=_has(given, "-I", "--ignore-case"))
    return found and Selection((found,))


def _skill(_: Command, name: str) -> Selection | None:
    found = _criterion(re.escape(name), By.NAME, whole=True)
    return found and Selection((found,))


def _port(command: Command, word: str) -> Selection | None:
    """Fuser's ``3000/tcp``, and a number where it was told that it is a port; kill-port's and fkill's."""
    number = word.partition("/")[0].lstrip(":")
    plain = command.program == "kill-port" or not {"-n", "--namespace"}.isdisjoint(command.flags)
    return Selection(port=int(number)) if number.isdigit() and (plain or word != number) else None


def _fkill(command: Command, word: str) -> Selection | None:
    return _port(command, word) if word[:1] == ":" else None if word.isdigit() else _skill(command, word)


def _ports(command: Command) -> Iterator[Selection]:
    """Of lsof whoever is connected with it, too."""
    if command.program == "fuser":
        yield from filter(None, (_port(command, word) for word in command.operands))
        return
    peers = command.program == "lsof" and not any(_LISTEN in text.upper() for text in command.argv)
    for said in (m[1] for text in command.argv[1:] for m in _PORT.finditer(text)):
        yield from (Selection(port=int(number), peers=peers) for number in said.split(","))


def _pidof(command: Command) -> Iterator[Selection]:
    for item in _parsed(command, _PIDOF).operands:
        if found := _criterion(re.escape(item.text), By.PROGRAM, whole=True):
            yield Selection((found,))


_SIGNALLED: dict[str, Callable[[Command, str], Selection | None]] = {
    "killall": _killall, "skill": _skill, "pkill": _pgrep, "fuser": _port, "kill-port": _port, "fkill": _fkill
}  # fmt: skip


class Lookups:
    """What the commands of a text have looked up so far, one behind the other: a filter belongs to the list before."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Selection]] = []
        self._by = By.LINE
        self._lists = False
        """A list of processes is what the next filter reads."""
        self._from_elsewhere = False
        """What was told last are pids that nobody looked up."""
        self._files = set[str]()
        """Files with pids that were."""
        self._asks_folder, self._folder = False, ""
        """Where a process works was asked, and with what that was compared just now."""

    def add(self, command: Command) -> None:
        """The next command of the text."""
        name = command.program
        if name != "kill":
            self._compare_folder(command)
        if name == "jobs" or (name == "cat" and any(map(_PID_FILE.fullmatch, command.operands))):
            self._from_elsewhere = True
        elif name == "ps":
            self._begin(command, name)
        elif name == "pgrep":
            self._lists = _has(_parsed(command, _PGREP), "-a", "-l", "--list-name", "--list-full")
            self._by = By.LINE
            self._keep(name, _pgrep(command))
        elif name == "pidof":
            for found in _pidof(command):
                self._keep(name, found)
        elif name in ("lsof", "fuser", "ss", "netstat"):
            self._lists, self._by = name != "fuser", By.NAME
            for found in [*_ports(command)] or [Selection()]:
                self._keep(name, found)
        elif self._lists and self._found and name in (*_GREPS, "awk", "gawk", "mawk"):
            self._narrow(command)

    def write(self, command: Command, path: str) -> None:
        """A command of the text writes a file."""
        if command.program in _LOOKS or (self._found and command.program in _FILTERS):
            self._files.add(path)
        else:
            self._files.discard(path)

    def read(self, path: str) -> None:
        """It reads one."""
        if path in self._files:
            self._from_elsewhere = False

    def named_in(self, word: str) -> tuple[Selection, ...]:
        """Those that a word stands for, as far as that is written in it; any of them for one that comes from a pipe or
        a file of pids, or is a variable.
        """
        kept = any(re.search(rf"(?<![\w.]){re.escape(paths.base(path))}(?![\w.])", word) for path in self._files)
        here = word.startswith(("$(", "`")) and not (kept or word.startswith(("$(stdin", "$(echo", "$(printf")))
        if self._from_elsewhere and not here:
            return ()
        found = [one for name, one in self._found if not here or re.search(rf"\b{name}\b", word)]
        folder = "" if word.startswith(("$(", "`")) else self._folder
        return tuple(one._replace(folder=folder) for one in found if one.criteria or one.port)

    def _compare_folder(self, command: Command) -> None:
        """``[ "$(readlink /proc/$p/cwd)" = "$PWD" ]``, ``pwdx $p | grep -q "$PWD"``; what is denied leaves all."""
        name, words, self._folder = command.program, command.argv[1:], ""
        if name == "pwdx" or any(map(_FOLDER_OF_PROCESS.fullmatch, words)):
            self._asks_folder = True
        elif self._asks_folder and name in ("[", "test", "grep"):
            self._asks_folder = False
            meant = not _has(_parsed(command, _GREP), "-v") if name == "grep" else not {"=", "=="}.isdisjoint(words)
            if meant and "!" not in words:
                self._folder = next((word for word in words if word[:1] == "/"), "")

    def _keep(self, name: str, found: Selection | None) -> None:
        if found is not None:
            self._found.append((name, found))
            self._from_elsewhere = False

    def _begin(self, command: Command, name: str) -> None:
        words = command.argv[1:]
        said = " ".join(words)
        short = said in ("-e", "-A") or (_NAMES_ONLY.search(said) and not _LINES.search(said))
        self._by, self._lists = By.NAME if short else By.LINE, True
        named = next((after for word, after in pairwise(words) if word == "-C"), "")
        found = _criterion(re.escape(named), By.NAME, whole=True) if named else None
        self._keep(name, Selection((found,) if found else ()))

    def _narrow(self, command: Command) -> None:
        """Lines that a grep or awk leaves of the list."""
        name, last = self._found[-1]
        said = " ".join(command.operands[:1])
        if name in ("ss", "netstat", "lsof") and (_LISTEN in said or not last.port):
            port = next(iter(re.findall(r"\b\d{2,5}\b", said)), "0")
            self._found[-1] = name, last._replace(port=last.port or int(port), peers=last.peers and _LISTEN not in said)
            return
        if name in ("ss", "netstat"):
            return
        narrowed = _grep(command, self._by) if command.program in _GREPS else _awk(command, self._by)
        self._found[-1] = name, last._replace(criteria=(*last.criteria, *narrowed))


def _grep(command: Command, by: By) -> Iterator[Criterion]:
    given = _parsed(command, _GREP)
    patterns = given.values("-e", "--regexp") or given.operands[:1]
    fixed, plain = _has(given, "-F") or command.program == "fgrep", command.program == "grep"
    said = [item.text for item in patterns if _SAID.search(item.text) and "$" not in item.text.rstrip("$")]
    if _has(given, "-o", "--only-matching") or len(said) != len(patterns):
        return
    read: Callable[[str], str] = re.escape if fixed else extended if plain and not _has(given, "-E", "-P") else str
    whole = "|".join(map(read, said))
    if found := _criterion(
        rf"\b({whole})\b" if _has(given, "-w") else whole,
        by,
        ignores_case=_has(given, "-i", "--ignore-case"),
        meant=not _has(given, "-v", "--invert-match"),
    ):
        yield found


def _awk(command: Command, by: By) -> Iterator[Criterion]:
    program = command.operands[0] if command.operands else ""
    for denied, pattern in _AWK.findall(program.partition("{")[0]):
        if found := _criterion(pattern, by, meant=not denied):
            yield found


def _criterion(
    pattern: str, by: By, *, whole: bool = False, ignores_case: bool = False, meant: bool = True
) -> Criterion | None:
    found = compiled(pattern, whole=whole, ignores_case=ignores_case)
    return Criterion(found, by, meant) if found else None


def _parsed(command: Command, table: Options) -> Parsed:
    """Without words like ``-KILL``, whose letters are no options."""
    return parse([Field(word) for word in command.argv[1:] if not _SIGNAL.fullmatch(word)], table)


def _has(given: Parsed, *names: str) -> bool:
    return any(name in given.flags for name in names)
