"""Codex runs a hook only where its settings say that the person trusts it: told through Codex's own app-server.

It is what its screen ``/hooks`` does: JSON-RPC on standard input and output (0.169), ``hooks/list`` and
``config/batchWrite``. Only hooks of ours are trusted; Codex keeps that in its own ``config.toml``.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from typing import Any, Self

from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import HostError

SECONDS = 60.0
"""Seconds for the whole conversation."""
ATTEMPTS = 2
"""Starts of a server that ends without an answer; Codex's own (0.169) did once, on a busy machine."""
TAIL = 1 << 16
"""Bytes of its errors that are read."""
_ABOUT: Mapping[str, object] = {
    "clientInfo": {"name": "sentinel-guard", "title": None, "version": "1"},
    "capabilities": {"experimentalApi": True},
}


def trust(program: str, cwd: str, environ: Mapping[str, str], ours: Callable[[str], bool]) -> int:
    """Have Codex trust the hooks of ours that it finds in a folder; how many are trusted then.

    ``ours`` is asked with a hook's command. Raises HostError.
    """

    def told(server: _Server) -> int:
        edits = [_edit(hook) for hook in server.hooks(cwd, ours) if hook.get("trustStatus") != "trusted"]
        if edits:
            server.call("config/batchWrite", {"edits": edits, "reloadUserConfig": True})
        return _count(server, cwd, ours)

    return _talk(program, environ, told)


def trusted(program: str, cwd: str, environ: Mapping[str, str], ours: Callable[[str], bool]) -> int:
    """How many hooks of ours it trusts in a folder. Raises HostError."""
    return _talk(program, environ, lambda server: _count(server, cwd, ours))


def _talk(program: str, environ: Mapping[str, str], say: Callable[[_Server], int]) -> int:
    """A conversation with a server that is started for it, and with another one where the first ends in the middle.

    Raises HostError.
    """
    for attempt in range(ATTEMPTS):
        try:
            with _Server(program, environ) as server:
                server.call("initialize", _ABOUT)
                server.tell("initialized")
                return say(server)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
            ended = isinstance(e, _EndedError | BrokenPipeError)
            if ended and attempt + 1 < ATTEMPTS:
                continue
            what = f"it was started {attempt + 1} times: {e}" if ended else str(e)
            way = "Try again, or say it in Codex itself: /hooks"
            raise HostError(f"Codex does not say whether it trusts the hooks: {what}.", way) from e
    raise AssertionError("the last attempt returns or raises")


class _EndedError(ValueError):
    """The server has ended, or was ended, without an answer."""


def _count(server: _Server, cwd: str, ours: Callable[[str], bool]) -> int:
    return sum(hook.get("trustStatus") in ("trusted", "managed") for hook in server.hooks(cwd, ours))


def _edit(hook: Mapping[str, Any]) -> dict[str, object]:
    path = f"hooks.state.{json.dumps(hook['key'])}.trusted_hash"
    return {"keyPath": path, "mergeStrategy": "upsert", "value": hook["currentHash"]}


class _Server:
    """One app-server, for one conversation."""

    def __init__(self, program: str, environ: Mapping[str, str]) -> None:
        self._ids = itertools.count(1)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the conversation
        self._process = subprocess.Popen(
            [program, "app-server"], env=dict(environ), text=True, cwd="/",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip
        self._limit = threading.Timer(SECONDS, self._process.kill)

    def __enter__(self) -> Self:
        self._limit.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._limit.cancel()
        self._process.terminate()
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()
        self._errors.close()

    def hooks(self, cwd: str, ours: Callable[[str], bool]) -> list[dict[str, Any]]:
        """The hooks of ours in a folder."""
        found = (hook for entry in self.call("hooks/list", {"cwds": [cwd]})["data"] for hook in entry["hooks"])
        return [hook for hook in found if ours(str(hook.get("command", "")))]

    def tell(self, method: str, **fields: object) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({**fields, "method": method}) + "\n")
        self._process.stdin.flush()

    def call(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """The result of a request. Raises ValueError with the server's words, and where it ends without an answer."""
        ident = next(self._ids)
        self.tell(method, id=ident, params=dict(params))
        assert self._process.stdout
        for line in self._process.stdout:
            said = json.loads(line)
            if said.get("id") == ident:
                if "error" in said:
                    raise ValueError(f"{method}: {said['error']}")
                return dict(said["result"])
        self._process.terminate()
        raise _EndedError(
            f"no answer to {method} within {SECONDS:.0f} s; exit code {self._process.wait()}{self._said()}"
        )

    def _said(self) -> str:
        """The last line that it wrote of what went wrong."""
        self._errors.seek(0)
        lines = self._errors.read(TAIL).decode(errors="replace").strip().splitlines()
        return f", its last words: {visible(lines[-1])}" if lines else ""
