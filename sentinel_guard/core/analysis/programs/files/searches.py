"""Searches through files (grep, rg, awk, jq): what of them is read. argv -> effects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]


def searcher(call: Call) -> Effects:
    """grep, rg, awk, jq: the first operand is a pattern, unless an option gave it."""
    given = call.has("-e", "--regexp", "-f", "--file", "--from-file")
    for item in call.parsed.values("-f", "--file", "--from-file"):
        yield from call.read(item)
    named = call.operands if given else call.operands[1:]
    for item in named:
        yield from call.read(item)
    deep = call.has("-r", "-R", "--recursive", "-u", "--unrestricted", "--hidden", "-.", "-uu", "-uuu")
    if deep or call.command.program == "rg":  # which goes through folders unasked
        for folder in (item.text for item in named or [Field(".")] if item.known):
            yield from _chosen(call, folder)
    if deep and _SECRET_WORDS.search(call.command.argv[-1] if given else " ".join(f.text for f in call.operands[:1])):
        yield from _secrets_below(call, named)
    if deep and not (named or call.stdin):
        yield call.effect(Kind.READ, call.cwd, sure=call.here)


_SECRET_WORDS = re.compile(r"(?i)secret|token|passw|api[-_]?key|credential|private[-_]key|_key\b")
_NAMES_ONLY = (
    *("-l", "-L", "-c", "-q", "--files-with-matches", "--files-without-match", "--count", "--quiet", "-t", "--type"),
)


def _secrets_below(call: Call, named: Sequence[Field]) -> Effects:
    """A search for the names of secrets in all files, those that git leaves out too, prints those of ``.env``."""
    ignoring = call.command.program == "rg" and not call.has("-u", "-uu", "-uuu", "--unrestricted", "--no-ignore")
    if ignoring or call.has(*_NAMES_ONLY) or not _looks_by_name(call)(".env"):
        return
    for item in named or [Field(".")]:
        path = f"{item.text.rstrip('/')}/.env"
        if item.known and call.world.kind(call.locate(path)) == "file":
            yield from call.read(Field(path))


def _looks_by_name(call: Call) -> Callable[[str], bool]:
    """Whether a search that goes by names looks into files of one: of rg's globs the last that fits decides; what
    grep includes, it does not exclude.
    """
    globs = [item.text for item in call.parsed.values("-g", "--glob", "--iglob")]
    rules = [(text.removeprefix("!"), not text.startswith("!")) for text in globs]
    rules += [(item.text, False) for item in call.parsed.values("--exclude")]
    rules += [(item.text, True) for item in call.parsed.values("--include")]
    rows = [(one.rpartition("/")[2], wanted) for text, wanted in rules for one in _alternatives(text)]
    otherwise = not any(wanted for _, wanted in rules)

    def looks(name: str) -> bool:
        fits = [wanted for one, wanted in rows if fnmatch(name, one)]
        return fits[-1] if fits else otherwise

    return looks


def _alternatives(pattern: str) -> list[str]:
    """What rg reads in a pattern with one pair of braces: ``*.{py,ts}``."""
    head, brace, rest = pattern.partition("{")
    inside, closed, tail = rest.partition("}")
    return [f"{head}{one}{tail}" for one in inside.split(",")] if brace and closed else [pattern]


def _chosen(call: Call, folder: str) -> Effects:
    """What a search through a folder is to look into by name: ``--include=.env``, ``rg -g '.env*'``."""
    names = ("-g", "--glob") if call.command.program == "rg" else ("--include",)
    found = [item.text for item in call.parsed.values(*names) if item.known and not item.text.startswith("!")]
    patterns = [f"{folder.rstrip('/')}/{one}" for name in found for one in _alternatives(name)]
    # A name without a dot may stand for a hidden file here, which it does not in the shell: rg -g '[.]env', '*env'.
    hidden = call.world.glob(call.locate(f"{folder.rstrip('/')}/.*")) if found else ()
    paths = [path for pattern in patterns for path in (pattern, *call.world.glob(call.locate(pattern)))]
    looks = _looks_by_name(call)
    paths += [path for path in hidden if looks(path.rpartition("/")[2])]
    for path in dict.fromkeys(paths):
        yield from call.read(Field(path))
