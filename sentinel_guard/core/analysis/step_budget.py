"""Step budget that limits the cost of one analysis.

The core has no clock, so that steps are counted, of two microseconds each.

Rules of this file:
1. What a text can make many of is paid for where it is made: nodes, fields, effects, characters of values and outputs.
2. Who cannot pay raises ``BudgetExceeded``, and the walk ends there: what was found stays, the rest is opaque.
3. A script on disk pays from a purse of its own, so that the text which started it is walked to its end; with half of
   what is left there, so that the next one is looked at, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

MAX_STEPS, SCRIPT_STEPS = 40_000, 120_000
"""Some 1,500 commands of three words that an agent types, and for the scripts that these start."""
COMMAND = 15
EFFECT = 4
NODE = 2
MATCHES, MATCHES_IN_ALL, MATCHES_AT_LEAST = 500, 1000, 10
"""Paths that are looked at one by one: of one pattern, of all patterns of a text, and of each pattern after these."""


class BudgetExceeded(Exception):  # noqa: N818 - a limit, caught where a text was begun
    """The budget is gone."""


class Budget:
    """The steps that are left of one analysis."""

    __slots__ = ("left", "matches", "scripts")

    def __init__(self, steps: int = MAX_STEPS, scripts: int = SCRIPT_STEPS) -> None:
        self.left, self.scripts = steps, scripts
        self.matches = MATCHES_IN_ALL

    def spend(self, steps: int) -> None:
        """Raises Spent."""
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded

    def take_matches(self, count: int) -> int:
        """How many of a pattern's matches may be looked at one by one."""
        taken = min(count, max(MATCHES_AT_LEAST, min(MATCHES, self.matches)))
        self.matches -= taken
        return taken

    @contextmanager
    def of_script(self) -> Iterator[None]:
        """Within it half of what is left for scripts may be spent, and nothing else."""
        kept, self.left = self.left, self.scripts // 2
        self.scripts -= self.left
        try:
            yield
        finally:
            self.scripts += max(self.left, 0)
            self.left = kept
