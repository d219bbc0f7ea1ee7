"""Git plumbing that stages files without ``git add``: ``git update-index``, ``git hash-object``."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.git.git_worktree import MAX_LISTED, rewrite, staged
from sentinel_guard.core.model import Effect

Effects = Iterable[Effect]

_MARKS = ("--assume-unchanged", "--no-assume-unchanged", "--skip-worktree", "--no-skip-worktree", "--remove",
          "--force-remove", "--refresh", "--really-refresh", "--unresolve", "--chmod")  # fmt: skip
"""With these nothing of a file goes into the index."""


def update_index(call: Call) -> Effects:
    yield rewrite(call, "index")
    named = [Field(item.text.split(",", 2)[-1], item.known) for item in call.parsed.values("--cacheinfo")]
    if call.has("--stdin", "--index-info"):
        named += [Field(line.rpartition("\t")[2]) for line in _lines(call)]
    if not call.has(*_MARKS):
        yield from staged(call, [*call.operands, *named])


def hash_object(call: Call) -> Effects:
    """With ``-w`` what is in a file goes among the objects, from where ``--cacheinfo`` and ``mktree`` take it."""
    if call.has("-w"):
        named = [Field(line) for line in _lines(call)] if call.has("--stdin-paths") else []
        yield from staged(call, [*call.operands, *named])


def _lines(call: Call) -> list[str]:
    """What is read from standard input, as far as it is known."""
    lines = call.stdin.replace("\0", "\n").splitlines()[:MAX_LISTED] if UNKNOWN not in call.stdin else []
    return [line for line in lines if line]


SUBCOMMANDS: dict[str, Callable[[Call], Effects]] = {"update-index": update_index, "hash-object": hash_object}
