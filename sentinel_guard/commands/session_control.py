"""``sentinel-guard pause|resume|kill|revoke``: what a person does to a guarded session from another terminal."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sentinel_guard.client import Operator
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import DaemonError, SentinelError
from sentinel_guard.host.machine.state_paths import StatePaths

KILL_SECONDS = 120.0
"""A kill is replied to when it is carried out, and a rollback may take a while."""
NOBODY = "No guarded session is running."
START = "Start an agent with: sentinel-guard run -- AGENT"


def pause(places: StatePaths, cwd: Path, session: str) -> int:
    """Hold what the session's agent starts. Raises SentinelError where no session, or more than one, is meant."""
    with connected(places) as operator:
        live = pick(operator, cwd, session)
        operator.request("pause", session=live["session"])
    print(f"Paused {live['session']}: what its agent starts waits. Go on with: sentinel-guard resume")
    return 0


def resume(places: StatePaths, cwd: Path, session: str) -> int:
    """End a pause, a breaker's too, or a call for help. Raises SentinelError as ``pause``."""
    with connected(places) as operator:
        live = pick(operator, cwd, session)
        operator.request("resume", session=live["session"])
    print(f"Resumed {live['session']}.")
    return 0


def kill(places: StatePaths, cwd: Path, session: str, *, rollback: bool, confirm: Callable[[str], bool] | None) -> int:
    """End a session and all its processes, with ``rollback`` its repository goes back to the start; 1 for a no.

    ``confirm`` asks the person; None: they have said so already. Raises SentinelError as ``pause``.
    """
    with connected(places) as operator:
        live = pick(operator, cwd, session)
        after = f"put {live['root']} back to its start" if rollback else "leave its files as they are"
        if confirm and not confirm(f"End {live['session']} ({_command(live)}) and {visible(after)}?"):
            return 1
        operator.request("kill", session=live["session"], rollback=rollback, seconds=KILL_SECONDS)
    print(f"Ended {live['session']}. Its report: sentinel-guard incidents list")
    return 0


def revoke(places: StatePaths, cwd: Path, grant: str, session: str) -> int:
    """End the yes that holds for a while, or all of a session. Raises SentinelError as ``pause``."""
    with connected(places) as operator:
        live = pick(operator, cwd, session)
        ended = operator.request("revoke", session=live["session"], grant=grant)["ended"]
    print(f"Ended {', '.join(ended)} of {live['session']}: its agent is asked about again.")
    return 0


def connected(places: StatePaths) -> Operator:
    """A line to the daemon that runs. Raises DaemonError where none does."""
    try:
        return Operator(places, start=False).connect()
    except DaemonError as e:
        raise DaemonError(NOBODY, START) from e


def pick(operator: Operator, cwd: Path, session: str) -> dict[str, Any]:
    """The live session that is meant: named (its last part is enough), the one of this folder, or the only one.

    Raises SentinelError where it is none or more than one.
    """
    live = [s for s in operator.request("status")["sessions"] if s["state"] not in ("KILLED", "ENDED")]
    if not live:
        raise DaemonError(NOBODY, START)
    if session:
        found = [s for s in live if session == s["session"] or s["session"].endswith(f"-{session}")]
    else:
        here = os.path.realpath(cwd)
        found = [s for s in live if s["root"] and f"{here}/".startswith(f"{s['root']}/")] or live
    if len(found) == 1:
        return dict(found[0])
    names = "\n  ".join(f"{s['session']}  {_command(s)}  {visible(str(s['root']))}" for s in (found or live))
    what = f"More than one session could be meant{f' by {visible(session)!r}' if session else ''}."
    raise SentinelError(what if found else f"There is no live session {visible(session)!r}.", f"Name one:\n  {names}")


def _command(live: dict[str, Any]) -> str:
    return visible(" ".join(live["command"]), keep="") or "a shell"
