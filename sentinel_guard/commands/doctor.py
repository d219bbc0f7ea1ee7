"""``sentinel-guard doctor``: what protects you here, what is missing, and what to do."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from sentinel_guard.doctor import LIMITS, probe
from sentinel_guard.host.machine.state_paths import StatePaths


def doctor(places: StatePaths, *, as_json: bool) -> int:
    """Print the probes; exit code 1 if one of them is not well."""
    probes = probe(places, Path.cwd())
    if as_json:
        print(json.dumps({"probes": [asdict(p) for p in probes], "limits": LIMITS}))
    else:
        console = Console(highlight=False)
        for p in probes:
            mark = ("ok  ", "green") if p.ok else ("LOOK", "yellow")
            console.print(Text.assemble((mark[0], mark[1]), "  ", p.what), soft_wrap=True)
            if p.todo:
                console.print(f"      {p.todo}", soft_wrap=True)
        console.print("\nWhat no layer stops:")
        for limit in LIMITS:
            console.print(f"  - {limit}", soft_wrap=True)
    return 0 if all(p.ok for p in probes) else 1
