"""The incident report (R9): generate a Markdown document from entries of the audit log.

Rules of this file:
1. The machine's part ends at ``SEAL``; its hash stands in the audit log. What follows is the agent's
   (``root_cause_and_sign_off``).
2. Nothing that comes from the agent can end a table's cell, a code block, or the machine's part (``markdown_escape``).
3. Everything is redacted, the patches included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sentinel_guard.core.incidents import parse_patch, rollback_words, root_cause_and_sign_off
from sentinel_guard.core.incidents.parse_patch import ChangedFile
from sentinel_guard.core.incidents.rollback_words import RollbackSummary
from sentinel_guard.core.incidents.root_cause_and_sign_off import SEAL
from sentinel_guard.core.incidents.timeline import clock, describe_result, loop_calls, steps, table, utc, what
from sentinel_guard.core.model import Entry, Finding, Layer, Response, Verdict
from sentinel_guard.core.response_phrases import sentence
from sentinel_guard.core.response_text import command_line, headline
from sentinel_guard.core.session.session import Session
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.markdown_escape import block, cell, line, section
from sentinel_guard.core.text.redact_by_pattern import redact

DIFF_LINES = 400
STAT_LINES = 200
SHOWN = 1 << 18
"""Characters of a patch that are shown at most."""


@dataclass(frozen=True, slots=True)
class Patch:
    """What changed between two moments."""

    files: tuple[ChangedFile, ...] = ()
    saved: str = ""
    """Name of the file beside the report that holds all of it."""
    unknown: str = ""
    """Why it could not be had, in words."""


@dataclass(frozen=True, slots=True)
class Incident:
    """What a report is made of. Empty values are left out or said to be unknown."""

    id: str
    """As the file is named, without its ending."""
    verdict: Verdict
    """The verdict that broke or killed."""
    session: Session
    entries: Sequence[Entry]
    """The session's entries, oldest first, up to the incident."""
    loop: Patch | None = None
    """From the first to the last step of the failure loop; None where there was none."""
    whole: Patch = Patch()
    """From the session's start to the moment of failure."""
    restored: RollbackSummary | None = None
    """None for a breaker: nothing is rolled back."""
    rescue: str = ""
    """The ref that holds the agent's work."""
    head: str = ""
    """Hash of the last entry of the audit chain."""
    problem: str = ""
    """Why the report does not lie where it should, in words."""
    seconds: float = 0.0
    """How long a breaker pauses the session."""


def is_truncated(patch: Patch) -> bool:
    """True where the report does not show all of it."""
    text = [f.text for f in patch.files]
    return sum(t.count("\n") for t in text) > DIFF_LINES or sum(map(len, text)) > SHOWN


def name(at: float, incident: str) -> str:
    """The report's name without its ending: ``INCIDENT-2026-11-21T101112Z-ID``."""
    return f"INCIDENT-{utc(at):%Y-%m-%dT%H%M%SZ}-{incident}"


def incident(facts: Incident) -> str:
    """The report as Markdown; the agent's part is there to be filled in."""
    finding, found = facts.verdict.decisive, steps(facts.entries)
    loop = loop_calls(facts.entries, finding)
    parts = [
        _head(facts, finding),
        section("Rule and evidence", _evidence(finding)),
        section("Impact", [f"- {line(text)}" for text in _impact(facts)]),
        section("Timeline", table(found, loop)),
        *_loop(facts.loop),
        section("Diff of the session", _patch(facts.whole, "since the session began")),
        section("Approvals", _approvals(facts.entries)),
        section(
            "Recovery",
            rollback_words.recovery(facts.restored, facts.rescue, facts.session.id, facts.session.root),
        ),
        section("Record", [f"Audit chain head: `{line(facts.head) or 'unknown'}` (`sentinel-guard log verify`)."]),
        "The part above is sealed: `sentinel-guard incidents show` says whether it is as it was written.\n",
        SEAL,
        root_cause_and_sign_off.template(len(found)),
    ]  # fmt: skip
    return "\n".join(parts)


def _loop(patch: Patch | None) -> list[str]:
    lines = _patch(patch, "between its first and its last step") if patch else []
    return [section("Diff of the failure loop", lines)] if lines else []


def summary(facts: Incident) -> str:
    """What happened, for somebody who was not there."""
    at = facts.verdict.action.at
    who = f"`{line(facts.session.command[0].rpartition('/')[2])}`" if facts.session.command else "The agent"
    when = f"{utc(at):%Y-%m-%d %H:%M} UTC"
    if facts.verdict.response is Response.KILL:
        did = "tried something that endangers the machine or the repository; it was not run, and the session was ended"
        if facts.verdict.action.layer is Layer.WATCHER:
            did = "or a program of it has endangered what guards the machine; the session was ended"
        done = facts.restored
        after = " and the repository put back to where it had started" if done and done.ok and done.changed else ""
        if facts.verdict.authorized_by:
            return f"{when}: the user ended the session of {who}{after}."
        return f"{when}: {who} {did}{after}."
    pause = f" for {facts.seconds:g} seconds" if facts.seconds else ""
    return f"{when}: {who} kept failing without getting anywhere; it was paused{pause}. Nothing was rolled back."


def _head(facts: Incident, finding: Finding | None) -> str:
    action, session = facts.verdict.action, facts.session
    level = facts.verdict.response.level or "none"
    severity = {Response.BREAK: "CRITICAL", Response.KILL: "FATAL"}.get(facts.verdict.response, "BLOCKER")
    rows = (
        ("Severity", f"{level} {severity}"),
        ("When", f"{clock(action.at)} on {utc(action.at):%Y-%m-%d} (UTC)"),
        ("Rule", (finding.rule or finding.check) if finding else "none"),
        ("Session", session.id),
        ("Agent", " ".join(session.command) or "unknown"),
        ("Repository", session.root or "none"),
        ("Start commit", session.start_hash or "none"),
    )
    rules = "\n".join(f"| {key} | {cell(value)} |" for key, value in rows)
    asked = block(visible(redact(command_line(action)), keep="\n"))
    top = f"# {line(facts.id)}\n\n{summary(facts)}\n\n{line(headline(facts.verdict))}"
    return f"{top}\n\n| | |\n|---|---|\n{rules}\n\nWhat was asked for:\n\n{asked}\n"


def _evidence(finding: Finding | None) -> list[str]:
    if finding is None:
        return ["No finding is on record."]
    instead = "" if finding.response is Response.KILL else finding.instead
    said = ((finding.what, "What"), (finding.why, "Why"), (instead, "Instead"), (finding.evidence, "Evidence"))
    return [f"- {label}: {line(sentence(text))}" for text, label in said if text]


def _impact(facts: Incident) -> list[str]:
    moved = [facts.problem] if facts.problem else []
    return [*rollback_words.impact(facts.restored), *moved]


def _patch(patch: Patch, span: str) -> list[str]:
    if patch.unknown:
        return [f"Not known: {line(sentence(patch.unknown))}"]
    if not patch.files:
        return [f"No file was changed {span}."]
    told, total = parse_patch.stat(patch.files), sum(f.text.count("\n") for f in patch.files)
    lines = parse_patch.text(patch.files, SHOWN).rstrip("\n").split("\n")[:DIFF_LINES]
    told = told if len(told) <= STAT_LINES else [*told[: STAT_LINES - 1], f"... {told[-1]}"]
    left = f"{total - len(lines)} more lines. " if total > len(lines) else ""
    whole = f"The whole patch: `{line(patch.saved)}`." if patch.saved else ""
    stat, shown = (visible("\n".join(part), keep="\n\t") for part in (told, lines))
    return [block(redact(stat)), "", block(shown, "diff"), *([f"\n{left}{whole}"] if left or whole else [])]


def _approvals(entries: Sequence[Entry]) -> list[str]:
    asked = [e for e in entries if e.kind == "human"]
    rows = [f"- {clock(e.at)}: {line(what(e))}: {line(describe_result(e))}{_by(e)}" for e in asked]
    return rows or ["Nobody was asked."]


def _by(entry: Entry) -> str:
    said = [f"{k}: {line(str(entry.data[k]))}" for k in ("authorized_by", "assurance") if entry.data.get(k)]
    return f" ({', '.join(said)})" if said else ""
