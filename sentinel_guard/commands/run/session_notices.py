"""What the person is told of their session: at its beginning, while it runs, at its end."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence

from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.humans.terminal_prompts import banner

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


def say(text: str, terminal: int | None) -> None:
    """To the person while nothing is drawn: on the terminal of this descriptor, else on standard error."""
    plain = "".join(f"{visible(line)}\n" for line in text.splitlines() if line.strip())
    with contextlib.suppress(OSError):
        if terminal is None:
            os.write(2, plain.encode(errors="replace"))
        else:
            os.write(terminal, banner(text))


def guarded_words(key: str, *, held: bool) -> str:
    """The one line at the start. ``key``: opens the menu; empty for none. ``held``: system calls are held."""
    said = "guarded, by the kernel layer too (no sudo here)" if held else "guarded"
    return f"{said}; {key} for the menu" if key else said


def unsaid(text: str, printed: str) -> str:
    """The lines that do not stand on the screen already: the launcher has told the agent the same."""
    return "\n".join(line for line in text.splitlines() if line not in printed)


def left_running(left: Sequence[Mapping[str, object]]) -> str:
    """Words for what an agent has left running."""
    names = ", ".join(f"{p.get('name')} (pid {p.get('pid')})" for p in left)
    return f"SENTINEL: still running, and no longer watched: {names}."


def summary_words(summary: object, session: str) -> str:
    """What the session came to; empty for one in which nothing ran, and where the daemon did not say."""
    if not isinstance(summary, Mapping) or not (summary.get("commands") or summary.get("refused")):
        return ""
    commands = int(summary.get("commands", 0))
    held = f"{float(summary.get('held', 0)):.0f} s held"
    counts = f"{summary.get('refused', 0)} refused, {summary.get('asked', 0)} asked, {held}"
    name = session.rpartition("-")[2]
    return f"{commands:,} command{'' if commands == 1 else 's'}, {counts}. More: sentinel-guard log --session {name}"
