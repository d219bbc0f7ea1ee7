"""``sentinel-guard replay``: judges an incident's steps by today's policy. Nothing runs; no daemon needed (R9)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.audit.sqlite import SqliteReader
from sentinel_guard.commands import incidents
from sentinel_guard.commands.check import Checker
from sentinel_guard.core.incidents import replay_incident as again
from sentinel_guard.core.incidents import timeline
from sentinel_guard.core.incidents.replay_incident import Step, StepDecision
from sentinel_guard.core.model import Entry, Response
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import ConfigError
from sentinel_guard.host import incident_files
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.humans.styled_text import Printer, Styled
from sentinel_guard.humans.text_tables import Column, table

COLOURS = {Response.DENY: "yellow", Response.ASK: "cyan", Response.BREAK: "magenta", Response.KILL: "bold red"}
TODAY = "Judged by the policy and on the machine of today: files, folders and programs are looked at as they are now."


def replay(places: StatePaths, cwd: Path, name: str, *, as_json: bool) -> int:
    """Print each step, what was said then and what would be said now; those that differ are marked.

    Exit code 0 if the incident would be stopped at or before the same step, 1 if not. Raises ConfigError, HostError,
    StoreError.
    """
    report = incidents.one(places, cwd, name)
    text = incident_files.read(report)
    story = _recorded(places, report, text) or _written(report, text)
    if not story.call:
        raise ConfigError(f"{report.stem} holds no step that broke or killed.", "It cannot be replayed.")
    root = next((str(e.data.get("root", "")) for e in story.entries if e.kind == "session"), "") or str(cwd)
    checker = Checker(places)
    steps = [*again.replay(story.entries, story.call, checker.judge, checker.policy(root))]
    if as_json:
        print(json.dumps(_json(report.stem, story, steps)))
    else:
        _show(story, steps)
    return 0 if any(step.stops for step in steps) else 1


@dataclass(frozen=True, slots=True)
class _Story:
    """What is replayed."""

    entries: Sequence[Entry]
    call: str
    """The call that broke or killed."""
    numbers: Mapping[int, int]
    """``seq`` of an entry -> its number in the report's timeline."""
    source: str


def _recorded(places: StatePaths, report: Path, text: str) -> _Story | None:
    """The session's entries up to the report, from the log; None where it has them no more."""
    session = incident_files.session(text)
    if not (session and places.database.exists()):
        return None
    reader = SqliteReader(places.database)
    try:
        entries = [*reader.entries(session=session)]
    finally:
        reader.close()
    ours = next((e for e in entries if e.kind == "incident" and e.data.get("seal") and _named(e) == report.stem), None)
    if ours is None or not any(e.kind == "session" for e in entries):
        return None
    last = ours.data.get("upto") or ours.seq
    before = [e for e in entries if isinstance(last, int) and e.seq <= last]
    numbers = {e.seq: n for n, e in enumerate(timeline.steps(before), 1)}
    return _Story(before, str(ours.data.get("call", "")) or again.stopped(before), numbers, "the audit log")


def _written(report: Path, text: str) -> _Story:
    """The steps of the report's own table."""
    rows = timeline.rows(text)
    entries = again.entries_from(rows, "replay", incident_files.repository(text), incident_files.when(report))
    return _Story(entries, again.stopped(entries), {r.number: r.number for r in rows}, "the report's own table")


def _named(entry: Entry) -> str:
    return Path(str(entry.data.get("path", ""))).stem


def _json(name: str, story: _Story, steps: Sequence[Step]) -> dict[str, object]:
    stop = next((s for s in steps if s.stops), None)
    return {
        "incident": name,
        "source": story.source,
        "stopped": stop is not None,
        "stopped_at": story.numbers.get(stop.entry.seq) if stop else None,
        "steps": [
            {
                "step": story.numbers.get(s.entry.seq),
                "command": s.command,
                "ended": s.ended,
                "then": _said(s.then),
                "now": _said(s.now) if s.now else None,
                "changed": s.changed,
            }
            for s in steps
        ],
    }


def _said(said: StepDecision) -> dict[str, str]:
    return {"response": said.response.word, "rule": said.rule}


def _show(story: _Story, steps: Sequence[Step]) -> None:
    shown = [s for s in steps if s.changed or s.stops or s.entry.seq in story.numbers]
    if len(shown) < len(steps):
        print(f"{len(steps) - len(shown)} steps before the report's timeline are judged as they were then.")
    if sys.stdout.isatty():
        printer = Printer()
        printer.lines(_table(story, shown, printer.width))
    else:
        for s in shown:
            mark = "changed" if s.changed else ""
            cells = (_number(story, s), _words(s.then), _words(s.now), mark, _command(s).replace("\n", " "))
            print("\t".join(visible(cell) for cell in cells))
    print(_conclusion(story, steps))
    print(f"Steps from {story.source}. {TODAY}", file=sys.stderr)


def _table(story: _Story, steps: Sequence[Step], width: int) -> Iterator[Styled]:
    about = [Column("step"), Column(), *(Column(name, folds=True) for name in ("then", "now", "command"))]
    rows = list[list[str | Styled]]()
    for s in steps:
        then, now = (
            Styled.of((_words(said), COLOURS.get(said.response, "") if said else "")) for said in (s.then, s.now)
        )
        mark = Styled.of(("≠" if s.changed else "", "bold"))
        rows.append([_number(story, s), mark, then, now, visible(_command(s), keep="\n")])
    return table(about, rows, width)


def _number(story: _Story, step: Step) -> str:
    number = story.numbers.get(step.entry.seq)
    return str(number) if number else "-"


def _command(step: Step) -> str:
    return f"end of: {step.command}" if step.ended else step.command


def _words(said: StepDecision | None) -> str:
    if said is None:
        return "not known (cut)"
    return f"{said.response.word} ({said.rule})" if said.rule else said.response.word


def _conclusion(story: _Story, steps: Sequence[Step]) -> str:
    stop = next((s for s in steps if s.stops), None)
    if stop is None:
        return "It would NOT be stopped: the call that was stopped then would run to its end now."
    return f"It would be stopped at step {_number(story, stop)}: {_words(stop.now)}."
