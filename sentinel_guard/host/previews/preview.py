"""A preview: lines that stand with a question, and details behind them; and how numbers are written in it."""

from __future__ import annotations

from dataclasses import dataclass

MAX_DETAILS = 48_000
"""Characters of details that a question takes along."""
NAMED = 3
"""Files, commits or statements that are named in the lines; the rest is counted."""
_UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class Preview:
    lines: tuple[str, ...] = ()
    details: str = ""
    """More lines, as long as one likes."""
    bound: tuple[str, ...] = ()
    """What a yes is given to, beyond the command: it holds while these words stay the same."""
    subjects: tuple[str, ...] = ()
    """What a yes for a while is limited to, beyond the action and the target that are shown."""
    rewrites: bool = True
    """False where it was seen to rewrite nothing."""

    def __add__(self, other: Preview) -> Preview:
        details = "\n\n".join(filter(None, (self.details, other.details)))
        bound, subjects = (*self.bound, *other.bound), (*self.subjects, *other.subjects)
        return Preview((*self.lines, *other.lines), details, bound, subjects, self.rewrites and other.rewrites)


def size(count: int) -> str:
    """Bytes as a person reads them: ``813 B``, ``56.7 MB``."""
    value, unit = float(count), _UNITS[0]
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def age(seconds: float) -> str:
    """How long ago: ``40 s``, ``3 min``, ``5 h``, ``12 d``."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def counted(count: int, what: str) -> str:
    """``1 commit``, ``1,234 commits``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def cut(text: str, limit: int = MAX_DETAILS) -> str:
    """The text, cut at a line's end, the cut told in words."""
    if len(text) <= limit:
        return text
    kept = text[:limit].rpartition("\n")[0]
    return f"{kept}\n… {counted(text.count(chr(10)) - kept.count(chr(10)), 'more line')}"
