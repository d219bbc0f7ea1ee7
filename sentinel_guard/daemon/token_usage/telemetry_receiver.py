"""Receives Claude Code's telemetry (OTLP over HTTP, JSON) for the ledger (R6), where the user's policy wants it.

Rules of this file:
1. It listens on loopback alone, and only once a session with such an agent begins.
2. Each session has a key of its own, which the agent is given in its environment. Who knows it can do what
   ``sentinel-guard usage report`` can: add to the session's count, and take nothing from what the agent records itself.
3. Only the counts of replies are taken; what else stands in an event is neither kept nor logged.
4. What is answered with an error of ours is sent again: an event counts once, by its key.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import itertools
import json
import logging
from collections.abc import Mapping
from typing import NamedTuple

from sentinel_guard.agents import registry
from sentinel_guard.agents.token_records import claude_telemetry
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.daemon.token_usage.read_records import TokenRecords
from sentinel_guard.errors import HostError, SentinelError
from sentinel_guard.host.machine import atomic_files
from sentinel_guard.host.machine.state_paths import StatePaths

log = logging.getLogger(__name__)
HOST = "127.0.0.1"
MOST, EVENTS = 256 << 10, 200
"""Bytes of one request's body, and events in it: it is read on the loop."""
HEAD = 16 << 10
"""Bytes of its head."""
CONNECTIONS = 32
IDLE = 120.0
"""Seconds that a connection may be silent."""
AGENT = "claude"


class _RefusedError(Exception):
    """Status and reason of a request that is not taken."""


class _Request(NamedTuple):
    path: str
    headers: Mapping[str, str]
    body: bytes


class TelemetryReceiver:
    def __init__(self, places: StatePaths, sessions: Sessions, tokens: TokenRecords, secret: bytes) -> None:
        self._sessions, self._tokens, self._secret = sessions, tokens, secret
        self._remembered = places.state / "telemetry.port"
        self._server: asyncio.Server | None = None
        self._open, self._turn = 0, asyncio.Lock()

    async def environ(self, live: Live, command: object, environ: Mapping[str, str]) -> dict[str, str]:
        """What has the agent of ``command`` send its telemetry here; empty where it is not wanted, or has a place."""
        words = [str(word) for word in command] if isinstance(command, list) else []
        started = registry.started(words)
        wanted = live.policy().cost.telemetry and started and started.agent.name == AGENT
        if not wanted or not self._secret or claude_telemetry.is_set_up(environ):
            return {}
        port = await self._listen()
        given = {"url": f"http://{HOST}:{port}", "key": self.key(live.id)}
        return {name: value.format(**given) for name, value in claude_telemetry.ENVIRON.items()} if port else {}

    async def take_up(self) -> None:
        """Listen again where the daemon before this one did, for the agents that still send there."""
        with contextlib.suppress(OSError, ValueError):
            if self._sessions.live:
                await self._listen(int(self._remembered.read_text()))

    def key(self, session: str) -> str:
        """By which a session's agent is known."""
        return f"{session}.{hmac.digest(self._secret, b'telemetry ' + session.encode(), hashlib.sha256).hex()}"

    def close(self) -> None:
        if self._server:
            self._server.close()
            self._server = None

    async def _listen(self, port: int = 0) -> int:
        """The port; 0 where there can be none."""
        async with self._turn:
            try:
                if self._server is None:
                    self._server = await asyncio.start_server(self._serve, HOST, port, limit=HEAD)
                    listening = str(self._port()).encode()
                    atomic_files.write(self._remembered, listening, atomic_files.PRIVATE, durable=False)
            except (OSError, HostError) as e:
                log.warning("no telemetry is received: %s", e)
        return self._port()

    def _port(self) -> int:
        return int(self._server.sockets[0].getsockname()[1]) if self._server else 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            while self._open <= CONNECTIONS:
                async with asyncio.timeout(IDLE):
                    status = await self._answer(reader)
                    kept = status.startswith("200")
                    more = "keep-alive" if kept else "close"
                    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n"
                    writer.write(f"{head}connection: {more}\r\n\r\n{{}}".encode())
                    await writer.drain()
                if not kept:
                    break
        except (OSError, EOFError, TimeoutError, asyncio.CancelledError):
            pass  # it has gone, says nothing, or the daemon ends
        finally:
            self._open -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> str:
        """Take one request; its status. Raises EOFError where none comes."""
        try:
            request = await _read(reader)
            live = self._session(request)
            self._take(live, request.body)
        except _RefusedError as e:
            return str(e)
        except SentinelError as e:
            log.warning("telemetry is not on record: %s", e)
            return "503 Service Unavailable"
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return "400 Bad Request"
        return "200 OK"

    def _session(self, request: _Request) -> Live:
        kind, _, key = request.headers.get("authorization", "").partition(" ")
        live = self._sessions.live.get(key.partition(".")[0])
        given, wanted = key.encode(errors="replace"), self.key(live.id).encode() if live else b""
        if live is None or kind.lower() != "bearer" or not hmac.compare_digest(given, wanted):
            raise _RefusedError("401 Unauthorized")
        if request.path != claude_telemetry.PATH:
            raise _RefusedError("404 Not Found")
        return live

    def _take(self, live: Live, body: bytes) -> None:
        sent = json.loads(body)
        if not isinstance(sent, dict):
            raise ValueError  # noqa: TRY004 - of what a stranger sent
        usages = [*itertools.islice(claude_telemetry.parse(sent), EVENTS + 1)]
        if len(usages) > EVENTS:
            raise _RefusedError("413 Content Too Large")
        self._tokens.told(live, usages)


async def _read(reader: asyncio.StreamReader) -> _Request:
    """Raises _RefusedError, EOFError."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.LimitOverrunError as e:
        raise _RefusedError("431 Request Header Fields Too Large") from e
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, _, rest = first.partition(" ")
    split = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in split}
    length = headers.get("content-length", "")
    if method != "POST":
        raise _RefusedError("405 Method Not Allowed")
    if not (length.isascii() and length.isdigit()) or "transfer-encoding" in headers:
        raise _RefusedError("411 Length Required")
    if len(length) > len(str(MOST)) or int(length) > MOST:
        raise _RefusedError("413 Content Too Large")
    return _Request(rest.partition(" ")[0], headers, await reader.readexactly(int(length)))
