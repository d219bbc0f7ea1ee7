"""Predicts the exact output of ``find FOLDER -name PATTERN`` from the files that are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.world import World

MATCHES = 1000
"""As many as a glob gives: from here on there may be more than is known by name."""
KINDS = {"d": "dir", "f": "file"}
"""Letters of ``-type``, and what the world calls them."""
_PLAIN = re.compile(r"[\w./@+,=:%-]+")
_LOOK = re.compile(
    r"(?:(?P<start>[^-(!\0][^\0]*)\0)?(?:-maxdepth\0(?P<depth>\d+)\0)?(?:-type\0(?P<kind>[df])\0)?"
    r"-name\0(?P<name>[^\0]+)(?:\0-type\0(?P<late>[df]))?(?P<less>(?:\0(?:-not|!)\0-path\0[\w./*-]+)*)"
)


def find_output(words: Sequence[str], cwd: str, world: World) -> str | None:
    """What ``find FOLDER -type d -name PATTERN -not -path PATTERN`` prints, exactly; None for any other search."""
    given = _LOOK.fullmatch("\0".join(words[1:]))
    if given is None or (given["kind"] and given["late"]):
        return None
    if not given["name"].strip("*.?") or not {"[", "\\"}.isdisjoint(given["name"]):
        return None
    start = given["start"] or "."
    top = paths.locate(start, cwd, world)
    found = named_below(given["name"], start, top, world)
    if len(found) >= MATCHES or not all(map(_PLAIN.fullmatch, (start, *found))):
        return None
    kind = KINDS.get(given["kind"] or given["late"] or "")
    printed = [start.rstrip("/") + path[len(top.rstrip("/")) :] for path in found if kind in (None, world.kind(path))]
    return "".join(f"{path}\n" for path in printed if not _is_left_out(path, start, given))


def _is_left_out(path: str, start: str, given: re.Match[str]) -> bool:
    """Whether a path lies too deep, or a ``-not -path PATTERN`` leaves it out."""
    deep = given["depth"] is not None and path[len(start.rstrip("/")) :].count("/") > int(given["depth"])
    return deep or any(fnmatchcase(path, pattern) for pattern in given["less"].split("\0")[3::3])


def named_below(name: str, start: str, top: str, world: World) -> list[str]:
    """The start itself, if it is called so, and what lies below."""
    patterns = [name, "." + name[1:]] if name[:1] == "?" else [name, "." + name] if name[:1] == "*" else [name]
    if name[:1] == "*" and name.lstrip("*")[:1] == ".":
        patterns.append(name.lstrip("*"))  # a star is nothing, too: *.env is .env
    found = [top] if any(fnmatchcase(paths.base(start.rstrip("/")), pattern) for pattern in patterns) else []
    return found + [path for pattern in patterns for path in world.glob(f"{paths.child(top, '**')}/{pattern}")]
