"""Option parser for interpreters: letters that take code, values or digits (``perl -0777 -i.bak -pe CODE``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.shell_state import Field

_DIGITS = re.compile(r"x[0-9a-fA-F]+|[0-7]*(?::[0-7]+)?")


class OptionSyntax(NamedTuple):
    """How the options of an interpreter read. Words are long options, with one or two dashes."""

    code: str = "e"
    """These letters take code."""
    value: str = ""
    """These take a value: what stands behind the letter, or the next argument."""
    glued: str = ""
    """These take only what stands right behind them."""
    digits: str = ""
    """These are followed by digits, then by more letters."""
    words: str = ""
    """Long options that take code."""
    others: str = ""
    """Long options that take a value."""
    prints: str = ""
    """With these letters or words and no code, the first operand is code."""
    many: bool = False
    """Options may stand behind operands."""


@dataclass(slots=True)
class ParsedOptions:
    """What an interpreter was given."""

    texts: list[Field] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    values: dict[str, list[Field]] = field(default_factory=dict)
    operands: list[Field] = field(default_factory=list)


def parse_options(fields: Sequence[Field], row: OptionSyntax) -> ParsedOptions:
    """Takes the arguments (without the program) apart."""
    found = ParsedOptions()
    rest = list(fields)
    while rest:
        item = rest.pop(0)
        text = item.text
        if text == "--":
            break
        if len(text) < 2 or text[0] != "-":
            found.operands.append(item)
            if row.many:
                continue
            break
        if not _long(item, rest, row, found):
            _bundle(item, rest, row, found)
    found.operands += rest
    prints = any(name in found.flags for name in row.prints.split())
    if prints and not found.texts and found.operands:
        found.texts.append(found.operands.pop(0))
    return found


def _long(item: Field, rest: list[Field], row: OptionSyntax, found: ParsedOptions) -> bool:
    name, equals, value = item.text.partition("=")
    code, other = name in row.words.split(), name in row.others.split()
    if not (code or other or name.startswith("--") or name in row.prints.split()):
        return False
    found.flags.add(name)
    if code or other:
        taken = Field(value, item.known) if equals else rest.pop(0) if rest else None
        if taken is not None:
            if code:
                found.texts.append(taken)
            found.values.setdefault(name, []).append(taken)
    elif equals and name in row.prints.split():
        found.texts.append(Field(value, item.known))
    return True


def _bundle(item: Field, rest: list[Field], row: OptionSyntax, found: ParsedOptions) -> None:
    text, at = item.text, 1
    while at < len(text):
        letter = text[at]
        at += 1
        found.flags.add(f"-{letter}")
        if letter in row.code or letter in row.value:
            taken = Field(text[at:], item.known) if at < len(text) else rest.pop(0) if rest else None
            if taken is not None:
                if letter in row.code:
                    found.texts.append(taken)
                found.values.setdefault(f"-{letter}", []).append(taken)
            return
        if letter in row.glued:
            found.values.setdefault(f"-{letter}", []).append(Field(text[at:], item.known))
            return
        if letter in row.digits:
            match = _DIGITS.match(text, at)
            at = match.end() if match else at
