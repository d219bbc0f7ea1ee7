"""The shell's own commands that change what is known: cd, export, read, set, eval, source, trap, alias …"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.commands import UNKNOWN, options, parse
from sentinel_guard.core.analysis.place import Place, Walker
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect, Kind

Fields = Sequence[Field]

DECLARES = frozenset(("export", "declare", "typeset", "local", "readonly"))
"""Their words may be assignments; walk.py hands those to ``words.assign``."""

_READ = options("-d= -i= -n= -N= -p= -t= -u= -a=")
_DIRS = "\0dirs"
_TRUSTED = re.compile(
    r"\"?\$\(\s*(?:\S*/)?(?:ssh-agent|direnv|pyenv|rbenv|nodenv|goenv|conda|mamba|micromamba|brew|starship|zoxide|fnm|mise|asdf|opam|"
    r"dircolors|lesspipe|keychain|gpg-agent|minikube|docker-machine|resize|thefuck|atuin|luarocks|perl|register-python-argcomplete)\b"
)
"""Programs whose output is made to be evaluated."""


def cd(_walk: Walker, fields: Fields, place: Place) -> str:
    scope = place.scope
    items = [f for f in fields[1:] if f.text not in ("-P", "-L", "-e", "-@", "--")]
    before = scope.cwd
    if not items:
        scope.cwd = scope.home or place.guess
    elif not items[0].known or len(items) > 1:
        scope.cwd = None
    elif items[0].text == "-":
        old = scope.variables.get("OLDPWD")
        scope.cwd = old[0] if old else None
    elif items[0].text.startswith("/"):
        scope.cwd = paths.locate(items[0].text, "/", scope.world)
    elif scope.cwd is not None:
        scope.cwd = paths.locate(items[0].text, scope.cwd, scope.world)
    scope.variables["OLDPWD"] = (before,) if before is not None else None
    return ""


def pushd(walk: Walker, fields: Fields, place: Place) -> str:
    scope = place.scope
    stack = scope.variables.get(_DIRS) or ()
    scope.variables[_DIRS] = (*stack, scope.cwd or "")
    return cd(walk, fields, place) if len(fields) > 1 else ""


def popd(_walk: Walker, _fields: Fields, place: Place) -> str:
    stack = place.scope.variables.get(_DIRS) or ()
    place.scope.cwd = (stack[-1] or None) if stack else None
    place.scope.variables[_DIRS] = stack[:-1]
    return ""


def read(_walk: Walker, fields: Fields, place: Place) -> str:
    parsed = parse(fields[1:], _READ)
    names = [f.text for f in (*parsed.values("-a"), *parsed.operands)] or ["REPLY"]
    line, newline, _ = place.stdin.partition("\n")
    known = UNKNOWN not in line and (newline or line) and not parsed.values("-d", "-u", "-n", "-N")
    values = line.split(None, len(names) - 1) if known else []
    for at, name in enumerate(names):
        value = (values[at].rstrip() if at < len(values) else "",)
        place.scope.variables[name] = value if known and "-a" not in parsed.flags else None
    return ""


def mapfile(_walk: Walker, fields: Fields, place: Place) -> str:
    names = parse(fields[1:], options("-d= -n= -O= -s= -u= -C= -c=")).operands
    known = place.stdin and UNKNOWN not in place.stdin
    place.scope.variables[names[0].text if names else "MAPFILE"] = tuple(place.stdin.splitlines()) if known else None
    return ""


def unset(_walk: Walker, fields: Fields, place: Place) -> str:
    for item in fields[1:]:
        if item.text == "-f":
            continue
        place.scope.variables[item.text] = ()
        place.scope.functions.pop(item.text, None)
    return ""


def set_(_walk: Walker, fields: Fields, place: Place) -> str:
    texts = [f.text for f in fields]
    if "--" in texts:
        rest = fields[texts.index("--") + 1 :]
    elif len(texts) > 1 and texts[1][:1] not in "-+":
        rest = fields[1:]
    else:
        return ""
    place.scope.positional = tuple(f.text for f in rest) if all(f.known for f in rest) else None
    return ""


def shift(_walk: Walker, fields: Fields, place: Place) -> str:
    count = fields[1].text if len(fields) > 1 else "1"
    given = place.scope.positional
    place.scope.positional = given[int(count) :] if given is not None and count.isdigit() else None
    return ""


def eval_(walk: Walker, fields: Fields, place: Place) -> str:
    rest = fields[2:] if len(fields) > 1 and fields[1].text == "--" else fields[1:]
    text = " ".join(f.text for f in rest)
    if any(not f.known for f in rest) and not text.strip("\"' "):
        text = UNKNOWN
    if len(rest) == 1 and _TRUSTED.match(rest[0].source):
        return ""
    if not rest[:1] or all(f.known for f in rest):
        return walk.text(text, place)
    walk.add(Effect(Kind.OPAQUE, text.replace(UNKNOWN, "") or "eval", sure=False, how=frozenset(("code",))), place)
    return walk.text(text.replace(UNKNOWN, ""), place) if "$(" not in text and "`" not in text else UNKNOWN


def source(walk: Walker, fields: Fields, place: Place) -> str:
    return walk.follow(fields[1], fields[2:], place) if len(fields) > 1 else ""


def trap(walk: Walker, fields: Fields, place: Place) -> str:
    items = [f for f in fields[1:] if f.text not in ("--", "-l", "-p")]
    if len(items) > 1 and items[0].text not in ("-", ""):
        walk.text(items[0].text if items[0].known else UNKNOWN, place.inside()._replace(maybe=True))
    return ""


def alias(_walk: Walker, fields: Fields, place: Place) -> str:
    for item in fields[1:]:
        name, equals, value = item.text.partition("=")
        if equals and item.known:
            place.scope.aliases[name] = value
    return ""


def hash_(_walk: Walker, fields: Fields, place: Place) -> str:
    """``hash -p PATH NAME`` is another way to make an alias."""
    if len(fields) == 4 and fields[1].text == "-p":
        place.scope.aliases[fields[3].text] = fields[2].text
    return ""


def unalias(_walk: Walker, fields: Fields, place: Place) -> str:
    for item in fields[1:]:
        place.scope.aliases.pop(item.text, None)
    return ""


def nothing(_walk: Walker, _fields: Fields, _place: Place) -> str:
    return ""


BUILTINS: dict[str, Callable[[Walker, Fields, Place], str]] = {
    "cd": cd, "chdir": cd, "pushd": pushd, "popd": popd, "read": read, "mapfile": mapfile, "readarray": mapfile,
    "unset": unset,
    "set": set_, "shift": shift, "eval": eval_, "source": source, ".": source, "trap": trap, "alias": alias,
    "unalias": unalias,
    "hash": hash_,
    **dict.fromkeys((":", "true", "false", "test", "[", "exit", "return", "break", "continue", "wait", "umask",
    "ulimit", "shopt",
                     "jobs", "fg", "bg", "disown", "let", "getopts", "times", "bind", "complete"), nothing),
}  # fmt: skip
