"""Shell redirections -> effects, the new standard input, and where the output goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.evaluation.walk_context import Output, WalkContext
from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS, UNKNOWN
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.partly_known_output import PartlyKnownText
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.expansion.tilde_expansion import expand_assignment_tildes
from sentinel_guard.core.analysis.expansion.word_expansion import expand_one
from sentinel_guard.core.analysis.parser.syntax_tree import Redirect, Word
from sentinel_guard.core.analysis.programs.command_wrappers import WRAPPERS
from sentinel_guard.core.analysis.secret_names import is_secret
from sentinel_guard.core.model import Command, Effect, Kind

_WRITES = {
    ">": "truncate",
    ">|": "truncate",
    ">>": "append",
    "&>": "truncate",
    "&>>": "append",
    "<>": "append",
    ">&": "truncate",
}
_HOW = {op: frozenset((how,)) for op, how in _WRITES.items()}
_TRUNCATES = frozenset(("truncate",))
_SPECIAL = ("/dev/", "/proc/")
_SOCKETS = ("/dev/tcp/", "/dev/udp/")


def evaluate_redirects(
    redirects: Sequence[Redirect], place: WalkContext, world: Overlay, command: Command | None
) -> tuple[list[Effect], str | None, list[Output]]:
    """Effects in order, as the command's; standard input, None where it stays as it is; outputs."""
    effects: list[Effect] = []
    outputs: list[Output] = []
    stdin: str | None = None
    for item in redirects:
        if item.fd[:1] == "{":
            place.scope.forget((item.fd.strip("{}"),))
        if item.op in ("<<", "<<-"):
            given = _here(expand_one(item.heredoc, place.scope), "") if item.heredoc is not None else ""
            stdin = _given(item, given, stdin, world)
        elif item.target is None:
            continue
        elif item.op == "<&":
            held = _duplicated(item.target.literal, world)
            stdin = stdin if held is None else _given(item, held, stdin, world)
        elif item.op == "<<<":
            target = Word(expand_assignment_tildes(item.target.parts, place.scope), item.target.source)
            stdin = _given(item, _here(expand_one(target, place.scope), "\n"), stdin, world)
        else:
            field = expand_one(item.target, place.scope, glob=True)
            field = _opened(field, world) if item.op == ">&" else field
            if item.op in _WRITES and not (item.op == ">&" and _is_descriptor(field)):
                path = world.located(field.text, place.cwd) if field.known else ""
                if item.fd:
                    _open(item, path, world)
                effects += _write(item, field, path, place, command)
                if item.fd in ("", "1") and item.op != "<>" and not (field.known and field.text in _SEEN):
                    outputs.append(_output(item, field, path))
            elif item.op == "<" and not (field.known and world.is_stdin(field.text, place.cwd)):
                effect, text = _read(field, place, world, command)
                _open(item, paths.locate(field.text, place.cwd, world) if field.known else "", world)
                effects += effect
                stdin = text if item.fd in ("", "0") else stdin
    return effects, stdin, outputs


def redirecting(fields: Sequence[Field], redirects: Sequence[Redirect]) -> Command | None:
    """The command that a redirection's effects are told of, with the redirections as written: ``echo x > .env``.

    ``$(< FILE)`` is ``$(cat FILE)``; any other redirection without a command is nobody's.
    """
    if not fields and [r.op for r in redirects] == ["<"]:
        fields = [Field("cat")]
    if not fields:
        return None
    written, words = [_written(r) for r in redirects], tuple([f.text for f in fields])
    return Command(paths.base(words[0]), (*words, *written), operands=words[1:])


def _written(redirect: Redirect) -> str:
    target = redirect.target.source if redirect.target else ""
    return f"{redirect.fd}{redirect.op}{'' if redirect.op[-1] in '&-' or redirect.op == '<<' else ' '}{target}"


def emptied(effect: Effect) -> Effect:
    """A redirection without a command leaves nothing in the file: ``> FILE``."""
    empty = effect.kind is Kind.WRITE and "truncate" in effect.how and "raw" not in effect.how
    return replace(effect, how=effect.how | {"empty"}) if empty else effect


def _open(item: Redirect, path: str, world: Overlay) -> None:
    """``exec 3< FILE``: from here on ``/dev/fd/3`` is that file, to write to as well."""
    if path and item.fd.isdigit() and int(item.fd) > 2:
        world.open(item.fd, path)


def _opened(field: Field, world: Overlay) -> Field:
    """``>&3`` goes where the descriptor was opened to, if that is another machine."""
    if not _is_descriptor(field):
        return field
    path = world.resolve_descriptor(f"/dev/fd/{field.text}")
    return Field(path) if path.startswith(_SOCKETS) else field


def _here(field: Field, end: str) -> str:
    """A here-text. Where nothing visible is left of it, all of it is unknown."""
    if field.known:
        return field.text + end
    return PartlyKnownText(field.text + end) if field.text.strip() else UNKNOWN


def _given(item: Redirect, text: str, stdin: str | None, world: Overlay) -> str | None:
    """Standard input behind a here-text, which may be given to another descriptor."""
    if item.fd in ("", "0"):
        return text
    world.write(f"/dev/fd/{item.fd}", text)
    return stdin


def _duplicated(text: str | None, world: Overlay) -> str | None:
    """What ``<&5`` reads: what the text opened there; None for standard input itself."""
    number = "" if text is None else text.rstrip("-")
    if text is not None and (not number.isdigit() or int(number) <= 2):
        return None
    path = world.resolve_descriptor(f"/dev/fd/{number}")
    held = world.read(path)
    return UNKNOWN if held is None else held


_SPEAK = frozenset(("echo", "printf"))


def _is_descriptor(field: Field) -> bool:
    return field.text.rstrip("-").isdigit() or field.text == "-"


def _write(item: Redirect, field: Field, path: str, place: WalkContext, command: Command | None) -> list[Effect]:
    if not field.known:
        return [Effect(Kind.OPAQUE, field.text, sure=False, how=frozenset(("write",)), command=command)]
    if socket := _socket(field, path):
        sent = Effect(Kind.NETWORK, socket, how=frozenset(("data",)), command=command)
        shell = command is not None and any(paths.base(word) in SHELLS for word in _starts(command))
        return [sent, *([Effect(Kind.PRIVILEGE, "remote shell", command=command)] if shell else [])]
    how = _HOW[item.op]
    if path.startswith(_SPECIAL):
        if path in paths.IGNORED or path.startswith(("/dev/fd/", "/dev/pts/", "/proc/self/fd/")):
            return []
        how = how | {"raw"} if paths.is_device(path) else how
    if how == _TRUNCATES and _leaves_nothing(command, path, place):
        how = how | {"empty"}
    return [Effect(Kind.WRITE, path, _certain(field, place), how, command)]


_SILENT = (":", "true", "false", "exec")
_NOBODYS = frozenset(("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"))
"""What comes from there holds nothing of what was in a file."""


def _leaves_nothing(command: Command | None, path: str, place: WalkContext) -> bool:
    """Whether a file that is truncated stays empty: nothing is printed into it, or what is read is the file itself."""
    if command is None:
        return False
    if command.program in _SILENT:
        return True
    words = command.operands
    if command.program in ("cat", "head"):
        files = [word for word in words if not re.fullmatch(r"-.*|\d+\w*", word)]  # the options are not read yet
        if files and _NOBODYS.issuperset(files):
            return True
    if path == "" or command.program in _SPEAK:
        return False
    name = paths.base(path)
    for word in words:
        same = word.endswith(name) and word[:1] not in ("<", ">", "-") and paths.base(word) == name
        if same and paths.locate(word, place.cwd, place.scope.world) == path:
            return True
    return False


def _socket(field: Field, path: str) -> str:
    """``HOST/PORT`` of ``/dev/tcp/HOST/PORT``, or of a descriptor that was opened so; empty for anything else."""
    text = field.text if field.text.startswith(_SOCKETS) else path
    if not field.known or not text.startswith("/dev/"):
        return ""
    return text[len(_SOCKETS[0]) :] if text.startswith(_SOCKETS) else ""


def _starts(command: Command) -> tuple[str, ...]:
    """The words that may name what runs: the first, and behind a wrapper all."""
    return command.argv if command.program in WRAPPERS else command.argv[:1]


_SEEN = frozenset(("/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/dev/tty"))
"""Output that goes there is seen as if it went nowhere else."""


def _output(item: Redirect, field: Field, path: str) -> Output:
    if (socket := _socket(field, path)) or field.text.startswith("/dev/"):
        return Output(socket=socket)
    return Output(path, append=item.op in (">>", "&>>"))


def write_output(output: Output, text: str, place: WalkContext, world: Overlay) -> None:
    """A file holds what was printed into it."""
    if output.append:
        old = world.read(output.path)
        text = (UNKNOWN if old is None and world.kind(output.path) else old or "") + text
    kept = not output.append and place.scope.is_on("noclobber")
    world.write(output.path, text, sure=not kept)
    if not world.kind(paths.parent(output.path)):
        world.unsure.add(output.path)
    if place.maybe:
        world.doubted.add(output.path)


def send_along(effects: list[Effect], socket: str, text: str) -> None:
    """Output that goes to another machine goes along with the connection to it."""
    for at, effect in reversed([*enumerate(effects)]):
        if effect.kind is Kind.NETWORK and effect.target == socket and not effect.data:
            effects[at] = replace(effect, data=text or UNKNOWN)
            return


def _read(field: Field, place: WalkContext, world: Overlay, command: Command | None) -> tuple[list[Effect], str]:
    if not field.known:
        secret = is_secret(field.text)
        path = paths.locate(field.text, place.cwd, world)
        return [Effect(Kind.READ, path, sure=False, command=command)] if secret else [], UNKNOWN
    if field.text.startswith(_SOCKETS):
        return [Effect(Kind.NETWORK, field.text[9:], command=command)], UNKNOWN
    path = field.text if field.text.startswith("/dev/fd/") else paths.locate(field.text, place.cwd, world)
    if path in paths.IGNORED:
        return [], ""
    text = world.read(path)
    effects = [] if path.startswith("/dev/fd/") else [Effect(Kind.READ, path, _certain(field, place), command=command)]
    return effects, UNKNOWN if text is None else text


def _certain(field: Field, place: WalkContext) -> bool:
    return place.scope.cwd is not None or field.text.startswith("/")
