"""``sentinel-guard doctor``: what protects you here, what is missing, and what to do."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from sentinel_guard.commands.prove_wiring import prove
from sentinel_guard.doctor import LIMITS, Probe, probe
from sentinel_guard.host.machine.state_paths import StatePaths


def doctor(places: StatePaths, *, as_json: bool, trial: bool = True) -> int:
    """Print the probes; exit code 1 if one of them is not well. ``trial``: try out whether the guard is in effect."""
    probes = probe(places, Path.cwd())
    tried = _tried(places) if trial else []
    if as_json:
        known = {"probes": [asdict(p) for p in probes], "trial": [asdict(p) for p in tried], "limits": LIMITS}
        print(json.dumps(known))
    else:
        _print(probes, tried)
    return 0 if all(p.ok for p in (*probes, *tried)) else 1


def _tried(places: StatePaths) -> list[Probe]:
    try:
        return prove(places, Path.cwd())
    except Exception as e:  # noqa: BLE001 - whatever it is, that nothing was proved must be said
        return [Probe(ok=False, what=f"NOT IN EFFECT, as far as can be told: the trial failed ({e})")]


def _print(probes: list[Probe], tried: list[Probe]) -> None:
    console = Console(highlight=False)
    for p in probes:
        _row(console, p, "yellow")
    for p in tried:
        _row(console, p, "bold white on red")
    console.print("\nWhat no layer stops:")
    for limit in LIMITS:
        console.print(f"  - {limit}", soft_wrap=True)
    if failed := [p for p in tried if not p.ok]:
        console.print(Text("\nThe guard is NOT IN EFFECT here:", "bold white on red"))
        for p in failed:
            console.print(Text(f"  {p.what}"), soft_wrap=True)
    elif tried:
        console.print(Text("\nThe guard is in effect here.", "bold green"))


def _row(console: Console, p: Probe, style: str) -> None:
    mark = ("ok  ", "green") if p.ok else ("LOOK", style)
    console.print(Text.assemble(mark, "  ", p.what), soft_wrap=True)
    if p.todo:
        console.print(f"      {p.todo}", soft_wrap=True, markup=False)
