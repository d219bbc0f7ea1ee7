"""find: what ``-delete`` and ``-exec`` reach. Its matches are looked up in the world,
so that ``*.pyc`` is not ``.env``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.commands import UNKNOWN, Call
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.analysis.world import World
from sentinel_guard.core.model import Effect, Kind

EXECS = ("-exec", "-execdir", "-ok", "-okdir")
_WIDE = frozenset(("-type", "-xtype", "-maxdepth", "-mindepth"))
"""Tests with a value that leave the reach what it is."""
_TESTS = frozenset(
    (
        "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-ctime", "-atime",
        "-mmin", "-cmin",
        "-amin", "-size", "-newer", "-user", "-group", "-perm", "-uid", "-gid", "-inum", "-links", "-fstype",
        "-newermt",
        "-anewer", "-cnewer", "-samefile", "-lname", "-ilname", "-used", "-regextype", "-printf", "-context",
    )
)  # fmt: skip
_FILES = ("-fprint", "-fprint0", "-fls", "-fprintf")
_NARROW = frozenset(("-empty", "-executable", "-readable", "-writable", "-nouser", "-nogroup", "-prune", "!", "-not"))
_PLAIN = re.compile(r"[\w./@+,=:%-]+")
MATCHES = 1000
"""As many as a glob gives: from here on there may be more than is known by name."""


@dataclass(slots=True)
class Search:
    """What one find command says."""

    starts: list[Field] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Patterns of -name, -iname."""
    narrow: bool = False
    """A test that we do not evaluate leaves some out."""
    empty: bool = False
    deletes: bool = False
    everything: bool = False
    """``-delete`` stands before every test."""
    writes: list[Field] = field(default_factory=list)
    """Files of -fprint and its kin."""
    prints: bool = True
    execs: list[list[Field]] = field(default_factory=list)


def search(fields: Sequence[Field]) -> Search:
    """Takes the arguments of find apart."""
    found = Search()
    items = [f for f in fields if f.text not in ("-H", "-L", "-P")]
    at = 0
    while at < len(items) and items[at].text[:1] not in "-(!":
        found.starts.append(items[at])
        at += 1
    found.starts = found.starts or [Field(".", known=True)]
    while at < len(items):
        at = _test(found, items, at)
    return found


def _test(found: Search, items: Sequence[Field], at: int) -> int:
    text = items[at].text
    if text in EXECS:
        end = at + 1
        while end < len(items) and items[end].text not in (";", "+"):
            end += 1
        found.execs.append(list(items[at + 1 : end]))
        found.prints = False
        return end + 1
    if text == "-delete":
        found.deletes, found.prints = True, False
        found.everything = not found.names and not found.narrow
    elif text in ("-name", "-iname") and at + 1 < len(items) and items[at + 1].known:
        negated = at > 0 and items[at - 1].text in ("!", "-not")
        if negated:
            found.narrow = True
        else:
            found.names.append(items[at + 1].text)
        return at + 2
    elif text in _FILES:
        found.writes += items[at + 1 : at + 2]
        return at + (3 if text == "-fprintf" else 2)
    elif text in _TESTS:
        found.narrow = True
        return at + 2
    elif text in _WIDE:
        return at + 2
    elif text in _NARROW:
        found.narrow = True
        found.empty = found.empty or text == "-empty"
    return at + 1


def find(call: Call) -> Iterator[Effect]:
    """Deletions, and the commands that are run on what is found."""
    seen = search(call.fields[1:])
    if seen.deletes and not seen.empty:
        for start in seen.starts:
            yield from _deletes(call, seen, start)
    for item in seen.writes:
        yield from call.write(item, "truncate")
    for argv in seen.execs:
        yield from _executes(call, seen, argv)
    if not seen.deletes and not seen.execs:
        for start in seen.starts:
            yield from call.read(start)


def _deletes(call: Call, seen: Search, start: Field) -> Iterator[Effect]:
    if not start.known:
        yield call.opaque(start, "delete")
        return
    if seen.everything or _reaches_all(seen):
        yield call.contents(start.text, sure=not seen.narrow or seen.everything)
    elif (known := matches(call, seen, start)) is None:
        # Many files of one name (*.pyc) are not everything: a question, never a kill.
        yield call.opaque(start, "delete")
    else:
        for path in known:
            yield call.effect(Kind.DELETE, path, sure=not seen.narrow and call.certain(start.text))


def matches(call: Call, seen: Search, start: Field) -> list[str] | None:
    """The existing paths that a search with names finds; None where it reaches everything, or too much to tell."""
    if _reaches_all(seen) or not start.known:
        return None
    found = [path for name in seen.names for path in _named(name, start.text, call.locate(start), call.world)]
    # In the repository the watcher and git have what a search that was cut has missed; outside nobody has.
    missed = call.world.cut and not f"{call.locate(start)}/".startswith(f"{call.world.root or '?'}/")
    return None if missed or len(found) >= MATCHES else found


def _reaches_all(seen: Search) -> bool:
    return not seen.names or any(not name.strip("*.?") for name in seen.names)


def _named(name: str, start: str, top: str, world: World) -> list[str]:
    """The start itself, if it is called so, and what lies below."""
    patterns = [name, "." + name[1:]] if name[:1] == "?" else [name, "." + name] if name[:1] == "*" else [name]
    found = [top] if any(fnmatchcase(paths.base(start.rstrip("/")), pattern) for pattern in patterns) else []
    return found + [path for pattern in patterns for path in world.glob(f"{paths.child(top, '**')}/{pattern}")]


def _executes(call: Call, seen: Search, argv: Sequence[Field]) -> Iterator[Effect]:
    """The command on all matches at once; everything below a folder is that folder's content."""
    if not argv:
        return
    items: list[Field] = []
    for start in seen.starts:
        known = matches(call, seen, start)
        if known is None:
            whole = f"{start.text.rstrip('/')}/*"
            items.append(Field(whole, start.known and not seen.narrow, pattern=True) if start.known else start)
        else:
            items += [Field(path, known=True) for path in known]
    yield from call.runner.run([f for place in argv for f in _put(place, items)], call, "find")


def _put(place: Field, items: list[Field]) -> list[Field]:
    if place.text == "{}":
        return items
    if "{}" not in place.text:
        return [place]
    known = len(items) == 1 and items[0].known
    return [Field(place.text.replace("{}", items[0].text if known else UNKNOWN), place.known and known)]


def output(call: Call) -> str:
    """What find prints, for the next command of a pipe; UNKNOWN where that cannot be told."""
    seen = search(call.fields[1:])
    if not seen.prints or seen.narrow:
        return UNKNOWN
    lines: list[str] = []
    for start in seen.starts:
        known = matches(call, seen, start)
        if known is None:
            return UNKNOWN
        lines += known
    return "".join(f"{line}\n" for line in lines)


_KINDS = {"d": "dir", "f": "file"}
_LOOK = re.compile(
    r"(?:(?P<start>[^-(!\0][^\0]*)\0)?(?:-type\0(?P<kind>[df])\0)?-name\0(?P<name>[^\0]+)(?:\0-type\0(?P<late>[df]))?"
)


def constant(words: Sequence[str], cwd: str, world: World) -> str | None:
    """What ``find FOLDER -type d -name PATTERN`` prints, exactly; None for any other search."""
    given = _LOOK.fullmatch("\0".join(words[1:]))
    if given is None or (given["kind"] and given["late"]) or not given["name"].strip("*.?") or "[" in given["name"]:
        return None
    start = given["start"] or "."
    top = paths.locate(start, cwd, world)
    found = _named(given["name"], start, top, world)
    if len(found) >= MATCHES or not all(map(_PLAIN.fullmatch, (start, *found))):
        return None
    kind = _KINDS.get(given["kind"] or given["late"] or "")
    printed = (start.rstrip("/") + path[len(top.rstrip("/")) :] for path in found if kind in (None, world.kind(path)))
    return "".join(f"{path}\n" for path in printed)
