"""Runs all benchmarks, and prints every budget of the design beside its measured figure (DESIGN section 13).

Medians; shared machines are noisy. Run with ``make bench``, minutes. Nothing here is a test: a figure over its budget
gets a mark, the exit code stays 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from bench import (
    growth,
    kernel_layer_cost,
    recovery_speed,
    text_scan_speed,
    verdict_latency,
)
from bench.benchmark_results import Row, show
from bench.latency import agent_hooks, file_restore, git_hooks, terminal

TAMPERINGS = 100
SWEPT = ("hard link outside (sweep)",)
"""What no event tells: found by the sweep, which has no budget."""


def tampering() -> Iterator[Row]:
    for kind, (p50, p99) in file_restore.tampering(TAMPERINGS).items():
        budget = None if kind in SWEPT else 20
        yield Row(f"tampered file put back, {kind}, p99", budget, p99, "ms", f"p50 {p50:.2f} ms")


def burst() -> Iterator[Row]:
    found = file_restore.burst()
    beside = f"{found['burst']:.0f} s; {found['changes']:.0f} restricted changes meanwhile, p99 {found['p99']:.1f} ms"
    yield Row(
        f"restricted changes lost in a burst of {file_restore.BURST:,} files",
        0,
        found["lost"],
        "changes",
        beside,
    )


PARTS = (
    verdict_latency.rows,
    kernel_layer_cost.rows,
    recovery_speed.rows,
    text_scan_speed.rows,
    tampering,
    burst,
    git_hooks.rows,
    agent_hooks.rows,
    growth.rows,
    terminal.rows,
)


def main() -> None:
    show(itertools.chain.from_iterable(part() for part in PARTS))


if __name__ == "__main__":
    main()
