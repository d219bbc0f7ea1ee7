"""Evaluates a simple command: expands its words, strips wrappers (sudo, env), and starts what is left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.evaluation import made_names, secret_output, tainted_variables, wrapper_effects
from sentinel_guard.core.analysis.evaluation.builtin_code import code_texts, subscript_texts
from sentinel_guard.core.analysis.evaluation.declare_builtin import declare, run_assignment
from sentinel_guard.core.analysis.evaluation.environment_variables import ALL_EXPORTED, reassigned
from sentinel_guard.core.analysis.evaluation.partly_known_programs import guess_program
from sentinel_guard.core.analysis.evaluation.program_effects import SYSTEM, fetches, start_program
from sentinel_guard.core.analysis.evaluation.redirections import emptied, redirecting
from sentinel_guard.core.analysis.evaluation.shell_builtins import BUILTINS, DECLARES
from sentinel_guard.core.analysis.evaluation.walk_context import Output, WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import (
    UNKNOWN,
    build,
    program_of,
)
from sentinel_guard.core.analysis.expansion.command_words import expand_all
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.output_visibility import prints_arguments
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages import loaded_output
from sentinel_guard.core.analysis.parser.find_substitutions import may_substitute
from sentinel_guard.core.analysis.parser.syntax_tree import Literal, ProcessSub, Redirect, Simple, Word
from sentinel_guard.core.analysis.programs.cloud import local_clusters
from sentinel_guard.core.analysis.programs.command_wrappers import WRAPPERS
from sentinel_guard.core.analysis.programs.git.git_command import SUBCOMMANDS
from sentinel_guard.core.analysis.programs.git.history_edits import puts_back
from sentinel_guard.core.analysis.programs.peel_wrappers import MAX_WRAPPERS, peel
from sentinel_guard.core.analysis.programs.registry import OPTIONS, PROGRAMS
from sentinel_guard.core.analysis.secret_names import STORE
from sentinel_guard.core.model import Command, Effect, Kind

_ASSIGNS = frozenset(("read", "mapfile", "readarray", "printf", "getopts", "unset", "wait", "let"))
"""Builtins that give variables another value."""
_CHANGES = re.compile(r"\$\(\(|\$\[|\{\w+:?=")
"""Expansions that may assign."""
_PLAIN_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_TERMINALS = re.compile(r"/dev/(?:tty\w*|pts/\d+|console)")


def simple(walk: Walker, node: Simple, place: WalkContext) -> str:
    """One simple command, and what it does to what was loaded."""
    mark = len(walk.effects)
    if place.scope.loaded:
        tainted_variables.report_printed_taint(walk, node, place)
    if "$" in node.source or (node.words and node.words[0].literal == "let"):
        secret_output.add_printed_variables(walk, node, place)
    own = len(walk.world.own)
    text = _simple(walk, node, place)
    if len(walk.world.own) != own:
        made_names.note(walk.world, node.source)
    if "$(" in node.source or "`" in node.source:
        tainted_variables.mark_keys(walk, node, mark, place.scope)
    if node.assignments or (node.words and node.words[0].literal in tainted_variables.NOTED):
        tainted_variables.record_taint(node, place.scope, walk.effects[mark:])
    return text


def _simple(walk: Walker, node: Simple, place: WalkContext) -> str:
    """Substitutions, words, redirections, assignments, then the command."""
    later: list[ProcessSub] = []
    if ("$" in node.source or "(" in node.source or "`" in node.source) and may_substitute(node.source):
        seen = place if prints_arguments(node.words) else replace(place, shown=False)
        later = walk.substitute_inputs(node.words, seen)
        if _CHANGES.search(node.source):
            place.scope.outputs.clear()  # what is substituted may see another value than the walk did
    words, scope = node.words, place.scope
    beside, place = place, place.opened() if scope.input is not None else place
    if scope.aliases and words and _is_alias(words[0], place):
        _alias(walk, node, place)
    declares = bool(words) and words[0].literal in DECLARES
    fields = expand_all(words, scope.copy() if declares else scope)
    named = redirecting(fields, node.redirects) if node.redirects else None
    mark = len(walk.effects)
    place, outputs = walk.redirect(node.redirects, place, named) if node.redirects else (place, [])
    if node.redirects and fields and fields[-1].text == "exec":
        _exec_redirects(node.redirects, beside, place)
    if not fields:
        walk.effects[mark:] = map(emptied, walk.effects[mark:])
        outputs += [Output(sub=sub) for sub in (*later, *_assign(walk, node, place))]
        reads = not (words or node.assignments) and [r.op for r in node.redirects] == ["<"]
        return walk.keep(place.stdin if reads else "", outputs, place)
    if declares:
        outputs += [Output(sub=sub) for sub in later]
        return walk.keep(_declared(walk, words, fields, place), outputs, place)
    if not (node.assignments or later):
        mark = len(walk.effects)
        text = command(walk, fields, place)
        scope.last = (fields[-1].text,) if fields[-1].known else None  # of ``$_``
        if outputs:
            _is_written(walk, fields, mark, [output.path for output in outputs if output.path], place)
            text = loaded_output.printed(text, " ".join(word.source for word in words), scope, walk.world)
        return walk.keep(text, outputs, place) if outputs else text
    text, more = _with_assignments(walk, node, fields, replace(place, wanted=True) if later else place)
    scope.last = (fields[-1].text,) if fields[-1].known else None
    outputs += [Output(sub=sub) for sub in (*later, *more)]
    return walk.keep(text, outputs, place) if outputs else text


def _is_written(walk: Walker, fields: Sequence[Field], mark: int, written: Sequence[str], place: WalkContext) -> None:
    """What a command's output makes of the files it goes to. ``git show HEAD:FILE > FILE``: what was changed in the
    file since is lost.
    """
    fetches(walk, mark, written)
    local_clusters.note_written(fields, written, walk.world.own)
    for effect in walk.effects[mark:]:
        if effect.kind is Kind.READ and effect.target.startswith(STORE):
            walk.world.secrets.update(written)
    kept = [path for path in written if path.startswith(f"{walk.world.root}/")]
    if fields[0].text == "git" and puts_back([field.text for field in fields], kept):
        own = build(fields, OPTIONS, place.via)[0]
        walk.add(Effect(Kind.GIT_REWRITE, "worktree", command=own), place)


def _declared(walk: Walker, words: Sequence[Word], fields: Sequence[Field], place: WalkContext) -> str:
    """``export``, ``declare`` and their kin."""
    own = build(fields, OPTIONS, place.via)[0]
    walk.add(Effect(Kind.EXECUTE, fields[0].text, command=own), place)
    secret_output.add_variables(walk, own, place)
    for text in subscript_texts(fields[1:]):
        walk.text(text, place.inside())
    return declare(walk, words, fields, place)


def _with_assignments(
    walk: Walker, node: Simple, fields: Sequence[Field], place: WalkContext
) -> tuple[str, list[ProcessSub]]:
    """A command with assignments in front of it, which hold for it alone: its output, and what they substitute."""
    scope = place.scope
    saved = {item.name: scope.variables.get(item.name) for item in node.assignments}
    choices = {name: scope.choices[name] for name in saved if name in scope.choices}
    written = {name: scope.written[name] for name in saved if name in scope.written}
    missing = saved.keys() - scope.variables.keys()
    later = _assign(walk, node, place)
    scope.given = frozenset(saved)
    text, scope.given = command(walk, fields, place), frozenset()
    scope.variables.update(saved)
    scope.choices = {n: v for n, v in scope.choices.items() if n not in saved} | choices
    scope.written = {n: v for n, v in scope.written.items() if n not in saved} | written
    for name in missing:
        scope.variables.pop(name, None)
    return text, later


def _exec_redirects(redirects: Sequence[Redirect], beside: WalkContext, place: WalkContext) -> None:
    """``exec < FILE`` without a command: from here on the shell, and what it starts, reads that."""
    opened = [r for r in redirects if r.op[0] == "<" and r.fd in ("", "0")]
    if opened:
        held = place.scope.input
        terminal = opened[-1].target is not None and _TERMINALS.fullmatch(opened[-1].target.literal or "")
        given = "" if terminal else place.stdin
        place.scope.input = (given, beside.stdin if held is None else held[1])


def _assign(walk: Walker, node: Simple, place: WalkContext) -> list[ProcessSub]:
    """The assignments in front of a command, each with what it substitutes."""
    later: list[ProcessSub] = []
    for item in node.assignments:
        if may_substitute(item.value.source) or (item.index is not None and may_substitute(item.index.source)):
            later += walk.substitute_inputs(item, replace(place, shown=False))
        run_assignment(walk, item, place)
    if not node.words and place.scope.options.get(ALL_EXPORTED) is True:
        place.scope.exported |= {item.name for item in node.assignments}
    return later


def _is_alias(word: Word, place: WalkContext) -> bool:
    return (
        bool(place.scope.aliases) and word.literal in place.scope.aliases and word.parts[:1] == (Literal(word.source),)
    )


def _alias(walk: Walker, node: Simple, place: WalkContext) -> None:
    """The alias's text in the place of its name; it does not expand itself again.

    Whether a shell expands aliases is its own affair, so that the command as it stands counts too.
    """
    name = node.words[0].source
    inner = place.inside()
    value = inner.scope.aliases.pop(name)
    at = node.source.find(name)
    rest = node.source[at + len(name) :]
    second = node.words[1].literal if value[-1:] in (" ", "\t") and len(node.words) > 1 else None
    if second is not None and second in inner.scope.aliases:
        rest = rest.replace(second, inner.scope.aliases[second], 1)
    walk.text(node.source[:at] + value + rest, inner)


_ANY = str.maketrans(dict.fromkeys("*?", "_"))
"""For signs of a pattern that nothing meets yet: any name."""


def _built(first: Field) -> Field:
    """A program of any name where a pattern means one in a folder that a build makes: ``build/install/*/bin/*``."""
    folder, _, rest = first.text.removeprefix("./").partition("/")
    built = first.known and folder in paths.REBUILT and rest and ".." not in rest and "[" not in rest
    return Field(first.text.translate(_ANY)) if built else first


def command(walk: Walker, fields: Sequence[Field], place: WalkContext) -> str:
    """Takes the wrappers off, then starts the function, builtin or program."""
    direct = True
    for _ in range(MAX_WRAPPERS + 1):
        if not fields:
            return ""
        first = _built(fields[0]) if fields[0].pattern and not walk.world.fetched else fields[0]
        found = None if first.known else guess_program(first, place.scope, fetched=bool(walk.world.fetched))
        if found is not None:
            _vanished(walk, fields, found, place)
            fields = [found, *fields[1:]]
            place = replace(place, elsewhere=True)
            break
        if not first.known or first.pattern:
            walk.opaque(first.text or first.source, "name", place)
            if first.text and _is_unset_inside(first, place):
                return command(walk, [Field(first.text, source=first.source), *fields[1:]], place)
            if first.text:
                return UNKNOWN
            fields = fields[1:]  # an empty expansion vanishes, and the next word is the command
            continue
        if direct and first.text in place.scope.functions:
            return walk.call_function(first.text, fields[1:], place)
        if first.text in BUILTINS and (first.text != "printf" or [f.text for f in fields[1:2]] == ["-v"]):
            return _builtin(walk, fields, place)
        fields = _renamed(fields, place) if "/" in first.text or first.text[:4] == "git-" else fields
        name = program_of(fields)
        if (row := WRAPPERS.get(name)) is None:
            return start_program(walk, fields, place)
        peeled = peel(fields, row)
        if peeled is None or (name == "command" and {"-v", "-V"} & peeled.parsed.flags.keys()):
            return start_program(walk, fields, place)
        place = wrapper_effects.enter_wrapper(walk, fields, row, peeled, place)
        direct = direct and name == "time"  # nothing else that wraps a command looks for functions
        if not peeled.rest:
            secret_output.add_variables(walk, Command(name, (name,)), place)
            return UNKNOWN
        fields = peeled.rest
    else:
        walk.opaque(" ".join(f.text for f in fields)[:200], "name", place)
        return UNKNOWN
    return start_program(walk, fields, place)


def _is_unset_inside(first: Field, place: WalkContext) -> bool:
    """``r${unset}m``: all that is not known of a name are variables that neither the text nor the environment sets."""
    if "/" in first.text:
        return False
    left, count = _PLAIN_VARIABLE.subn("", first.source)
    names = [m[1] or m[2] for m in _PLAIN_VARIABLE.finditer(first.source)]
    return bool(count) and not set("$`{*?[<>") & set(left) and not any(place.scope.lookup(n).isset for n in names)


def _builtin(walk: Walker, fields: Sequence[Field], place: WalkContext) -> str:
    name = fields[0].text
    own = build(fields, OPTIONS, place.via)[0]
    walk.add(Effect(Kind.EXECUTE, name, command=own), place)
    secret_output.add_variables(walk, own, place)
    for text in code_texts(walk, fields, place):
        walk.text(text, replace(place.inside(), stdin=""))
    if name in _ASSIGNS:
        return reassigned(walk, place, lambda: BUILTINS[name](walk, fields, place))
    return BUILTINS[name](walk, fields, place)


def _renamed(fields: Sequence[Field], place: WalkContext) -> Sequence[Field]:
    """``git-push`` is ``git push``; a copy of rm, or a link to it, is rm."""
    text = fields[0].text
    name = paths.base(text)
    if text.startswith(("/etc/init.d/", "/etc/rc.d/")):
        return [Field("service"), Field(name), *fields[1:]]
    if name.startswith("git-") and name[4:] in SUBCOMMANDS:
        return [Field("git"), Field(name[4:]), *fields[1:]]
    if name == text or text.startswith(SYSTEM) or name in PROGRAMS or name in WRAPPERS:
        return fields
    world = place.scope.world
    path = paths.locate(text, place.cwd, world)
    real = paths.base(world.copies.get(path, path) if isinstance(world, Overlay) else path)
    return [Field(real), *fields[1:]] if real != name and (real in PROGRAMS or real in WRAPPERS) else fields


def _vanished(walk: Walker, fields: Sequence[Field], found: Field, place: WalkContext) -> None:
    """Without a value the next word is the command."""
    if fields[0].source[:1] == "$" and (not fields[0].text or "/" not in found.text):
        command(walk, fields[1:], place)
