"""The request of a git hook, the result of judging it, and the text that the person reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.response_phrases import OPENING
from sentinel_guard.core.text.control_characters import visible

if TYPE_CHECKING:
    from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
    from sentinel_guard.host.githooks.empty_commits import Trees
    from sentinel_guard.host.githooks.preexisting_commits import PreexistingObjects


MESSAGE = "commit-msg"
COMMIT = "commit"
"""What commit-msg asks where it judges for pre-commit or pre-merge-commit as well (``hooks/pre-commit``)."""
SHOWN = 20
"""Refusals of one kind that are told one by one."""
_WARNING = "SENTINEL WARNING:"
_BLOCKED = OPENING[Response.DENY]


@dataclass(frozen=True, slots=True)
class HookCase:
    """One question of a hook."""

    hook: str
    """Its name."""
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
    known: Callable[[], UserSecrets]
    """The person's own secret values; asked for only where there is a text to look at."""
    session: bool = False
    """Whether a guarded session asks: a leak that goes out is critical then (R3)."""
    seen: PreexistingObjects | None = None
    """What a guarded session need not answer for; without it the references as they are tell."""
    trees: Trees | None = None
    """What the commit goes on from and will hold, where that was read already."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found. The strictest finding decides."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What was not looked at, and other words that refuse nothing."""
    anyway: str = ""
    """What a person may do who means it all the same; empty where it is not theirs to choose."""

    @property
    def refused(self) -> bool:
        """Whether a finding stops the commit or the push (a hint does not)."""
        return any(f.response >= Response.ASK for f in self.findings)

    def __add__(self, other: Judged) -> Judged:
        return Judged(self.findings + other.findings, self.notes + other.notes, self.anyway or other.anyway)


def findings_as_lines(findings: Sequence[Finding], notes: Sequence[str] = (), anyway: str = "") -> list[str]:
    """What the person reads, in lines: warnings, then refusals by their ways out; nothing a terminal would obey."""
    hints = [f.what for f in findings if f.response < Response.ASK]
    said = [f"{_WARNING} {words}" for words in (*notes, *hints)]
    ways: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.response >= Response.ASK:
            ways.setdefault(finding.instead, []).append(finding)
    for way, alike in ways.items():
        said += [_refusal(finding) for finding in alike[:SHOWN]]
        said += [f"{_BLOCKED} and {len(alike) - SHOWN} more like these."] if len(alike) > SHOWN else []
        said += [f"  {_opened(way)}"] if way else []
    said += [anyway] if ways and anyway else []
    return [line for words in said for line in visible(words, keep="\n").split("\n")]


def _opened(way: str) -> str:
    """A sentence; a command as it is typed."""
    return f"Run: {way}" if way.startswith("git ") else way[:1].upper() + way[1:]


def _refusal(finding: Finding) -> str:
    """A find ends in the line that it stands in, as it is; anything else in a full stop."""
    return f"{_BLOCKED} {finding.what}" + ("" if finding.evidence else ".")


def base_of(hook: str, stdin: bytes) -> str:
    """The commit whose content is no news: what the remote has, where one is pushed to; empty for none."""
    if hook != "pre-push":
        return "HEAD"
    olds = (line.split(" ")[-1] for line in os.fsdecode(stdin).splitlines())
    return next((old for old in olds if old.strip("0")), "")
