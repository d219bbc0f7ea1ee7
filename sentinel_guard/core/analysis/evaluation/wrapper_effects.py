"""Effects of wrapper commands (sudo, env, ssh …) themselves, and the context in which the wrapped command runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from sentinel_guard.core.analysis import guard_variables, paths
from sentinel_guard.core.analysis.evaluation.environment_variables import environment, take_database
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, build
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages.interpreters import PROGRAMS as INTERPRETERS
from sentinel_guard.core.analysis.programs import build_scripts, open_access, remote_code
from sentinel_guard.core.analysis.programs.command_wrappers import Wrapper
from sentinel_guard.core.analysis.programs.databases import dotenv_databases
from sentinel_guard.core.analysis.programs.peel_wrappers import Peeled, leads_elsewhere
from sentinel_guard.core.analysis.programs.registry import OPTIONS, PROGRAMS
from sentinel_guard.core.analysis.programs.system import documented_packages
from sentinel_guard.core.analysis.programs.system.processes_and_scheduled_jobs import BY_NAME
from sentinel_guard.core.model import Command, Effect, Kind

PRIVILEGED = frozenset(("sudo", "doas", "su", "pkexec", "runuser"))
"""They run a command as somebody else, and without one open a shell."""

_STARTS = INTERPRETERS.keys() | build_scripts.PROGRAMS.keys()
"""They start what a text or a file says."""
_HELP = {"-h", "--help", "-V", "--version"}
_SHELLS = {"-i", "-s", "--login", "--shell"}
_LOCAL = re.compile(r"(?:Proxy|Local|KnownHosts)Command[ =]+(.*)", re.IGNORECASE | re.DOTALL)
"""ssh_config(5): commands that run on this machine."""
_DEBUGGER = re.compile(r"\s*(?:shell|!|platform shell|pi(?:pe)?)\s*(.*)", re.DOTALL)


def enter_wrapper(
    walk: Walker, fields: Sequence[Field], row: Wrapper, peeled: Peeled, place: WalkContext
) -> WalkContext:
    """Adds the wrapper's own effects and walks its texts; where its command stands."""
    place.scope.budget.spend(len(fields))
    if row.assignments and peeled.rest and not peeled.rest[0].known:
        _take_loaded(walk, peeled, place)
    own = build(fields, OPTIONS, place.via)[0]
    if not peeled.rest:
        walk.add(Effect(Kind.EXECUTE, own.program, command=own), place)
    for effect in (*_privileges(walk, own, row, peeled, place), *_writes(walk, own, row, peeled, place)):
        walk.add(effect, place)
    if own.program in ("ssh", "mosh") and peeled.parsed.operands:
        how = frozenset(("data",) if place.stdin else ())
        walk.add(Effect(Kind.NETWORK, peeled.parsed.operands[0].text, how=how, command=own), place)
    for source in remote_code.addresses(own.program, fields[1 : remote_code.MOST]):
        walk.opaque(source[:200], "code", place)
    if own.program in ("ssh", "autossh"):
        if open_access.is_reached(own.argv):
            walk.add(Effect(Kind.PRIVILEGE, open_access.TARGET, command=own), place)
        if open_access.forwards(own.argv):
            walk.world.forward(" ".join(own.argv))
    for text in _beside(own.program, peeled):
        walk.text(text, replace(place.inside(), via=(*place.via, own.program)))
    place = _entered(walk, own.program, row, peeled, place)
    for item in peeled.texts:
        walk.text(item.text if item.known or item.text.strip() else UNKNOWN, place.inside())
    if own.program == "ssh" and place.stdin and not (peeled.rest or peeled.texts):
        walk.text(place.stdin, replace(place.inside(), stdin=""))
    return place


_LOADS = re.compile(
    r"\$\(\s*(?:xargs\s*<\s*(?P<given>[\w./-]+)|(?:cat|(?P<filters>grep\s+-E?vE?\s+(?:'[^']*#[^']*'|\"[^\"]*#[^\"]*\")))\s+"
    r"(?P<read>[\w./-]+)(?:\s*\|\s*xargs)?)\s*\)"
)
"""The lines of a file as words: ``$(xargs < .env)``, ``$(grep -v '^#' .env | xargs)``."""
_SETS = re.compile(
    r"\s*(?:(?!(?:LD|DYLD|GIT|BASH|SENTINEL|PYTHON|PERL|RUBY|PS\d|PATH|ENV|SHELL|NODE_OPTIONS|PROMPT_COMMAND)(?![A-Za-z]))"
    r"[A-Za-z]\w*=[\w./:@%+,=&#~-]*\s*)?"
)
"""A line that is one assignment of one word, of a variable that changes no program."""
_REMARKS = re.compile(r"(?m)^\s*#.*$")


def _take_loaded(walk: Walker, peeled: Peeled, place: WalkContext) -> None:
    """Takes off what a file of assignments gives to ``env``, and what stands behind it; else it may be a program."""
    while peeled.rest and not peeled.rest[0].known and (loads := _LOADS.fullmatch(peeled.rest[0].source)):
        path = paths.locate(loads["given"] or loads["read"], place.cwd, walk.world)
        only = partial(_only_sets, loads["filters"] is not None)
        if place.scope.cwd is None or not walk.world.fulfils(path, only):
            return
        del peeled.rest[0]
    while peeled.rest and peeled.rest[0].known and (given := _GIVEN.match(peeled.rest[0].text)):
        peeled.assignments.append((given[1], Field(peeled.rest.pop(0).text[given.end() :])))


def _only_sets(filters: bool, text: str) -> bool:
    plain = _REMARKS.sub("", text) if filters else text
    return all(map(_SETS.fullmatch, plain.splitlines()))


_GIVEN = re.compile(r"([A-Za-z_]\w*)=")


def _privileges(walk: Walker, own: Command, row: Wrapper, peeled: Peeled, place: WalkContext) -> Iterator[Effect]:
    flags = own.flags
    opened = row.elsewhere or own.program in ("nsenter", "unshare")
    runs = bool(peeled.rest or peeled.texts)
    if row.privilege and (runs or (opened and len(own.argv) > 1 and not _HELP & flags)):
        asked_for = own.program == "sudo" and not own.flags and _installs_what_is_asked_for(walk, peeled)
        yield Effect(Kind.PRIVILEGE, row.privilege, how=frozenset(("documented",) if asked_for else ()), command=own)
    if row.privilege and not runs and own.program in PRIVILEGED and (own.program == "su" or _SHELLS & flags):
        yield Effect(Kind.PRIVILEGE, "root shell", command=own)
    if own.program == "wsl" and "--unregister" in flags:
        yield Effect(Kind.PRIVILEGE, "volume", command=own)
    if own.program in ("env", "exec") and _drops_variables(own, peeled, place):
        yield Effect(Kind.PRIVILEGE, guard_variables.DROPPED, sure=False, command=own)
    given = peeled.parsed.value("-p", "--pid")
    by_name = given is not None and BY_NAME.fullmatch(given.source)
    if own.program in ("strace", "ltrace", "gdb") and {"-p", "--pid"} & flags and not by_name:
        yield Effect(Kind.PRIVILEGE, "ptrace", command=own)


def _installs_what_is_asked_for(walk: Walker, peeled: Peeled) -> bool:
    plain = peeled.rest and all(name == "DEBIAN_FRONTEND" for name, _ in peeled.assignments)
    words = [item.text if item.known else "?" for item in peeled.rest]
    return bool(plain) and documented_packages.are_asked_for(words, walk.world)


def _drops_variables(own: Command, peeled: Peeled, place: WalkContext) -> bool:
    """``env -i sh x``, ``env -u BASH_ENV make``, ``exec -c``: what starts programs begins without the session's.

    Where PATH is as it was (``env -i PATH="$PATH" ./x.sh``) the guard's programs come first in it, and are located by
    who started them; a login shell would make its own.
    """
    flags = {"-c"} if own.program == "exec" else {"-i", "--ignore-environment"}
    dropped = any(item.text in guard_variables.NAMES for item in peeled.parsed.values("-u", "--unset"))
    lone = own.program == "env" and own.argv[1:2] == ("-",)
    first = next((item.text for item in peeled.rest if "=" not in item.text and item.text != "-"), "")
    starts = paths.base(first) in _STARTS or (paths.base(first) not in PROGRAMS and "/" in first.rstrip("/"))
    return starts and bool(flags & own.flags or dropped or lone) and not (_keeps_path(peeled, place) and not dropped)


def _keeps_path(peeled: Peeled, place: WalkContext) -> bool:
    given, held = dict(peeled.assignments).get("PATH"), place.scope.scalar("PATH")
    if given is None or not (given.known and held.known and any(held.items)):
        return False
    logs_in = any(re.fullmatch(r"--login|-\w*l\w*", item.text) for item in peeled.rest[1:3])
    return given.text in (held.items[0], f"{held.items[0]}:") and not logs_in


def _writes(walk: Walker, own: Command, row: Wrapper, peeled: Peeled, place: WalkContext) -> Iterator[Effect]:
    """Logs and reports that the wrapper itself writes."""
    given = peeled.parsed.values(*row.writes)
    for item in (*given, *(peeled.parsed.operands[:1] if own.program == "script" else ())):
        if item.known and item.text:
            path = paths.locate(item.text, place.cwd, walk.world)
            if path not in paths.IGNORED:
                sure = place.scope.cwd is not None or item.text.startswith("/")
                yield Effect(Kind.WRITE, path, sure, frozenset(("truncate",)), own)


def _beside(name: str, peeled: Peeled) -> Iterable[str]:
    """Texts that run on this machine, whatever becomes of the command."""
    if name in ("ssh", "autossh"):
        found = (_LOCAL.match(item.text.strip()) for item in peeled.parsed.values("-o"))
    elif name in ("gdb", "lldb"):
        given = peeled.parsed.values("-ex", "--eval-command", "-iex", "-o", "--one-line")
        found = (_DEBUGGER.match(item.text) for item in given)
    else:
        return ()
    return [match[1] for match in found if match and match[1].lower() != "none"]


def _with_environment(peeled: Peeled, place: WalkContext) -> WalkContext:
    """``env``: what it is told to set is there, and what it is told to take away may be."""
    flags, reaching = peeled.parsed.flags.keys(), place.scope.reaching
    if not (peeled.assignments or flags or peeled.cwd):
        return place
    inner = place.inside()
    dropped = frozenset(item.text for item in peeled.parsed.values("-u", "--unset"))
    empty = {"-i", "--ignore-environment", "-S", "--split-string"} & flags or "-" in dict(peeled.assignments)
    inner.scope.exported = frozenset() if empty else reaching - dropped
    inner.scope.exported |= {key for key, _ in peeled.assignments}
    return inner


def _with_file(walk: Walker, peeled: Peeled, place: WalkContext) -> WalkContext:
    """``dotenv -e FILE``: what the file gives is there, where it is not already."""
    place, files = place.inside(), peeled.parsed.values("-e")
    scope, plain = place.scope, peeled.parsed.flags.keys() == {"-e"} and len(files) == 1 and files[0].known
    if scope.cwd is None or not plain:
        scope.doubt((dotenv_databases.VARIABLE,))
    elif not scope.lookup(dotenv_databases.VARIABLE).isset:
        take_database(paths.locate(files[0].text, scope.cwd, walk.world), walk.world, scope)
    return place


def _entered(walk: Walker, name: str, row: Wrapper, peeled: Peeled, place: WalkContext) -> WalkContext:
    elsewhere = leads_elsewhere(row, peeled.parsed)
    place = replace(place, via=(*place.via, name), elsewhere=place.elsewhere or elsewhere)
    if row.elsewhere and not elsewhere:
        place = place.inside()  # it begins in the home or at the top
        place.scope.cwd = "/" if name == "chroot" else place.scope.home or None
    if name in dotenv_databases.LOADERS:
        place = _with_file(walk, peeled, place)
    if name in ("env", "cross-env"):
        place = _with_environment(peeled, place)
    elif peeled.cwd is not None or peeled.assignments:
        place = place.inside()
    if peeled.cwd is not None:
        place.scope.cwd = paths.locate(peeled.cwd.text, place.cwd, walk.world) if peeled.cwd.known else None
    for key, value in peeled.assignments:
        was = place.scope.scalar("PATH")
        place.scope.hold(key, (value.text,) if value.known else None)
        environment(walk, key, value, value.source, place, was=was)
    return place
