"""find: what ``-delete`` and ``-exec`` reach. Its matches are looked up in the world,
so that ``*.pyc`` is not ``.env``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion import glob_patterns
from sentinel_guard.core.analysis.expansion.command_and_options import MAX_FOUND, UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.find_output import KINDS, MATCHES, named_below
from sentinel_guard.core.analysis.expansion.shell_state import Field
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
_NAMES = ("-name", "-iname", "-path", "-wholename", "-ipath")
_FILES = ("-fprint", "-fprint0", "-fls", "-fprintf")
_LEFT_BEHIND = frozenset(
    (
        *("*.pyc", "*.pyo", "*.py[co]", "__pycache__", "*.o", "*.obj", "*.class", "*.log", "*.tmp", "*.swp", "*.orig"),
        *("*.rej", ".DS_Store", "._*", "Thumbs.db", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules"),
    )
)
"""Names of what programs make anew."""
_FOLLOWS = ("-L", "-follow")
"""With these, what is found may lie elsewhere, behind a link."""
_ACTIONS = (*EXECS, *_FILES, "-delete", "-print", "-print0", "-printf", "-ls")
_ACTS = frozenset((*EXECS, "-delete"))
_OR = ("-o", "-or", ",")
_SETTING = re.compile(r"-[HLP]|-O\d*|-D|--")
"""What may stand before the starts."""
_NARROW = frozenset(("-empty", "-executable", "-readable", "-writable", "-nouser", "-nogroup", "-prune", "!", "-not"))
_LETTER = re.compile(r"[^\W\d_]")
_CASED = re.compile(r"\[[^\]]+\]|[^\W\d_]")
_GIT_FILES = ("HEAD", "index", "config", "packed-refs", "pack-0.pack", "pack-0.idx", "objects", "refs", "heads", "main")
"""What lies in every ``.git``, where the world's globs do not look and find does."""


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
    links: bool = False
    """Symbolic links only."""
    kind: str = ""
    """Only these, as the world calls them."""
    flat: bool = False
    """No deeper than the starts' own entries."""
    below: bool = False
    """The starts themselves apart."""
    outside_git: bool = False
    """Something is said of ``.git``: it is left out."""
    writes: list[Field] = field(default_factory=list)
    """Files of -fprint and its kin."""
    prints: bool = True
    execs: list[list[Field]] = field(default_factory=list)


def search(fields: Sequence[Field]) -> Search:
    """Takes the arguments of find apart."""
    found = Search()
    items, at = fields, 0
    while at < len(items) and _SETTING.fullmatch(items[at].text):
        at += 2 if items[at].text == "-D" else 1
    while at < len(items) and items[at].text[:1] not in "-(!":
        found.starts.append(items[at])
        at += 1
    found.starts = found.starts or [Field(".", known=True)]
    rest = items[at:]
    while at < len(items):
        at = _test(found, items, at)
    if found.names and not _all_named(rest):
        found.names, found.narrow = [], True
    return found


def _all_named(items: Sequence[Field]) -> bool:
    """Whether every action (without one: every alternative) stands behind a name of its own."""
    named, others = [False], [True]
    """Of each open parenthesis: the alternative that is read has a name; all those before had one."""
    acts, at = False, 0
    while at < len(items):
        text = items[at].text
        if text in _ACTIONS:
            acts = True
            if not any(named):
                return False
            at = _after(items, at) if text in EXECS else at
        elif text == "(":
            named.append(False)
            others.append(not _negated(items, at))
        elif text in _OR:
            others[-1] = others[-1] and named[-1]
            named[-1] = False
        elif text == ")" and len(named) > 1:
            inner = named.pop() and others.pop()
            named[-1] = named[-1] or inner
        elif text in (*_NAMES, "-empty") and not _negated(items, at):
            named[-1] = True
        at += 1
    return acts or (named[0] and others[0])


def _after(items: Sequence[Field], at: int) -> int:
    """Where the command of an ``-exec`` ends."""
    return next((n for n in range(at, len(items)) if items[n].text in (";", "+")), len(items))


def _test(found: Search, items: Sequence[Field], at: int) -> int:
    """Takes in the test or action at ``at``; where the next one stands."""
    text = items[at].text
    if text in EXECS:
        return _exec(found, items, at)
    if text in _NAMES and at + 1 < len(items) and items[at + 1].known:
        _name(found, items, at)
    elif text in ("-type", "-xtype") and at + 1 < len(items):
        found.links = found.links or (items[at + 1].text == "l" and _alone(items, at))
        found.kind = KINDS.get(items[at + 1].text, "") if text == "-type" and _alone(items, at) else found.kind
    elif text in ("-maxdepth", "-mindepth") and at + 1 < len(items):
        found.flat = found.flat or (text == "-maxdepth" and items[at + 1].text in ("0", "1"))
        found.below = found.below or (text == "-mindepth" and items[at + 1].text != "0")
    elif text in _FILES:
        found.writes += items[at + 1 : at + 2]
        return at + (3 if text == "-fprintf" else 2)
    elif text in _TESTS:
        found.narrow = True
    elif text not in _WIDE:
        if text == "-delete":
            found.deletes, found.prints = True, False
            found.everything = not (found.names or found.narrow or found.links)
        elif text in _NARROW:
            found.narrow = True
            found.empty = found.empty or (text == "-empty" and _alone(items, at))
        return at + 1
    return at + 2


def _exec(found: Search, items: Sequence[Field], at: int) -> int:
    end = _after(items, at)
    found.execs.append(list(items[at + 1 : end]))
    found.prints = False
    return end + 1


def _name(found: Search, items: Sequence[Field], at: int) -> None:
    """A pattern of names; of a path's pattern the last name says what it reaches, if it says anything."""
    test, pattern = items[at].text, _glob(items[at + 1].text)
    whole = test in ("-name", "-iname")
    name = pattern if whole else paths.base(pattern)
    found.outside_git = found.outside_git or ".git" in pattern
    pruned = at + 2 < len(items) and items[at + 2].text == "-prune"
    if _negated(items, at) or (not whole and (pruned or not name.strip("*.?"))):
        found.narrow = True
        return
    found.narrow = found.narrow or not whole
    found.names.append(_any_case(name) if test in ("-iname", "-ipath") else name)


def _glob(pattern: str) -> str:
    """The pattern for the world's globs, which know neither backslashes nor named classes."""
    plain = re.sub(r"\\(.)", lambda m: f"[{m[1]}]" if m[1] in "*?[" else m[1], pattern)
    return glob_patterns.world_classes(plain).replace("[^", "[!")


def _negated(items: Sequence[Field], at: int) -> bool:
    return at > 0 and items[at - 1].text in ("!", "-not")


def _alone(items: Sequence[Field], at: int) -> bool:
    """Whether every match must pass this test: it is not negated, and there is no other way in."""
    return not _negated(items, at) and not any(item.text in _OR for item in items)


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
    if (few := _listed(call, seen, start)) is not None:
        yield from (call.lost(path, sure=not seen.narrow) for path in few)
    elif (seen.everything and not seen.flat) or _reaches_all(seen):
        yield call.contents(start.text, sure=not seen.narrow or seen.everything)
    elif (known := matches(call, seen, start)) is None:
        # Many files of one name (*.pyc) are not everything: a snapshot or a question, never a kill.
        if many := _too_many(call, seen, start):
            yield from (call.effect(Kind.DELETE, call.locate(path), "recursive", sure=False) for path in many)
        else:
            yield call.opaque(start, "delete")
    else:
        for path in known:
            yield call.lost(path, sure=not seen.narrow and call.certain(start.text))


def _listed(call: Call, seen: Search, start: Field) -> list[str] | None:
    """Each file of a search without names through a program's own folder in the home, where they are few; else None."""
    texts = [item.text for item in call.fields]
    tested = texts.index("-type") if "-type" in texts else len(texts)
    if seen.kind != "file" or not _reaches_all(seen) or not set(texts).isdisjoint(_FOLLOWS):
        return None
    top = call.locate(start)
    if not start.known or not paths.is_programs_folder(top, call.world.home) or not _ACTS.isdisjoint(texts[:tested]):
        return None
    found = [*named_below("*", start.text, top, call.world), *call.world.glob(f"{top}/**/.git")]
    few = len(found) <= MAX_FOUND and not call.world.cut and not any(paths.base(path) == ".git" for path in found)
    return [path for path in found if call.world.kind(path) == "file"] if few else None


def matches(call: Call, seen: Search, start: Field) -> list[str] | None:
    """The existing paths that a search with names finds; None where it reaches everything, or too much to tell."""
    if _reaches_all(seen) or not start.known:
        return None
    top = call.locate(start)
    names = seen.names or ["*"]
    if seen.flat:
        found = _entries(seen, start.text, top, call.world)
    else:
        found = [path for name in names for path in named_below(name, start.text, top, call.world)]
    cut = call.world.cut
    if not seen.outside_git and not seen.flat:
        found += _in_git(names, top, call.world)
    wanted = "link" if seen.links else seen.kind
    if wanted:
        found = [path for path in found if call.world.kind(path) == wanted]
    if (cut or top == "/dev") and not found:  # stands for what was not looked at; devices come and go
        found = [paths.child(top, names[0].replace("*", "a") if top == "/dev" else names[0])]
        seen.narrow = True  # it may not be there
    # In the repository the watcher and git have what a search that was cut has missed; outside nobody has.
    mine = f"{top}/".startswith(f"{call.world.root or '?'}/")
    free = f"{top}/" in paths.TEMPORARY or paths.is_temporary(top, call.world.root, call.world.home)
    missed = cut and not mine and not free
    return None if missed or len(found) >= MATCHES else list(dict.fromkeys(found))


def _reaches_all(seen: Search) -> bool:
    if seen.links or seen.flat:
        return False
    return not seen.names or any(not name.strip("*.?") for name in seen.names)


def _entries(seen: Search, start: str, top: str, world: World) -> list[str]:
    """The start and what lies in it, by name."""
    names = seen.names or ["*"]
    told = [] if seen.below else [(top, paths.base(start.rstrip("/")))]
    inner = [*world.glob(paths.child(top, "*")), *world.glob(paths.child(top, ".*"))]
    told += [(path, paths.base(path)) for path in inner]
    return [path for path, name in told if any(fnmatchcase(name, pattern) for pattern in names)]


def _in_git(names: Sequence[str], top: str, world: World) -> list[str]:
    """Git's own files: those of a repository that is searched, and what a repository's ``.git`` may hold any day."""
    own = [name for name in names if any(fnmatchcase(file, name) for file in _GIT_FILES)]
    if f"{top}/".endswith("/.git/") or "/.git/" in top:
        return [paths.child(top, name) for name in own if not world.glob(f"{paths.child(top, '**')}/{name}")]
    git = paths.child(top, ".git")
    if not own or world.kind(git) != "dir":
        return []
    return [path for name in own for path in world.glob(f"{git}/**/{name}")]


def _any_case(name: str) -> str:
    """``-iname``: every letter in both cases, as a glob."""
    return _CASED.sub(lambda m: _LETTER.sub(_both, m[0]) if m[0][0] == "[" else f"[{_both(m)}]", name)


def _both(letter: re.Match[str]) -> str:
    return letter[0].lower() + letter[0].upper()


def _executes(call: Call, seen: Search, argv: Sequence[Field]) -> Iterator[Effect]:
    """The command on all matches at once; everything below a folder is that folder's content."""
    if not argv:
        return
    items: list[Field] = []
    tops: dict[str, str] = {}
    spread: set[str] = set()
    for start in seen.starts:
        known = _listed(call, seen, start)
        known = matches(call, seen, start) if known is None else known
        if known is not None:
            items += [Field(path, known=True) for path in known]
        elif start.known and _reaches_all(seen):
            whole = Field(f"{start.text.rstrip('/')}/*", pattern=True)
            tops[call.locate(whole)] = call.locate(start)
            items.append(whole)
        elif many := _too_many(call, seen, start):
            items += [Field(path, known=True) for path in many]
            spread |= {call.locate(path) for path in many}
        else:
            items.append(start if not start.known else Field(f"$(find {start.text})", known=False))
    if not items and any("{}" in place.text for place in argv):
        return  # nothing is found, nothing runs
    # What needs no match may find one all the same: the file is made before it runs.
    for effect in call.runner.run([f for place in argv for f in _put(place, items)], call, "find"):
        if effect.kind is Kind.DELETE and effect.target in spread:
            yield replace(effect, how=effect.how | {"recursive"}, sure=False)
        else:
            yield from _below(effect, tops, sure=bool(items) and not seen.narrow)


def _too_many(call: Call, seen: Search, start: Field) -> list[str]:
    """In the repository, which a snapshot holds: a path for each name of which more was found than is looked at, where
    all names are those of what programs leave behind: a wider one may take in what is restricted, or git's own.
    """
    root = call.world.root
    if not (root and start.known and seen.names) or not _LEFT_BEHIND.issuperset(seen.names):
        return []
    top = call.locate(start)
    inside = f"{top}/".startswith(f"{root}/") and not any(item.text in _FOLLOWS for item in call.fields)
    if inside and not seen.outside_git and _in_git(seen.names, top, call.world):
        return []
    return [f"{start.text.rstrip('/')}/{name}" for name in seen.names] if inside else []


def _below(effect: Effect, tops: dict[str, str], *, sure: bool) -> Iterator[Effect]:
    """What happens to all that lies below a folder happens to the folder; a file that is emptied is lost."""
    top = tops.get(effect.target)
    if top is None or effect.kind is not Kind.WRITE:
        yield effect if sure or effect.kind is Kind.EXECUTE else replace(effect, sure=False)
        return
    yield replace(effect, target=top, how=effect.how | {"recursive"}, sure=effect.sure and sure)
    if "truncate" in effect.how:
        lost = frozenset(("recursive", "contents", "truncate"))
        yield replace(effect, kind=Kind.DELETE, target=top, how=lost, sure=effect.sure and sure)


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
    if not seen.prints or (seen.narrow and not seen.names):
        return UNKNOWN
    end = "\\0" if any(item.text == "-print0" for item in call.fields) else "\n"
    lines: list[str] = []
    for start in seen.starts:
        known = matches(call, seen, start)
        if known is None:
            return UNKNOWN
        lines += known
    return "".join(f"{line}{end}" for line in lines)
