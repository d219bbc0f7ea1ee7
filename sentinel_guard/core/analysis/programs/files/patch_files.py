"""Which files a patch touches: unified, context and git diffs, ``Index:`` lines, and the ``apply_patch`` envelope."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ENVELOPE = {
    "*** Add File:": False,
    "*** Update File:": False,
    "*** Delete File:": True,
    "*** Move to:": False,
}
_GIT = {"rename from ": True, "rename to ": False, "copy to ": False}
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*+)\"")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)")
_LETTERS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


def patched_paths(text: str, strip: int = 1) -> Iterator[tuple[str, bool]]:
    """Pairs of (path, removed) in order, ``strip`` leading components taken off. Lines inside a hunk are content."""
    old, inside = "", (0, 0)
    header = ""
    for raw in text.split("\n"):
        line = raw.rstrip("\r")
        if inside != (0, 0) and not line.startswith("diff --git "):
            inside = _rest(inside, line)
        elif match := _HUNK.match(line):
            inside = int(match[1] or 1), int(match[2] or 1)
        elif header and line.startswith(header):
            yield from _pair(old, _name(line[4:], strip))
            header = ""
        elif line.startswith(("--- ", "*** ")) and not line.endswith((" ****", " ----")):
            old, header = _name(line[4:], strip), "--- " if line.startswith("*** ") else "+++ "
        elif line.startswith("Index: "):
            yield _name(line[7:], 0), False
        else:
            yield from _special(line, strip)


def _rest(left: tuple[int, int], line: str) -> tuple[int, int]:
    """Lines of the old and of the new file that a hunk still holds."""
    old, new = left
    mark = line[:1]
    return max(0, old - (mark not in ("+", "\\"))), max(0, new - (mark not in ("-", "\\")))


def _pair(old: str, new: str) -> Iterator[tuple[str, bool]]:
    if new == "/dev/null":
        yield old, True
        return
    yield new, False
    if old not in ("/dev/null", new):
        yield old, False


def enveloped(text: str) -> Iterator[tuple[str, bool]]:
    """The files of an ``apply_patch`` text. What moves is gone from where it was."""
    last = ""
    for line in text.splitlines():
        for mark, gone in _ENVELOPE.items():
            if line.lstrip().startswith(mark):
                name = line.lstrip()[len(mark) :].strip()
                if mark == "*** Move to:" and last:
                    yield last, True
                last = "" if mark == "*** Move to:" else name
                yield name, gone


def _special(line: str, strip: int) -> Iterator[tuple[str, bool]]:
    """What git says in its extended headers, where no ``+++`` line may follow: renames, modes, binary files."""
    for mark, gone in _GIT.items():
        if line.startswith(mark):
            yield _unquoted(line[len(mark) :].strip()), gone
    if line.startswith("diff --git "):
        quoted = _QUOTED.findall(line)
        halves = line[11:].split(" b/")
        if quoted and line.rstrip().endswith('"'):
            yield _name(f'"{quoted[-1]}"', strip), False
        elif len(halves) >= 2:
            # ``a/x b/y b/x b/y``: both halves are the same name where nothing is renamed.
            half = line[11 : 11 + (len(line) - 12) // 2]
            same = line[11 + len(half) :] == f" b/{half[2:]}"
            yield _name(half if same else f"b/{halves[-1]}", strip), False


def _name(text: str, strip: int) -> str:
    name = _unquoted(text.split("\t", maxsplit=1)[0].strip())
    if name == "/dev/null":
        return name
    parts = name.split("/")
    return "/".join(parts[strip:]) if len(parts) > strip else parts[-1]


def _unquoted(name: str) -> str:
    """Git quotes names as C does, bytes beyond ASCII in octal."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    data, at = bytearray(), 1
    for match in _ESCAPE.finditer(name, 1, len(name) - 1):
        data += name[at : match.start()].encode("utf-8", "surrogateescape")
        said = match[1]
        data += bytes([int(said, 8) & 255 if said.isdigit() else _LETTERS.get(said, ord(said) & 255)])
        at = match.end()
    data += name[at:-1].encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "surrogateescape")
