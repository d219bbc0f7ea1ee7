"""Which files a patch touches: unified and git diffs, ed-style ``Index:`` lines, and the ``apply_patch`` envelope."""

from __future__ import annotations

from collections.abc import Iterator

_ENVELOPE = {
    "*** Add File: ": False,
    "*** Update File: ": False,
    "*** Delete File: ": True,
    "*** Move to: ": False,
}
_GIT = {"rename from ": True, "rename to ": False, "copy to ": False}


def touched(text: str, strip: int = 1) -> Iterator[tuple[str, bool]]:
    """Pairs of (path, removed) in order, ``strip`` leading components taken off."""
    old = ""
    for line in text.splitlines():
        if line.startswith("--- "):
            old = _name(line[4:], strip)
        elif line.startswith("+++ "):
            new = _name(line[4:], strip)
            if new == "/dev/null":
                yield old, True
            else:
                yield new, False
                if old not in ("/dev/null", new):
                    yield old, False
        elif line.startswith("Index: "):
            yield line[7:].strip(), False
        else:
            yield from _special(line)


def enveloped(text: str) -> Iterator[tuple[str, bool]]:
    """The files of an ``apply_patch`` text."""
    for line in text.splitlines():
        yield from ((line[len(mark) :].strip(), gone) for mark, gone in _ENVELOPE.items() if line.startswith(mark))


def _special(line: str) -> Iterator[tuple[str, bool]]:
    for mark, gone in _GIT.items():
        if line.startswith(mark):
            yield line[len(mark) :].strip(), gone
    if line.startswith("diff --git "):
        halves = line[11:].split(" b/")
        if len(halves) == 2:
            yield halves[1].strip().strip('"'), False


def _name(text: str, strip: int) -> str:
    name = text.split("\t", maxsplit=1)[0].strip().strip('"')
    if name == "/dev/null":
        return name
    parts = name.split("/")
    return "/".join(parts[strip:]) if len(parts) > strip else parts[-1]
