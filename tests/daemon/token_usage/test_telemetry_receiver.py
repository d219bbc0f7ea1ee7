"""Claude Code's telemetry, received on loopback: who is believed, what is taken, and what is refused."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace

import pytest

from sentinel_guard.core.model import Entry
from sentinel_guard.core.policy.policy import Cost
from sentinel_guard.core.session import token_ledger
from sentinel_guard.daemon.token_usage.read_records import TokenRecords
from sentinel_guard.daemon.token_usage.telemetry_receiver import TelemetryReceiver
from sentinel_guard.errors import StoreError
from sentinel_guard.host.machine.state_paths import StatePaths
from tests.agents import test_token_records
from tests.support.guard_in_memory import Stand

CLAUDE = ["/usr/bin/claude", "-p", "go"]


def telemetry(**told):
    return test_token_records.telemetry(at=time.time() + 60, **told)


class Desk:
    """A receiver, and a session whose policy wants it."""

    def __init__(self, tmp_path, *, wanted: bool = True) -> None:
        self.stand, self.places = Stand(now=time.time), StatePaths(tmp_path, tmp_path, tmp_path)
        self.live = self.stand.live
        self.stand.sessions.live[self.live.id] = self.live
        policy = replace(self.live.policy(), cost=Cost(telemetry=wanted))
        self.live.policy = lambda: policy
        self.again()

    def again(self) -> None:
        """As a daemon that was started anew."""
        self.tokens = TokenRecords(self.stand.sessions, self.stand.now)
        self.receiver = TelemetryReceiver(self.places, self.stand.sessions, self.tokens, b"a secret")

    def given(self, command=CLAUDE, **environ: str) -> dict[str, str]:
        async def ask():
            try:
                return await self.receiver.environ(self.live, command, environ)
            finally:
                self.receiver.close()

        return asyncio.run(ask())

    def send(self, *requests: bytes) -> list[str]:
        """What one connection is answered, by its status."""

        async def talk():
            environ = await self.receiver.environ(self.live, CLAUDE, {})
            try:
                return await _talk(environ["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"], requests)
            finally:
                self.receiver.close()

        return asyncio.run(talk())

    def request(self, body: object, *, path="/v1/logs", key="", length="") -> bytes:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nAuthorization: Bearer {key or self.receiver.key(self.live.id)}\r\n"
        return f"{head}Content-Length: {length or len(sent)}\r\n\r\n".encode() + sent

    def outputs(self) -> list[int]:
        return [u.output for u in token_ledger.counted(self.live.session.usage)]


async def _talk(url: str, requests) -> list[str]:
    host, _, port = url.removeprefix("http://").partition("/")[0].partition(":")
    assert host == "127.0.0.1"
    reader, writer = await asyncio.open_connection(host, int(port))
    said = []
    for request in requests:
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert await reader.readexactly(2) == b"{}"
        said.append(head.split(" ")[1])
    writer.close()
    return said


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


def test_what_is_sent_is_in_the_ledger_once_and_also_after_a_restart(desk):
    first, second = telemetry(output=20, sequence=6), telemetry(output=30, sequence=10)
    assert desk.send(*map(desk.request, (first, second, first))) == ["200"] * 3
    assert desk.outputs() == [20, 30]
    desk.again()
    assert desk.send(desk.request(second)) == ["200"] and desk.outputs() == [20, 30]


REFUSED = [
    (lambda d: d.request({}, key="nobody.00"), "401", "another's key"),
    (lambda d: d.request({}, key=f"{d.live.id}.00"), "401", "the session alone is no key"),
    (lambda _: b"POST /v1/logs HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "401", "no key"),
    (lambda d: d.request({}, path="/v1/traces"), "404", "what it does not take"),
    (lambda _: b"GET / HTTP/1.1\r\n\r\n", "405", "a browser"),
    (lambda d: d.request({}, length="x"), "411", "no length"),
    (lambda d: d.request({}, length="99999999999999"), "413", "too much"),
    (lambda _: b"POST /v1/logs HTTP/1.1\r\nX: " + b"x" * (1 << 17), "431", "a head without an end"),
    (lambda d: d.request(b"[" * 100_000), "400", "too deep"),
    (lambda d: d.request([]), "400", "no object"),
    (lambda d: d.request(telemetry(output=-1)), "400", "less than nothing"),
    (lambda d: d.request({"resourceLogs": 3}), "200", "nothing of a reply"),
    (lambda d: d.request({"resourceLogs": telemetry()["resourceLogs"] * 201}), "413", "too many replies at once"),
    (lambda d: d.request(test_token_records.telemetry(at=1e300)), "400", "a time that no clock shows"),
]


@pytest.mark.parametrize(("request_of", "status", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_is_not_taken_is_refused_and_leaves_nothing(desk, request_of, status, why):
    assert desk.send(request_of(desk)) == [status]
    assert desk.live.session.usage == (), why


def test_what_cannot_be_recorded_is_to_be_sent_again(desk, monkeypatch):
    def full(*_):
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(desk.stand.sessions, "note", full)
        assert desk.send(desk.request(telemetry())) == ["503"]
    desk.again()
    assert desk.send(desk.request(telemetry())) == ["200"] and len(desk.outputs()) == 1


NOT_GIVEN = [
    (["/usr/bin/codex"], {}, "another agent"),
    (["/usr/bin/bash"], {}, "a shell, whose programs would send theirs"),
    (CLAUDE, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://mine"}, "the person's own receiver"),
    (CLAUDE, {"CLAUDE_CODE_ENABLE_TELEMETRY": "0"}, "the person's own word"),
]


@pytest.mark.parametrize(("command", "environ", "why"), NOT_GIVEN, ids=[row[-1] for row in NOT_GIVEN])
def test_only_an_agent_that_has_no_other_receiver_is_told(desk, command, environ, why):
    assert desk.given(command, **environ) == {}, why


def test_nothing_listens_where_nobody_wants_it(tmp_path):
    desk = Desk(tmp_path, wanted=False)
    assert desk.given() == {} and not [*tmp_path.iterdir()]


def test_a_daemon_that_is_started_anew_listens_where_the_one_before_did(desk):
    before = desk.given()["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"]
    desk.again()

    async def take_up():
        await desk.receiver.take_up()
        try:
            return await desk.receiver.environ(desk.live, CLAUDE, {})
        finally:
            desk.receiver.close()

    assert asyncio.run(take_up())["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"] == before


@pytest.mark.parametrize("told", [True, False], ids=["telemetry tells", "nobody tells"])
def test_tokens_are_not_known_where_neither_a_record_nor_telemetry_tells(desk, tmp_path, told):
    began = {"root": str(tmp_path), "command": CLAUDE, "interactive": False}
    desk.stand.sessions.note(desk.live, [Entry(time.time(), desk.live.id, "session", began)])
    desk.live.begun_in = {"HOME": str(tmp_path)}
    assert desk.send(*[desk.request(telemetry())] * told) == ["200"] * told
    desk.tokens.finish(desk.live)
    assert desk.live.session.token_sources == ({token_ledger.TELEMETRY} if told else set())
    assert ("no record of this conversation" in desk.live.session.tokens_unread) != told
