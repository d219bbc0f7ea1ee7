"""The incident report (R9): entries of the audit log -> one Markdown document.

Rules of this file:
1. The machine's part ends at ``SEAL``; its hash stands in the audit log. What follows is the agent's.
2. Nothing that comes from the agent can end a table's cell, a code block, or the machine's part.
3. Everything is redacted, the diff included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sentinel_guard.core.model import Entry, Finding, Response, Verdict
from sentinel_guard.core.redact import redact
from sentinel_guard.core.respond import command_line, headline, visible
from sentinel_guard.core.session import Session
from sentinel_guard.core.summary import decisive
from sentinel_guard.core.words import sentence

STEPS = 50
DIFF_LINES = 400
MAX_CELL = 160
SEAL = "<!-- sentinel: end of the machine's part -->"

TIMELINE = frozenset({"session", "verdict", "outcome", "observation", "human", "watch", "usage", "state"})
"""Kinds of entries that are steps."""


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
    stat: str = ""
    """``git diff --stat`` from the session's start to the moment of failure."""
    diff: str = ""
    patch: str = ""
    """Path of the file that holds the whole patch."""
    impact: tuple[str, ...] = ()
    """Sentences: what was stopped, restored, moved aside, what went wrong."""
    rescue: str = ""
    """The ref that holds the agent's work."""
    head: str = ""
    """Hash of the last entry of the audit chain."""


def name(at: float, incident: str) -> str:
    """The report's file name: ``INCIDENT-2026-11-21T101112Z-ID.md``."""
    return f"INCIDENT-{_utc(at):%Y-%m-%dT%H%M%SZ}-{incident}.md"


def incident(facts: Incident) -> str:
    """The report as Markdown; the agent's part is there to be filled in."""
    finding = facts.verdict.decisive
    parts = [
        _head(facts, finding),
        _section("Rule and evidence", _evidence(finding)),
        _section("Impact", [f"- {_line(text)}" for text in facts.impact] or ["Nothing was changed by the guard."]),
        _section("Timeline", _timeline(_steps(facts.entries))),
        _section("Diff", _diff(facts)),
        _section("Approvals", _approvals(facts.entries)),
        _section("Recovery", _recovery(facts)),
        _section("Record", [f"Audit chain head: `{_line(facts.head) or 'unknown'}` (`sentinel-guard log verify`)."]),
        SEAL,
        _agents_part(_steps(facts.entries)),
    ]
    return "\n".join(parts)


def machine_part(text: str) -> str:
    """The part of a report that is sealed by its hash: up to and with the seal; all of it where the seal is gone."""
    head, seal, _ = text.partition(SEAL)
    return head + seal


def _head(facts: Incident, finding: Finding | None) -> str:
    action, session = facts.verdict.action, facts.session
    level = facts.verdict.response.level or "none"
    severity = {Response.BREAK: "CRITICAL", Response.KILL: "FATAL"}.get(facts.verdict.response, "BLOCKER")
    rows = (
        ("Severity", f"{level} {severity}"),
        ("When", f"{_clock(action.at)} on {_utc(action.at):%Y-%m-%d} (UTC)"),
        ("Rule", (finding.rule or finding.check) if finding else "none"),
        ("Session", session.id),
        ("Agent", " ".join(session.command) or "unknown"),
        ("Repository", session.root or "none"),
        ("Start commit", session.start_hash or "none"),
    )
    table = "\n".join(f"| {key} | {_cell(value)} |" for key, value in rows)
    top = f"# {_line(facts.id)}\n\n{_line(headline(facts.verdict))}"
    return f"{top}\n\n| | |\n|---|---|\n{table}\n\n{_command(facts)}"


def _command(facts: Incident) -> str:
    return "What was asked for:\n\n" + _code(redact(command_line(facts.verdict.action)))


def _evidence(finding: Finding | None) -> list[str]:
    if finding is None:
        return ["No finding is on record."]
    instead = "" if finding.response is Response.KILL else finding.instead
    said = ((finding.what, "What"), (finding.why, "Why"), (instead, "Instead"), (finding.evidence, "Evidence"))
    return [f"- {label}: {_line(sentence(text))}" for text, label in said if text]


def _steps(entries: Iterable[Entry]) -> list[Entry]:
    return [e for e in entries if e.kind in TIMELINE][-STEPS:]


def _timeline(steps: Sequence[Entry]) -> list[str]:
    if not steps:
        return ["No step is on record."]
    table = ("| step | time | kind | what | result |", "|---|---|---|---|---|")
    head = (f"The last {len(steps)} steps, times in UTC.", "", *table)
    return [*head, *(_row(n, entry) for n, entry in enumerate(steps, 1))]


def _row(number: int, entry: Entry) -> str:
    return f"| {number} | {_clock(entry.at)} | {entry.kind} | {_cell(_what(entry))} | {_cell(_came_of(entry))} |"


def _what(entry: Entry) -> str:
    d = entry.data
    match entry.kind:
        case "verdict":
            return _asked(d)
        case "outcome" | "observation":
            return f"call {d.get('id', '')}"
        case "human":
            return " ".join(str(d[k]) for k in ("action", "target", "text", "context") if d.get(k))
        case "usage":
            return "tokens reported"
        case "session":
            return " ".join(map(str, command)) if isinstance(command := d.get("command"), list | tuple) else "began"
        case _:
            return " ".join(str(d[k]) for k in ("event", "path", "target") if d.get(k))


def _came_of(entry: Entry) -> str:
    d = entry.data
    match entry.kind:
        case "verdict" | "observation":
            return ": ".join(filter(None, (str(d.get("response", "")), _finding(d))))
        case "outcome":
            return f"exit {d.get('code', '?')} {d.get('excerpt', '')}".strip()
        case "human":
            return "yes" if d.get("yes") else str(d.get("why", "") or ("no" if "yes" in d else ""))
        case "usage":
            return ", ".join(f"{k} {d[k]}" for k in ("input", "output", "cache_read", "cache_write") if d.get(k))
        case _:
            return str(d.get("reason", "") or d.get("what", ""))


def _asked(data: Mapping[str, object]) -> str:
    arguments = data.get("arguments")
    if not isinstance(arguments, Mapping):
        return str(data.get("tool", ""))
    if isinstance(command := arguments.get("command"), str):
        return command
    if isinstance(argv := arguments.get("argv"), list | tuple):
        return " ".join(map(str, argv))
    return f"{data.get('tool', '')} {dict(arguments)}"


def _finding(data: Mapping[str, object]) -> str:
    """The rule and the reason of the finding that decided."""
    found = decisive(data)
    name, said = found.get("rule") or found.get("check", ""), found.get("why") or found.get("what", "")
    return f"{name}: {said}" if found else ""


def _diff(facts: Incident) -> list[str]:
    if not facts.diff.strip() and not facts.stat.strip():
        return ["No file was changed during the session."]
    lines = redact(facts.diff).splitlines()
    more = f"{len(lines) - DIFF_LINES} more lines. " if len(lines) > DIFF_LINES else ""
    whole = f"The whole patch: `{_line(facts.patch)}`." if facts.patch else ""
    shown = [_code(visible("\n".join(lines[:DIFF_LINES]), keep="\n\t"), "diff")] if lines else []
    return [_code(visible(facts.stat.strip("\n"), keep="\n")), *shown, f"{more}{whole}"]


def _approvals(entries: Iterable[Entry]) -> list[str]:
    asked = [e for e in entries if e.kind == "human"]
    rows = [f"- {_clock(e.at)}: {_line(_what(e))}: {_line(_came_of(e))}{_by(e)}" for e in asked]
    return rows or ["Nobody was asked."]


def _by(entry: Entry) -> str:
    said = [f"{k}: {_line(str(entry.data[k]))}" for k in ("authorized_by", "assurance") if entry.data.get(k)]
    return f" ({', '.join(said)})" if said else ""


def _recovery(facts: Incident) -> list[str]:
    if not facts.rescue:
        return ["No rescue snapshot was taken: the files are as the agent left them."]
    ref = _line(facts.rescue)
    return [
        f"The agent's work is kept in `{ref}`.",
        "",
        f"- look at it: `git diff HEAD {ref}`",
        f"- take one file back: `git checkout {ref} -- PATH`",
        f"- take all of it to a branch: `git branch rescued {ref}`",
    ]


def _agents_part(steps: Sequence[Entry]) -> str:
    span = f"1 to {len(steps)}" if steps else "none"
    return f"""
## Root cause

To be filled in by the agent after recovery. Cite the steps of the timeline by number ({span}): which step was the
first wrong one, and what was believed then that was not true.

## Action items

To be filled in by the agent: what it will do differently, each item with the step that it would have changed.
"""


def _section(title: str, lines: Sequence[str]) -> str:
    return f"\n## {title}\n\n" + "\n".join(lines) + "\n"


def _code(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    text = text.replace("<!-- sentinel:", "&lt;!-- sentinel:")
    return f"{fence}{language}\n{text}\n{fence}"


def _line(text: str) -> str:
    """Text of others as one line of Markdown that cannot become structure."""
    return visible(redact(" ".join(text.split()))).replace("<", "&lt;").replace("`", "'")


def _cell(text: str) -> str:
    line = _line(text).replace("|", "\\|")
    return line if len(line) <= MAX_CELL else f"{line[: MAX_CELL - 1]}…"


def _clock(at: float) -> str:
    time = _utc(at)
    return f"{time:%H:%M:%S}.{time.microsecond // 1000:03d}"


def _utc(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
