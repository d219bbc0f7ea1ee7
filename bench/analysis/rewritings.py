"""``make metamorphic``: every rewriting of the table with every dangerous command of it, the proof included.

``tests/vectors/rewritings.toml`` holds both; the tests take three of the commands. Bash itself is asked, in a cage of
stubs, whether a rewriting starts the very same command; one that does not, or that this machine cannot ask, is no cell.
A cell whose verdict is softer than that of the plain command is printed.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sentinel_guard.core.model import Response
from tests.core.checks.test_bypasses import response
from tests.support.bash.rewriting_cage import RewritingCage

TABLE = tomllib.loads((Path(__file__).parents[2] / "tests/vectors/rewritings.toml").read_text(encoding="utf-8"))

AT_ONCE = 250
"""Texts that share a cage."""


class Cell(NamedTuple):
    """A rewriting of a command."""

    row: Mapping[str, Any]
    plain: str
    text: str


class Softer(NamedTuple):
    """A cell that differs, and the two verdicts."""

    cell: Cell
    response: Response
    plain: Response


def cells() -> Iterator[Cell]:
    """Each row with each command that it can hold, but for those whose output nobody sees there."""
    for row in TABLE["rewriting"]:
        for plain in [row["of"]] if "of" in row else (*TABLE["commands"], *TABLE["dangerous"]):
            if plain not in row.get("hides", ()):
                yield Cell(row, plain, row["text"].replace("%s", plain))


def proved(wanted: Sequence[Cell]) -> list[Cell]:
    """Those of which bash says that they start the command."""
    cage = RewritingCage(sorted({cell.plain.split()[0] for cell in wanted}))
    try:
        if not cage.works():
            sys.exit("No cage can be made here: user namespaces are needed.")
        parts = (wanted[at : at + AT_ONCE] for at in range(0, len(wanted), AT_ONCE))
        started = [argvs for part in parts for argvs in cage.started([cell.text for cell in part])]
        return [cell for cell, argvs in zip(wanted, started, strict=True) if cell.plain.split() in argvs]
    finally:
        cage.close()


def softer(kept: Sequence[Cell]) -> Iterator[Softer]:
    plain = {cell.plain: response(cell.plain) for cell in kept}
    for cell in kept:
        if (said := response(cell.text)) < plain[cell.plain]:
            yield Softer(cell, said, plain[cell.plain])


def main() -> int:
    wanted = [*cells()]
    kept = proved(wanted)
    found = [*softer(kept)]
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    table = Table("rewritten", "plain", "is answered", "plain is", title="Cells that differ")
    for one in found:
        table.add_row(Text(one.cell.text), Text(one.cell.plain), one.response.name, one.plain.name)
    if found:
        console.print(table)
    console.print(
        f"{len(wanted)} cells, {len(kept)} proved by bash, {len(kept) - len(found)} as strict as the plain command, "
        f"{len(found)} softer."
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
