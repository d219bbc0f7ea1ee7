"""fd, a file finder (github.com/sharkdp/fd): what ``-x`` and ``-X`` run. Matches are looked up in the world."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase, translate

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion import glob_patterns
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options, parse
from sentinel_guard.core.analysis.expansion.find_output import MATCHES
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.files.edited_file_content import bounded
from sentinel_guard.core.analysis.programs.xargs import PLACE, fill
from sentinel_guard.core.model import Effect, Kind

_EXECS = ("-x", "--exec", "-X", "--exec-batch")
_OPTIONS = options(
    "-e= --extension= -t= --type= -d= --max-depth= --min-depth= --exact-depth= -E= --exclude= -S= --size= -o= --owner= "
    "--changed-within= --changed-before= -j= --threads= -c= --color= --max-results= --base-directory= --format= "
    "--search-path= --ignore-file= --and= --hidden --glob --unrestricted --case-sensitive --ignore-case"
)
_KINDS = {"f": "file", "file": "file", "d": "dir", "dir": "dir", "directory": "dir", "l": "link", "symlink": "link"}
_HIDDEN = ("-H", "--hidden", "-u", "--unrestricted")
LONGEST = 200
"""Characters of a pattern that is tried."""
_FOREIGN = re.compile(r"\\[pPzxu]|\[\[|\[[^\]]*(?:&&|--|~~)|\(\?<\w")
"""What Rust reads otherwise than Python."""


def fd(call: Call) -> Iterator[Effect]:
    """The commands on all matches at once."""
    given, commands = _split(call.fields[1:])
    if commands:
        found = _found(call, given)
        items = [Field("$(fd)", known=False)] if found is None else [Field(path) for path in found]
        for command in commands:
            yield from _runs(call, command, items)


def _runs(call: Call, command: Sequence[Field], items: Sequence[Field]) -> Iterator[Effect]:
    """Without a match only what the command does apart from it, unsurely: the file may be made before it runs."""
    placed = any(PLACE.search(field.text) for field in command)
    fields = command if placed else [*command, Field("{}")]
    if items:
        filled = [f for field in fields for f in _filled(field, items)]
        yield from call.runner.run(filled, call, "fd")
    elif not placed:
        nothing = paths.child(call.cwd, "{}")
        for effect in call.runner.run([*command, Field(nothing)], call, "fd"):
            if effect.kind is Kind.EXECUTE or effect.target != nothing:
                yield effect if effect.kind is Kind.EXECUTE else replace(effect, sure=False)


def _filled(field: Field, items: Sequence[Field]) -> Iterable[Field]:
    """One word for each match; matches of one folder share it."""
    if not PLACE.search(field.text):
        return [field]
    return {filled.text: filled for filled in (fill(field, item) for item in items)}.values()


def output(call: Call) -> str:
    """What fd prints, for the next command of a pipe."""
    given, commands = _split(call.fields[1:])
    found = None if commands else _found(call, given)
    return UNKNOWN if found is None else "".join(f"{path}\n" for path in found)


def _split(fields: Sequence[Field]) -> tuple[list[Field], list[list[Field]]]:
    """Its own arguments, and the commands, which end at ``;``."""
    given: list[Field] = []
    commands: list[list[Field]] = []
    into = given
    for item in fields:
        if item.text in _EXECS:
            into = []
            commands.append(into)
        elif item.text == ";" and into is not given:
            into = given
        else:
            into.append(item)
    return given, commands


def _found(call: Call, given: Sequence[Field]) -> list[str] | None:
    """The existing paths that match; None where that cannot be told."""
    parsed = parse(given, _OPTIONS)
    words = parsed.operands
    if not all(word.known for word in words):
        return None
    pattern = words[0].text if words else ""
    tops = [call.locate(word) for word in words[1:]] or [call.cwd]
    hidden = any(name in parsed.flags for name in _HIDDEN)
    found = [path for top in tops for path in _below(call, top, hidden=hidden)]
    if call.world.cut or len(found) >= MATCHES:
        return None
    meant = _meant(pattern, found, glob=not parsed.flags.keys().isdisjoint(("-g", "--glob")))
    if meant is None:
        return None
    extensions = tuple(f".{item.text.lstrip('.')}" for item in parsed.values("-e", "--extension"))
    kinds = {_KINDS.get(item.text, "") for item in parsed.values("-t", "--type")}
    left_out = [item.text for item in parsed.values("-E", "--exclude")]
    return [
        path
        for path in found
        if meant.search(paths.base(path))
        and (not extensions or path.endswith(extensions))
        and (not kinds or call.world.kind(path) in kinds)
        and not any(fnmatchcase(paths.base(path), name) for name in left_out)
    ]


def _meant(pattern: str, found: Sequence[str], *, glob: bool) -> re.Pattern[str] | None:
    """What a name must match; None for what cannot be told in time. A pattern that is none matches nothing."""
    text = glob_patterns.world_classes(pattern)
    if len(text) > LONGEST:
        return None
    if not glob and (_FOREIGN.search(text) or not bounded(text, map(paths.base, found))):
        return None
    try:
        return re.compile(translate(text) if glob else text, re.IGNORECASE)
    except (re.error, OverflowError):
        return re.compile(r"(?!)")


def _below(call: Call, top: str, *, hidden: bool) -> Iterable[str]:
    yield from call.world.glob(f"{paths.child(top, '**')}/*")
    if hidden:
        yield from call.world.glob(f"{paths.child(top, '**')}/.*")


OPTIONS = dict.fromkeys(("fd", "fdfind"), _OPTIONS)
PROGRAMS = dict.fromkeys(("fd", "fdfind"), fd)
