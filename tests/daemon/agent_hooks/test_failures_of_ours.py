"""Whatever fails in the daemon while a hook waits: each client reads the answer as a no where something can be stopped,
and as nothing elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import struct
from types import SimpleNamespace

import pytest

from sentinel_guard.agents import registry
from sentinel_guard.agents.hook_dialect import SPARE, Moment
from sentinel_guard.daemon.agent_hooks.hook_requests import HookRequests
from sentinel_guard.daemon.agent_hooks.open_calls import OpenCalls
from sentinel_guard.daemon.wire_messages import Request
from sentinel_guard.errors import HostError, PeerError, StoreError
from tests.support.agents.hook_readers import stopped
from tests.support.guard_in_memory import Stand

DIALECTS = [agent.hooks for agent in registry.AGENTS if agent.hooks]
EVENTS = [(dialect, name) for dialect in DIALECTS for name in dialect.events]
each_event = pytest.mark.parametrize(("dialect", "name"), EVENTS, ids=[f"{d.client} {n}" for d, n in EVENTS])


class Failing:
    """Sessions of hooks, and a guard, of which one fails: with an error, or by giving no answer."""

    def __init__(self, live, *, finding=None, judging=None) -> None:
        self._live, self._finding, self._judging, self._calls = live, finding, judging, OpenCalls()

    def calls(self, _live) -> OpenCalls:
        return self._calls

    def rest(self, _live, _subagent) -> None:
        if self._judging:
            raise self._judging

    def under_way(self, _live) -> None:
        if self._judging:
            raise self._judging

    async def find(self, *_):
        if self._finding:
            raise self._finding
        return self._live

    async def handle(self, *_):
        if self._judging:
            raise self._judging
        await asyncio.Event().wait()


FAILURES = [
    ({"finding": PeerError("nobody can say whose it is")}, "whose session it is cannot be told"),
    ({"finding": HostError("no room")}, "no session can be begun"),
    ({"finding": RuntimeError("a bug")}, "a bug where sessions are found"),
    ({"finding": TimeoutError()}, "something took too long"),
    ({"finding": RecursionError()}, "something is too deep"),
    ({"judging": StoreError("the disk is full")}, "the verdict cannot be recorded"),
    ({"judging": KeyError("a bug")}, "a bug in the judge"),
    ({}, "no verdict in time: a person is silent, a check hangs"),
]


def answered(dialect, name, failing, text="") -> tuple[str, str, int]:
    """Standard output, standard error and exit code of the hook program."""
    stand, sent = Stand(), []
    hooks = Failing(stand.live, **failing)
    link = SimpleNamespace(pid=1, peer=None, send=sent.extend)
    reactions = SimpleNamespace(after=None, end_processes=None)
    requests = HookRequests(
        sessions=stand.sessions, hooks=hooks, guard=hooks, reactions=reactions, outcomes=None, now=stand.now
    )

    async def quiet(*_):
        return None

    reactions.after = quiet
    payload = text or json.dumps(payload_of(dialect, name))
    asyncio.run(requests.serve(Request("hook", ("sentinel-hook", dialect.client, name), "/", stdin=payload), link))
    printed = {stream: b"".join(b[1:] for v, b in sent if v == b"P" and b[:1] == stream) for stream in (b"1", b"2")}
    [code] = [struct.unpack("<I", body)[0] for verb, body in sent if verb == b"Z"]
    return printed[b"1"].decode(), printed[b"2"].decode(), code


def payload_of(dialect, name) -> dict[str, object]:
    """What the client could send at an event: as at its call, and as at what is told of a result."""
    call = next(event for event in dialect.events if dialect.moment(event) is Moment.CALL)
    payload = dialect.sample(call, "s1", "/r", "ls")
    if "tool_call" in payload:
        payload["tool_result"] = payload["tool_call"]
    return payload | {"hook_event_name": name, "file_path": "/r/.claude/settings.json"}


@pytest.mark.parametrize(("failing", "why"), FAILURES, ids=[row[-1] for row in FAILURES])
@each_event
def test_a_failure_is_a_no_where_something_can_be_stopped(monkeypatch, dialect, name, failing, why):
    monkeypatch.setattr(dialect, "waits", SPARE + 0.01)
    if not failing and dialect.moment(name) is not Moment.CALL:
        pytest.skip("nothing is judged there")
    if "judging" in failing and dialect.moment(name) in (Moment.SETTINGS, Moment.BEGINS):
        pytest.skip("nothing of that is asked there")
    stdout, stderr, code = answered(dialect, name, failing)
    stops = dialect.moment(name) in (Moment.CALL, Moment.SETTINGS)
    assert stopped(dialect.client, name, stdout, stderr, code) == stops, (why, stdout, stderr, code)
    assert stops == bool(stdout.strip()) and "Traceback" not in stdout + stderr


PAYLOADS = ["nonsense", "[]", "null", "{}", '{"session_id": 7}', "[" * 50_000, '{"session_id": "s", "tool_name": [1]}']


@pytest.mark.parametrize("text", PAYLOADS, ids=lambda text: text[:30])
@each_event
def test_a_payload_that_is_not_understood_is_a_no_where_something_can_be_stopped(dialect, name, text):
    stdout, stderr, code = answered(dialect, name, {}, text)
    stops = dialect.moment(name) in (Moment.CALL, Moment.SETTINGS)
    assert stopped(dialect.client, name, stdout, stderr, code) == stops, (stdout, stderr, code)
