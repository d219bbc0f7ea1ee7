"""What the person is told of their session: at its beginning, while it runs, at its end."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from sentinel_guard.core.text.control_characters import visible

SWITCH = "SENTINEL KILL SWITCH:"
AWAY = "SENTINEL: the guard daemon is away. Every command of the agent is refused until it is back."
IMPOSTOR = (
    "SENTINEL: what listens in the guard daemon's place does not know this session's secret, and is not obeyed. "
    "End it, then run 'sentinel-guard daemon start'."
)
BACK = "SENTINEL: the guard daemon is back."


def tell(notes: Sequence[object]) -> None:
    """What the daemon wants the person to know at the start."""
    for note in notes:
        said = "\n".join(visible(line) for line in str(note).splitlines())
        print(f"sentinel-guard: {said}", file=sys.stderr)


def unsaid(text: str, printed: str) -> str:
    """The lines that do not stand on the screen already: the launcher has told the agent the same."""
    return "\n".join(line for line in text.splitlines() if line not in printed)


def left_running(left: Sequence[Mapping[str, object]]) -> str:
    """Words for what an agent has left running."""
    names = ", ".join(f"{p.get('name')} (pid {p.get('pid')})" for p in left)
    return f"SENTINEL: still running, and no longer watched: {names}."
