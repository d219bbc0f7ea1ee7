"""Which paths are the session's own: nothing was there at its start, and the text itself puts nothing old there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.model import Kind, Layer

_BRINGS = frozenset(("move", "link"))
"""Writing by which a file that was there gets another name."""


class NewFiles:
    """What a case says of paths; put in order once, as hundreds of effects may be asked about."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def is_new(self, path: str) -> bool:
        """Whether what is at a path is the session's own, and nothing that this very text moves or links there.

        Of a guess nobody knows what it will be.
        """
        return path not in self._guessed and not self._is_brought(path) and self._case.new(path)

    def was_made(self, path: str) -> bool:
        """Of what is read: whether the session, or this very text, made it, or will have before there is anything."""
        there = not self._case.supposed or path in self._written or self._case.look(path) is not None
        return there and self.is_new(path)

    @cached_property
    def _written(self) -> frozenset[str]:
        return frozenset(e.target for e in self._case.effects if e.kind is Kind.WRITE)

    @cached_property
    def _guessed(self) -> frozenset[str]:
        if self._case.action.layer is Layer.KERNEL:
            return frozenset()
        return frozenset(e.target for e in self._case.effects if not e.sure)

    @cached_property
    def _brought(self) -> Sequence[str]:
        ways = _BRINGS - {"move"} if self._moves_own else _BRINGS
        return sorted({e.target for e in self._case.effects if e.kind is Kind.WRITE and e.how & ways})

    @cached_property
    def _moves_own(self) -> bool:
        """Whether all that the text moves is the session's own: it brings nothing old to another name."""
        moved = {e.target for e in self._case.effects if e.kind is Kind.DELETE and "move" in e.how}
        return bool(moved) and all(path not in self._guessed and self._case.new(path) for path in moved)

    def _is_brought(self, path: str) -> bool:
        """Whether the text moves or links something there, above or below it."""
        if not self._brought:
            return False
        at = bisect_left(self._brought, f"{path}/")
        if self._brought[at : at + 1] and self._brought[at].startswith(f"{path}/"):
            return True
        above = accumulate(path.split("/")[1:], "{}/{}".format, initial="")
        return not set(self._brought).isdisjoint(above)
