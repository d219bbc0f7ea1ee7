"""Encode and decode the messages of the wire protocol (docs/protocol.md). No socket, no clock, no judgement.

Rules of this file:
1. What cannot be understood raises ``PeerError``; nothing is guessed.
2. Bytes become text with ``surrogateescape`` and go back the same way.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import field

from sentinel_guard.core.model import Action, Layer
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.value import value
from sentinel_guard.core.wire_framing import Chunk, Message, exit_code
from sentinel_guard.errors import PeerError

PROTOCOL = 1
NO = 1
"""Exit code of a launcher that was asked for a verdict."""
REFUSED = 126
"""Exit code of a command that was refused (found, and not allowed to run)."""
MAX_ARGS = 1 << 16
FACES = frozenset({"shell", "line", "shim", "hook", "githook", "help", "usage"})
_LAYERS = {"shell": Layer.SHELL, "line": Layer.LINE, "kernel": Layer.KERNEL}
_U32 = struct.Struct("<I")

# Options of the shells whose value is the next word (bash(1), zsh(1), dash(1)).
_VALUED = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_RUNS_BEFORE = ("--rcfile", "--init-file", "--init-command", "-C")
"""Options of the shells with which something else runs before the text (bash(1), fish(1))."""
_GIT_VALUED = frozenset({
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source",
    "--shallow-file", "--exec-path",
})  # fmt: skip
"""Options of git's own whose value is the next word (git.c)."""


@value
class Request:
    """What a launcher sends first."""

    face: str
    argv: tuple[str, ...]
    cwd: str
    environ: Mapping[str, str] = field(default_factory=dict)
    terminals: str = ""
    stdin: str = ""
    version: str = ""
    """Of the package that the launcher belongs to."""


@value
class Origin:
    """What is known of who started a shell."""

    agent: str = ""
    """Name of the coding agent; empty where it was none that is known."""
    command: str | None = None
    """The model's command, where a wrapper was taken off."""
    around: str = ""
    """That with what the wrapper runs in the same shell; empty where it runs nothing more."""
    for_itself: bool = False
    """True where the agent started it for its own purposes."""
    unknown_wrapper: bool = False
    """True where it looks wrapped, and could not be taken apart."""


UNKNOWN = Origin()


@value
class Ended:
    """What a launcher reports of a supervised command. An output is None where it could not be seen."""

    code: int
    """128 + n after death by signal n."""
    seconds: float
    stdout: str | None = None
    stderr: str | None = None
    exit: int = 0
    """The same as the wire has it: 256 + n after death by signal n."""


def request(message: Message) -> Request:
    """The request that a message holds. Raises PeerError."""
    one = dict(message)
    protocol, _, version = one.get(b"V", b"").partition(b" ")
    if protocol != str(PROTOCOL).encode():
        raise PeerError(
            f"the launcher speaks protocol {_text(protocol) or 'unknown'}, this daemon {PROTOCOL}",
            "End old sessions and run 'sentinel-guard daemon stop'.",
        )
    face = _text(one.get(b"F", b""))
    if face not in FACES:
        raise PeerError(f"{face!r} is no face of the protocol")
    argv = tuple(_text(body) for tag, body in message if tag == b"A")
    if not argv or len(argv) > MAX_ARGS:
        raise PeerError(f"argv of {len(argv)} elements; 1 to {MAX_ARGS} are possible")
    pairs = (_text(body).partition("=") for tag, body in message if tag == b"E")
    environ = {name: value for name, _, value in pairs}
    cwd, terminals = _text(one.get(b"D", b"")), _text(one.get(b"T", b""))
    stdin = b"".join(body for tag, body in message if tag == b"I")
    return Request(face, argv, cwd, environ, terminals, _text(stdin), _text(version))


def ended(message: Message) -> Ended:
    """The outcome that a message holds. Raises PeerError."""
    one = dict(message)
    if b"X" not in one:
        raise PeerError("an outcome without an exit code")
    number = _number(one[b"X"])
    code = exit_code(number)
    seconds = _number(one[b"B"]) / 1000 if b"B" in one else 0.0
    out, err = (one[tag].decode(errors="replace") if tag in one else None for tag in (b"1", b"2"))
    return Ended(code, seconds, out, err, number)


def reply(message: Message) -> str:
    """``Y``, ``N`` or ``-``: what came back for an ask."""
    return _text(dict(message).get(b"R", b"N"))


def action(
    asked: Request,
    *,
    ident: str,
    session: str,
    root: str,
    parent: str,
    who: Peer,
    at: float,
    origin: Origin = UNKNOWN,
    typed: bool = False,
) -> Action:
    """The action that a launcher proposes; ``origin``: what is known of who started its shell."""
    layer, text, definitions = _LAYERS.get(asked.face, Layer.SHIM), None, ""
    if layer is Layer.SHELL:
        text = script(asked.argv) if origin.command is None else origin.command
    elif layer is Layer.LINE:
        _, text, definitions = line(asked)
    arguments: dict[str, object] = {"argv": list(asked.argv)} if text is None else {"command": text}
    tool = "shell" if layer in (Layer.SHELL, Layer.LINE) else program(asked.argv)
    return Action(
        ident, session, layer, tool, arguments, asked.cwd, at, root, parent, who,
        agent=origin.agent, around=origin.around, for_itself=origin.for_itself, unknown_wrapper=origin.unknown_wrapper,
        typed=typed, definitions=definitions,
    )  # fmt: skip


def line(asked: Request) -> tuple[int, str, str]:
    """Of a line that a shell has read: the shell's pid, the text, and what the shell knows of its words."""
    match asked.argv[1:]:
        case [pid, text, definitions] if pid.isdecimal():
            return int(pid), text, definitions
    raise PeerError("a line comes with the pid of its shell, its text and what the shell knows")


def reads_lines(asked: Request) -> bool:
    """True for a shell that will prompt for commands: bash(1), INVOCATION."""
    if asked.face != "shell" or runs_something(asked.argv):
        return False
    prompts = any(word.startswith("-") and not word.startswith("--") and "i" in word for word in asked.argv[1:])
    return prompts or {"0", "2"} <= set(asked.terminals)


def program(argv: tuple[str, ...]) -> str:
    """The program's name; a login shell's leading dash is no part of it."""
    return argv[0].rsplit("/", 1)[-1].removeprefix("-")


def script(argv: tuple[str, ...]) -> str | None:
    """The text of ``sh -c TEXT``, if that is all there is to run; None for anything else."""
    words, given = iter(enumerate(argv[1:], 1)), False
    for i, word in words:
        if word.startswith(_RUNS_BEFORE):
            return None
        if word in _VALUED:
            next(words, None)
        elif word.startswith(("-", "+")) and word not in ("-", "--"):
            given = given or (word.startswith("-") and not word.startswith("--") and "c" in word[1:])
        else:
            at = i + (word in ("-", "--"))
            return argv[at] if given and len(argv) == at + 1 else None
    return None


def git_subcommand(argv: tuple[str, ...]) -> str:
    """``log`` in ``git -C x log``; empty for another program."""
    return git_words(argv)[1]


def git_words(argv: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Git's own options and the subcommand: ``-C x`` and ``log`` in ``git -C x log``; empty for another program."""
    words = enumerate(argv[1:] if program(argv) == "git" else ())
    for at, word in words:
        if word in _GIT_VALUED:
            next(words, None)
        elif not word.startswith("-"):
            return argv[1 : at + 1], word
    return (), ""


def runs_something(argv: tuple[str, ...]) -> bool:
    """True where a shell was given a text or a script; False for a shell that will read commands from elsewhere."""
    words = iter(argv[1:])
    for word in words:
        if word in _VALUED:
            next(words, None)
        elif (
            word in {"--version", "--help"}
            or not word.startswith(("-", "+"))
            or (not word.startswith("--") and "c" in word[1:])
        ):
            return True
        elif not word.startswith("--") and "s" in word[1:]:
            return False
    return False


def prints(text: str, stream: str = "2") -> list[Chunk]:
    """Say something on standard error (``2``) or output (``1``), without what a terminal would obey."""
    body = visible(text, keep="\n\t").removesuffix("\n")
    return [(b"P", f"{stream}{body}\n".encode())] if text else []


def refusal(text: str, code: int = REFUSED) -> Message:
    return [*prints(text), (b"Z", _U32.pack(code))]


def leave(text: str, number: int) -> Message:
    """The last answer to an outcome: a word, and the child's own exit: its code, or 256 + the signal it died by."""
    return [*prints(text), (b"Z", _U32.pack(number))]


def run(
    path: str,
    *,
    supervise: bool,
    ends_at_success: bool = False,
    environ: Iterable[tuple[str, str | None]] = (),
    text: str = "",
    argv: Iterable[str] = (),
) -> Message:
    """Let it run: as a watched child, or by becoming it; with its own arguments unless others are given.

    ``ends_at_success``: the launcher of a child that ended well waits for no last answer. A variable that is None is
    unset.
    """
    settings = [(b"E", (k if v is None else f"{k}={v}").encode(errors="surrogateescape")) for k, v in environ]
    words = [(b"A", os.fsencode(word)) for word in argv]
    finish: Message = [(b"F", b"")] if ends_at_success else []
    return [*prints(text), *settings, *words, *finish, (b"S" if supervise else b"X", os.fsencode(path))]


def hold(text: str = "", milliseconds: int = 0) -> Message:
    return [*prints(text), (b"H", _U32.pack(milliseconds))]


def ask(text: str) -> Message:
    return [(b"Q", visible(text, keep="\n\t").encode())]


def _text(raw: bytes) -> str:
    return raw.decode(errors="surrogateescape")


def _number(raw: bytes) -> int:
    if len(raw) != _U32.size:
        raise PeerError(f"a number of {len(raw)} bytes; numbers have {_U32.size}")
    return int(_U32.unpack(raw)[0])
