"""Decide about an action: run all checks, combine their findings into one verdict.

Pure: the same case always gets the same verdict.

Rules of this file (the numbers are those of the spine, DESIGN section 3):
3. After waiting for a person, judge again: a yes is worth nothing if the session was killed meanwhile.
4. A yes grants exactly the findings that were shown, once, and stays on record.
5. A check that raises is a DENY finding, not a crash and not a pass; so are an analysis that failed and no check.
6. Every effect is judged by every check and the strictest finding decides; none can silence another.
A verdict holds at most MOST findings: a text of thousands of commands must hold up nobody. For the same reason the
checks see a command that comes again, with all its effects as they were, once.
A call that has ended can only be hinted at or trip the breaker: what would ask, refuse or kill comes too late.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sentinel_guard.core.checks.base import Case, Check
from sentinel_guard.core.checks.finding_texts import evidence_target
from sentinel_guard.core.model import Effect, Finding, Kind, Response, Verdict
from sentinel_guard.core.policy.presets import softened
from sentinel_guard.core.policy.target_placeholders import inside
from sentinel_guard.core.response_phrases import USER_DENIED

MOST = 50
_IN_TIME = (Response.HINT, Response.BREAK)


def judge(case: Case, checks: Sequence[Check]) -> Verdict:
    """What the checks say about a case. Never raises."""
    if not checks:
        return Verdict(case.action, case.effects, (_broken("judge", "there is no check to judge by"),))
    failed = [_broken("analysis", e.target) for e in case.effects if e.kind is Kind.OPAQUE and "error" in e.how]
    once = _each_command_once(case.effects)
    seen = case if once is case.effects else replace(case, effects=once)
    found = (*failed, *itertools.chain.from_iterable([_run(check, seen) for check in checks]))
    return Verdict(case.action, case.effects, found if len(found) <= MOST else _strictest(found))


def apply_reply(asked: Verdict, now: Verdict, *, yes: bool, reason: str = "") -> Verdict:
    """What a person's reply makes of the case as it stands now.

    A yes grants the questions that were asked, and only them; a no is a finding of the check ``human``, with the
    ``reason`` that the person gave.
    """
    if not yes:
        refused = Finding("human", Response.DENY, USER_DENIED, reason)
        return replace(now, findings=(refused, *now.findings), granted=asked.granted)
    shown = tuple(f for f in asked.findings if f.response is Response.ASK and f not in asked.granted)
    return replace(now, granted=(*asked.granted, *shown), authorized_by="user")


def inherit(verdict: Verdict, granted: tuple[Finding, ...]) -> Verdict:
    """A step of a call that a person said yes to: what was shown of the call is granted to the step, too."""
    shown = {(f.rule, f.ask, f.evidence) for f in granted}
    own = tuple(f for f in verdict.findings if (f.rule, f.ask, f.evidence) in shown)
    return replace(verdict, granted=own) if own or verdict.granted else verdict


def carried_out(verdict: Verdict, shown: Sequence[tuple[str, str]]) -> Verdict:
    """A held call that carries out what a person said yes to: they were shown its target, or a folder above it.

    ``shown``: of each yes its rule and its target.
    """
    covered = [f for f in verdict.findings if any(f.rule == r and inside(evidence_target(f), p) for r, p in shown)]
    return replace(verdict, granted=tuple(covered))


def _strictest(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The first MOST, the strictest in front, each once.

    Where more would ask than these the answer is no: a yes grants what is shown, and the rest would never be.
    """
    ordered = sorted(dict.fromkeys(findings), key=lambda f: f.response, reverse=True)
    if len(ordered) <= MOST or (ordered[0].response, ordered[MOST].response) != (Response.ASK, Response.ASK):
        return tuple(ordered[:MOST])
    way = "do it in smaller steps"
    many = Finding("judge", Response.DENY, f"it needs a person's yes to more than {MOST} things at once", "", way)
    return (many, *ordered[: MOST - 1])


def _each_command_once(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects without those of commands that did the very same before (a loop's rounds, a text that repeats).

    A command is left out with all its effects, or with none: checks ask which effects are of one command.
    """
    commands = {id(effect.command): effect.command for effect in effects if effect.command is not None}
    words = [command.argv for command in commands.values()]
    if len(words) == len(set(words)):
        return effects
    times = Counter(words)
    groups: dict[int, list[Effect]] = {}
    for effect in effects:
        if effect.command is not None and times[effect.command.argv] > 1:
            groups.setdefault(id(effect.command), []).append(effect)
    seen: set[tuple[object, ...]] = set()
    again: set[int] = set()
    for name, group in groups.items():
        key = (group[0].command, *[(e.kind, e.target, e.sure, e.how, e.data, e.written) for e in group])
        again |= {name} if key in seen else set()
        seen.add(key)
    return tuple([e for e in effects if id(e.command) not in again]) if again else effects


def _run(check: Check, case: Case) -> list[Finding]:
    found: list[Finding] = []
    broken: list[Finding] = []
    try:
        found.extend(check(case))  # what it says before it fails counts
    except Exception as e:  # noqa: BLE001 - rule 5: whatever a check raises is a no
        broken.append(_broken(check.name, f"it failed: {type(e).__name__}: {e}"))
    told = [softened(f, case.policy) for f in found if case.outcome is None or f.response in _IN_TIME] if found else []
    return told + broken


def _broken(name: str, why: str) -> Finding:
    way = "ask the user to run: sentinel-guard doctor"
    return Finding(name, Response.DENY, f"the check {name!r} gave no answer", why, way)
