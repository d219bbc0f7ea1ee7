"""Every setting of a policy file: its type, its range, and which way a project may move it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from sentinel_guard.core.policy.policy import MENU_KEYS

_DAY = 86_400


class Tighter(Enum):
    """Which way a project may move a setting (DESIGN section 9: it can only tighten)."""

    LOWER = "lower"
    HIGHER = "higher"
    TRUE = "true"
    MORE = "more"
    """A list: what the project names comes on top."""
    LATER = "later"
    """A choice: one behind it."""
    WAIT = "wait"
    """Lower, and 0 is without end."""
    USER = "user"
    """Only the user's own file may set it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: its type (``int number bool patterns words choice``), the tighter direction, its range or choices."""

    type: str
    tighter: Tighter
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()


SETTINGS: Mapping[str, Mapping[str, Setting]] = {
    "protection": {"preset": Setting("choice", Tighter.LATER, choices=("observe", "standard", "strict"))},
    "paths": {
        "restricted": Setting("patterns", Tighter.MORE),
        "hidden": Setting("patterns", Tighter.MORE),
        "create": Setting("choice", Tighter.LATER, choices=("allow", "ask", "deny")),
    },
    "shims": {"names": Setting("words", Tighter.MORE)},
    "loop": {
        "window": Setting("int", Tighter.HIGHER, 3, 64),
        "repeats": Setting("int", Tighter.LOWER, 2, 20),
        "strict": Setting("bool", Tighter.TRUE),
        "polls": Setting("words", Tighter.USER),
    },
    "failures": {
        "runs": Setting("int", Tighter.LOWER, 1, 64),
        "seconds": Setting("number", Tighter.HIGHER, 1, _DAY),
        "strict": Setting("bool", Tighter.TRUE),
    },
    "error_rate": {
        "hint": Setting("number", Tighter.LOWER, 0.1, 1),
        "trip": Setting("number", Tighter.LOWER, 0.1, 1),
    },
    "breaker": {"seconds": Setting("number", Tighter.HIGHER, 0.1, _DAY)},
    "cost": {
        "tokens_per_minute": Setting("int", Tighter.LOWER, 1, 1_000_000_000),
        "cooldown_seconds": Setting("number", Tighter.HIGHER, 0.1, 3600),
        "telemetry": Setting("bool", Tighter.USER),
        "estimate": Setting("bool", Tighter.TRUE),
    },
    "fatal": {"rollback": Setting("bool", Tighter.TRUE)},
    "recovery": {
        "deep": Setting("bool", Tighter.TRUE),
        "keep_days": Setting("int", Tighter.USER, 1, 3650),
        "keep_megabytes": Setting("int", Tighter.USER, 1, 1_000_000),
    },
    "leaks": {"allow": Setting("patterns", Tighter.USER), "hosts": Setting("words", Tighter.USER)},
    "audit": {"witness": Setting("words", Tighter.USER)},
    "gate": {
        "seconds": Setting("number", Tighter.WAIT, 0, _DAY),
        "typed_word": Setting("bool", Tighter.TRUE),
        "timed_seconds": Setting("number", Tighter.LOWER, 0, 3600),
        "second_factor": Setting("words", Tighter.MORE),
    },
    "git_hooks": {"without_guard": Setting("choice", Tighter.USER, choices=("refuse", "warn"))},
    "kernel": {
        "mode": Setting("choice", Tighter.USER, choices=("auto", "require", "off")),
        "after_reading": Setting("choice", Tighter.USER, choices=("ask", "off")),
    },
    "terminal": {"menu_key": Setting("choice", Tighter.USER, 0, 0, MENU_KEYS), "title": Setting("bool", Tighter.USER)},
    "alerts": {
        "urls": Setting("words", Tighter.USER),
        "level": Setting("choice", Tighter.USER, choices=("L2", "L3", "L4")),
    },
    "rules": {"disable": Setting("words", Tighter.USER)},
}
