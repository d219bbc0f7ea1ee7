"""Secrets are taken out of what goes on record or is told: the person's own values, and what has a secret's form.

``core/redact.py`` hides what stands in a secret's place; this hides what is one wherever it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sentinel_guard.core.leaks.base import Grade, Leak
from sentinel_guard.core.leaks.engine import scan, settled
from sentinel_guard.core.leaks.known import Known
from sentinel_guard.core.leaks.known_values import SHORT
from sentinel_guard.core.redact import MARK

_REMEMBERED = 200
"""Characters: ids, names and short commands come again and again."""
_KEPT = frozenset(
    (
        *("id", "operation", "operations", "parent", "call", "event", "seal", "rescue", "root", "start_hash"),
        *("error", "output", "before", "after", "question", "hash"),
    )
)
"""Fields of an entry by which the guard finds its way: ids, digests, folders. Nobody else's words are in them."""


def hide(text: str, known: Known) -> str:
    """The text with each secret in it replaced by ``<redacted>``."""
    if len(text) < SHORT:
        return text
    for leak in reversed(settled([*known.every(text), *_by_form(text)])):
        text = f"{text[: leak.start]}{MARK}{text[leak.end :]}"
    return text


def hide_data(data: object, known: Known) -> object:
    """JSON-able data with every text in it hidden so, but for the fields by which the guard finds its way."""
    if isinstance(data, str):
        return hide(data, known)
    if isinstance(data, Mapping):
        return {hide(k, known): v if k in _KEPT else hide_data(v, known) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [hide_data(item, known) for item in data]
    return data


def _by_form(text: str) -> tuple[Leak, ...]:
    return _remembered(text) if len(text) <= _REMEMBERED else _scanned(text)


def _scanned(text: str) -> tuple[Leak, ...]:
    return tuple(leak for leak in scan(text, generic=False) if leak.grade is Grade.BLOCK)


_remembered = lru_cache(maxsize=2048)(_scanned)
