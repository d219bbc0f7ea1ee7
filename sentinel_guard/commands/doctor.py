"""``sentinel-guard doctor``: what protects you here, what is missing, and what to do."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from sentinel_guard.commands.prove_wiring import prove
from sentinel_guard.doctor import LIMITS, Probe, probe
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.humans.styled_text import Printer

ALARM = "bold white on_red"


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
    printer = Printer()
    for p in probes:
        _row(printer, p, "yellow")
    for p in tried:
        _row(printer, p, ALARM)
    printer.whole("\nWhat no layer stops:")
    for limit in LIMITS:
        printer.whole(f"  - {limit}")
    if failed := [p for p in tried if not p.ok]:
        printer.whole("\n", ("The guard is NOT IN EFFECT here:", ALARM))
        for p in failed:
            printer.whole(f"  {p.what}")
    elif tried:
        printer.whole("\n", ("The guard is in effect here.", "bold green"))


def _row(printer: Printer, p: Probe, style: str) -> None:
    printer.whole(("ok  ", "green") if p.ok else ("LOOK", style), "  ", p.what)
    if p.todo:
        printer.whole(f"      {p.todo}")
