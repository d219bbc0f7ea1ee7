"""Client of the guard daemon: connects to it, starts it on demand, and sends requests (docs/protocol.md).

Rules of this file:
1. A daemon is started on demand, by one client at a time (a lock), and is there when it has said hello.
2. It is started in a clean environment: nothing that an agent can set steers it.
3. A daemon of another version is replaced only while it guards nobody.
4. A refusal of the daemon is a SentinelError with its words; a daemon that is away or silent is a DaemonError.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sentinel_guard import __version__
from sentinel_guard.core.wire_framing import MAX_CHUNK, Chunk, Message, exit_code
from sentinel_guard.errors import DaemonError, NoDaemonError, PeerError, SentinelError
from sentinel_guard.host.machine.socket_connection import CLOSED, NO_PROTOCOL, RESTARTS, SocketConnection
from sentinel_guard.host.machine.state_paths import StatePaths

if TYPE_CHECKING:
    from sentinel_guard.host.start_daemon import Starter

PROTOCOL = 1
CONNECT_SECONDS = 30.0
START_SECONDS = 600.0
"""For which a daemon that is starting is waited for, while it lives: a machine may be slow."""
HELLO_SECONDS = 2.0
REPLY_SECONDS = 10.0
REFUSED = 126
"""Exit code of what was refused, as the launcher's."""

# docs/protocol.md, "Variables that are sent".
_SENT = (
    "PATH", "HOME", "SENTINEL_CALL", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "BASH_ENV", "ENV", "LD_PRELOAD",
    "IFS", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_PAGER",
)  # fmt: skip
_U32 = struct.Struct("<I")

Fields = dict[str, Any]


class Operator:
    """A person's line to the daemon, over operator.sock. Blocking; one request at a time.

    ``with Operator(places) as operator`` connects. With ``start=False`` it starts nothing and takes any version.
    """

    def __init__(self, places: StatePaths, *, start: bool = True, command: Sequence[str] = ()) -> None:
        self._places, self._start, self._command = places, start, command
        self._line: SocketConnection | None = None
        self._starter: Starter | None = None
        self._silent = False
        """A daemon is there, and has not said who it is."""
        self._events: deque[Fields] = deque()
        self.daemon = 0
        """The daemon's pid, as it said last."""

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def connected(self) -> bool:
        return self._line is not None

    @property
    def remembers(self) -> bool:
        """Whether there is a record from which a daemon that is started anew takes up its sessions."""
        return self._places.database.exists()

    def fileno(self) -> int:
        """For select; -1 while there is no connection."""
        return self._line.fileno() if self._line else -1

    def close(self) -> None:
        if self._line:
            self._line.close()
        if self._starter:
            self._starter.close()
        self._line = self._starter = None

    def forget(self) -> None:
        """Close the connection, with all that came over it."""
        self._drop()
        self._events.clear()

    def connect(self, seconds: float = CONNECT_SECONDS) -> Self:
        """Connect, starting the daemon if none runs. ``seconds``: for one that runs already.

        Raises DaemonError, HostError.
        """
        began = time.monotonic()
        while not self.advance():
            waited, starts = time.monotonic() - began, self._starter is not None and self._starter.lives
            if not (self._start or self._silent):
                raise NoDaemonError("No guard daemon runs.", "It starts by itself with 'sentinel-guard run'.")
            if waited > (max(seconds, START_SECONDS) if starts else seconds):
                words = self._starter.words if self._starter else ""
                self.close()
                silent = f"The guard daemon did not answer within {waited:.0f} s."
                raise DaemonError(silent, words or f"See {self._places.daemon_log}.")
            time.sleep(0.02)
        return self

    def advance(self) -> bool:
        """One step towards a connection; True when it stands. Waits for one hello at most.

        Raises DaemonError, HostError.
        """
        if self._line or self._greet():
            self._stop_starting()
            return True
        if self._start:
            self._go_on_starting()
        return False

    def request(self, op: str, *, seconds: float = REPLY_SECONDS, **fields: object) -> Fields:
        """Ask, and wait for the reply.

        Raises SentinelError with the daemon's words on a refusal, DaemonError where no reply came.
        """
        self.send(op, seconds=seconds, **fields)
        return self.reply(seconds)

    def reply(self, seconds: float = REPLY_SECONDS) -> Fields:
        """Wait for the reply to what was sent. Raises SentinelError, DaemonError as ``request``."""
        line = self._need()
        try:
            limit = time.monotonic() + seconds
            while "ok" not in (reply := _object(line.receive(max(0.001, limit - time.monotonic())))):
                self._events.append(reply)
            # Nothing will make the socket readable again for what came along with the reply.
            self._keep(line.rest())
        except DaemonError:
            self._drop()
            raise
        if reply["ok"] is True:
            return reply
        raise SentinelError(str(reply.get("error") or "The guard daemon refused."), str(reply.get("hint") or ""))

    def send(self, op: str, *, seconds: float = REPLY_SECONDS, **fields: object) -> None:
        """Say something that has no reply, or whose ``reply`` is asked for later. Raises DaemonError."""
        try:
            self._need().send(_json({"op": op, **fields}), seconds)
        except DaemonError:
            self._drop()
            raise

    def poll(self) -> list[Fields]:
        """The events that have come, without waiting. Raises DaemonError when the daemon has gone and none is left."""
        line = self._need()
        try:
            self._keep(line.ready())
        except DaemonError:
            self._drop()
            raise
        events = [*self._events]
        self._events.clear()
        if line.gone and not events:
            self._drop()
            raise DaemonError(CLOSED, RESTARTS)
        return events

    @property
    def waiting(self) -> bool:
        """True where events came in while a reply was awaited."""
        return bool(self._events)

    def _keep(self, messages: Sequence[Message]) -> None:
        self._events += [said for message in messages if "event" in (said := _object(message))]

    def _need(self) -> SocketConnection:
        if self._line is None:
            raise DaemonError("There is no connection to the guard daemon.")
        return self._line

    def _drop(self) -> None:
        if self._line:
            self._line.close()
        self._line = None

    def _go_on_starting(self) -> None:
        if self._starter is None:
            from sentinel_guard.host.start_daemon import Starter  # noqa: PLC0415 - most clients find a daemon

            self._places.make()
            self._starter = Starter(self._places, self._command)
        try:
            self._starter.turn()
        except DaemonError:
            self._stop_starting()
            raise

    def _stop_starting(self) -> None:
        if self._starter:
            self._starter.close()
        self._starter = None

    def _greet(self) -> bool:
        try:
            self._line = SocketConnection(self._places.operator_socket, HELLO_SECONDS)
        except OSError:
            self._silent = False
            return False
        server, self._silent = self._line.server, True
        try:
            hello = self.request("hello", seconds=HELLO_SECONDS)
        except DaemonError as e:
            from sentinel_guard.host.machine import processes  # noqa: PLC0415 - most daemons answer

            if processes.is_stopped(server):
                raise DaemonError(f"The guard daemon (process {server}) is stopped.", f"kill -CONT {server}") from e
            return False
        self.daemon = int(hello.get("pid") or 0)
        if hello.get("version") == __version__ or not self._start:
            return True
        self._replace(hello)
        return False

    def _replace(self, hello: Fields) -> None:
        """Stop a daemon of another version. Raises DaemonError if it guards somebody."""
        sessions = hello.get("sessions")
        count = sessions if isinstance(sessions, int) else len(sessions or ())
        if count:
            self._drop()
            theirs = hello.get("version")
            raise DaemonError(
                f"The guard daemon is version {theirs}, this is {__version__}, and it guards {count} session(s).",
                "End those sessions ('sentinel-guard status' names them); then the new daemon starts by itself.",
            )
        with contextlib.suppress(SentinelError):
            self.request("stop")
        self._drop()


def _json(fields: Fields) -> list[Chunk]:
    """A request as chunks. Text that was not UTF-8 survives as lone surrogates (core/model.py)."""
    body = json.dumps(fields).encode()
    if len(body) > MAX_CHUNK:
        words = f"The request is {len(body)} bytes long; the limit is {MAX_CHUNK}."
        raise SentinelError(words, "Pass long input in a file.")
    return [(b"J", body)]


def _object(message: Message) -> Fields:
    try:
        value = json.loads(dict(message)[b"J"])
    except (KeyError, ValueError, RecursionError) as e:
        raise DaemonError(NO_PROTOCOL) from e
    if not isinstance(value, dict):
        raise DaemonError(NO_PROTOCOL)
    return value


# --- the agent's side: help and usage over agent.sock ---

Show = Callable[[bytes, bytes], None]
"""Takes ``1`` or ``2`` and the text for that stream, as soon as it comes."""


def to_streams(stream: bytes, text: bytes) -> None:
    """Print at once on standard output (``1``) or standard error."""
    out = sys.stdout if stream == b"1" else sys.stderr
    out.buffer.write(text)
    out.flush()


def ask_agent(
    places: StatePaths, face: str, argv: Sequence[str], show: Show = to_streams, command: Sequence[str] = ()
) -> tuple[str, int]:
    """Say something as the agent (faces ``help`` and ``usage``). Returns all that was printed, and the exit code.

    Waits as long as the daemon holds. A ``help`` whose daemon went away is said again. Raises DaemonError.
    """
    printed: list[bytes] = []

    def keep(stream: bytes, text: bytes) -> None:
        printed.append(text)
        show(stream, text)

    while True:
        line = _agent_line(places, command)
        try:
            line.send(_request(face, argv), REPLY_SECONDS)
            code = _obey(line, keep)
            return b"".join(printed).decode(errors="replace"), code
        except DaemonError:
            # A question to a human may be put twice; a count of tokens may not.
            if face != "help" or not line.gone:
                raise
            time.sleep(1)
        finally:
            line.close()


def _agent_line(places: StatePaths, command: Sequence[str]) -> SocketConnection:
    try:
        return SocketConnection(places.agent_socket, REPLY_SECONDS)
    except OSError:
        Operator(places, command=command).connect().close()
        try:
            return SocketConnection(places.agent_socket, REPLY_SECONDS)
        except OSError as e:
            raise DaemonError(f"The guard daemon cannot be reached: {e}.", "See 'sentinel-guard daemon status'.") from e


def _request(face: str, argv: Sequence[str]) -> Message:
    try:
        cwd = os.fsencode(Path.cwd())
    except OSError:
        cwd = b""
    env = os.environb
    names = [name.encode() for name in _SENT]
    return [
        (b"V", f"{PROTOCOL} {__version__}".encode()),
        (b"F", face.encode()),
        *((b"A", os.fsencode(word)) for word in argv),
        (b"D", cwd),
        *((b"E", name + b"=" + env[name]) for name in names if name in env),
        (b"T", b"".join(str(n).encode() for n in (0, 1, 2) if os.isatty(n))),
    ]


def _obey(line: SocketConnection, show: Show) -> int:
    """Carry out answers until one of them ends with ``Z``; the exit code."""
    seconds: float | None = REPLY_SECONDS
    while True:
        hold = None
        for tag, body in line.receive(seconds):
            match tag:
                case b"P":
                    show(body[:1], body[1:])
                case b"H":
                    hold = _number(body)
                case b"Z":
                    return _exit_code(body)
                case _:
                    show(b"2", f"sentinel-guard: the daemon's verb {tag.decode()!r} is not known here\n".encode())
                    return REFUSED
        if hold is None:
            show(b"2", b"sentinel-guard: the daemon's answer is incomplete\n")
            return REFUSED
        seconds = hold / 1000 or None


def _exit_code(body: bytes) -> int:
    try:
        return exit_code(_number(body))
    except PeerError as e:
        raise DaemonError(NO_PROTOCOL) from e


def _number(body: bytes) -> int:
    if len(body) != _U32.size:
        raise DaemonError(NO_PROTOCOL)
    return int(_U32.unpack(body)[0])
