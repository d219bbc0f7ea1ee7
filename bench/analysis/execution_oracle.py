"""Compares the commands that bash really runs with those that the analysis predicts, on many random snippets.

Run with ``python -m bench.analysis.execution_oracle [SNIPPETS] [FIRST SEED]`` at the top of the repository. Needs a C
compiler and bash; the snippets run in a cage (tests/support/bash/argv_oracle.py). Exit code 1
where something ran that was neither foreseen nor opaque.
"""

from __future__ import annotations

import collections
import sys
import time

from rich.console import Console
from rich.table import Table

from tests.support.bash.argv_oracle import Cage, differences

SNIPPETS = 12_000
SHOWN = 20
"""Disagreements that are printed."""
WIDTH = 2_000
MEANING = {
    "same": "every argv that ran was foreseen word by word",
    "partly": "with words that are said to be unknown",
    "opaque": "something else ran, and the analysis says that it cannot know",
    "wrong": "something ran that was not foreseen",
    "hung": "bash did not end",
}


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SNIPPETS
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found: collections.Counter[str] = collections.Counter()
    console, began, ran, shown = Console(), time.monotonic(), 0, 0
    with Cage() as cage:
        for verdict, snippet, real, ours in differences(cage, range(first, first + count)):
            found[verdict] += 1
            ran += len(real or ())
            if verdict in ("wrong", "hung") and shown < SHOWN:
                shown += 1
                words = [[f.text if f.known else f"?{f.text}" for f in fields] for fields in ours]
                told = f"--- {snippet.seed}\n{snippet.text}\nran  {str(real)[:WIDTH]}\nours {str(words)[:WIDTH]}"
                console.print(told, markup=False, soft_wrap=True)
    table = Table(title=f"{count} snippets, {ran} commands, {time.monotonic() - began:.0f} s")
    for column in ("outcome", "snippets", "meaning"):
        table.add_column(column)
    for name, meaning in MEANING.items():
        table.add_row(name, str(found[name]), meaning)
    console.print(table)
    return 1 if found["wrong"] or found["hung"] else 0


if __name__ == "__main__":
    sys.exit(main())
