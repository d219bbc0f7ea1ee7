"""Commands that steer the guard belong outside of the guarded session: inside they only say so, in words.

Who forges the messages of such a command is met by the daemon (docs/protocol.md); here nobody is attacked, and nobody
is ended.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import click

from sentinel_guard.host.machine.state_paths import places

REFUSED = 126
MARK = "SENTINEL_SESSION"
"""Variable that each process of a session has."""


def outside_only(command: click.Command, name: str, spares: str = "") -> None:
    """Let a command refuse in words inside of a live session; ``spares``: the flag with which it only reads."""
    work = command.callback
    assert work is not None

    @functools.wraps(work)
    def looked(*args: Any, **given: Any) -> Any:
        if not given.get(spares) and (session := live_session()):
            said = f"`sentinel-guard {name}` steers the guard, and this is inside of the guarded session {session}."
            click.echo(f"403 SENTINEL BLOCKED: {said}\nRun it in another terminal, outside of this session.", err=True)
            click.echo("To try it here again changes nothing: it is refused each time, and ends nothing.", err=True)
            return REFUSED
        return work(*args, **given)

    command.callback = looked


def live_session(ask: Callable[[], list[dict[str, Any]]] | None = None) -> str:
    """The live session that this process belongs to, by its environment; empty for none.

    ``ask``: what the daemon says of its sessions; it is not started for it.
    """
    session = os.environ.get(MARK, "")
    if not session:
        return ""
    over = ("KILLED", "ENDED")
    return session if any(s["session"] == session and s["state"] not in over for s in (ask or _sessions)()) else ""


def _sessions() -> list[dict[str, Any]]:
    from sentinel_guard.client import Operator  # noqa: PLC0415 - few commands need it
    from sentinel_guard.errors import SentinelError  # noqa: PLC0415 - as above

    try:
        with Operator(places(), start=False) as operator:
            return list(operator.request("status")["sessions"])
    except SentinelError:
        return []
