"""Parse the output of ``git diff --patch`` into files, for the diff in an incident report (R9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentinel_guard.core.text.redact_by_pattern import redact

MARK = "diff --git "
MOST = 16 << 20
"""Characters of a patch that are kept; all of it is in the rescue snapshot."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of a patch."""

    name: str
    """As git writes it: odd names are quoted."""
    added: int
    removed: int
    """Lines."""
    binary: bool
    text: str
    """Its part of the patch."""


def files(patch: str, *, without: str = "") -> tuple[ChangedFile, ...]:
    """The files of a ``git diff --patch`` (what stands before the first is left out), but those below ``without``."""
    found = map(_changed, _parts(patch))
    return tuple(f for f in found if not (without and f.name.removeprefix('"').startswith(without)))


def stat(changed: Sequence[ChangedFile]) -> list[str]:
    """A line a file, and their sum: ``a.py | +3 -1``."""
    rows = [f"{f.name} | {'binary' if f.binary else f'+{f.added} -{f.removed}'}" for f in changed]
    added, removed = sum(f.added for f in changed), sum(f.removed for f in changed)
    many = "1 file" if len(changed) == 1 else f"{len(changed)} files"
    lines = "1 line" if added == 1 else f"{added} lines"
    return [*rows, f"{many} changed, {lines} added, {removed} removed"]


def text(changed: Sequence[ChangedFile], most: int = MOST) -> str:
    """The patch again, with nothing secret in it; whole files as long as they fit into ``most`` characters."""
    size = 0
    parts: list[str] = []
    for n, f in enumerate(changed):
        size += len(f.text)
        if size > most:
            # At a line's end: half a secret would not be known as one.
            begun = "" if parts else f"{redact(f.text[:most].rpartition(chr(10))[0])}\n"
            return "".join([*parts, begun, f"# cut here: {len(changed) - n} files\n"])
        parts.append(redact(f.text))
    return "".join(parts)


def _parts(patch: str) -> Iterator[str]:
    """Each file's part. A line of a file's content always begins with a sign, so the mark is git's own."""
    part: list[str] = []
    for line in patch.split("\n"):
        if line.startswith(MARK):
            yield from _joined(part)
            part = []
        part.append(line)
    yield from _joined(part)


def _joined(part: list[str]) -> Iterator[str]:
    if part and part[0].startswith(MARK):
        text = "\n".join(part)
        yield text if text.endswith("\n") else f"{text}\n"


def _changed(text: str) -> ChangedFile:
    head, hunk, body = text.partition("\n@@ ")
    lines = body.split("\n")[1:] if hunk else []
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    binary = "\nBinary files " in head or "\nGIT binary patch" in head
    return ChangedFile(_name(head), added, removed, binary, text)


def _name(head: str) -> str:
    """Both names of the first line are alike, for renames are not looked for: ``a/NAME b/NAME``."""
    words = head.split("\n", 1)[0].removeprefix(MARK)
    half = words[: (len(words) - 1) // 2]
    return f'"{half[3:]}' if half.startswith('"a/') else half.removeprefix("a/")
