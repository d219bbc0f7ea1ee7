"""What was there at the start, had not been kept, and is changed or gone: a rollback names it instead of saying that
all is as it was.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from sentinel_guard.host.recovery.baseline.late_files import CACHES
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

TOO_LARGE = "was changed and had not been kept: too large or not readable"
UNSETTLED = "was written to as the session began, and differs from what it was then"
GONE = "was ignored, had not been kept, and is gone"
GENERATED = "was generated, had not been kept, and is gone"
SHUT = "could not be read when the session began, and was touched since"
PIPE = "was a named pipe or a device, and is gone"
ELSEWHERE = "was the folder of another worktree, which is not kept from here, and is gone"


def changed_or_gone(baseline: Baseline, unkept: Iterable[str], unsettled: Iterable[str]) -> dict[str, str]:
    """Name -> what became of it, in words that follow the name.

    ``unkept``, ``unsettled``: files that were found to differ, of which size and times alone are known, or which were
    written to while the baseline was taken.
    """
    rest, root = baseline.rest, baseline.root
    return {
        **dict.fromkeys(sorted(unkept), TOO_LARGE),
        **dict.fromkeys(sorted(unsettled), UNSETTLED),
        **{n: SHUT for n, at in rest.shut.items() if _changed(f"{root}/{n}") != at},
        **{n: PIPE for n in rest.pipes if not _is_special(f"{root}/{n}")},
        **{n: GENERATED for n in rest.generated if not os.path.lexists(f"{root}/{n.rstrip('/')}")},
        **dict.fromkeys(_gone(baseline), GONE),
        **{n: ELSEWHERE for n in rest.elsewhere if not os.path.lexists(n)},
    }


def _gone(baseline: Baseline) -> list[str]:
    """Of what was ignored as a whole, what is not there, without what is kept, or named otherwise."""
    names = [name for n in baseline.ignored if not os.path.lexists(f"{baseline.root}/{(name := n.rstrip('/'))}")]
    if not names:
        return []
    raw, rest = baseline.raw, baseline.rest
    known = {*raw, *rest.empty, *(n.rstrip("/") for n in rest.generated)}
    held = {name[:at] for name in (*raw, *rest.empty) for at, letter in enumerate(name) if letter == "/"}
    return [n for n in names if n not in known and n not in held and CACHES.isdisjoint(n.split("/"))]


def _changed(path: str) -> int:
    """Nanoseconds of the epoch; 0 where nothing is."""
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return 0


def _is_special(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode))
