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


class UnreadError(Exception):
    """The record of the session that it names was not read yet."""


class Folds:
    """Several threads may call it: each step on what is remembered is one of the interpreter's, and two that ask for
    the same session at once both read it.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Fold] = {}

    def knows(self, session: str) -> bool:
        """Whether of a session only newer entries would be read."""
        return session in self._known

    def of(self, session: str, entries: Callable[[int], Iterable[Entry]]) -> Session | None:
        """The session as its entries tell; None where none of them begins it. ``entries``: those after a number."""
        known = self._known.pop(session, _Fold(Session(session)))
        folded, began, seq = known.session, known.began, known.seq
        for entry in entries(seq):
            folded, began, seq = folded.after(entry), began or entry.kind == "session", entry.seq
        if not began:
            return None
        self._known[session] = _Fold(folded, began, seq)
        for oldest in [*self._known][:-MOST]:
            self._known.pop(oldest, None)
        return folded
