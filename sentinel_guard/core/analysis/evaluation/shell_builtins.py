"""Shell builtins that change the shell state: cd, export, read, set, eval, source, trap, alias …"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from sentinel_guard.core.analysis import guard_variables, paths
from sentinel_guard.core.analysis.evaluation import environment_variables
from sentinel_guard.core.analysis.evaluation.break_and_return import changed_names
from sentinel_guard.core.analysis.evaluation.conditions import disabled
from sentinel_guard.core.analysis.evaluation.environment_variables import ALL_EXPORTED
from sentinel_guard.core.analysis.evaluation.read_builtin import mapfile, read
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion import constant_output
from sentinel_guard.core.analysis.expansion.arithmetic import assigned, evaluate
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.shell_state import DECIDES, INTERACTIVE, Field, Numbers, Scope
from sentinel_guard.core.analysis.languages import loaded_output
from sentinel_guard.core.model import Command, Effect, Kind

Fields = Sequence[Field]

DECLARES = frozenset(("export", "declare", "typeset", "local", "readonly"))
"""Their words may be assignments; simple_command.py hands those to ``declare_builtin.declare``."""

_DIRS = "\0dirs"


def cd(walk: Walker, fields: Fields, place: WalkContext) -> str:
    scope = place.scope
    items = [f for f in fields[1:] if not re.fullmatch(r"-[PLe@]+|--", f.text)]
    before, output = scope.cwd, ""
    if not items:
        scope.cwd = scope.home or place.guess
    elif not items[0].known or len(items) > 1:
        scope.cwd, output = None, UNKNOWN
    elif items[0].text == "-":
        old = scope.lookup("OLDPWD")
        if old.known and not old.items:
            return ""
        scope.cwd = old.items[0] if old.known else None
        output = f"{scope.cwd}\n" if scope.cwd else UNKNOWN
    elif (found := _by_cdpath(items[0].text, scope)) != "":
        scope.cwd, output = found, UNKNOWN
    elif items[0].text.startswith("/"):
        scope.cwd = paths.locate(items[0].text, "/", scope.world)
    elif scope.cwd is not None and items[0].text:
        scope.cwd = paths.locate(items[0].text, scope.cwd, scope.world)
    if place.stumbles and scope.cwd is not None and not scope.world.kind(scope.cwd):
        if before is not None and walk.world.is_fetched(scope.cwd):
            walk.world.fetched.add(before)  # unless the clone failed, what follows is meant in there
        scope.cwd = before
        return ""
    scope.hold("OLDPWD", (before,) if before is not None else None)
    return output


def _by_cdpath(text: str, scope: Scope) -> str | None:
    """Where ``CDPATH`` leads to; empty for nowhere, None where it is not known."""
    held = scope.lookup("CDPATH")
    if not held.isset or not text or re.match(r"/|\.\.?(?:/|$)", text):
        return ""
    if not held.known or scope.cwd is None:
        return None
    tops = [paths.locate(top or ".", scope.cwd, scope.world) for top in held.items[0].split(":")]
    found = (paths.locate(text, top, scope.world) for top in tops)
    return next((path for path in found if scope.world.kind(path) == "dir"), "")


def pushd(walk: Walker, fields: Fields, place: WalkContext) -> str:
    scope = place.scope
    stack, before = scope.variables.get(_DIRS) or (), scope.cwd
    if len(fields) > 1 and re.fullmatch(r"[-+]\d+", fields[1].text):
        scope.cwd = None
        scope.hold(_DIRS, ())
    elif len(fields) > 1:
        cd(walk, fields, place)
        failed = place.stumbles and scope.cwd == before
        scope.hold(_DIRS, stack if failed else (*stack, before or ""))
    elif stack:
        scope.cwd = stack[-1] or None
        scope.hold(_DIRS, (*stack[:-1], before or ""))
        scope.hold("OLDPWD", (before,) if before is not None else None)
    return UNKNOWN


def popd(_walk: Walker, _fields: Fields, place: WalkContext) -> str:
    scope = place.scope
    stack = scope.variables.get(_DIRS) or ()
    if stack:
        scope.hold("OLDPWD", (scope.cwd,) if scope.cwd is not None else None)
        scope.cwd = stack[-1] or None
        scope.hold(_DIRS, stack[:-1])
    return UNKNOWN


def printf(_walk: Walker, fields: Fields, place: WalkContext) -> str:
    """``printf -v NAME``; without it printf is a program like others."""
    if len(fields) < 4 or not fields[2].known:
        return ""
    name, bracket, key = fields[2].text.partition("[")
    text = None
    if all(f.known for f in fields):
        argv = ("printf", *(f.text for f in fields[3:]))
        text = constant_output.output(argv, "", constant_output.ProgramContext(place.scope.world, place.scope.cwd))
    if bracket:
        place.scope.put_element(name, key[:-1] if key[:-1].isdigit() else None, text)
    else:
        place.scope.put(name, None if text is None else (text,))
    return ""


def let(_walk: Walker, fields: Fields, place: WalkContext) -> str:
    for item in fields[1:]:
        if not item.known or evaluate(item.text, Numbers(place.scope)) is None:
            place.scope.forget(assigned(item.text))
    return ""


def getopts(_walk: Walker, fields: Fields, place: WalkContext) -> str:
    place.scope.forget(["OPTARG", "OPTIND", *(f.text for f in fields[2:3])])
    return ""


_UNSET = frozenset(("PS0", "PROMPT_COMMAND", *guard_variables.NAMES)) - {"PATH"}
"""What is told of when it is taken away; PATH is told of by its own."""


def unset(walk: Walker, fields: Fields, place: WalkContext) -> str:
    scope = place.scope
    letters = "".join(f.text for f in fields[1:] if f.text[:1] == "-")
    for item in fields[1:]:
        name, bracket, key = item.text.partition("[")
        if name[:1] == "-":
            continue
        target = name if "n" in letters else scope.named(name)
        if target in _UNSET:
            environment_variables.environment(walk, target, Field(""), "", place)
        if "f" not in letters and "r" not in scope.attributes.get(target, ""):
            if bracket:
                _unset_item(name, key[:-1], scope)
                continue
            gone = scope.variables.get(target, ()) or target not in scope.functions
            scope.hold(target, ())
            scope.attributes.pop(target, None)
            scope.exported -= {target}
            if gone:
                continue
        if "v" not in letters:
            scope.functions.pop(name, None)
    return ""


def _unset_item(name: str, key: str, scope: Scope) -> None:
    if key in ("@", "*"):
        scope.hold(scope.named(name), ())
    elif "A" in scope.attributes.get(scope.named(name), ""):
        scope.drop_element(name, key)
    elif (number := evaluate(key, Numbers(scope))) is not None:
        scope.drop_element(name, str(number))
    else:
        scope.forget([name])


_SET = {
    "a": ALL_EXPORTED,
    "f": "noglob",
    "e": "errexit",
    "u": "nounset",
    "B": "braceexpand",
    "x": "xtrace",
    "v": "verbose",
}


def set_(_walk: Walker, fields: Fields, place: WalkContext) -> str:
    """Options, then what the positional parameters are."""
    scope, at = place.scope, 1
    while at < len(fields):
        text = fields[at].text
        if text in ("--", "-") or not (len(text) > 1 and text[0] in "-+"):
            break
        if text.endswith("o") and at + 1 < len(fields):
            at += 1
            scope.options[fields[at].text] = text[0] == "-"
        scope.options |= {_SET[letter]: text[0] == "-" for letter in text[1:] if letter in _SET}
        at += 1
    if at < len(fields):
        rest = fields[at + 1 :] if fields[at].text in ("--", "-") else fields[at:]
        if fields[at].text != "-" or rest:
            scope.positional = tuple(f.text for f in rest) if all(f.known for f in rest) else None
    return "" if len(fields) > 1 else UNKNOWN


def shopt(_walk: Walker, fields: Fields, place: WalkContext) -> str:
    letters = "".join(f.text for f in fields[1:] if f.text[:1] == "-")
    names = [f.text for f in fields[1:] if f.text[:1] != "-"]
    if "s" in letters or "u" in letters:
        place.scope.options |= dict.fromkeys(names, "s" in letters)
    return "" if "q" in letters or "s" in letters or "u" in letters else UNKNOWN


def shift(_walk: Walker, fields: Fields, place: WalkContext) -> str:
    count = fields[1].text if len(fields) > 1 else "1"
    given = place.scope.positional
    if given is None or not count.isdigit() or not all(f.known for f in fields):
        place.scope.positional = None
    elif int(count) <= len(given):
        place.scope.positional = given[int(count) :]
    return ""


def eval_(walk: Walker, fields: Fields, place: WalkContext) -> str:
    rest = fields[2:] if len(fields) > 1 and fields[1].text == "--" else fields[1:]
    text = " ".join(f.text for f in rest)
    if any(not f.known for f in rest) and not text.strip("\"' "):
        text = UNKNOWN
    source = place.scope.as_written(rest[0].source) if len(rest) == 1 else ""
    if not all(f.known for f in rest):
        place.scope.doubt(environment_variables.SET_BY_FILES)
    if loaded_output.is_evaluated(source, place.scope, walk.world):
        return ""
    if not rest[:1] or all(f.known for f in rest):
        return walk.text(text, place)
    environment_variables.doubt_environment(place.scope)
    if "$(" in source or "`" in source:
        environment_variables.doubt_values(place.scope, walk.world)
    walk.add(Effect(Kind.OPAQUE, text.replace(UNKNOWN, "") or "eval", sure=False, how=frozenset(("code",))), place)
    return walk.text(text.replace(UNKNOWN, ""), place) if "$(" not in text and "`" not in text else UNKNOWN


def source(walk: Walker, fields: Fields, place: WalkContext) -> str:
    if len(fields) < 2 or loaded_output.is_loaded(fields[1], place.scope, walk.world):
        return ""
    if not fields[1].known and loaded_output.lies_in_set_up(fields[1].source, place.scope):
        walk.opaque(fields[1].text, "data", place)
        return UNKNOWN
    before = place.scope.variables.keys() & environment_variables.SET_BY_FILES
    output = walk.follow(fields[1], fields[2:], place)
    path = "" if place.scope.cwd is None else paths.locate(fields[1].text, place.scope.cwd, place.scope.world)
    untold = place.scope.variables.keys() & environment_variables.SET_BY_FILES == before
    if untold and not (path and fields[1].known and not environment_variables.names_database(path, walk.world)):
        place.scope.doubt(environment_variables.SET_BY_FILES)
    if not (path and fields[1].known and environment_variables.is_read(path, walk.world)):
        environment_variables.doubt_environment(place.scope)
        environment_variables.doubt_values(place.scope, walk.world, path if fields[1].known else "")
        if path and fields[1].known:
            exported = place.scope.options.get(ALL_EXPORTED) is True
            environment_variables.take_database(path, walk.world, place.scope, exported=exported)
    return output


def trap(walk: Walker, fields: Fields, place: WalkContext) -> str:
    items = [f for f in fields[1:] if f.text not in ("--", "-l", "-p")]
    before = dict(place.scope.variables)
    if len(items) > 1 and items[0].text not in ("-", ""):
        inner = replace(place.inside(), maybe=True)
        inner.scope.options.pop(DECIDES, None)  # what is known now may be another thing when it runs
        inner.scope.ended = None
        begun = walk.world.mark()
        walk.text(items[0].text if items[0].known else UNKNOWN, inner)
        walk.world.may_have_ended([begun])
        if any(f.text in ("DEBUG", "SIGDEBUG", "RETURN", "ERR") for f in items[1:]):
            place.scope.doubt(changed_names(inner.scope, before))
        if items[0].known:
            place.scope.traps.append(items[0].text)
    return ""


def exit_(walk: Walker, fields: Fields, place: WalkContext) -> str:
    walk.finish(place)
    scope = place.scope
    stays = place.maybe or place.calls or any(map(scope.is_on, ("extdebug", INTERACTIVE, disabled("exit"))))
    if scope.ended is not None and len(fields) < 3 and not stays:
        scope.ended = True
    return ""


def return_(_walk: Walker, fields: Fields, place: WalkContext) -> str:
    scope = place.scope
    ends = bool(place.calls) and scope.ended is not None and len(fields) < 3 and not place.maybe
    if ends and not any(map(scope.is_on, ("extdebug", INTERACTIVE, disabled("return")))):
        scope.returned = True
    return ""


def _guards_name(walk: Walker, name: str, place: WalkContext) -> None:
    if name in ("sentinel-guard", "sentinel_guard"):
        own = Command("alias", ("alias", name), via=place.via)
        walk.add(Effect(Kind.PRIVILEGE, "environment sentinel-guard", command=own), place)


def alias(walk: Walker, fields: Fields, place: WalkContext) -> str:
    """An alias stays: a line is read before what stands on it, unalias too, has happened."""
    for item in fields[1:]:
        name, equals, value = item.text.partition("=")
        if equals and item.known:
            place.scope.aliases[name] = value
            _guards_name(walk, name, place)
    return ""


def hash_(walk: Walker, fields: Fields, place: WalkContext) -> str:
    """``hash -p PATH NAME`` is another way to make an alias."""
    if len(fields) == 4 and fields[1].text == "-p":
        place.scope.aliases[fields[3].text] = fields[2].text
        _guards_name(walk, fields[3].text, place)
    return ""


def enable(walk: Walker, fields: Fields, place: WalkContext) -> str:
    """``enable -f FILE``: code that is no text. Behind ``enable -n exit`` that word is another program's."""
    if any(f.text.startswith("-f") for f in fields[1:]):
        walk.opaque(fields[-1].text, "code", place)
    if any(f.text.startswith("-n") for f in fields[1:]):
        place.scope.options |= {disabled(f.text): True for f in fields[2:]}
    return UNKNOWN


def fc(walk: Walker, fields: Fields, place: WalkContext) -> str:
    """``fc`` runs an entry of the history, changed as its words or an editor say; ``-l`` lists them."""
    if not any(f.text[:1] == "-" and "l" in f.text for f in fields[1:]):
        walk.opaque(" ".join(f.text for f in fields), "code", place)
    return UNKNOWN


def bind(walk: Walker, fields: Fields, place: WalkContext) -> str:
    """``bind -x KEYS:COMMAND``: what the keys run."""
    if any(f.text == "-x" for f in fields):
        for item in fields[1:]:
            _, colon, text = item.text.partition(":")
            if colon:
                walk.text(text if item.known else UNKNOWN, replace(place.inside(), maybe=True))
    return UNKNOWN


def wait(_walk: Walker, fields: Fields, place: WalkContext) -> str:
    """``wait -p NAME`` sets a variable."""
    place.scope.forget(b.text for a, b in pairwise(fields) if a.text[:1] == "-" and a.text[-1] == "p")
    return ""


def unknown_output(_walk: Walker, _fields: Fields, _place: WalkContext) -> str:
    return UNKNOWN


def no_output(_walk: Walker, _fields: Fields, _place: WalkContext) -> str:
    return ""


BUILTINS: dict[str, Callable[[Walker, Fields, WalkContext], str]] = {
    "cd": cd, "chdir": cd, "pushd": pushd, "popd": popd, "read": read, "mapfile": mapfile, "readarray": mapfile,
    "unset": unset, "set": set_, "shopt": shopt, "shift": shift, "eval": eval_, "source": source, ".": source,
    "trap": trap, "alias": alias, "hash": hash_, "printf": printf, "let": let, "getopts": getopts,
    "enable": enable, "wait": wait, "exit": exit_, "return": return_, "fc": fc, "bind": bind,
    **dict.fromkeys(("jobs", "times", "umask", "ulimit", "fg", "dirs", "complete", "compgen"), unknown_output),
    **dict.fromkeys((":", "true", "false", "test", "[", "break", "continue", "bg",
                     "disown", "unalias"), no_output),
}  # fmt: skip
