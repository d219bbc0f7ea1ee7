"""Joins files again that were hard links of each other when the session began, once all have their content."""

from __future__ import annotations

import filecmp

from sentinel_guard.host.recovery.baseline.baseline_diff import broken_links
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline


def join(baseline: Baseline) -> list[str]:
    """Returns what could not be joined, in words: what is not the same stays apart."""
    tree, problems = baseline.tree, list[str]()
    broken = frozenset(broken_links(baseline))
    for names in baseline.rest.links:
        there = [n for n in names if tree.lstat(n)]
        for name in (n for n in there if n in broken):
            try:
                if _same(baseline, there[0], name):
                    tree.join(name, there[0])
            except OSError as e:
                problems.append(f"{name} could not be made a hard link of {there[0]} again: {e.strerror}.")
    left = [n for n in broken_links(baseline) if not any(p.startswith(f"{n} ") for p in problems)]
    return [*problems, *(f"{n} is no hard link any more of what it was one of." for n in left)]


def _same(baseline: Baseline, one: str, other: str) -> bool:
    seen = [baseline.tree.lstat(n) for n in (one, other)]
    if None in seen or len({s.st_mode for s in seen if s}) > 1:
        return False
    return filecmp.cmp(f"{baseline.root}/{one}", f"{baseline.root}/{other}", shallow=False)
