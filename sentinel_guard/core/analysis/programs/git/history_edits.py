"""What git does by the way: who a commit says that made it, and when; a file that is printed over itself."""

from __future__ import annotations

from collections.abc import Sequence

from sentinel_guard.core.analysis.expansion.command_and_options import Call


def is_backdated(call: Call) -> bool:
    """Whether a commit is to look as if somebody else had made it at another time."""
    variables = call.scope.variables.keys()
    dated = call.has("--date") or bool({"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"} & variables)
    named = call.has("--author") or bool({"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} & variables)
    return dated and named


def puts_back(words: Sequence[str], written: Sequence[str]) -> bool:
    """Whether a file is printed as it was into itself: ``git show HEAD:FILE > FILE``; ``written``: full paths."""
    if words[:1] != ["git"] or not {"show", "cat-file"} & set(words[1:4]):
        return False
    names = [word.partition(":")[2].removeprefix("./") for word in words if ":" in word]
    return any(name and path.endswith(f"/{name}") for name in names for path in written)
