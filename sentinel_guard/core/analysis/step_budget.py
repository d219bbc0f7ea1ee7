"""Step budget that limits the cost of one analysis.

The core has no clock, so that steps are counted, of a microsecond or two each.

Rules of this file:
1. What a text can make many of is paid for where it is made: nodes, fields, effects, characters of values and outputs.
2. Who cannot pay raises ``BudgetExceeded``, and the walk ends there: what was found stays, the rest is opaque.
3. A script on disk pays with half of what is left, so that the text which started it is walked to its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

MAX_STEPS = 120_000
"""Some 4,000 commands of three words."""
COMMAND = 15
EFFECT = 4
NODE = 2
MATCHES, MATCHES_IN_ALL, MATCHES_AT_LEAST = 500, 1000, 10
"""Paths that are looked at one by one: of one pattern, of all patterns of a text, and of each pattern after these."""


class BudgetExceeded(Exception):  # noqa: N818 - a limit, caught where a text was begun
    """The budget is gone."""


class Budget:
    """The steps that are left of one analysis."""

    __slots__ = ("left", "matches")

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps
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
    def half(self) -> Iterator[None]:
        """Within it half of what is left may be spent."""
        kept = self.left // 2
        self.left -= kept
        try:
            yield
        finally:
            self.left = max(self.left, 0) + kept
