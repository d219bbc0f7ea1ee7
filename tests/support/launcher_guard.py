"""The real launcher, and a small guard that speaks the wire as the daemon does."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from sentinel_guard.core.wire_framing import Chunk, Message, Reader, encode
from tests.support.time_limits import limit

STANDARD_PATH = "/usr/local/bin:/usr/bin:/bin"
AT_REST, BUSY = "0.10 0.20 0.30 1/500 9\n", "30.1 20.2 10.3 99999/99999 9\n"
"""What a machine says of its load (/proc/loadavg), for the launcher that reads it from a test's file."""
Handler = Callable[["Connection"], None]


class Closed(Exception):  # noqa: N818 - it is no error: the launcher hung up
    """The launcher closed the connection."""


class Connection:
    """One launcher, seen from the guard."""

    def __init__(self, sock: socket.socket, index: int) -> None:
        self.sock = sock
        self.index = index
        """How many connections came before."""
        self._reader = Reader()

    def read(self) -> Message:
        while (message := self._reader.next_message()) is None:
            data = self.sock.recv(1 << 16)
            if not data:
                raise Closed
            self._reader.feed(data)
        return message

    def send(self, *chunks: Chunk) -> None:
        self.sock.sendall(encode(chunks))


class Guard:
    """Listens, and lets ``handler`` answer each connection. ``requests`` and ``outcomes`` keep what launchers said."""

    def __init__(self, binary: Path, handler: Handler | None = None, *, listen: bool = True, python: str = "") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sg-"))
        self.binary = binary
        self.handler = handler or supervises
        self.requests: list[Message] = []
        self.outcomes: list[Message] = []
        self.shims = self.folder / "shims"
        self.shims.mkdir()
        self.socket = self.folder / "agent.sock"
        self.settings(python=python)
        self._listener: socket.socket | None = None
        if listen:
            self.listen()

    def settings(self, **more: str) -> None:
        lines = {"socket": str(self.socket), "python": "", "version": "0.1.0", "session": "s", **more}
        (self.shims / ".sentinel").write_text("".join(f"{k}={v}\n" for k, v in lines.items()))

    def shim(self, name: str) -> str:
        """The launcher under a name, as ``host`` puts it into a session's folder."""
        link = self.shims / name
        if not link.exists():
            try:
                link.hardlink_to(self.binary)
            except OSError:
                shutil.copy2(self.binary, link)
        return str(link)

    def listen(self) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.socket))
        self._listener.listen(64)
        threading.Thread(target=self._serve, args=(self._listener,), daemon=True).start()

    def _serve(self, listener: socket.socket) -> None:
        index = 0
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(sock, index), daemon=True).start()
            index += 1

    def _talk(self, sock: socket.socket, index: int) -> None:
        connection = Recorded(sock, index, self)
        with sock:
            try:
                self.handler(connection)
            except (Closed, OSError):
                return

    def run(self, name: str, *arguments: str | bytes, **options: object) -> subprocess.CompletedProcess[bytes]:
        """Runs the launcher as ``name``; output is captured."""
        options = {"capture_output": True, "timeout": limit(60), **options}
        return subprocess.run([self.shim(name), *arguments], check=False, **options)  # type: ignore[call-overload,no-any-return]

    def environ(self, **more: str) -> dict[str, str]:
        """An environment with the shims first on PATH."""
        return {
            "PATH": f"{self.shims}:{STANDARD_PATH}",
            "HOME": str(self.folder),
            "TERM": "xterm",
            "LC_ALL": "C",
            **more,
        }

    def stop_listening(self) -> None:
        if self._listener:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
            self.socket.unlink()

    def close(self) -> None:
        self.stop_listening()
        shutil.rmtree(self.folder, ignore_errors=True)


class Recorded(Connection):
    """Keeps requests (they name a face) and outcomes (they name an exit code)."""

    def __init__(self, sock: socket.socket, index: int, guard: Guard) -> None:
        super().__init__(sock, index)
        self.guard = guard

    def read(self) -> Message:
        message = super().read()
        keep = self.guard.outcomes if message and message[0][0] == b"X" else self.guard.requests
        keep.append(message)
        return message


def number(value: int) -> bytes:
    return struct.pack("<I", value)


def values(message: Message, tag: str) -> list[bytes]:
    return [body for t, body in message if t == tag.encode()]


def value(message: Message, tag: str) -> bytes:
    (only,) = values(message, tag)
    return only


def exit_code(code: int) -> Chunk:
    return b"Z", number(code)


def real(name: str) -> str:
    """The program that the shims stand before."""
    found = shutil.which(name, path=STANDARD_PATH)
    assert found, f"{name} is not installed"
    return found


def wanted(request: Message) -> bytes:
    """The path of the program that a request is about."""
    name = os.fsdecode(values(request, "A")[0]).rsplit("/", 1)[-1].removeprefix("-")
    return os.fsencode(real(name))


def supervises(connection: Connection) -> None:
    """Runs everything as a child."""
    request = connection.read()
    connection.send((b"S", wanted(request)))
    connection.read()
    connection.send()


def executes(connection: Connection) -> None:
    """Lets the launcher become the program."""
    connection.send((b"X", wanted(connection.read())))


def answers(*messages: list[Chunk]) -> Handler:
    """Always the same answers, one after another; what the launcher says in between is read."""

    def handler(connection: Connection) -> None:
        for chunks in messages:
            connection.read()
            connection.send(*chunks)

    return handler


def says(raw: bytes, *, then_wait: bool = False) -> Handler:
    """Raw bytes instead of a message, then the end of the connection (or silence)."""

    def handler(connection: Connection) -> None:
        connection.read()
        connection.sock.sendall(raw)
        if then_wait:
            connection.read()

    return handler


@contextlib.contextmanager
def started(g, name, *arguments, **options):
    """The launcher as ``name``, running; killed at the end."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with subprocess.Popen([g.shim(name), *arguments], **options) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def state(pid):
    """One letter, as ps says it; Z for a process that is no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def link(path):
    try:
        return str(path.readlink())
    except OSError:
        return ""
