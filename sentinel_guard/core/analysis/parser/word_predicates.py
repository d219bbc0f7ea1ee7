"""A predicate on a bash word before expansion: whether it ends with a bare ``$``."""

from __future__ import annotations

from sentinel_guard.core.analysis.parser.syntax_tree import DoubleQuoted, Literal, Parameter, Part, Variable


def _is_list(part: Part) -> bool:
    if isinstance(part, Parameter):
        return part.name in ("@", "*") or (part.index is not None and part.index.source in ("@", "*"))
    return isinstance(part, Variable) and part.name in ("@", "*")


def ends_bare(parts: tuple[Part, ...]) -> bool:
    """Bash splits no word whose last dollar stands for itself: ``$x$`` is one."""
    if any(_is_list(part) for part in parts):
        return False
    for part in reversed(parts):
        if isinstance(part, Literal):
            if not part.quoted and "$" in part.text:
                return True
        elif not isinstance(part, DoubleQuoted):
            return False
    return False
