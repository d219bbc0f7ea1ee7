r"""Abstract values of expressions in program code: constants, modules, paths, functions, and unknown values.

An abstract text is a ``str`` in which UNKNOWN (NUL) stands for any text: ``"build/" + name`` is ``"build/\0"``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field

Values = list[object]
"""What a program's names may hold: constants, places, and ``UNRESOLVED``."""

MAX_TEXT = 64 * 1024
"""Characters of a constant that is folded."""
MAX_ITEMS = 200
"""Items that a loop goes through one by one."""
SCRATCH = "/tmp/tmp.unnamed"  # noqa: S108 - stands for a name that the program will choose; nothing is made
"""What mkdtemp and its kin give."""


@dataclass(frozen=True, slots=True)
class Dotted:
    """A module, or something in one: ``os.path.join``."""

    name: str


@dataclass(frozen=True, slots=True)
class PathValue:
    """A path object: ``Path("x")``, ``Pathname.new("x")``, ``new File("x")``."""

    text: str
    source: str = ""
    """The pattern that found it."""


@dataclass(frozen=True, slots=True)
class Method:
    """Something looked up on a value: ``"a".join``, ``Path("x").unlink``."""

    owner: object
    name: str


@dataclass(frozen=True, slots=True)
class File:
    """A file that was opened, or its text."""

    path: object


class Found(str):
    """A path that a pattern found."""

    __slots__ = ("source",)
    source: str

    def __new__(cls, text: str, source: str) -> Self:
        made = super().__new__(cls, text)
        made.source = source
        return made


class _Unknown:
    """Not known."""


UNRESOLVED = _Unknown()


def text_of(value: object) -> str:
    """The abstract text of a value; UNKNOWN alone where nothing is known."""
    if isinstance(value, str):
        return value
    if isinstance(value, PathValue):
        return value.text
    if isinstance(value, bool) or value is None:
        return UNKNOWN
    if isinstance(value, int | float):
        return str(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else UNKNOWN


def joined(*values: object) -> object:
    """The texts in a row; what is too long is not known."""
    text = _UNKNOWNS.sub(UNKNOWN, "".join(map(text_of, values)))
    return text if len(text) <= MAX_TEXT else UNRESOLVED


def constant(value: object) -> str | None:
    """The text of a value that is known whole."""
    text = text_of(value)
    return None if UNKNOWN in text else text


def path_join(values: list[object], *, absolute: bool = True) -> object:
    """``os.path.join``; with ``absolute`` an absolute part begins anew."""
    path = ""
    for value in values:
        text = text_of(value)
        begins = not path or (absolute and text.startswith("/"))
        path = text if begins else f"{path.rstrip('/')}/{text.lstrip('/')}"
    return Found(path, path) if any(_is_pattern(value) for value in values) else path


def _is_pattern(value: object) -> bool:
    """A pattern that was not looked up yet, or found nothing."""
    return isinstance(value, Found | PathValue) and bool(value.source) and value.source == text_of(value)


def expanded(text: str, home: str) -> str:
    """``~/x`` below the home."""
    return home + text[1:] if home and (text == "~" or text.startswith("~/")) else text


def field(value: object) -> Field:
    """The value as an argument of a command."""
    text = text_of(value)
    source = value.source if isinstance(value, Found | PathValue) else ""
    if UNKNOWN in text:
        return Field(text.replace(UNKNOWN, "$(a value)"), known=False)
    return Field(text, pattern=bool(source) and source == text, source=source)


def flat(values: object) -> list[object]:
    """Lists inside lists, as one."""
    if not isinstance(values, list):
        return [values]
    return [inner for item in values for inner in flat(item)]


def globbed(call: Call, pattern: object) -> list[object]:
    """What a pattern finds; itself where nothing is there."""
    text = expanded(text_of(pattern), call.world.home)
    if UNKNOWN in text or not text:
        return [text or UNKNOWN]
    if not any(c in text for c in "*?[{"):
        return [text]
    absolute = paths.normal(text if text.startswith("/") else f"{call.cwd}/{text}")
    found = call.world.glob(absolute) if "{" not in text else ()
    if not found or len(found) > MAX_ITEMS or call.world.cut:
        return [Found(text, text)]
    return [Found(path, text) for path in found]


_UNKNOWNS = re.compile("\0+")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_EXPANDED = re.compile(
    r"\\([\"\\$`\n])|\$(?:(\w+)|\{(\w+)\}|\{[^}]*\}|\((?:[^()]|\([^()]*\))*\)|[?@*#!$-])|`[^`]*`", re.DOTALL
)
_STATEMENT = re.compile(r"(?:^|[;{}\n]|\b(?:then|do|else)\b)\s*\0|\0\s*\(")


def abstract(call: Call, item: Field) -> str:
    """A text of code, with UNKNOWN for each piece of a double-quoted word that the shell fills in."""
    if item.known:
        return item.text
    match = _DOUBLE.fullmatch(item.source)
    if match is None:
        return UNKNOWN

    def piece(found: re.Match[str]) -> str:
        if found[1]:
            return "" if found[1] == "\n" else found[1]
        value = environment(call, found[2] or found[3]) if found[2] or found[3] else UNRESOLVED
        return text_of(value)

    return _EXPANDED.sub(piece, match[1])


def is_code(text: str) -> bool:
    """What is not known stands where a statement would: it is no data."""
    return UNKNOWN in text and _STATEMENT.search(text) is not None


_ENDING = re.compile(r"((?:[^\0]*/)?)\0(?:/\.)?(?:/\0)*([\w-]*\.[\w.-]+)")
_LAST = re.compile(r"([^\0]*[^\0/]/)\0(?:/\.)?(?:/\0)*/([^\0/]+)")
_CHOICE = re.compile(r"\{([^{}]*)\}")


def narrowed(call: Call, value: object) -> list[object]:
    """A path of which only its folder and its ending are known is every such file: ``build/`` and ``.pyc``."""
    text = text_of(value)
    if UNKNOWN not in text:
        return _every(call, text) if _is_pattern(value) else [value]
    if (match := _ENDING.fullmatch(text)) is not None:
        return _every(call, f"{match[1]}**/*{match[2]}")
    match = _LAST.fullmatch(text)
    return [value] if match is None else _every(call, f"{match[1]}**/{match[2]}")


def _every(call: Call, pattern: str) -> list[object]:
    """What a pattern finds, hidden files too; itself where nothing is there."""
    choice = _CHOICE.search(pattern)
    words = choice[1].split(",") if choice else []
    patterns = [pattern[: choice.start()] + word + pattern[choice.end() :] for word in words] if choice else [pattern]
    found: list[object] = []
    for one in patterns:
        found += globbed(call, one)
        folder, slash, last = one.rpartition("/")
        if last[:1] == "*" and last.strip("*"):
            found += [hit for hit in globbed(call, f"{folder}{slash}.{last}") if not _is_pattern(hit)]
    return found


def environment(call: Call, name: object) -> object:
    """A variable of the environment, as the shell has it."""
    value = call.scope.lookup(text_of(name))
    return value.items[0] if value.known and len(value.items) == 1 else UNRESOLVED


def arguments(call: Call, skip: int = 0) -> list[object]:
    """The operands of the command, for ``sys.argv`` and its kin."""
    return [item.text if item.known else UNKNOWN for item in call.operands[skip:]]
