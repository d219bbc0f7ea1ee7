"""Step budget that limits the cost of one analysis.

The core has no clock, so that steps are counted, of two microseconds each.

Rules of this file:
1. What a text can make many of is paid for where it is made: nodes, fields, effects, characters of values and outputs.
2. Who cannot pay raises ``BudgetExceeded``, and the walk ends there: what was found stays, the rest is opaque. Of
   rounds only their loop ends: what stands behind it is walked.
3. A script on disk pays from a purse of its own, so that the text which started it is walked to its end; with half of
   what is left there, so that the next one is looked at, too.
4. A text pays by its length, and a loop makes a short one long: rounds have a budget of their own within that of all,
   the smaller the more is walked once. Where it is gone, a loop's other rounds are looked at as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

MAX_STEPS, SCRIPT_STEPS = 40_000, 120_000
"""Some 1,500 commands of three words that an agent types, and for the scripts that these start."""
ROUND_STEPS, ROUND_LEAST = 3_000, 1_000
"""For the rounds of all loops of a text but the first of each; and of a text that is long itself."""
ROUND_BEYOND = 3_500
"""For what is still looked at of loops where these are gone."""
TOO_MUCH = "more than can be followed"
COMMAND = 15
EFFECT = 4
NODE = 2
MATCHES, MATCHES_IN_ALL, MATCHES_AT_LEAST = 500, 1000, 10
"""Paths that are looked at one by one: of one pattern, of all patterns of a text, and of each pattern after these."""


class BudgetExceeded(Exception):  # noqa: N818 - a limit, caught where a text was begun
    """The budget is gone."""


class RoundsExceeded(Exception):  # noqa: N818 - a limit, caught by the loop itself
    """No further round of any loop is looked at."""


class Budget:
    """The steps that are left of one analysis."""

    __slots__ = ("_begun", "_outermost", "_rounds", "left", "matches", "scripts")

    def __init__(self, steps: int = MAX_STEPS, scripts: int = SCRIPT_STEPS) -> None:
        self.left, self.scripts = steps, scripts
        self.matches = MATCHES_IN_ALL
        self._begun, self._rounds = steps, 0
        self._outermost: int | None = None
        """What was left when the round was begun that others are in; None outside of rounds."""

    def spend(self, steps: int) -> None:
        """Raises Spent."""
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded

    @property
    def rounds(self) -> int:
        """Steps that are left for rounds; none below zero."""
        spent = self._rounds + (0 if self._outermost is None else self._outermost - self.left)
        once = self._begun - self.left - spent
        return max(ROUND_LEAST, ROUND_STEPS - once // 2) - spent

    @contextmanager
    def round(self) -> Iterator[None]:
        """A round, which pays for those of loops within it. Raises RoundsExceeded before it begins."""
        if self.rounds < -ROUND_BEYOND:
            raise RoundsExceeded
        if self._outermost is not None:
            yield
            return
        self._outermost = self.left
        try:
            yield
        finally:
            self._rounds += self._outermost - self.left
            self._outermost = None

    def take_matches(self, count: int) -> int:
        """How many of a pattern's matches may be looked at one by one."""
        taken = min(count, max(MATCHES_AT_LEAST, min(MATCHES, self.matches)))
        self.matches -= taken
        return taken

    @contextmanager
    def of_script(self) -> Iterator[None]:
        """Within it half of what is left for scripts may be spent, and nothing else."""
        kept, self.left = self.left, self.scripts // 2
        before = self._begun, self._rounds, self._outermost
        self._begun, self._rounds, self._outermost = self.left, 0, None
        self.scripts -= self.left
        try:
            yield
        finally:
            self.scripts += max(self.left, 0)
            self.left = kept
            self._begun, self._rounds, self._outermost = before
