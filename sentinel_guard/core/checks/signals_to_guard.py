"""Detect signals (``kill``, ``pkill``) that would reach the guard's processes: by pid, name, pattern or lookup.

And commands that connect to the guard's sockets.
"""

from __future__ import annotations

import enum
import re
from functools import cached_property

from sentinel_guard.core.analysis.posix_expressions import for_short_texts
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.model import Effect, Kind
from sentinel_guard.core.policy.target_placeholders import within

_NAMES = ("sentinel-guard", "sentinel_guard")
_LINES = (
    "python -I -m sentinel_guard daemon run",
    "python3 -I -m sentinel_guard daemon start",
    "sentinel-guard run -- claude",
    *_NAMES,
)
"""Command lines that the guard's processes have."""
_PROCESSES = _NAMES
"""Names that they go by: without ``-f`` a pattern is held against these."""
_CHILD = "$!"
"""What the text itself sent to the background."""
_BY_PATTERN = frozenset(("pkill", "skill"))
_TALKERS = frozenset(
    (
        *("curl", "wget", "http", "nc", "ncat", "netcat", "socat", "websocat", "telnet", "openssl", "ssh", "busybox"),
        *("python", "python3", "node", "deno", "bun", "perl", "ruby", "php", "lua"),
    )
)
"""They can speak to a socket; who else is given its name looks at it, or writes of it."""
_SOCKET = re.compile(r"/(operator|agent)\.sock\b")
_LOOKS = frozenset(("pgrep", "pidof", "grep", "egrep", "fgrep", "rg", "lsof", "fuser", "ss", "systemctl", "awk", "sed"))
"""They look processes up; what they were asked for tells whom the pids belong to."""
_FILTERS = frozenset(("grep", "egrep", "rg"))
_INVERTED = frozenset(("-v", "--invert-match"))
"""What they are asked for is left out: ``grep -v $$``."""


class Aim(enum.IntEnum):
    NONE = 0
    UNSURE = 1
    """The guard is hit along with others: ``pkill -f python``."""
    SURE = 2


def names_guard(case: Case, effect: Effect, lookups: Lookups) -> Aim:
    """Whether the target of a signal is the guard: a pid, the group of one (``-PID``), a name, a pattern, a socket.

    ``lookups``: those of this very action.
    """
    target = effect.target
    if target.removeprefix("-") in {str(p) for p in case.guarded.pids} or target.startswith(_NAMES):
        return Aim.SURE
    if within(target, case.guarded.folders):
        return Aim.SURE
    if effect.command is not None and _by_pattern(effect):
        return _aim(target) if _found(target, whole="-f" in effect.command.flags) else Aim.NONE
    if effect.command is not None and effect.command.program == "killall" and target in _PROCESSES:
        return Aim.UNSURE
    return Aim.UNSURE if not effect.sure and target != _CHILD and lookups.find_guard else Aim.NONE


def connects_to_guard(case: Case, effect: Effect) -> bool:
    """Whether a command is pointed at the guard's sockets, where it would pass for the person or for the launcher."""
    command = effect.command
    if command is None or command.program not in _TALKERS:
        return False
    words = [(word, name[1]) for word in command.argv[1:] if (name := _SOCKET.search(word))]
    ours = ("sentinel", *case.guarded.folders)
    return any(name == "operator" or any(text in word for text in ours) for word, name in words)


def _by_pattern(effect: Effect) -> bool:
    command = effect.command
    if command is None or effect.target not in command.operands:
        return False  # pkill -P PID
    return command.program in _BY_PATTERN or (command.program == "killall" and bool({"-r", "--regexp"} & command.flags))


def _aim(pattern: str) -> Aim:
    return Aim.SURE if "sentinel" in pattern.lower() else Aim.UNSURE


def _found(pattern: str, *, whole: bool) -> bool:
    """Whether a regular expression finds the guard among process names, or with ``whole`` among command lines.

    One that cannot be read here (``s**``, ``[[=a=]]``), or could take long, may find it.
    """
    expression = for_short_texts(pattern, ignores_case=True)
    return expression is None or any(map(expression.search, _LINES if whole else _PROCESSES))


class Lookups:
    """What an action looks up; found out once, as hundreds of signals may be asked about."""

    def __init__(self, case: Case) -> None:
        self._case = case

    @cached_property
    def find_guard(self) -> bool:
        """Whether it looks for the guard's processes, or reads where the guard keeps its pids."""
        return any(_looks(self._case, effect) for effect in self._case.effects)


def _looks(case: Case, effect: Effect) -> bool:
    if effect.kind is Kind.READ:
        return within(effect.target, case.guarded.folders)
    command = effect.command
    if effect.kind is not Kind.EXECUTE or command is None or command.program not in _LOOKS:
        return False
    words = [word for word in command.argv[1:] if word and word[0] != "-"]
    named = any("sentinel" in word.lower() or any(f in word for f in case.guarded.folders) for word in words)
    finds = command.program == "pgrep" or (command.program in _FILTERS and command.flags.isdisjoint(_INVERTED))
    return named or (finds and any(_found(word, whole=True) for word in words[:1]))
