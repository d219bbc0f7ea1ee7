"""``make metamorphic``, second part: each meaning said in every way (``tests/vectors/meanings.toml``), as a table.

A row is a thing, a column a way; a cell is the response. What is softer than the thing's own is marked with its reason.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from tests.core.checks.test_bypasses import response
from tests.core.checks.test_meanings_by_way import TABLE, Cell, cells


def softer(cell: Cell) -> str:
    """What is wrong with a cell; empty where its response is that of the meaning, or stricter."""
    return "" if response(cell.text) >= cell.wanted else cell.differs or "WITHOUT A REASON"


def main() -> int:
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    wrong = 0
    for meaning, about in TABLE.items():
        mine = [cell for cell in cells() if cell.meaning == meaning]
        found = {cell: softer(cell) for cell in mine}
        table = Table("", *about["ways"], title=f"{meaning}: {about['about']}", box=None, pad_edge=False)
        for thing in about["things"]:
            table.add_row(
                thing, *(response(cell.text).word + "*" * bool(found[cell]) for cell in mine if cell.thing == thing)
            )
        console.print(table)
        for cell, why in found.items():
            if why:
                console.print(f"* {cell.way}: {cell.thing}: {why}")
        wrong += sum(why == "WITHOUT A REASON" for why in found.values())
        console.print(f"{len(mine)} cells, {sum(map(bool, found.values()))} softer\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
