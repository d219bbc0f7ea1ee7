"""A simple command starts: words become fields, wrappers come off, and the program says what it does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis import constants, find, paths
from sentinel_guard.core.analysis.builtins import BUILTINS, DECLARES
from sentinel_guard.core.analysis.commands import UNKNOWN, Call, build
from sentinel_guard.core.analysis.environment import environment
from sentinel_guard.core.analysis.git import SUBCOMMANDS
from sentinel_guard.core.analysis.interpreters import SHELLS, by_shebang
from sentinel_guard.core.analysis.place import Output, Place, Walker
from sentinel_guard.core.analysis.programs import OPTIONS, PROGRAMS
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.analysis.simple import assignment
from sentinel_guard.core.analysis.substitutions import may_substitute
from sentinel_guard.core.analysis.syntax import Assignment, Literal, Redirect, Simple, Word
from sentinel_guard.core.analysis.words import assign, expand
from sentinel_guard.core.analysis.wrappers import MAX_WRAPPERS, WRAPPERS, Peeled, Wrapper, peel
from sentinel_guard.core.model import Command, Effect, Kind

_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/", "/snap/")
"""Programs there are not scripts of this project."""
_SPEAKERS = ("echo", "printf", "pwd", "basename", "dirname", "realpath", "readlink", "which", "mktemp", "git")
"""Their output does not come from standard input."""
_SUFFIX = re.compile(r"\"[^\"`\\]*(?:/|\"(?:/[\w.+-]+)*/)([A-Za-z][\w.+-]*)\"?")
"""A quoted word whose last component is plain text, inside the quotes or behind them."""
_HELP = {"-h", "--help", "-V", "--version"}
_PRIVILEGED = ("sudo", "doas", "su", "pkexec", "runuser")


def simple(walk: Walker, node: Simple, place: Place) -> str:
    """One simple command: substitutions, words, redirections, assignments, then the command."""
    later = walk.substitute((node.assignments, node.words), place) if may_substitute(node.source) else []
    words, scope = node.words, place.scope
    if words and _is_alias(words[0], place):
        return _alias(walk, node, place)
    fields = [field for word in words for field in expand(word, scope)]
    named = _redirecting(fields, node.redirects) if fields and node.redirects else None
    place, outputs = walk.redirect(node.redirects, place, named)
    if not fields:
        for item in node.assignments:
            _assign(walk, item, place)
        return walk.keep("", outputs, place)
    if words[0].literal in DECLARES:
        _declare(walk, words, fields, place)
        return walk.keep("", outputs, place)
    if not (node.assignments or later):
        text = command(walk, fields, place)
        return walk.keep(text, outputs, place) if outputs else text
    place = place._replace(wanted=True) if later else place
    saved = {item.name: scope.variables.get(item.name) for item in node.assignments}
    missing = saved.keys() - scope.variables.keys()
    for item in node.assignments:
        _assign(walk, item, place)
    text = command(walk, fields, place)
    scope.variables.update(saved)
    for name in missing:
        del scope.variables[name]
    outputs += [Output(sub=sub) for sub in later]
    return walk.keep(text, outputs, place) if outputs else text


def _redirecting(fields: Sequence[Field], redirects: Sequence[Redirect]) -> Command:
    """The command that a redirection's effects are told of, with the redirections as written: ``echo x > .env``."""
    written = [_written(r) for r in redirects]
    return Command(paths.base(fields[0].text), (*(f.text for f in fields), *written))


def _written(redirect: Redirect) -> str:
    target = redirect.target.source if redirect.target else ""
    return f"{redirect.fd}{redirect.op}{'' if redirect.op[-1] in '&-' or redirect.op == '<<' else ' '}{target}"


def _assign(walk: Walker, item: Assignment, place: Place) -> None:
    assign(item, place.scope)
    value = place.scope.variables.get(item.name)
    known = value is not None and len(value) == 1
    environment(
        walk, item.name, Field(value[0] if value and known else item.value.source, known), item.value.source, place
    )


def _is_alias(word: Word, place: Place) -> bool:
    return (
        bool(place.scope.aliases) and word.literal in place.scope.aliases and word.parts[:1] == (Literal(word.source),)
    )


def _alias(walk: Walker, node: Simple, place: Place) -> str:
    """The alias's text in the place of its name; it does not expand itself again."""
    name = node.words[0].source
    inner = place.inside()
    value = inner.scope.aliases.pop(name)
    at = node.source.find(name)
    return walk.text(node.source[:at] + value + node.source[at + len(name) :], inner)


def _declare(walk: Walker, words: Sequence[Word], fields: Sequence[Field], place: Place) -> None:
    """export, declare, local …: what is an assignment is done."""
    walk.add(Effect(Kind.EXECUTE, fields[0].text, command=build(fields, OPTIONS, place.via)[0]), place)
    for word in words[1:]:
        item = assignment(word)
        if item is not None:
            _assign(walk, item, place)
            # A name reference, and braces that make several words of one: the value is not what it says.
            if {"-n", "-gn"} & {f.text for f in fields} or ("{" in word.source and "${" not in word.source):
                place.scope.variables[item.name] = None


def command(walk: Walker, fields: Sequence[Field], place: Place) -> str:
    """Takes the wrappers off, then starts the function, builtin or program."""
    for _ in range(MAX_WRAPPERS + 1):
        if not fields:
            return ""
        first = fields[0]
        if not first.known and (found := _by_suffix(first)) is not None:
            fields = [found, *fields[1:]]
            place = place._replace(elsewhere=True)
            break
        if not first.known or (first.pattern and first.text != "["):
            walk.opaque(first.text or first.source, "name", place)
            if first.text:
                return UNKNOWN
            fields = fields[1:]  # an empty expansion vanishes, and the next word is the command
            continue
        name = paths.base(first.text)
        if name.startswith("git-") and name[4:] in SUBCOMMANDS:
            fields = [Field("git"), Field(name[4:]), *fields[1:]]
            break
        if first.text in place.scope.functions:
            return walk.call_function(first.text, fields[1:], place)
        if first.text in BUILTINS:
            walk.add(Effect(Kind.EXECUTE, name, command=build(fields, OPTIONS, place.via)[0]), place)
            return BUILTINS[first.text](walk, fields, place)
        row = WRAPPERS.get(name)
        peeled = peel(fields, row) if row is not None else None
        if row is None or peeled is None or (name == "command" and {"-v", "-V"} & peeled.parsed.flags.keys()):
            return _program(walk, fields, place)
        place = _wrapped(walk, fields, row, peeled, place)
        if not peeled.rest:
            return UNKNOWN
        fields = peeled.rest
    else:
        walk.opaque(" ".join(f.text for f in fields)[:200], "name", place)
        return UNKNOWN
    return _program(walk, fields, place)


def _by_suffix(first: Field) -> Field | None:
    """``"$VENV/bin/python"`` is python, wherever it lies; None for a shell or wrapper, and where blanks would split."""
    named = _SUFFIX.fullmatch(first.source)
    if named is None or named[1] in SHELLS or named[1] in WRAPPERS or not first.text.endswith(f"/{named[1]}"):
        return None
    return Field(first.source.replace('"', ""), source=first.source)


def _wrapped(walk: Walker, fields: Sequence[Field], row: Wrapper, peeled: Peeled, place: Place) -> Place:
    """What the wrapper itself does; the place that its command stands in."""
    name = paths.base(fields[0].text)
    own = build(fields, OPTIONS, place.via)[0]
    flags = peeled.parsed.flags.keys()
    if not peeled.rest:
        walk.add(Effect(Kind.EXECUTE, name, command=own), place)
    opened = row.elsewhere or name in ("nsenter", "unshare")
    if row.privilege and (peeled.rest or peeled.texts or (opened and len(fields) > 1 and not _HELP & flags)):
        walk.add(Effect(Kind.PRIVILEGE, row.privilege, command=own), place)
    opens = name == "su" or bool({"-i", "-s", "--login", "--shell"} & flags)
    if row.privilege and opens and not peeled.rest and not peeled.texts and name in _PRIVILEGED:
        walk.add(Effect(Kind.PRIVILEGE, "root shell", command=own), place)
    if name in ("strace", "ltrace", "gdb") and {"-p", "--pid"} & flags:
        walk.add(Effect(Kind.PRIVILEGE, "ptrace", command=own), place)
    if name in ("ssh", "mosh") and peeled.parsed.operands:
        host = peeled.parsed.operands[0].text
        walk.add(Effect(Kind.NETWORK, host, how=frozenset(("data",) if place.stdin else ()), command=own), place)
    place = place._replace(via=(*place.via, name), elsewhere=place.elsewhere or row.elsewhere)
    if peeled.cwd is not None or peeled.assignments:
        place = place.inside()
    if peeled.cwd is not None:
        place.scope.cwd = paths.locate(peeled.cwd.text, place.cwd, walk.world) if peeled.cwd.known else None
    for key, value in peeled.assignments:
        place.scope.variables[key] = (value.text,) if value.known else None
        environment(walk, key, value, value.source, place)
    for item in peeled.texts:
        walk.text(item.text if item.known or item.text.strip() else UNKNOWN, place.inside())
    return place


def _program(walk: Walker, fields: Sequence[Field], place: Place) -> str:
    own, head, parsed = build(fields, OPTIONS, place.via)
    walk.add(Effect(Kind.EXECUTE, own.program, command=own), place)
    name = own.program
    if name in SHELLS and not parsed.operands and not place.stdin and any(v in _PRIVILEGED for v in place.via):
        walk.add(Effect(Kind.PRIVILEGE, "root shell", command=own), place)
    program = PROGRAMS.get(name)
    path = fields[0].text
    local = program is None and "/" in path and not path.startswith(_SYSTEM)
    if (program is None and not local and not place.wanted) or "--help" in own.flags or own.argv[1:] == ("--version",):
        return UNKNOWN
    here = place.scope.cwd is not None
    call = Call(
        own,
        fields,
        head,
        parsed,
        place.cwd,
        here,
        walk.world,
        place.stdin,
        walk,
        place.scope,
        place.depth,
        place.files,
        place.disk,
    )
    if program is not None:
        for effect in program(call):
            walk.add(effect, place)
    elif local:
        for effect in by_shebang(call, fields[0], fields[1:]):
            walk.add(effect, place)
    return _output(call) if place.wanted else UNKNOWN


def _output(call: Call) -> str:
    """What the program prints, as far as it is a constant; UNKNOWN stands for the rest."""
    name = call.command.program
    if name == "find":
        return find.output(call)
    if name == "tee":
        return call.stdin
    if name == "cat" and call.operands:
        texts = [_content(call, item) for item in call.operands]
        return "".join(texts)
    known = all(f.known for f in call.fields)
    if (
        (not call.stdin and name not in _SPEAKERS)
        or (UNKNOWN in call.stdin and name != "cat")
        or not (known or name in ("echo", "printf"))
    ):
        return UNKNOWN
    spot = constants.Place(call.world, call.cwd if call.here else None)
    text = constants.output(call.command.argv, call.stdin, spot)
    return UNKNOWN if text is None else text if known else text + UNKNOWN


def _content(call: Call, item: Field) -> str:
    if item.text == "-":
        return call.stdin
    path = item.text if item.text.startswith("/dev/fd/") else call.locate(item)
    text = call.world.read(path) if item.known else None
    return UNKNOWN if text is None else text
