"""Redact texts before they are logged or shown: the user's own secrets, and values in a secret format.

``core/text/redact_by_pattern.py`` hides what stands in a secret's place; this hides what is one wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from sentinel_guard.core.secrets.model import Grade, SecretFind
from sentinel_guard.core.secrets.scan_text import scan, without_overlaps
from sentinel_guard.core.secrets.user_secrets.choose_secret_values import SHORT
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING, UserSecrets
from sentinel_guard.core.secrets.user_secrets.truncated_match import LEAST
from sentinel_guard.core.text.redact_by_pattern import MARK, redact, redact_glued_tokens

CUT = "…"
_CUTS = re.compile(rf"([ \t]{{0,2}}{CUT}[ \t]{{0,2}})")
_CONTEXT = 8192
"""Characters behind a cut that are looked at: a secret may go on there."""
_CUTTABLE, _TELLING = 80, 12
"""Characters of the shortest text that anything cuts; and of a piece of a value that is none by chance in a shorter."""
_REMEMBERED = 200
"""Characters: ids, names and short commands come again and again."""
_KEPT = frozenset(
    (
        *("id", "operation", "operations", "parent", "call", "event", "seal", "rescue", "root", "start_hash"),
        *("error", "output", "before", "after", "question", "hash"),
    )
)
"""Fields of an entry by which the guard finds its way: ids, digests, folders. Nobody else's words are in them."""
_PIECES = frozenset({"effects", "excerpt"})
"""Fields whose texts an analysis, or the end of what was kept of an output, may have cut."""


def redact_secrets(text: str, known: UserSecrets) -> str:
    """The text with each secret in it replaced by ``<redacted>``, and what is left of one beside an ellipsis."""
    if len(text) < SHORT or (len(text) <= _REMEMBERED and not known and _shows_nothing(text)):
        return text
    text = redact_glued_tokens(text)
    for leak in reversed(without_overlaps([*known.every(text), *_by_form(text)])):
        text = f"{text[: leak.start]}{MARK}{text[leak.end :]}"
    return _beside_cuts(text, known) if CUT in text else text


def redact_truncated(text: str, known: UserSecrets) -> str:
    """The same for a text that may have been cut at both ends, without a mark."""
    least = LEAST if len(text) >= _CUTTABLE else _TELLING
    return _without_tail(_without_head(redact_secrets(text, known), known, least), known, least)


def shorten(text: str, most: int, known: UserSecrets = NOTHING) -> str:
    """The text in at most so many characters. Secrets in it are hidden first: in two, nobody knows them any more."""
    if len(text) <= most:
        return text
    hidden = _without_tail(redact_secrets(redact(text[: most + _CONTEXT]), known), known)
    whole = len(hidden) <= most and len(text) <= most + _CONTEXT
    return hidden if whole else f"{hidden[: most - len(CUT)]}{CUT}"


def _beside_cuts(text: str, known: UserSecrets) -> str:
    parts = _CUTS.split(text)
    for at in range(0, len(parts), 2):
        parts[at] = _without_head(parts[at], known) if at else parts[at]
        parts[at] = _without_tail(parts[at], known) if at < len(parts) - 1 else parts[at]
    return "".join(parts)


def _without_tail(text: str, known: UserSecrets, least: int = LEAST) -> str:
    length = known.edges.begun(text)
    return f"{text[:-length]}{MARK}" if length >= least else text


def _without_head(text: str, known: UserSecrets, least: int = LEAST) -> str:
    length = known.edges.ended(text)
    return f"{MARK}{text[length:]}" if length >= least else text


def redact_secrets_in_data(
    data: object, known: UserSecrets, way: Callable[[str, UserSecrets], str] = redact_secrets
) -> object:
    """JSON-able data with every text in it hidden so, but for the fields by which the guard finds its way."""
    if isinstance(data, str):
        return way(data, known)
    if isinstance(data, Mapping):
        return {
            redact_secrets(k, known): v
            if k in _KEPT
            else redact_secrets_in_data(v, known, redact_truncated if k in _PIECES else way)
            for k, v in data.items()
        }
    if isinstance(data, list | tuple):
        return [redact_secrets_in_data(item, known, way) for item in data]
    return data


def _by_form(text: str) -> tuple[SecretFind, ...]:
    return _remembered(text) if len(text) <= _REMEMBERED else _scanned(text)


def _scanned(text: str) -> tuple[SecretFind, ...]:
    return tuple(leak for leak in scan(text, generic=False) if leak.grade is Grade.BLOCK)


_remembered = lru_cache(maxsize=2048)(_scanned)


@lru_cache(maxsize=2048)
def _shows_nothing(text: str) -> bool:
    """Whether nothing of a text is hidden where no value of the user's is known."""
    return CUT not in text and redact_glued_tokens(text) == text and not _scanned(text)
