"""Every row of the verb tables can be met: a command that is made from its pattern gets its meaning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from sentinel_guard.core.analysis.expansion.command_and_options import Call, build
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.registry import OPTIONS
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from tests.support.fakes import FakeWorld
from tests.support.generated_documents import VERB_TABLES

TABLES = {name: rows for tables in VERB_TABLES.values() for name, rows in tables.items()}
BARE = {("pass", "**"), ("gopass", "**"), *((name, "**") for name in TABLES if "tables" in name)}
"""All that no row before them takes in; without a word they are taken in."""


def commands(program: str, row: Row) -> Iterator[list[str]]:
    """A command for each choice that the row's pattern leaves."""
    choices = [_choices(item) for item in row.pattern.split() if item[0] != "!"]
    for chosen in product(*choices):
        yield [program, *(word for words in chosen for word in words)]


def _choices(item: str) -> list[list[str]]:
    if item in ("**", "."):
        return [[]]
    if item[0] != "-":
        return [[word.replace("*", "x")] for word in item.split("|")]
    names, equals, value = item.partition("=")
    value = value.replace("*", "x").replace("[dD]", "D").replace("[pP]", "P")
    return [([n] if not equals else [n, value] if len(n) == 2 else [f"{n}={value}"]) for n in names.split("|")]


def called(words: list[str]) -> Call:
    fields = [Field(word) for word in words]
    command, head, parsed = build(fields, OPTIONS, ())
    world = Overlay(FakeWorld())
    return Call(command, fields, head, parsed, "/", True, world, "", None, Scope(world))  # type: ignore[arg-type]


@pytest.mark.parametrize("program", TABLES)
def test_a_row_is_met(program: str) -> None:
    rows = TABLES[program]
    missed = [
        (" ".join(words), row.pattern, row.what)
        for row in rows
        if (program, row.pattern) not in BARE
        for words in commands(program, row)
        if subcommand_tables.what(called(words), rows) != row.what
    ]
    assert not missed


@pytest.mark.parametrize("pattern", ["drop|** delete", "-U=*fuse*|-U=*lock*"])
def test_a_pattern_that_nothing_meets_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"another row|by themselves"):
        table(destroy=pattern)
