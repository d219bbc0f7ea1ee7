"""Fold sessions from their audit entries, and remember what was folded: later only newer entries are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sentinel_guard.core.model import Entry
from sentinel_guard.core.session.session import Session

MOST = 8
"""Sessions that are remembered. A process that an ended one left running asks again and again."""


@dataclass(frozen=True, slots=True)
class _Fold:
    session: Session
    began: bool = False
    seq: int = 0
    """Of the newest entry in it."""


class Folds:
    """Not safe to call from several threads."""

    def __init__(self) -> None:
        self._known: dict[str, _Fold] = {}

    def of(self, session: str, entries: Callable[[int], Iterable[Entry]]) -> Session | None:
        """The session as its entries tell; None where none of them begins it. ``entries``: those after a number."""
        known = self._known.pop(session, _Fold(Session(session)))
        folded, began, seq = known.session, known.began, known.seq
        for entry in entries(seq):
            folded, began, seq = folded.after(entry), began or entry.kind == "session", entry.seq
        if not began:
            return None
        self._known[session] = _Fold(folded, began, seq)
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        return folded
