"""How a row of a table reads."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.expansion.command_and_options import Call, build, options
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.programs import subcommand_tables
from tests.support.fakes import FakeWorld

TABLE = subcommand_tables.table(
    quiet="** --dry-run !--dry-run=none, state list",
    destroy="state rm, drop*|purge, ** delete, scale --replicas=0, rm -f|--force",
    change="apply, ., state *",
)
OPTIONS = {"tool": options("--replicas= --dry-run= | sub")}

ROWS = [
    ("tool state rm x", "destroy", "words first, operands behind"),
    ("tool state list", "quiet", "the first row that matches decides"),
    ("tool state mv", "change", "any word"),
    ("tool state", "", "a word too few"),
    ("tool dropdb", "destroy", "a pattern"),
    ("tool purge", "destroy", "an alternative"),
    ("tool purged", "", "a whole word"),
    ("tool a b c delete x", "destroy", "words between"),
    ("tool a b c d e f delete", "", "too many of them"),
    ("tool scale --replicas=0 x", "destroy", "an option's value"),
    ("tool scale --replicas 0 x", "destroy", "as a word of its own"),
    ("tool scale --replicas=3 x", "", "another value"),
    ("tool rm --force", "destroy", "one option of two"),
    ("tool rm", "", "no option"),
    ("tool delete --dry-run=client", "quiet", "a dry run"),
    ("tool delete --dry-run=none", "destroy", "one that is switched off"),
    ("tool", "change", "no word at all"),
    ("tool help", "", "no row"),
]


def called(text: str) -> Call:
    fields = [Field(word) for word in text.split()]
    command, head, parsed = build(fields, OPTIONS, ())
    world = Overlay(FakeWorld())
    return Call(command, fields, head, parsed, "/", True, world, "", None, Scope(world))  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "what"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_what_a_call_does(text: str, what: str) -> None:
    assert subcommand_tables.what(called(text), TABLE) == what


def test_a_name_may_stand_twice() -> None:
    table = subcommand_tables.table(quiet="a b", change="a", quiet2="c")
    assert [row.what for row in table] == ["quiet", "change", "quiet"]


def test_the_target_of_a_privilege_is_its_own_name() -> None:
    table = subcommand_tables.table(kernel_setting="set", destroy="drop")
    assert [e.target for e in subcommand_tables.effects(called("tool set"), table, "tool")] == ["kernel setting"]
    assert [e.target for e in subcommand_tables.effects(called("tool drop"), table, "tool")] == ["tool"]
