"""The timeline of an incident: a Markdown table of numbered steps, made from audit entries and parsed back.

A step is an entry of one of the kinds in ``TIMELINE``. Steps are numbered from 1 among the last ``STEPS`` of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile

from sentinel_guard.core.checks.call_history import result
from sentinel_guard.core.decode_entries import BREAKS, action_from
from sentinel_guard.core.model import Entry, Finding
from sentinel_guard.core.session.failure_exit_codes import failed
from sentinel_guard.core.session.operation_fingerprint import command_text
from sentinel_guard.core.session.session import Call, outcome_from
from sentinel_guard.core.session.token_ledger import REPORT
from sentinel_guard.core.text.entry_summary import decisive
from sentinel_guard.core.text.markdown_escape import cell, code_span

STEPS = 50
TIMELINE = frozenset({"session", "verdict", "outcome", "observation", "human", "chat", "watch", "usage", "state"})
"""Kinds of entries that are steps."""
IN_LOOP = "↻"
"""Stands at a step of the failure loop."""
ERRORS = 10
"""Calls that the check ``error_rate`` looks at."""
_HEAD = ("| step | time | kind | what | result |", "|---|---|---|---|---|")
_ROW = re.compile(r"\| (?P<number>\d+)(?P<loop> ↻)? \| (?P<time>[\d:.]+) \| (?P<kind>\w+) \| (?P<rest>.*) \|$")
_RULER = re.compile(r"([=_*#~.-])\1{5,}")
"""A line across the screen: of an error that is shown in one line, it leaves no room for the error."""


@dataclass(frozen=True, slots=True)
class Row:
    """A step as a report's table holds it."""

    number: int
    time: str
    kind: str
    what: str
    """As it stands in its cell; ``markdown_escape.uncoded`` gives a command back."""
    result: str
    in_loop: bool = False


def steps(entries: Iterable[Entry]) -> list[Entry]:
    """The last steps, oldest first; the first of them is step 1."""
    return [e for e in entries if e.kind in TIMELINE and not _is_read(e)][-STEPS:]


def _is_read(entry: Entry) -> bool:
    """Whether the guard read it by itself, from what a coding agent records of its tokens: no step of the agent's."""
    return entry.kind == "usage" and entry.data.get("source", REPORT) != REPORT


def entries_until_stop(entries: Sequence[Entry]) -> list[Entry]:
    """The entries up to the newest breaker or kill: what came in while it was acted on is no part of what led to it."""
    stop = max((n for n, e in enumerate(entries, 1) if e.kind == "state" and e.data.get("event") in BREAKS), default=0)
    return [*entries[: stop or None]]


def table(found: Sequence[Entry], loop: Collection[str] = ()) -> list[str]:
    """The steps as a Markdown table; those of the calls in ``loop`` are marked."""
    if not found:
        return ["No step is on record."]
    marked = f" Steps marked {IN_LOOP} are the failure loop." if loop else ""
    numbers = {str(e.data.get("id")): n for n, e in enumerate(found, 1) if e.kind == "verdict"}
    head = (f"The last {len(found)} steps, times in UTC.{marked}", "", *_HEAD)
    return [*head, *(_line(n, e, numbers, marked=e.data.get("id") in loop) for n, e in enumerate(found, 1))]


def rows(report: str) -> list[Row]:
    """The steps that a report's text holds; none where it has no timeline."""
    _, _, after = report.replace("\r\n", "\n").partition("\n".join(_HEAD) + "\n")
    found = []
    for text in after.split("\n"):
        match = _ROW.match(text)
        if match is None:
            break
        said, _, came = match["rest"].partition(" | ")
        found.append(Row(int(match["number"]), match["time"], match["kind"], said, came, bool(match["loop"])))
    return found


def loop_calls(entries: Iterable[Entry], finding: Finding | None) -> tuple[str, ...]:
    """Ids of the calls of the failure loop that the finding is about, oldest first; none where it is about no loop.

    They are the calls of its operations, as far back as each ended as it did later; for ``failing_tests`` the red test
    runs since the last green one, for ``error_rate`` the failed ones of the calls that it looked at.
    """
    if finding is None:
        return ()
    ended = _ended(entries)
    if finding.check == "failing_tests":
        runs = [c for c in ended if result(c).tests]
        return _ids(takewhile(_red, reversed(runs)))
    if finding.check == "error_rate":
        return _ids(c for c in reversed(ended[-ERRORS:]) if failed(c.outcome))
    return _ids(_alike(c for c in reversed(ended) if c.operation in finding.operations))


def between(entries: Iterable[Entry], calls: Sequence[str]) -> tuple[str, str]:
    """The worktree before the first of the calls (where that is unknown, after it), and after the last; or nothing."""
    wanted = [outcome_from(e) for e in entries if e.kind == "outcome" and e.data.get("id") in calls]
    trees = [(o.before or o.after, o.after) for o in wanted if o.after]
    return (trees[0][0], trees[-1][1]) if trees else ("", "")


def _ended(entries: Iterable[Entry]) -> list[Call]:
    calls: dict[str, Call] = {}
    for e in entries:
        if e.kind == "verdict" and e.data.get("call"):
            calls[str(e.data["id"])] = Call(str(e.data["id"]), str(e.data.get("operation", "")), "", e.at)
        elif e.kind == "outcome" and (call := calls.get(str(e.data.get("id")))):
            calls[call.action] = replace(call, outcome=outcome_from(e))
    return sorted((c for c in calls.values() if c.outcome), key=lambda c: result(c).at)


def _red(call: Call) -> bool:
    run = result(call).tests
    return run is not None and run.count > 0


def _alike(newest_first: Iterable[Call]) -> Iterator[Call]:
    """Up to the first that ended otherwise than the same operation did after it."""
    later: dict[str, tuple[int, str]] = {}
    for call in newest_first:
        how = result(call).code, result(call).error
        if later.setdefault(call.operation, how) != how:
            return
        yield call


def _ids(newest_first: Iterable[Call]) -> tuple[str, ...]:
    return tuple(c.action for c in newest_first)[::-1]


def clock(at: float) -> str:
    """``10:11:12.042``, UTC."""
    time = utc(at)
    return f"{time:%H:%M:%S}.{time.microsecond // 1000:03d}"


def utc(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def what(entry: Entry) -> str:
    """What was done, in the words of the entry."""
    d = entry.data
    match entry.kind:
        case "verdict":
            return command_text(action_from(entry)) if d.get("arguments") else str(d.get("tool", ""))
        case "human":
            return " ".join(str(d[k]) for k in ("action", "target", "text", "context") if d.get(k))
        case "chat":
            return str(d.get("text", ""))
        case "usage":
            return "tokens reported"
        case "session":
            return " ".join(map(str, command)) if isinstance(command := d.get("command"), list | tuple) else "began"
        case _:
            return " ".join(str(d[k]) for k in ("event", "path", "target") if d.get(k))


def describe_result(entry: Entry) -> str:
    """What came of it, in words."""
    d = entry.data
    match entry.kind:
        case "verdict" | "observation":
            return ": ".join(filter(None, (str(d.get("response", "")), _finding(d))))
        case "outcome":
            excerpt = _RULER.sub(r"\1\1\1", str(d.get("excerpt", "")))
            return f"exit {d.get('code', '?')} {excerpt}".strip()
        case "human":
            return "yes" if d.get("yes") else str(d.get("why", "") or ("no" if "yes" in d else ""))
        case "usage":
            return ", ".join(f"{k} {d[k]}" for k in ("input", "output", "cache_read", "cache_write") if d.get(k))
        case _:
            return str(d.get("reason", "") or d.get("what", ""))


def _line(number: int, entry: Entry, numbers: Mapping[str, int], *, marked: bool) -> str:
    loop = f" {IN_LOOP}" if marked else ""
    if entry.kind == "verdict":
        said = code_span(what(entry))
    elif entry.kind in ("outcome", "observation"):
        said = f"of step {numbers[call]}" if (call := str(entry.data.get("id"))) in numbers else cell(f"call {call}")
    else:
        said = cell(what(entry))
    return f"| {number}{loop} | {clock(entry.at)} | {entry.kind} | {said} | {cell(describe_result(entry))} |"


def _finding(data: Mapping[str, object]) -> str:
    """The rule and the reason of the finding that decided."""
    found = decisive(data)
    name, said = found.get("rule") or found.get("check", ""), found.get("why") or found.get("what", "")
    return f"{name}: {said}" if found else ""
