"""Inline comments that allow a find on their line: ``sentinel:allow``, and those of other secret scanners."""

from __future__ import annotations

import re

_ALLOWED = re.compile(
    r"\b(?:sentinel:\s{0,3}allow|gitleaks:allow|pragma:\s{0,3}(?:allow|white)list\s{1,3}secret)\b", re.IGNORECASE
)


def allows(line: str) -> bool:
    """Whether the line carries such a comment: ours, or one that other scanners read."""
    return bool(_ALLOWED.search(line))
