"""Codex runs a hook only where its settings say that the person trusts it: told through Codex's own app-server.

It is what its screen ``/hooks`` does: JSON-RPC on standard input and output (0.169), ``hooks/list`` and
``config/batchWrite``. Only hooks of ours are trusted; Codex keeps that in its own ``config.toml``.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from sentinel_guard.errors import HostError

SECONDS = 60.0
"""Seconds for the whole conversation."""
_ABOUT: Mapping[str, object] = {
    "clientInfo": {"name": "sentinel-guard", "title": None, "version": "1"},
    "capabilities": {"experimentalApi": True},
}


def trust(program: str, cwd: str, environ: Mapping[str, str], ours: Callable[[str], bool]) -> int:
    """Have Codex trust the hooks of ours that it finds in a folder; how many are trusted then.

    ``ours`` is asked with a hook's command. Raises HostError.
    """
    with _server(program, environ) as server:
        edits = [_edit(hook) for hook in server.hooks(cwd, ours) if hook.get("trustStatus") != "trusted"]
        if edits:
            server.call("config/batchWrite", {"edits": edits, "reloadUserConfig": True})
        return _count(server, cwd, ours)


def trusted(program: str, cwd: str, environ: Mapping[str, str], ours: Callable[[str], bool]) -> int:
    """How many hooks of ours it trusts in a folder. Raises HostError."""
    with _server(program, environ) as server:
        return _count(server, cwd, ours)


@contextlib.contextmanager
def _server(program: str, environ: Mapping[str, str]) -> Iterator[_Server]:
    try:
        with _Server(program, environ) as server:
            server.call("initialize", _ABOUT)
            server.tell("initialized")
            yield server
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise HostError(f"Codex does not say whether it trusts the hooks: {e}.", "See in Codex itself: /hooks") from e


def _count(server: _Server, cwd: str, ours: Callable[[str], bool]) -> int:
    return sum(hook.get("trustStatus") in ("trusted", "managed") for hook in server.hooks(cwd, ours))


def _edit(hook: Mapping[str, Any]) -> dict[str, object]:
    path = f"hooks.state.{json.dumps(hook['key'])}.trusted_hash"
    return {"keyPath": path, "mergeStrategy": "upsert", "value": hook["currentHash"]}


class _Server:
    """One app-server, for one conversation."""

    def __init__(self, program: str, environ: Mapping[str, str]) -> None:
        self._ids = itertools.count(1)
        self._process = subprocess.Popen(
            [program, "app-server"], env=dict(environ), text=True, cwd="/",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._limit = threading.Timer(SECONDS, self._process.kill)

    def __enter__(self) -> Self:
        self._limit.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._limit.cancel()
        self._process.terminate()
        self._process.communicate()

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
        raise ValueError(f"it ended, or gave no answer to {method} within {SECONDS:.0f} s")
