"""Predicts the output of ls for the next command of a pipe: ``ls *.log | xargs rm``."""

from __future__ import annotations

from collections.abc import Iterator

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.find_output import MATCHES
from sentinel_guard.core.analysis.expansion.partly_known_output import PossibleLines
from sentinel_guard.core.analysis.expansion.shell_state import Field

_DETAILED = (
    *("-l", "-f", "-g", "-o", "-n", "-s", "-i", "-F", "-p", "-R", "-Q", "-m"),
    *("--classify", "--recursive", "--format", "--size", "--inode", "--indicator-style", "--quote-name"),
)
"""With these it prints more than names."""
_ORDERED = ("-t", "-S", "-U", "-r", "-c", "-u", "-v", "-X", "--sort", "--reverse", "--time")
"""With these the names stand in another order."""


def output(call: Call) -> str:
    """The names, one a line; UNKNOWN where they cannot be told."""
    if call.has(*_DETAILED) or not all(item.known for item in call.operands) or not call.world.kind(call.cwd):
        return UNKNOWN
    lines = [line for item in call.operands or [Field("")] for line in _lines(call, item)]
    if call.world.cut or len(lines) >= MATCHES:
        return UNKNOWN
    return PossibleLines(lines) if call.has(*_ORDERED) else "".join(f"{line}\n" for line in lines)


def _lines(call: Call, item: Field) -> Iterator[str]:
    if item.text and (call.has("-d", "--directory") or not call.is_folder(item)):
        yield from [item.text] if not item.pattern else []
        return
    folder = call.locate(item) if item.text else call.cwd
    for pattern in ("*", ".*") if call.has("-a", "-A", "--all", "--almost-all") else ("*",):
        yield from (paths.base(path) for path in call.world.glob(paths.child(folder, pattern)))
