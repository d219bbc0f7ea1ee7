"""A daemon in a thread: the operator protocol on a real socket, its words scripted by the test."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable
from typing import Any

from sentinel_guard import __version__
from sentinel_guard.core.wire_framing import Message, Reader, encode
from sentinel_guard.host.machine.state_paths import StatePaths
from tests.support.wait_until import until

Fields = dict[str, Any]


class FakeDaemon:
    """Answers ``{"ok": true}`` to everything, with the fields in ``replies``; keeps what it was asked in ``heard``."""

    def __init__(self, places: StatePaths, version: str = __version__, sessions: int = 0) -> None:
        places.make()
        self.places = places
        for session in ("s1", "s7"):  # a runner looks at its shims
            places.shims(session).mkdir(parents=True, exist_ok=True)
            (places.shims(session) / "git").touch()
        self.heard: list[Fields] = []
        self._answered = 0
        self.replies: dict[str, Fields | Callable[[Fields], Fields]] = {
            "hello": {"version": version, "pid": os.getpid(), "protocol": 1, "sessions": sessions},
            # Another mark than that of the sessions that tests of the kill switch end, all over the machine.
            "start": {"session": "s1", "environ": {"SENTINEL_SESSION": f"fake-{os.getpid()}"}, "notes": []},
            "attach": {"state": "ACTIVE"},
            "end": {"state": "ENDED"},
        }
        self.peers: list[socket.socket] = []
        self._stopped = False
        self._threads: list[threading.Thread] = []
        self.listen()

    def listen(self) -> None:
        path = self.places.operator_socket
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._begin(self._accept, self._listener)

    def close(self) -> None:
        """Die: the listener and every connection."""
        with contextlib.suppress(OSError):  # closed by the test, before it failed
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.places.operator_socket.unlink(missing_ok=True)
        for peer in self.peers:
            with contextlib.suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for peer in self.peers:
            peer.close()
        self.peers, self._threads = [], []

    def tell(self, event: str, **fields: object) -> None:
        self.peers[-1].sendall(encode([(b"J", json.dumps({"event": event, **fields}).encode())]))

    def wait(self, op: str, count: int = 1, seconds: float = 10.0) -> Fields:
        """The count-th message with this op, once it has been answered: a daemon that then dies owes no reply."""
        if until(lambda: len(self._heard(op)) >= count, seconds):
            return self._heard(op)[count - 1]
        raise AssertionError(f"{op} was not heard; heard {[m['op'] for m in self.heard]}")

    def _heard(self, op: str) -> list[Fields]:
        return [m for m in self.heard[: self._answered] if m["op"] == op]

    def _begin(self, target, *args) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            self.peers.append(peer)
            self._begin(self._serve, peer)

    def _serve(self, peer: socket.socket) -> None:
        frames = Reader()
        while True:
            try:
                data = peer.recv(1 << 16)
            except OSError:
                return
            if not data:
                return
            frames.feed(data)
            while (message := frames.next_message()) is not None:
                self._answer(peer, message)

    def _answer(self, peer: socket.socket, message: Message) -> None:
        asked = json.loads(dict(message)[b"J"])
        reply = self.replies.get(asked["op"], {})
        said = reply(asked) if callable(reply) else reply
        self.heard.append(asked)
        if asked["op"] not in ("tail", "typed"):
            with contextlib.suppress(OSError):
                peer.sendall(encode([(b"J", json.dumps({"ok": True, **said}).encode())]))
        self._answered += 1
