"""A session of an agent and its state machine (DESIGN section 5).

Rules of this file:
1. A session is a fold over its audit entries: ``after(entry)`` is the only way forward, so a restart loses nothing.
2. ``KILLED`` and ``ENDED`` are final.
3. A missing pair of (state, event) in ``NEXT`` means: stays as it is. Every pair is walked by a test.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import replace

from sentinel_guard.core.model import Entry, Outcome, TestRun, Usage
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.session import token_ledger
from sentinel_guard.core.value import value

WINDOW = 64
"""Calls that a session remembers; the loop's own window is policy and smaller."""
REMEMBERED = 600.0
"""Seconds for which tokens and cool-downs are remembered."""
REPLIES = 1000
"""Of which tokens are remembered singly."""


class State(enum.StrEnum):
    ACTIVE = "ACTIVE"
    COOLING = "COOLING"
    PAUSED = "PAUSED"
    ASKING = "ASKING"
    AWAITING_HUMAN = "AWAITING_HUMAN"
    KILLED = "KILLED"
    ENDED = "ENDED"


class Event(enum.StrEnum):
    COOL = "cool"
    BREAK = "break"
    ASK = "ask"
    ANSWERED = "answered"
    HELP = "help"
    PAUSE = "pause"
    RESUME = "resume"
    EXPIRE = "expire"
    KILL = "kill"
    END = "end"


_LIVE = (State.ACTIVE, State.COOLING, State.PAUSED, State.ASKING, State.AWAITING_HUMAN)

NEXT: Mapping[tuple[State, Event], State] = {
    (State.ACTIVE, Event.COOL): State.COOLING,
    (State.ACTIVE, Event.BREAK): State.PAUSED,
    (State.COOLING, Event.BREAK): State.PAUSED,
    (State.ASKING, Event.BREAK): State.PAUSED,
    (State.ACTIVE, Event.ASK): State.ASKING,
    (State.COOLING, Event.ASK): State.ASKING,
    (State.ASKING, Event.ANSWERED): State.ACTIVE,
    (State.ACTIVE, Event.HELP): State.AWAITING_HUMAN,
    (State.COOLING, Event.HELP): State.AWAITING_HUMAN,
    (State.PAUSED, Event.HELP): State.AWAITING_HUMAN,
    (State.ACTIVE, Event.PAUSE): State.PAUSED,
    (State.COOLING, Event.PAUSE): State.PAUSED,
    (State.PAUSED, Event.PAUSE): State.PAUSED,
    (State.AWAITING_HUMAN, Event.RESUME): State.ACTIVE,
    (State.PAUSED, Event.RESUME): State.ACTIVE,
    (State.COOLING, Event.EXPIRE): State.ACTIVE,
    (State.PAUSED, Event.EXPIRE): State.ACTIVE,
    **{(s, Event.KILL): State.KILLED for s in _LIVE},
    **{(s, Event.END): State.ENDED for s in _LIVE},
}


@value
class Call:
    """One tool call in the window."""

    action: str
    operation: str
    tool: str
    at: float
    poll: bool = False
    outcome: Outcome | None = None
    installs: bool = False
    """True where it installs packages."""
    makes: tuple[str, ...] = ()
    """What is the session's own once it has succeeded: ``container NAME``, ``port NUMBER``, ``database NAME``."""

    def ended(self, outcome: Outcome) -> Call:
        """The call with how it ended."""
        return Call(self.action, self.operation, self.tool, self.at, self.poll, outcome, self.installs, self.makes)


@value
class Session:
    """One guarded run of an agent."""

    id: str
    root: str = ""
    """Top of the repository (absolute, resolved)."""
    start_hash: str = ""
    """HEAD before the session; empty on an unborn branch."""
    started: float = 0.0
    command: tuple[str, ...] = ()
    owner: Peer | None = None
    """The runner (under ``run``), the shell (``shell-init``) or the client whose hooks ask; its descendants are the
    session."""
    client: tuple[str, str] = ("", "")
    """Of a session that only a client's hooks report: the agent's name, and the client's own id of its session."""
    interactive: bool = False
    """True where a person can be asked on the runner's terminal."""
    state: State = State.ACTIVE
    until: float = 0.0
    """When COOLING or PAUSED ends; 0 for a pause that only a person ends."""
    reason: str = ""
    """Why it is COOLING, PAUSED or KILLED, in words."""
    calls: tuple[Call, ...] = ()
    """The last tool calls, oldest first. A person's message empties it."""
    tripped: frozenset[str] = frozenset()
    """Operations that tripped the breaker. Not empty in ACTIVE = half-open (R3)."""
    usage: tuple[Usage, ...] = ()
    """Tokens of the last minutes, each reply once."""
    token_sources: frozenset[str] = frozenset()
    """Who has told of tokens."""
    tokens_unread: str = ""
    """Why its coding agent's own record of tokens is not read; empty where it is, or none is known."""
    cooldowns: tuple[float, ...] = ()
    """When each cool-down of the last minutes began."""
    strikes: tuple[str, ...] = ()
    """Rule ids of refused attacks on the guard's own settings, in order."""
    made: frozenset[str] = frozenset()
    """What calls of this session made that is no file (``Call.makes``)."""

    def after(self, entry: Entry) -> Session:
        """The session once this entry is on record."""
        fold = _FOLDS.get(entry.kind)
        return fold(self, entry) if fold else self

    def to(self, event: Event, *, until: float = 0.0, reason: str = "") -> Session:
        """The session after an event of the state table."""
        state = NEXT.get((self.state, event))
        if state is None:
            return self
        return replace(self, state=state, until=until, reason=reason)

    @property
    def over(self) -> bool:
        return self.state in (State.KILLED, State.ENDED)

    def waited(self, now: float) -> bool:
        """True where a cool-down or the breaker's pause has run out at ``now`` (seconds of the epoch)."""
        return self.state in (State.COOLING, State.PAUSED) and 0 < self.until <= now

    @property
    def paused_by_person(self) -> bool:
        """True where a person has paused it: nothing but their word ends that."""
        return self.state is State.PAUSED and not self.until

    @property
    def half_open(self) -> bool:
        return self.state is State.ACTIVE and bool(self.tripped)


def _begin(session: Session, entry: Entry) -> Session:
    d = entry.data
    owner, client = d.get("owner"), d.get("client")
    return replace(
        session,
        root=str(d.get("root", "")),
        start_hash=str(d.get("start_hash", "")),
        started=entry.at,
        command=_words(d.get("command")),
        owner=Peer(int(owner[0]), int(owner[1])) if isinstance(owner, list | tuple) else None,
        interactive=bool(d.get("interactive")),
        client=(str(client[0]), str(client[1])) if isinstance(client, list | tuple) else ("", ""),
    )


def _owner(session: Session, entry: Entry) -> Session:
    """A client that goes on with its session in another process."""
    pid, start = _words(entry.data.get("owner"))
    return replace(session, owner=Peer(int(pid), int(start)))


def _strike(session: Session, entry: Entry) -> Session:
    strike = entry.data.get("strike")
    return replace(session, strikes=(*session.strikes, strike)) if isinstance(strike, str) and strike else session


def _verdict(session: Session, entry: Entry) -> Session:
    d, session = entry.data, _strike(session, entry)
    if gone := _words(d.get("unmakes")):
        session = replace(session, made=session.made.difference(gone))
    if d.get("call"):
        call = Call(
            str(d["id"]),
            str(d.get("operation", "")),
            str(d.get("tool", "")),
            entry.at,
            poll=bool(d.get("poll")),
            installs=bool(d.get("installs")),
            makes=_words(d.get("makes")),
        )
        session = replace(session, calls=(*session.calls[1 - WINDOW :], call))
    return session


_AGAINST = re.compile(r"\w+! ").match
"""What a text says of a name of another machine counts whatever its exit code."""


def _outcome(session: Session, entry: Entry) -> Session:
    outcome = outcome_from(entry)
    ended = [at for at, call in enumerate(session.calls) if call.action == outcome.action]
    if not ended:
        return session
    calls, done = [*session.calls], session.calls[ended[0]]
    for at in ended:
        calls[at] = calls[at].ended(outcome)
    closes = session.half_open and done.operation not in session.tripped
    made = session.made.union(done.makes if outcome.code == 0 else filter(_AGAINST, done.makes))
    return replace(session, calls=tuple(calls), tripped=frozenset() if closes else session.tripped, made=made)


def _usage(session: Session, entry: Entry) -> Session:
    if (unread := token_ledger.unread(entry)) is not None:
        return replace(session, tokens_unread=unread)
    use = token_ledger.usage_from(entry)
    recent = tuple(u for u in token_ledger.merged(session.usage, use) if u.at > entry.at - REMEMBERED)
    return replace(
        session, usage=token_ledger.bounded(recent, REPLIES), token_sources=session.token_sources | {use.source}
    )


def _state(session: Session, entry: Entry) -> Session:
    d = entry.data
    event = Event(str(d["event"]))
    until = d.get("until", 0.0)
    session = session.to(
        event, until=float(until) if isinstance(until, int | float) else 0.0, reason=str(d.get("reason", ""))
    )
    if event is Event.BREAK:
        session = replace(session, tripped=frozenset(_words(d.get("operations"))))
    elif event is Event.COOL:
        session = replace(
            session,
            cooldowns=tuple(t for t in (*session.cooldowns, entry.at) if t > entry.at - REMEMBERED),
            usage=tuple(u for u in session.usage if u.at > entry.at - REMEMBERED),
        )
    elif event is Event.RESUME:
        session = replace(session, calls=(), tripped=frozenset())
    elif event is Event.EXPIRE and session.tripped:
        session = replace(session, calls=())
    return session


def _end(session: Session, _entry: Entry) -> Session:
    return session.to(Event.END)


_FOLDS = {
    "session": _begin,
    "owner": _owner,
    "verdict": _verdict,
    "watch": _strike,
    "outcome": _outcome,
    "usage": _usage,
    "state": _state,
    "end": _end,
}


def outcome_from(entry: Entry) -> Outcome:
    """The outcome that an ``outcome`` entry holds."""
    d = entry.data
    tests = d.get("tests")
    run = None
    if isinstance(tests, Mapping):
        run = TestRun(str(tests.get("runner", "")), frozenset(_words(tests.get("failed"))), _number(tests.get("count")))
    text = {k: str(d.get(k, "")) for k in ("error", "output", "excerpt", "before", "after")}
    duration = d.get("duration", 0.0)
    seconds = float(duration) if isinstance(duration, int | float) else 0.0
    return Outcome(str(d["id"]), entry.at, _number(d.get("code")), tests=run, duration=seconds, **text)


def outcome_data(outcome: Outcome) -> dict[str, object]:
    """The ``data`` of an ``outcome`` entry; the inverse of ``outcome_from``."""
    data: dict[str, object] = {"id": outcome.action, "code": outcome.code, "duration": round(outcome.duration, 4)}
    data |= {k: v for k in ("error", "output", "excerpt", "before", "after") if (v := getattr(outcome, k))}
    if outcome.tests:
        data["tests"] = {
            "runner": outcome.tests.runner,
            "failed": sorted(outcome.tests.failed),
            "count": outcome.tests.count,
        }
    return data


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(v) for v in value) if isinstance(value, list | tuple) else ()
