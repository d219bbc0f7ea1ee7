"""Interactive shells that an agent types into: how a bash starts so that it asks about each line, and which line it is.

Rules of this file:
1. A shell that reads from the terminal at which the person sits is left alone.
2. A line whose text is not known does not run.
"""

from __future__ import annotations

from sentinel_guard.core.model import Action, Finding, Layer, Response
from sentinel_guard.core.peer import Peer
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.live_sessions import Place
from sentinel_guard.errors import PeerError
from sentinel_guard.host import bash_line_reader

UNREAD = Finding(
    "rules",
    Response.DENY,
    "this line was not run",
    "its shell kept it out of the history, so that its text is not known",
    "leave this shell with Ctrl-D, and start another: bash -i",
    "shell.unread-line",
)


def is_typed(asked: wire_messages.Request, place: Place) -> bool:
    """True where what it reads is typed by the agent on a terminal of its own, and nobody will see it."""
    return "0" in asked.terminals and place.typed and not _asks(asked, place)


def start(asked: wire_messages.Request, place: Place, folder: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The arguments and variables with which a shell asks about each line; none for what does not."""
    if not _asks(asked, place):
        return [], []
    argv, environ = bash_line_reader.start(asked.argv, folder, asked.cwd, asked.environ.get("ENV"))
    return argv, [*environ.items()]


def _asks(asked: wire_messages.Request, place: Place) -> bool:
    """True for a bash that reads lines, and not from the person's terminal."""
    persons = "0" in asked.terminals and not place.typed
    return not persons and wire_messages.program(asked.argv) == "bash" and wire_messages.reads_lines(asked)


def shell(asked: wire_messages.Request, place: Place) -> Peer:
    """The shell that asks about a line. Raises PeerError where it is none of the asker's ancestors."""
    pid, _, _ = wire_messages.line(asked)
    found = next((peer for peer in place.above if peer.pid == pid), None)
    if found is None:
        raise PeerError("a line comes from a process below its shell")
    return found


def unread(action: Action) -> tuple[Finding, ...]:
    """What stands against a line whose shell could not say what it is."""
    known = action.layer is not Layer.LINE or str(action.arguments["command"]).strip()
    return () if known else (UNREAD,)
