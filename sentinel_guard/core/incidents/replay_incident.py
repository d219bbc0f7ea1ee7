"""Replay an incident: judge its recorded actions by today's policy, compare the verdicts then and now (R9).

Nothing runs. How the calls ended is taken from the record, as far as they would still have run.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sentinel_guard.core import encode_entries
from sentinel_guard.core.decode_entries import action_from, finding_from, response_from
from sentinel_guard.core.incidents.timeline import Row
from sentinel_guard.core.judge import apply_reply
from sentinel_guard.core.model import Action, Entry, Finding, Layer, Outcome, Response, Verdict
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.session.operation_fingerprint import command_text, is_poll, operation
from sentinel_guard.core.session.session import Event, Session, State, outcome_from
from sentinel_guard.core.text.entry_summary import decisive
from sentinel_guard.core.text.markdown_escape import unescape_code_span
from sentinel_guard.core.text.normalize_output import digest

Judge = Callable[[Action, Session, str, Outcome | None], Verdict]
"""Action, session, operation, and how it ended (None for a proposal)."""
CUT = "…"
_PERSONS = frozenset({"help", "resume", "end"})
"""Events of the state table that no verdict brings about."""
_TOOL = re.compile(r"(\w+) (\{.*\})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StepDecision:
    """What was said about a step."""

    response: Response
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step, then and now."""

    entry: Entry
    command: str
    ended: bool
    """True where it is about how the call ended."""
    then: StepDecision
    now: StepDecision | None
    """None where it cannot be judged: only a part of the command is known."""
    stops: bool = False
    """True where the incident would be stopped here."""

    @property
    def changed(self) -> bool:
        return self.now is not None and self.now.response is not self.then.response


def replay(entries: Sequence[Entry], call: str, judge: Judge, policy: Policy) -> Iterator[Step]:
    """Every proposal, and every outcome about which something was or would be said; up to where it is stopped.

    ``call``: the id of the call that broke or killed. It counts as stopped where that call would not run or would trip
    the breaker again, and where an earlier one would break or kill that did not.
    """
    again = _Again(entries, judge, policy)
    for entry in entries:
        step = again.take(entry)
        if step is None:
            continue
        here = str(entry.data.get("id")) == call
        stops = step.now is not None and (
            step.now.response >= Response.BREAK > step.then.response or (here and step.now.response >= Response.ASK)
        )
        yield replace(step, stops=stops)
        if stops or (step.now and step.now.response is Response.KILL):
            return


class _Again:
    """The session as it would be, entry by entry."""

    def __init__(self, entries: Sequence[Entry], judge: Judge, policy: Policy) -> None:
        self._judge, self._policy = judge, policy
        self._session = Session(entries[0].session if entries else "")
        self._told = {str(e.data.get("id")): e for e in entries if e.kind == "observation"}
        self._ran: dict[str, tuple[Action, str]] = {}

    def take(self, entry: Entry) -> Step | None:
        match entry.kind:
            case "verdict":
                return self._proposal(entry)
            case "outcome":
                return self._ended(entry)
            case "session" | "usage":
                self._session = self._session.after(entry)
            case "state" if entry.data.get("event") in _PERSONS:
                self._session = self._session.after(entry)
        return None

    def _proposal(self, entry: Entry) -> Step:
        action = action_from(entry, self._session.root)
        then, command = _said(entry.data), command_text(action)
        if command.endswith(CUT):
            return Step(entry, command, ended=False, then=then, now=None)
        if action.layer in (Layer.CLI, Layer.GIT) or self._persons(action):
            self._session = self._session.after(entry)
            return Step(entry, command, ended=False, then=then, now=then)
        op = str(entry.data.get("operation") or operation(action))
        verdict = self._settled(entry, action, op, then)
        if verdict.response < Response.ASK:
            self._ran[action.id] = action, op
        return Step(entry, command, ended=False, then=then, now=_decided(verdict))

    def _settled(self, entry: Entry, action: Action, op: str, then: StepDecision) -> Verdict:
        """The verdict of now, with the person's reply of then; the session has advanced by it."""
        self._let_go(action.at)
        verdict = self._judge(action, self._session, op, None)
        if verdict.response is Response.COOL_DOWN and then.response is not Response.COOL_DOWN:
            # It would have waited, and then been looked at again; on record there is no second look.
            self._fold(encode_entries.of_verdict(verdict, op, poll=False, policy=self._policy))
            self._let_go(action.at)
            again = self._judge(action, self._session, op, None)
            verdict = verdict if again.response < Response.COOL_DOWN else again
        if verdict.response is Response.ASK:
            verdict = _replied(verdict, entry.data)
        poll = is_poll(action, self._policy.loop.polls)
        self._fold(encode_entries.of_verdict(verdict, op, poll=poll, policy=self._policy))
        return verdict

    def _ended(self, entry: Entry) -> Step | None:
        outcome = outcome_from(entry)
        action, op = self._ran.get(outcome.action, (None, ""))
        if action is None:
            return None
        self._session = self._session.after(entry)
        verdict = self._judge(replace(action, at=outcome.at), self._session, op, outcome)
        self._fold(encode_entries.of_observation(verdict, "", outcome.at, self._policy))
        told = self._told.get(action.id)
        then, now = _said(told.data if told else {}), _decided(verdict)
        # A hint of the moment (a compiler's message) is not judged again.
        if max(then.response, now.response) < Response.COOL_DOWN:
            return None
        return Step(told or entry, command_text(action), ended=True, then=then, now=now)

    def _persons(self, action: Action) -> bool:
        """True for the person's own command, which starts the agent: it is not judged."""
        argv, command = action.arguments.get("argv"), self._session.command
        if not isinstance(argv, list) or not command or len(argv) <= len(command):
            return False
        name, *rest = map(str, argv[-len(command) :])
        return _base(name) == _base(command[0]) and rest == [*command[1:]]

    def _let_go(self, at: float) -> None:
        """End a cool-down, and a pause that is over: the next request waited for the one, or came after the other."""
        session = self._session
        if session.state is State.COOLING or session.waited(at):
            self._fold([encode_entries.state(session.id, at, Event.EXPIRE)])

    def _fold(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._session = self._session.after(entry)


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _replied(asked: Verdict, data: Mapping[str, object]) -> Verdict:
    """What the person said then; where nobody was asked then, it stays a question."""
    if data.get("authorized_by") == "user":
        return apply_reply(asked, asked, yes=True)
    found = data.get("findings")
    said = [finding_from(f) for f in found if isinstance(f, Mapping)] if isinstance(found, list | tuple) else []
    no: tuple[Finding, ...] = tuple(f for f in said if f.check == "human")
    return replace(asked, findings=(*asked.findings, *no))


def _said(data: Mapping[str, object]) -> StepDecision:
    found = decisive(data)
    return StepDecision(response_from(data.get("response")), str(found.get("rule") or found.get("check") or ""))


def _decided(verdict: Verdict) -> StepDecision:
    finding = verdict.decisive
    return StepDecision(verdict.response, (finding.rule or finding.check) if finding else "")


# Without the log: what a report's table still tells


def entries_from(rows: Sequence[Row], session: str, root: str, at: float) -> list[Entry]:
    """Entries made of a report's timeline, each with the number of its row.

    Commands may be cut there, folders are unknown, and errors are as far as they are shown.
    """
    made = [Entry(at, session, "session", {"root": root, "command": []})]
    for row in rows:
        data: dict[str, object] = {}
        match row.kind:
            case "verdict":
                data = _proposed(row, root)
            case "outcome" if row.what.startswith("of step "):
                data = _outcome(row)
            case "observation":
                data = {"id": _of(row), **_response(row)}
            case "state" if row.what in _PERSONS:
                data = {"event": row.what}
        if data:
            made.append(Entry(_time(row, at), session, row.kind, data, seq=row.number))
    return made


def stopped(entries: Sequence[Entry]) -> str:
    """The id of the last call that broke or killed; empty for none."""
    ids = [e.data.get("id", "") for e in entries if response_from(e.data.get("response")) >= Response.BREAK]
    return str(ids[-1]) if ids else ""


def _proposed(row: Row, root: str) -> dict[str, object]:
    text = unescape_code_span(row.what)
    tool = _TOOL.fullmatch(text)
    given: object = None
    with contextlib.suppress(ValueError):
        given = json.loads(tool[2]) if tool else None
    shape = (tool[1], "hook", given) if tool and isinstance(given, dict) else ("shell", "shell", {"command": text})
    said = dict(zip(("tool", "layer", "arguments"), shape, strict=True))
    return {"id": f"step-{row.number}", "call": True, "cwd": root, **said, **_response(row)}


def _outcome(row: Row) -> dict[str, object]:
    code, _, excerpt = row.result.removeprefix("exit ").partition(" ")
    number = int(code) if code.isdigit() else 1
    return {"id": _of(row), "code": number, "error": digest(excerpt) if number else "", "excerpt": excerpt}


def _of(row: Row) -> str:
    return f"step-{row.what.removeprefix('of step ')}"


def _response(row: Row) -> dict[str, object]:
    word, _, rest = row.result.partition(": ")
    rule = rest.partition(": ")[0]
    return {"response": word, "findings": [{"check": rule, "rule": rule, "response": word}] if rule else []}


def _time(row: Row, at: float) -> float:
    """Seconds since the epoch; ``at`` is the incident's, and no step comes after it."""
    hours, minutes, seconds = (float(part) for part in row.time.split(":"))
    day = at - at % 86400
    when = day + hours * 3600 + minutes * 60 + seconds
    return when if when <= at + 2 else when - 86400
