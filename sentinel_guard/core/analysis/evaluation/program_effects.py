"""The effects of a program, wrappers taken off: those of its own row, and what it means beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.evaluation import made_names, secret_output, wrapper_effects
from sentinel_guard.core.analysis.evaluation.autoloaded_files import autoload_effects
from sentinel_guard.core.analysis.evaluation.command_output import output
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import (
    SHELLS,
    UNKNOWN,
    Call,
    behind_unnamed_option,
    build,
)
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages import code_meanings, project_programs
from sentinel_guard.core.analysis.languages.interpreters import PROGRAMS as INTERPRETERS
from sentinel_guard.core.analysis.languages.interpreters import by_shebang
from sentinel_guard.core.analysis.programs import exec_options, open_access, remote_code, unknown_verbs
from sentinel_guard.core.analysis.programs.downloads_and_dns import SentWords
from sentinel_guard.core.analysis.programs.exec_options import exec_option_effects
from sentinel_guard.core.analysis.programs.registry import OPTIONS, PROGRAMS, VERBS, Program
from sentinel_guard.core.analysis.programs.secret_stores import HELPERS
from sentinel_guard.core.analysis.programs.typed_commands import reads_terminal
from sentinel_guard.core.analysis.programs.unknown_programs import unknown
from sentinel_guard.core.analysis.world import World
from sentinel_guard.core.model import Command, Effect, Kind

SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/", "/snap/")
"""Programs there are not scripts of this project."""
_TYPED, _NO_WORDS = frozenset(("typed",)), frozenset[str]()
_HELP = ("--help", "-help")
_TEXTS = ("-c", "-e", "-m", "-r", "-p", "-n", "--eval", "--print")
"""Options with which an interpreter takes its script from elsewhere."""


def start_program(walk: Walker, fields: Sequence[Field], place: WalkContext) -> str:
    """Adds what it does; gives its output."""
    own, mark = len(walk.world.own), walk.world.mark()
    text = _start(walk, fields, place)
    walk.world.may_have_ended([mark] if place.elsewhere else [])
    if len(walk.world.own) != own:
        made_names.note_program(walk.world, place.via, replaced=_may_be_replaced(fields[0].text, place, walk.world))
    return text


_ADDS_FOLDER = ("npm", "pnpm", "yarn", "bun", "npx")
"""What looks for programs in ``node_modules/.bin`` first."""


def _may_be_replaced(name: str, place: WalkContext, world: World) -> bool:
    """Whether another program than the machine's may bear this name: by its path, or in a folder of the text's."""
    if "/" in name:
        return not name.startswith(SYSTEM)
    cwd = place.scope.cwd or place.guess
    adds = any(via.partition(" ")[0] in _ADDS_FOLDER for via in place.via)
    above = [*accumulate(f"{cwd}/".split("/")[:-1], "{}/{}".format)] if adds else []
    folders = [f"{folder}/node_modules/.bin" for folder in above]
    if "PATH" in place.scope.variables:
        held = place.scope.lookup("PATH")
        if not held.known:
            return True
        usual = place.scope.environ.get("PATH", "").split(":")
        folders += [folder for folder in "".join(held.items).split(":") if folder not in usual]
    return any(world.kind(paths.locate(f"{folder or '.'}/{name}", cwd, world)) for folder in folders)


def _start(walk: Walker, fields: Sequence[Field], place: WalkContext) -> str:
    own, head, parsed = build(fields, OPTIONS, place.via)
    typed = walk.world.typed and not (place.stdin or place.elsewhere) and reads_terminal(own, parsed)
    name, cwd = own.program, place.scope.cwd
    walk.add(Effect(Kind.EXECUTE, name, True, _TYPED if typed else _NO_WORDS, own, folder=cwd or ""), place)
    privileged = place.via and not wrapper_effects.PRIVILEGED.isdisjoint(place.via)
    if privileged and name in SHELLS and not parsed.operands and not place.stdin:
        walk.add(Effect(Kind.PRIVILEGE, "root shell", command=own), place)
    program = PROGRAMS.get(name)
    path = fields[0].text
    local = program is None and "/" in path and not path.startswith(SYSTEM)
    if own.flags and (len(own.argv) == 2 or not own.flags.isdisjoint(_HELP)) and _only_speaks(own):
        return UNKNOWN
    call = Call(
        own, fields, head, parsed, cwd or place.guess, cwd is not None, walk.world, place.stdin,
        walk, place.scope, place.depth, place.files, place.disk,
    )  # fmt: skip
    if name in INTERPRETERS and UNKNOWN in place.stdin and "/" in path and _reads_data(walk, call):
        call = replace(call, stdin="")
    if walk.world.fetched and _is_fetched(call, name, local=local):
        walk.opaque(" ".join(own.argv)[:200], "code", place)
    if program is not None:
        _known(walk, call, program, place)
    else:
        for effect in by_shebang(call, fields[0], fields[1:]) if local else unknown(call):
            walk.add(effect, place)
    if "/" in path or "PATH" in place.scope.variables:
        for script in _scripts(call, path, known=program is not None):
            for effect in by_shebang(call, Field(script), fields[1:]):
                walk.add(effect, place)
    for effect in exec_option_effects(call) if name in exec_options.ROWS else ():
        walk.add(effect, place)
    for effect in autoload_effects(call):
        walk.add(effect, place)
    _meanings(walk, call, place)
    if len(fields) > 3 and fields[1].text[:1] == "-" and (own.subcommand or name in VERBS or not (program or local)):
        other = behind_unnamed_option(fields, OPTIONS)
        if other and not unknown_verbs.has_verb(own):
            start_program(walk, other, replace(place, wanted=False))
    return output(call) if place.wanted else UNKNOWN


def _reads_data(walk: Walker, call: Call) -> bool:
    """Whether what is called like an interpreter is a program of the project's own, and no other one that this text put
    there: its input is no code then, but for what may come from the network.
    """
    path = call.locate(call.fields[0])
    if not call.here or call.world.connected or not project_programs.is_built(path, call.world):
        return False
    return not any(e.kind is Kind.WRITE and f"{path}/".startswith(f"{e.target}/") for e in walk.effects)


def _known(walk: Walker, call: Call, program: Program, place: WalkContext) -> None:
    """The effects of a program's own row."""
    mark, sent = len(walk.effects), None
    for effect in program(call):
        if effect.kind is Kind.NETWORK:
            sent = sent or SentWords.of(call)
            walk.add(sent.annotated(effect), place)
        else:
            walk.add(effect, place)
        if effect.kind is Kind.GIT_REWRITE and effect.target == "worktree":
            walk.world.may_be_back(walk.world.root)
    fetches(walk, mark)


_MEAN_MORE = frozenset(
    [
        *(*secret_output.PROGRAMS, *code_meanings.PROGRAMS, *open_access.PROGRAMS),
        *(*unknown_verbs.PROGRAMS, *remote_code.PROGRAMS),
    ]
)
"""All programs of which ``_meanings`` has more to say than their words."""


def _meanings(walk: Walker, call: Call, place: WalkContext) -> None:
    """What it means beside its own row: secrets that are printed, losses by code, access from outside, remote code."""
    program, takes_code = call.command.program, code_meanings.takes_code(call)
    if not (takes_code or program in _MEAN_MORE or program.startswith(HELPERS)):
        for source in remote_code.by_words(call):
            walk.opaque(source[:200], "code", place)
        return
    secret_output.add(walk, call, place)
    for effect in code_meanings.effects(call) if takes_code else ():
        if code_meanings.is_new(effect, walk.effects):
            walk.add(effect, place)
    for effect in open_access.opened(call) if program in open_access.PROGRAMS else ():
        walk.add(effect, place)
    for effect in unknown_verbs.effects(call) if program in unknown_verbs.PROGRAMS else ():
        walk.add(effect, place)
    for source in remote_code.sources(call) if program in remote_code.PROGRAMS else remote_code.by_words(call):
        walk.opaque(source[:200], "code", place)


def _scripts(call: Call, name: str, *, known: bool) -> list[str]:
    """Files that a name leads to by a PATH that the text set; of a program that is known, those that the text wrote."""
    scope, world = call.scope, call.world
    if "/" in name:
        found = [call.locate(call.fields[0])] if known else []
    else:
        values = scope.possible("PATH") or ()
        begun = scope.environ.get("PATH", "").split(":")
        folders = dict.fromkeys(folder for held in values for folder in "".join(held).split(":"))
        found = [paths.locate(f"{folder or '.'}/{name}", call.cwd, world) for folder in folders if folder not in begun]
    made = world.made()
    return [path for path in found if (path in made if known else world.kind(path) == "file")]


def _only_speaks(own: Command) -> bool:
    """Help and versions, asked of a program that stops there: an interpreter gives the rest to its script."""
    if len(own.argv) == 2 and own.argv[1] in ("--version", "--help"):
        return "/" not in own.argv[0] or own.argv[0].startswith(SYSTEM)
    return not own.flags.isdisjoint(_HELP) and own.program in PROGRAMS and own.program not in (*INTERPRETERS, "find")


def _is_fetched(call: Call, name: str, *, local: bool) -> bool:
    """Whether what it would run came from the network in this same text: ``curl -o x.sh … && sh x.sh``."""
    if "/" not in name and any(paths.base(path) == name for path in call.world.fetched):
        return True
    scripts = call.fields[:1] if local else call.operands[:1] if name in INTERPRETERS and not call.has(*_TEXTS) else []
    return any(item.known and call.world.is_fetched(call.locate(item)) for item in scripts)


def fetches(walk: Walker, mark: int, files: Iterable[str] = ()) -> None:
    """Marks what a command that reads from the network has written since, and the files that its output goes to."""
    if not walk.world.connected:
        return
    found, network = walk.effects[mark:], Kind.NETWORK
    for effect in found:
        if effect.kind is network and "data" not in effect.how and effect.target[:1] not in "./":
            walk.world.fetched.update(e.target for e in found if e.kind is Kind.WRITE)
            walk.world.fetched.update(files)
            return
