"""What a git hook asks, and what it is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.policy import Policy
from sentinel_guard.core.visible import visible
from sentinel_guard.core.words import OPENING

if TYPE_CHECKING:
    from sentinel_guard.core.leaks.known import Known


SHOWN = 20
"""Refusals that are told one by one."""
_WARNING = "SENTINEL WARNING:"
_BLOCKED = OPENING[Response.DENY]


@dataclass(frozen=True, slots=True)
class HookCase:
    """One question of a hook."""

    root: Path
    """The top of the work tree; for a bare repository the folder that git ran the hook in."""
    work: Path
    """The folder that git ran the hook in."""
    policy: Policy
    arguments: tuple[str, ...]
    """As git gives them, or pre-commit: names of files."""
    stdin: bytes
    environ: Mapping[str, str]
    """The whole environment of the hook."""
    known: Callable[[], Known]
    """The person's own secret values; asked for only where there is a text to look at."""
    session: bool = False
    """Whether a guarded session asks: a leak that goes out is critical then (R3)."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found. The strictest finding decides."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What was not looked at, and other words that refuse nothing."""

    @property
    def refused(self) -> bool:
        """Whether a finding stops the commit or the push (a hint does not)."""
        return any(f.response >= Response.ASK for f in self.findings)

    def __add__(self, other: Judged) -> Judged:
        return Judged(self.findings + other.findings, self.notes + other.notes)


def told(findings: Sequence[Finding], notes: Sequence[str] = ()) -> list[str]:
    """What the person reads, in lines: warnings, then refusals with their ways out; nothing a terminal would obey."""
    hints = [f.what for f in findings if f.response < Response.ASK]
    refusals = [f for f in findings if f.response >= Response.ASK]
    shown = refusals[:SHOWN]
    ways = [*(f.instead for f in shown[1:]), ""]
    said = [f"{_WARNING} {words}" for words in (*notes, *hints)]
    said += [_refusal(finding, later) for finding, later in zip(shown, ways, strict=False)]
    if len(refusals) > SHOWN:
        said.append(f"{_BLOCKED} and {len(refusals) - SHOWN} more.")
    return [line for words in said for line in visible(words, keep="\n").split("\n")]


def _refusal(finding: Finding, later: str) -> str:
    """A refusal with its way out, which is told once where the next one (``later``) has the same."""
    return f"{_BLOCKED} {finding.what}." + (f"\n  {finding.instead}" if finding.instead != later else "")


def base_of(hook: str, stdin: bytes) -> str:
    """The commit whose content is no news: what the remote has, where one is pushed to; empty for none."""
    if hook != "pre-push":
        return "HEAD"
    olds = (line.split(" ")[-1] for line in os.fsdecode(stdin).splitlines())
    return next((old for old in olds if old.strip("0")), "")
