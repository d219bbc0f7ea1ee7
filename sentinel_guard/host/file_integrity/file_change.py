"""One unannounced change of a restricted file or of an agent's settings, and what is decided about it."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from sentinel_guard.core.policy.compare_settings import Key
from sentinel_guard.host.machine.content_addressed_store import ABSENT, Kept

GONE = Kept(ABSENT)


class ChangeDecision(enum.Enum):
    """What is to be done about a change."""

    PUT_BACK = "put back"
    TAKE = "taken as yours"
    ASK = "in question"


@dataclass(frozen=True, slots=True)
class Tampering:
    """One unannounced change of a restricted file, and what was done about it."""

    path: str
    """Absolute."""
    kind: str
    """``changed``, ``deleted``, ``created``, ``mode``, ``replaced by link`` or ``replaced by folder``."""
    kept: str
    """Where the tampered version is now; empty where there is none, or where it stands."""
    at: float
    problem: str = ""
    """Why it could not be put back, or not be taken; empty where it was."""
    word: ChangeDecision = ChangeDecision.PUT_BACK
    before: Kept = GONE
    """The original."""
    dropped: int = 0
    """Versions of this file that were not kept, for there were too many."""
    announced: bool = False
    """True where it was taken because a window was open."""
    agreed: bool = False
    """True where it was taken because the person, asked, said so."""
    keys: tuple[Key, ...] = ()
    """Of an agent's settings, the keys that differ and count."""
    answered: bool = False
    """True where it was taken because the agent wrote down what the person had just answered."""
    by_git: bool = False
    """True where it was taken because git had checked it out."""
    strike: str = ""
    """The rule by which it counts as a try against the guard; empty for any other."""


Judge = Callable[[str, float, tuple[Key, ...]], ChangeDecision]
"""Asked about a path (absolute) that changed after a moment (epoch seconds; 0 where that is not known); of an agent's
settings the keys are told that differ."""
