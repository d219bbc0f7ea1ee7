"""The environment in which a session was begun, as its ``.sentinel`` beside its shims tells it (docs/protocol.md)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sentinel_guard.host.machine.state_paths import StatePaths, places

SETTINGS = ".sentinel"
ENVIRON = "environ."
"""What the names of variables begin with in a session's ``.sentinel``."""


def begun_in(shims: Path) -> dict[str, str]:
    """The environment for a daemon of the session with these shims; empty where nothing tells it."""
    try:
        lines = os.fsdecode((shims / SETTINGS).read_bytes()).split("\n")
    except OSError:
        return {}
    pairs = (line.removeprefix(ENVIRON).partition("=") for line in lines if line.startswith(ENVIRON))
    return {name: value for name, _, value in pairs}


def places_of_session(environ: Mapping[str, str] | None = None) -> StatePaths:
    """The guard's folders for an agent: those of its session, whatever HOME its tools have set since.

    The session's shims stand in PATH. Raises HostError as ``places``.
    """
    env = os.environ if environ is None else environ
    session = env.get("SENTINEL_SESSION", "")
    shims = f"/sessions/{session}/shims"
    folder = next((f for f in env.get("PATH", "").split(":") if session and f.endswith(shims)), "")
    return places(begun_in(Path(folder)) or env) if folder else places(env)
