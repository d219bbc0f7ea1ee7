"""A session whose system calls the real broker holds, and a small daemon that gives it rules and answers."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sentinel_guard.core.wire_framing import Chunk, Message, encode
from sentinel_guard.host import session_proof
from tests.support.launcher_guard import Closed, Connection
from tests.support.time_limits import limit

BROKER = Path(__file__).parents[2] / "sentinel_guard" / "broker" / "sentinel-broker"
SECRET = "5" * 64
_PAIR = struct.Struct("ii")
YES, NO = struct.pack("<I", 0), struct.pack("<I", 1)

# What the runner does: a broker that has forked the leader, which wears the filter and becomes the program. Were that
# in the group of the tests, its end below a parent of another group would hang all of them up while one is stopped.
# Neither socket nor shutil: to import them costs more than the rest of this.
START = """
import os, sys, _socket
broker, address, secret, status, *command = sys.argv[1:]
near, far = (made.detach() for made in _socket.socketpair())
leader = os.fork()
if not leader:
    os.setsid()
    for fd in (near, int(secret), int(status)):
        os.close(fd)
    os.set_inheritable(far, True)
    found = [f"{folder}/{command[0]}" for folder in ("", *os.get_exec_path())]
    program = next((path for path in found[1:] if os.path.isfile(path) and os.access(path, os.X_OK)), found[0])
    os.execv(broker, [broker, "wear", str(far), program, *command])
os.close(far)
os.write(int(status), leader.to_bytes(4, sys.byteorder) + bytes(4))
for fd in (near, int(secret), int(status)):
    os.set_inheritable(fd, True)
os.execv(broker, [broker, "serve", "--socket", address, "--session", "s", "--secret-fd", secret,
                  "--control-fd", str(near), "--status-fd", status])
"""


@dataclass
class Question:
    """What the broker asked."""

    what: str
    objects: tuple[str, ...]
    argv: tuple[str, ...]
    pid: int
    start: int


@dataclass
class KernelSession:
    """``rules``: those of the wire, as tuples of texts; ``answer`` decides a question (yes or no)."""

    rules: Iterable[tuple[str, ...]]
    answer: Callable[[Question], bool] = lambda _: False
    asked: list[Question] = field(default_factory=list)
    requests: list[Message] = field(default_factory=list)
    """All that the broker said, in full."""
    broker: Path = BROKER

    def __post_init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sg-"))
        self.folder.chmod(0o755)
        self.address = self.folder / "agent.sock"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.address))
        self.address.chmod(0o777)
        self._listener.listen(64)
        self._server = threading.Thread(target=self._serve, daemon=True)
        self._server.start()

    def _serve(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(sock,), daemon=True).start()

    def _talk(self, sock: socket.socket) -> None:
        with sock:
            try:
                self._converse(Connection(sock, 0))
            except (Closed, OSError):
                return

    def _converse(self, connection: Connection) -> None:
        request = connection.read()
        proof: Chunk = (b"K", session_proof.prove(SECRET.encode(), encode(request)))
        said = dict(request)
        self.requests.append(request)
        if said[b"C"] == b"rules":
            connection.send(proof, *((b"R", os.fsencode("\0".join(rule))) for rule in self.rules))
            connection.read()
            return
        question = _question(request)
        self.asked.append(question)
        connection.send(proof, (b"H", struct.pack("<I", 0)))
        connection.send((b"Z", YES if self.answer(question) else NO))

    def run(
        self,
        *command: str,
        cwd: str | Path = "/",
        env: Mapping[str, str] | None = None,
        user: int = 0,
        first_line: Callable[[str], object] = lambda _: None,
        prefix: Iterable[str] = (),
        inherited: Iterable[int] = (),
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs a program in it; the exit code is the program's. ``first_line`` is told what it prints first;
        ``prefix``: what the broker itself is run by; ``inherited``: descriptors from before the session.
        """
        secret, status = os.pipe(), os.pipe()
        os.write(secret[1], SECRET.encode())
        os.close(secret[1])
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        python = (sys.executable, "-I", "-c", START, str(self.broker), str(self.address), str(secret[0]))
        argv = [*prefix, *as_user, *python, str(status[1])]
        began = time.monotonic()
        with subprocess.Popen(
            [*argv, *command],
            bufsize=0,  # what follows the first line is not read with it
            cwd=cwd,
            env=env,
            pass_fds=(secret[0], status[1], *inherited),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            os.close(secret[0])
            os.close(status[1])
            assert process.stdout
            first = process.stdout.readline()
            first_line(first.decode().strip())
            out, err = process.communicate(timeout=limit(60))
            self.seconds = time.monotonic() - began
            code = _code(status[0])
            process.wait(timeout=limit(60))
        os.close(status[0])
        return subprocess.CompletedProcess(command, process.returncode if code is None else code, first + out, err)

    def close(self) -> None:
        # A thread that waits in accept would go on there with the number's next owner, when a signal comes.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._server.join(10)
        self._listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _question(request: Message) -> Question:
    of = {tag: [os.fsdecode(body) for t, body in request if t == tag] for tag, _ in request}
    pid, start = struct.unpack("<IQ", dict(request)[b"W"])
    return Question(of[b"C"][0], tuple(of[b"O"]), tuple(of.get(b"A", ())), pid, start)


def _code(status: int) -> int | None:
    """The exit code of the leader, which comes first; None where nothing is told of its end."""
    leader, _ = _PAIR.unpack(os.read(status, _PAIR.size))
    while told := os.read(status, _PAIR.size):
        pid, word = _PAIR.unpack(told)
        if pid == leader and not os.WIFSTOPPED(word):
            return os.waitstatus_to_exitcode(word)
    return None
