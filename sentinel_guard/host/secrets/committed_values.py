"""Which values already stand in a given commit: what everybody has is no secret any more.

Rules of this file:
1. git is asked about what was found only, about all of it at once, in a thread of its own; by its standard input.
2. Nobody waits for it longer than ``patience``. Until it has answered a value counts as secret.
"""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Collection, Iterable

from sentinel_guard.errors import HostError

AGAIN = 2.0
"""Seconds for which an answer of git's on what moves (``HEAD``) holds: in one change a value may stand often."""
PATIENCE = 5.0
"""Seconds for which git is waited for."""
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""A commit by its own name: what stands in it never changes."""


class _Answer:
    """What git says about some values, sooner or later."""

    def __init__(self) -> None:
        self.asked, self.given = time.monotonic(), threading.Event()
        self.standing: set[str] = set()


class Committed:
    """Which values stand in a commit. git runs in a thread of its own: nobody waits the seconds that it may take."""

    def __init__(self, root: str, base: str, patience: float) -> None:
        self._root, self._base, self._patience = root, base, patience
        self._again = math.inf if _ID.fullmatch(base) else AGAIN
        self._answers: dict[str, _Answer] = {}
        self._lock = threading.Lock()

    def __call__(self, values: Collection[str]) -> set[str]:
        if not self._base:
            return set()
        with self._lock:
            if new := [value for value in values if self._is_open(value)]:
                self._answers |= dict.fromkeys(new, self._ask(new))
            answers = {value: self._answers[value] for value in values}
        for answer in answers.values():
            answer.given.wait(max(0.0, answer.asked + self._patience - time.monotonic()))
        return {value for value, answer in answers.items() if value in answer.standing}

    def foresee(self, values: Collection[str]) -> None:
        """Ask now about all that may be found, where the answer holds for good."""
        if self._again == math.inf and values:
            with self._lock:
                self._answers |= dict.fromkeys(values, self._ask(list(values)))

    def _is_open(self, value: str) -> bool:
        """Whether it is to be asked about: what stands in a commit stays so, what does not may do so by now."""
        answer = self._answers.get(value)
        if answer is None:
            return True
        stale = time.monotonic() > answer.asked + self._again
        return stale and answer.given.is_set() and value not in answer.standing

    def _ask(self, values: list[str]) -> _Answer:
        answer = _Answer()

        def ask() -> None:
            answer.standing = _standing(self._root, self._base, values)
            answer.given.set()

        threading.Thread(target=ask, name="committed", daemon=True).start()
        return answer


def _standing(root: str, base: str, values: Iterable[str]) -> set[str]:
    """The values that stand in a commit."""
    from sentinel_guard.host.git.private_git_dir import layout  # noqa: PLC0415 - a commit waits, and asks only about what it finds

    stdin = b"".join(os.fsencode(value) + b"\n" for value in values)
    try:
        out = layout(root).git.run("grep", "-a", "-o", "-h", "-F", "-f", "-", base, "--", stdin=stdin, ok=(0, 1))
    except (HostError, ValueError):
        # No such commit, or no git: then nobody has seen it.
        return set()
    seen = set(os.fsdecode(out).split("\n"))
    return {value for value in values if any(value in found for found in seen)}
