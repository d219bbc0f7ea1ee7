"""A found secret's redacted form (public prefix and length) and its keyed fingerprint, an HMAC-SHA256 (R3)."""

from __future__ import annotations

import functools
import hashlib
import hmac

from sentinel_guard.core.secrets.formats.registry import FORMATS

HEX = 16
"""Hex digits of a fingerprint."""


def mask(value: str, rule: str = "") -> str:
    """``<ghp_… 40 characters>``: what all values of the rule start with, and the length; nothing of the rest."""
    start = max((n for n in _starts().get(rule, ()) if value.lower().startswith(n)), key=len, default="")
    return f"<{value[: len(start)]}… {len(value)} characters>"


def fingerprint(value: str, key: bytes) -> str:
    """A keyed hash (HMAC-SHA256): equal values can be matched by who has the key, and by nobody else."""
    return hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:HEX]


@functools.cache
def _starts() -> dict[str, tuple[str, ...]]:
    return {row.rule: row.needles for row in FORMATS}
