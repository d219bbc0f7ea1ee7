"""Result rows of a benchmark: medians and percentiles of samples, and their table."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Row:
    """A measured figure beside its budget."""

    what: str
    budget: float | None
    """None where the design names none."""
    figure: float | None
    """None: not measured, and ``beside`` says why."""
    unit: str
    beside: str = ""
    """What was measured in the same breath, to compare with."""
    at_least: bool = False

    @property
    def over(self) -> bool:
        if self.budget is None or self.figure is None:
            return False
        return self.figure < self.budget if self.at_least else self.figure > self.budget


def median_ms(samples: list[float]) -> float:
    return statistics.median(samples) * 1000


def percentile_ms(samples: list[float], share: float) -> float:
    return sorted(samples)[int(len(samples) * share)] * 1000


def timed(work: Callable[[], object], times: int = 1) -> list[float]:
    """Seconds of each run."""
    samples = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        samples.append(time.perf_counter() - began)
    return samples


def cpu_timed(work: Callable[[], object]) -> float:
    """Seconds of CPU that a run took, of all its threads and of the processes that it waited for."""
    began = _cpu()
    work()
    return _cpu() - began


def _cpu() -> float:
    # times(2) counts in hundredths of a second.
    used = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def show(rows: Iterable[Row]) -> None:
    table = Table(
        "what", "budget", "measured", "", "beside", title="budgets and measured figures", box=None, pad_edge=False
    )
    for row in rows:
        sign = "≥" if row.at_least else "≤"
        budget = "" if row.budget is None else f"{sign} {row.budget:,g} {row.unit}"
        figure = "" if row.figure is None else f"{row.figure:,.3g} {row.unit}"
        table.add_row(row.what, budget, figure, "[red]over[/]" if row.over else "", row.beside)
    Console(width=150).print(table)
