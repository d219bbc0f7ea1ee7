"""Alerts and audit entries about changed restricted files, with rate limiting.

Rules of this file:
1. Nothing of what is in a restricted file is told (``core/incidents/redacted_diff.py``), and command lines are
   redacted.
2. Who rewrites a file without end does not fill the log: a few findings of a path are told, then one now and then;
   of very many files some, and how many more there were.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from sentinel_guard.core.incidents import redacted_diff
from sentinel_guard.core.model import Entry
from sentinel_guard.core.policy.compare_settings import EVERYTHING
from sentinel_guard.core.secrets.redact_before_logging import shorten
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.redact_by_pattern import redact, redact_data
from sentinel_guard.host.file_integrity.file_change import ChangeDecision, Tampering
from sentinel_guard.host.file_integrity.tampered_versions import FIRST, LAST
from sentinel_guard.host.machine.processes import Process

FREE = 5
"""Findings of one path that are told, each."""
PAUSE = 10.0
"""Seconds from one to the next after that."""
FLOOD = 40
"""Findings of all paths that are told within PAUSE, each."""
OWN_PAUSE = 60.0
"""Seconds from one line on the person's screen about a file that they edit themselves to the next."""
LINES = 4
"""Lines of a diff that are shown on the screen; the log has the rest."""
_IDLE = "while the agent was idle: taken as yours"
KEYS = 4
"""Keys of an agent's settings that are named."""
NAMED, SHOWN = 20, 200
"""Processes that are named, and characters of a command line."""
_DONE = {"mode": "given another mode"}
"""Kinds that are no words for a sentence."""


@dataclass(slots=True)
class _Count:
    told: int = 0
    left: int = 0
    at: float = 0.0


@dataclass(slots=True)
class AlertRateLimit:
    """Counts findings by path. Safe to call from several threads."""

    free: int = FREE
    pause: float = PAUSE
    _counts: dict[str, _Count] = field(default_factory=dict)
    _told: deque[float] = field(default_factory=lambda: deque(maxlen=FLOOD))
    _hushed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def times(self, path: str, at: float) -> int:
        """For how many findings this one stands; 0: it is not worth telling now."""
        with self._lock:
            count = self._counts.setdefault(path, _Count())
            count.left += 1
            if count.told >= self.free and at - count.at < self.pause:
                return 0
            if len(self._told) == FLOOD and at - self._told[0] < self.pause:
                self._hushed += 1
                return 0
            self._told.append(at)
            times, count.left = count.left, 0
            count.told, count.at = count.told + 1, at
            return times

    def hushed(self, at: float) -> int:
        """How many findings went untold in a flood, once it is over; they are told with this."""
        with self._lock:
            over = self._hushed and at - self._told[-1] >= self.pause
            found, self._hushed = (self._hushed, 0) if over else (0, self._hushed)
            return found


def flood(at: float, session: str, root: str, count: int) -> Entry:
    """So many findings more, as one entry."""
    what = f"SENTINEL: {count} more changes of restricted files came in one burst, and were treated alike."
    data = {
        "path": root,
        "kind": "changed",
        "done": ChangeDecision.PUT_BACK.value,
        "what": what,
        "check": "unannounced",
    }
    return Entry(at, session, "watch", data, "L2")


def entry(at: float, session: str, tampering: Tampering, text: str, *, diff: str, seen: Sequence[Process]) -> Entry:
    """The finding as it goes on record."""
    data: dict[str, object] = {
        "path": tampering.path,
        "kind": tampering.kind,
        "done": tampering.word.value,
        "kept": tampering.kept,
        "what": text,
        "check": "unannounced",
        **({"keys": [".".join(key) for key in tampering.keys[:NAMED]]} if tampering.keys else {}),
        **({"strike": tampering.strike} if tampering.strike else {}),
        "processes": [{"pid": p.pid, "name": visible(p.name), "command": _command(p)} for p in seen[:NAMED]],
    }
    redacted = redact_data(data)
    assert isinstance(redacted, dict)
    return Entry(at, session, "watch", {**redacted, "diff": diff}, level(tampering))


def difference(tampering: Tampering, versions: tuple[bytes | None, bytes | None]) -> str:
    """What changed in it, without what is in it; empty where that says nothing."""
    if tampering.kind not in ("changed", "created", "deleted"):
        return ""
    return redacted_diff.change(tampering.path, *versions)


def sentence(tampering: Tampering, times: int = 1) -> str:
    """For the person, and for the record."""
    done = _DONE.get(tampering.kind, tampering.kind)
    often = f" ({times} times since it was last told)" if times > 1 else ""
    head = f"SENTINEL: the {_kind(tampering)} {visible(tampering.path)} was {done}{_keys(tampering)}"
    if tampering.problem:
        failed = "put back" if tampering.word is ChangeDecision.PUT_BACK else "taken as the new original"
        return f"{head}, and could not be {failed}: {tampering.problem}."
    if tampering.word is ChangeDecision.TAKE:
        return f"{head} {_whose(tampering)}. What is there now is the new original."
    back = "It was moved away" if tampering.kind == "created" else "It was put back as it was"
    kept = f"; the other version is in {visible(tampering.kept)}" if tampering.kept else ""
    many = f" ({tampering.dropped} between the first {FIRST} and the last {LAST} are gone)" if tampering.dropped else ""
    return f"{head} by a program that nobody allowed to{often}. {back}{kept}{many}. {_way(tampering)}"


def notice(tampering: Tampering, root: str, text: str, diff: str, seen: Sequence[Process]) -> str:
    """For the person's screen: a line for what they did themselves, else what was done, to what, and who ran."""
    if tampering.word is ChangeDecision.TAKE and not tampering.problem:
        name = visible(tampering.path.removeprefix(f"{root}/"))
        return (
            f"SENTINEL: {name} was {_DONE.get(tampering.kind, tampering.kind)}{_keys(tampering)} {_whose(tampering)}."
        )
    lines = diff.splitlines()
    more = ["..."] if len(lines) > LINES else []
    return "\n".join([text, *lines[:LINES], *more, *([f"Running then: {running(seen)}"] if seen else [])])


def detail(rows: Sequence[tuple[Tampering, str]]) -> str:
    """What a question about these changes shows: each with what changed in it."""
    return "\n".join(f"{visible(t.path)} was {_DONE.get(t.kind, t.kind)}\n{diff}".rstrip() for t, diff in rows)


def level(tampering: Tampering) -> str:
    """The protocol's level: the person's own change has none."""
    return "L2" if tampering.word is ChangeDecision.PUT_BACK or tampering.problem else ""


def running(seen: Sequence[Process]) -> str:
    """Processes for a person: ``python3 (pid 12), node (pid 13)``."""
    return ", ".join(f"{visible(p.name)} (pid {p.pid})" for p in seen[:NAMED])


def _kind(tampering: Tampering) -> str:
    return "agent's settings file" if tampering.keys else "restricted file"


def _keys(tampering: Tampering) -> str:
    """Which keys differ, where not the whole file counts: `` (hooks.PreToolUse, mcpServers.x)``."""
    names = [visible(".".join(key)) for key in tampering.keys if key != EVERYTHING]
    more = [f"{len(names) - KEYS} more"] if len(names) > KEYS else []
    return f" ({redact(', '.join([*names[:KEYS], *more]))})" if names else ""


def _whose(tampering: Tampering) -> str:
    if tampering.agreed:
        return "and stays, as you said"
    if tampering.by_git:
        return "by git"
    if tampering.announced:
        return "as you allowed" if tampering.keys else "in a window that you opened"
    return "right after you typed: taken as your answer" if tampering.answered else _IDLE


def _way(tampering: Tampering) -> str:
    return f"Was it you? 'sentinel-guard allow {visible(tampering.path)}' opens a window for your own changes."


def _command(process: Process) -> str:
    return visible(shorten(redact(" ".join(process.command)), SHOWN))
