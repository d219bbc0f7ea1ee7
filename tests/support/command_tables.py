"""What the tests of the program tables share: groups of commands that do the same, with the reason on the group."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from sentinel_guard.core.model import Effect, Kind
from tests.support.analysis_effects import effects_of, repository

Group = tuple[str, str, tuple[str, ...]]
"""What each command does (``brief``), why, and the commands."""
WORLD = repository(
    {"src/a.py": "", "a.bin": "", "secrets/key": "k", "batch.txt": "put .env\nget x secrets/key\n"},
    folders=("/home/ann/repo/build",),
    devices=("/dev/sda", "/dev/sda1", "/dev/sdb", "/dev/nvme0n1"),
)
_SAID = (Kind.PRIVILEGE, Kind.SIGNAL, Kind.WRITE, Kind.DELETE)
_WORDS = frozenset(("delete", "data", "recursive", "move", "mkfs", "link"))


def brief(command: str) -> str:
    """What it does beyond running, reading and fetching: kinds with their telling words, targets where they tell."""
    found = dict.fromkeys(_said(effect) for effect in effects_of(command, WORLD))
    return ", ".join(text for text in found if text)


def _said(effect: Effect) -> str:
    if effect.kind in (Kind.EXECUTE, Kind.READ, Kind.OPAQUE) or (effect.kind is Kind.NETWORK and not effect.how):
        return ""
    target = effect.target.removeprefix("/home/ann/repo/") if effect.kind in _SAID else ""
    return " ".join([effect.kind.value, *([target] if target else []), *sorted(effect.how & _WORDS)])


def cases(groups: Iterable[Group]) -> list[object]:
    """Rows that were recorded from the analysis and read through: marked as snapshots."""
    snapshot = pytest.mark.snapshot
    return [
        pytest.param(command, what, id=f"{why}: {command}", marks=snapshot)
        for what, why, group in groups
        for command in group
    ]
