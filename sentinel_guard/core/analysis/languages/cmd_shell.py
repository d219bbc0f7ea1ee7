r"""Texts for Windows' cmd -> effects: ``cmd.exe /c "rd /s /q C:\x"``, and Windows' paths as WSL mounts them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import MAX_SCRIPT, UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages.shared.program_values import field as argument
from sentinel_guard.core.analysis.languages.shared.program_values import globbed
from sentinel_guard.core.model import Effect, Kind

_PARTS = re.compile(r'(?:"[^"]*"?|\^.|[^&|\n"^])+', re.DOTALL)
_WORDS = re.compile(r'(?:"[^"]*"?|[^\s"])+')
_DRIVE = re.compile(r"([A-Za-z]):(?=[\\/]|$)")
_VARIABLE = re.compile(r"%(\w+)%")
_FOLDERS = {"temp": "/tmp", "tmp": "/tmp", "cd": "."}  # noqa: S108 - a name, nothing is made
_PERSONAL = ("userprofile", "homepath", "appdata", "localappdata", "onedrive", "public", "home")
_MAX_PARTS = 200


def unix_path(text: str) -> str:
    r"""``C:\Users\x`` as WSL mounts it, ``src\x`` as it is written here; what has a variable of the person's, there."""

    def variable(match: re.Match[str]) -> str:
        name = match[1].lower()
        return "/mnt/c/Users/person" if name in _PERSONAL else _FOLDERS.get(name, UNKNOWN)

    text = _VARIABLE.sub(variable, text)
    text = _DRIVE.sub(lambda match: f"/mnt/{match[1].lower()}", text, count=1)
    return text.replace("\\", "/").removesuffix("/*.*")


def cmd(call: Call) -> Iterator[Effect]:
    """``/c TEXT`` or ``/k TEXT``, in one word or many; else the text on standard input."""
    words = list(call.fields[1:])
    at = next((n for n, item in enumerate(words) if item.text[:2].lower() in ("/c", "/k", "/r")), None)
    if at is None:
        text = call.stdin
    else:
        first = [words[at].text[2:]] if len(words[at].text) > 2 else []
        text = " ".join((*first, *(item.text if item.known else UNKNOWN for item in words[at + 1 :])))
    for part in _PARTS.findall(text[:MAX_SCRIPT].removeprefix('"'))[:_MAX_PARTS]:
        yield from _command(call, [word.replace('"', "") for word in _WORDS.findall(part)])


def _command(call: Call, words: list[str]) -> Iterator[Effect]:
    while words and words[0].lower() in ("@", "call", "start", "@echo"):
        words = words[1:]
    if not words:
        return
    name = words[0].lower().lstrip("@").removesuffix(".exe")
    switches = {word.lower() for word in words[1:] if word[:1] == "/" and len(word) < 4}
    items = [word for word in words[1:] if not (word[:1] == "/" and len(word) < 4)]
    if name in _ROWS:
        yield from _ROWS[name](call, items, switches)
    elif name == "format":
        yield call.effect(Kind.WRITE, "/dev/disk", "mkfs")
    elif name not in _QUIET and re.fullmatch(r"[\w.+-]+", name):
        yield from call.runner.run([Field(word, UNKNOWN not in word) for word in (name, *words[1:])], call, "cmd")


def _paths(call: Call, items: Iterable[str]) -> list[Field]:
    return [argument(value) for item in items for value in globbed(call, unix_path(item))]


def _delete(call: Call, items: list[str], switches: set[str]) -> Iterator[Effect]:
    how = ("recursive", "force") if "/s" in switches else ()
    return call.delete(_paths(call, items), *how)


def _remove_folder(call: Call, items: list[str], switches: set[str]) -> Iterator[Effect]:
    return call.delete(_paths(call, items), *(("recursive", "force") if "/s" in switches else ("empty",)))


def _move(call: Call, items: list[str], _: set[str]) -> Iterator[Effect]:
    if items[1:]:
        target = Field(unix_path(items[-1]))
        yield from call.delete(_paths(call, items[:-1]), "move", *call.leaves(target))
        yield from call.write(target, "move")


def _copy(call: Call, items: list[str], _: set[str]) -> Iterator[Effect]:
    for source in _paths(call, items[:1]):
        yield from call.read(source)
    for name in items[1:2]:
        yield from call.write(Field(unix_path(name)), "truncate")


def _show(call: Call, items: list[str], _: set[str]) -> Iterator[Effect]:
    for item in _paths(call, items):
        yield from call.read(item)


_ROWS: dict[str, Callable[[Call, list[str], set[str]], Iterator[Effect]]] = {
    **dict.fromkeys(("del", "erase"), _delete),
    **dict.fromkeys(("rd", "rmdir"), _remove_folder),
    **dict.fromkeys(("move", "ren", "rename"), _move),
    **dict.fromkeys(("copy", "xcopy"), _copy),
    "type": _show,
}
_QUIET = frozenset(
    ("dir", "cd", "chdir", "echo", "set", "ver", "vol", "where", "title", "cls", "pushd", "popd", "rem", "if", "for",
     "exit", "md", "mkdir", "path", "assoc")
)  # fmt: skip


def robocopy(call: Call) -> Iterator[Effect]:
    """``robocopy FROM TO /MIR``: what is not there at the source goes; ``/MOVE``: the source goes."""
    words = [item.text for item in call.fields[1:] if item.text[:1] != "/" or item.text.count("/") > 1]
    switches = {item.text.lower() for item in call.fields[1:]}
    if {"/l", "/?"} & switches or len(words) < 2:
        return
    yield from call.write(Field(unix_path(words[1])), "recursive", "truncate")
    if {"/mir", "/purge"} & switches:
        yield call.contents(unix_path(words[1]))
    if {"/mov", "/move"} & switches:
        yield from call.delete([Field(unix_path(words[0]))], "recursive", "move", "out")


PROGRAMS = {"cmd": cmd, "robocopy": robocopy}
