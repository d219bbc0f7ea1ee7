"""The same meaning said in every way gets the same response, or a stricter one (``tests/vectors/meanings.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sentinel_guard.core.model import Response
from tests.core.checks.test_bypasses import response

TABLE = tomllib.loads((Path(__file__).parents[2] / "vectors/meanings.toml").read_text(encoding="utf-8"))


class Cell(NamedTuple):
    """A thing, said in a way."""

    meaning: str
    way: str
    thing: str
    text: str
    wanted: Response

    @property
    def differs(self) -> str:
        """The reason why it gets another response; empty where it must not."""
        return str(TABLE[self.meaning]["differs"].get(f"{self.way}: {self.thing}", ""))


def cells() -> Iterator[Cell]:
    for meaning, table in TABLE.items():
        for thing, wanted in table["things"].items():
            for way, text in table["ways"].items():
                yield Cell(meaning, way, thing, text.replace("%s", thing), Response[wanted.upper()])


@pytest.mark.parametrize("cell", [pytest.param(c, id=f"{c.meaning}: {c.way}: {c.thing}") for c in cells()])
def test_every_way_gets_the_response_of_the_meaning(cell: Cell) -> None:
    said = response(cell.text)
    if cell.differs:
        assert said < cell.wanted, "the cell differs no more: take its reason out"
    else:
        assert said >= cell.wanted


def test_what_differs_is_a_cell_with_a_reason() -> None:
    named = {f"{cell.meaning}: {cell.way}: {cell.thing}" for cell in cells()}
    given = {f"{meaning}: {cell}": why for meaning, table in TABLE.items() for cell, why in table["differs"].items()}
    assert given.keys() <= named
    assert all(given.values())
