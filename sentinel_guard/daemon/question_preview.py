"""What an action that a person is asked about would do, as the machine is now: looked up when the question is put.

Rules of this file:
1. Nothing that is looked up decides anything: the checks have judged, and a person will.
2. A look that fails or takes too long is told as such, and holds up no question.
"""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sentinel_guard.core.checks.finding_texts import evidence, evidence_target
from sentinel_guard.core.model import Action, Effect, Finding, Kind, Question, Verdict
from sentinel_guard.core.response_phrases import seconds
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.database_preview import database
from sentinel_guard.daemon.session_secrets import SessionSecrets
from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.previews.deletion_preview import deletion_preview
from sentinel_guard.host.previews.preview import NAMED, Preview
from sentinel_guard.host.previews.push_preview import Start, push_preview
from sentinel_guard.host.previews.repository_preview import repository_preview
from sentinel_guard.humans.timed_grants import TimedGrant

SECONDS = 3.0
"""For all that is looked up for one question."""
UNKNOWN = "what it would change could not be looked into: {}"
AGAIN = "asked again: what it would change is not what was shown before"
STANDING = "for a while you have said yes to {} {}: {} left (sentinel-guard revoke {})"
REWRITES, NO_REWRITE = "FORCE_PUSH", "as far as was fetched it does what a push without --force does"
"""Action whose reason is that it rewrites, and what stands in that reason's place where it was seen not to."""
_PATHS = (Kind.DELETE, Kind.WRITE)
Started = Callable[[str], Start | None]
"""Top of a work tree -> its repository as the session found it; None where there is no session."""


class Look:
    """At what the findings of one verdict are about, as a person is asked."""

    def __init__(self, verdict: Verdict, findings: Sequence[Finding], now: float, started: Started) -> None:
        self.findings = findings
        self._now, self._look = now, functools.partial(look_up, verdict, findings, now, started)
        self._found = Preview()

    async def up(self) -> Preview:
        """What would happen. Never raises."""
        try:
            async with asyncio.timeout(SECONDS):
                self._found = await asyncio.to_thread(self._look)
        except TimeoutError:
            self._found = Preview((UNKNOWN.format(f"it takes longer than {SECONDS:.0f} s"),))
        return self._found

    async def same(self) -> bool:
        """Whether that to which the yes was given is still what would happen."""
        shown = self._found.bound
        return not shown or (await self.up()).bound == shown

    def onto(
        self, question: Question, hidden: SessionSecrets, standing: Sequence[TimedGrant], *, again: bool
    ) -> Question:
        """The question with what was found, without secrets; ``again``: it was put before, and has changed."""
        lines = [*([AGAIN] if again else []), *(hidden.text(visible(line)) for line in self._found.lines)]
        lines += [STANDING.format(g.action, g.target, seconds(g.until - self._now), g.id) for g in standing]
        details = hidden.text(visible(self._found.details, keep="\n\t")).expandtabs(4)
        refuted = question.ask.action == REWRITES and not self._found.rewrites
        return replace(question, preview=tuple(lines), details=details, why=NO_REWRITE if refuted else question.why)


def look_up(verdict: Verdict, findings: Sequence[Finding], now: float, started: Started = lambda _: None) -> Preview:
    """What the effects that these findings are about would do. Never raises.

    ``now``: seconds since the epoch, from which ages are counted.
    """
    meant = list(_meant(verdict.effects, findings))
    said = Preview(tuple(_as_written(verdict.action, meant, findings)))
    try:
        clients = [e.command for e in meant if e.kind is Kind.DATABASE]
        said += _databases([e for e in verdict.effects if e.kind is Kind.DATABASE and e.command in clients])
        paths = [e for e in meant if e.kind in _PATHS]
        said += deletion_preview(paths, verdict.action.root, now) if paths else Preview()
        for effect in meant:
            said += _in_git(effect, now, started)
    except (HostError, OSError, ValueError) as e:
        said += Preview((UNKNOWN.format(e.message if isinstance(e, HostError) else e),))
    return said


def _meant(effects: Sequence[Effect], findings: Sequence[Finding]) -> Iterator[Effect]:
    """The effects that are asked about; of a command that is gated by its name, all that it does."""
    about = {finding.evidence for finding in findings}
    named = [e.command for e in effects if e.kind is Kind.EXECUTE and evidence(e) in about]
    for effect in dict.fromkeys(effects):
        if evidence(effect) in about or (effect.command is not None and effect.command in named):
            yield effect


def _as_written(action: Action, meant: Sequence[Effect], findings: Sequence[Finding]) -> Iterator[str]:
    """Targets that the block shows in capitals, or shortened."""
    words = [word for e in meant if e.command for word in e.command.argv]
    words += [value for value in action.arguments.values() if isinstance(value, str)]
    for finding in findings:
        shown = finding.ask.target if finding.ask else ""
        whole = next((word for word in words if word.upper() == shown != word), "")
        aim = evidence_target(finding)
        if whole or (shown.endswith("…") and aim.startswith(shown[:-1])):
            yield f"target as written: {whole or aim}"


def _databases(effects: Sequence[Effect]) -> Preview:
    rows = [f"statement: {effect.target}" for effect in effects]
    named = dict.fromkeys(database(e.command) for e in effects if e.command)
    more = (f"… {len(rows) - NAMED} more statements",) if len(rows) > NAMED else ()
    details = "\n".join(rows) if more else ""
    return Preview((*rows[:NAMED], *more, *(f"database: {name}" for name in named if name)), details)


def _in_git(effect: Effect, now: float, started: Started) -> Preview:
    command = effect.command
    if command is None or command.program != "git":
        return Preview()
    if effect.kind is Kind.PUBLISH and command.subcommand == "push":
        if "elsewhere" in effect.how or not effect.folder:
            return Preview((f"it is pushed from another repository than the session's: {effect.folder or 'unknown'}",))
        git = _repository(effect.folder)
        return push_preview(git, command, now, started(git.work_tree))
    if effect.kind is Kind.GIT_REWRITE and "elsewhere" not in effect.how and effect.folder:
        return repository_preview(_repository(effect.folder), effect)
    return Preview()


def _repository(folder: str) -> Git:
    """Git on the work tree that holds a folder. Raises HostError."""
    for place in (Path(folder), *Path(folder).parents):
        if os.path.lexists(place / ".git"):
            return replace(layout(os.path.realpath(place)).git, seconds=SECONDS)
    raise HostError(f"{folder} lies in no work tree of git")
