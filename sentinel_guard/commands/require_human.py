"""Refuses, inside a guarded session, what only a person may change: policy, secrets allowlist, git hooks."""

from __future__ import annotations

import os
from pathlib import Path

from sentinel_guard.client import Operator
from sentinel_guard.errors import NoDaemonError, SentinelError
from sentinel_guard.host.machine import ancestry, processes
from sentinel_guard.host.machine.state_paths import StatePaths

MARK = "SENTINEL_SESSION"
"""In the environment of every process of a guarded session."""


def require_human(places: StatePaths, root: Path | None, refused: str) -> None:
    """Raises SentinelError with the words ``refused`` inside of a live session, and while one works in ``root``.

    Its watcher would put the project's file back. Where no daemon runs, a session is taken for alive. Raises
    DaemonError where one runs and does not say.
    """
    mine = sessions()
    try:
        with Operator(places, start=False) as operator:
            live = [s for s in operator.request("status")["sessions"] if s["state"] not in ("KILLED", "ENDED")]
    except NoDaemonError:
        live = [{"session": session, "root": ""} for session in mine]
    if any(s["session"] in mine for s in live):
        raise SentinelError(refused, "The user does it, in a terminal of their own.")
    here = [s["session"] for s in live if root and s["root"] and os.path.realpath(s["root"]) == os.path.realpath(root)]
    if here:
        raise SentinelError(f"Session {here[0]} is working in {root}.", "End its agent first, then try again.")


def sessions() -> set[str]:
    """The sessions that this process comes from, by what it and those above it say; empty for a person's own."""
    above = (processes.environ(p.pid) for p in ancestry.lineage(processes.own_pid()))
    return {said[MARK] for said in (os.environ, *above) if said.get(MARK)}
