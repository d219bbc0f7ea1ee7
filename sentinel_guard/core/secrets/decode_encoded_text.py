"""Decode base64 (both alphabets) and percent-encoded runs of a text, so that they are searched, too. One level deep.

Rules of this file:
1. Time is linear: every character belongs to one run of a kind at most, and is decoded once.
2. Only what decodes to text counts; a picture, a key or an identifier does not.
"""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

SHORTEST = 24
"""Characters of a run: fewer hold no secret."""
_URL_ALPHABET = str.maketrans("-_", "+/")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_IN, _OUT = b"a", b" "


def _kinds(letters: str) -> bytes:
    """A table for ``bytes.translate``: a run's own bytes become ``a``, all others a blank."""
    return bytes((_IN if chr(n) in letters else _OUT)[0] for n in range(256))


_ALNUM = string.ascii_letters + string.digits
_BASE64 = _kinds(f"{_ALNUM}+/_-")
_PERCENT = _kinds(f"{_ALNUM}_.~%+!*()-")


class Run(NamedTuple):
    start: int
    end: int
    text: str
    """What it holds."""


def runs(text: str) -> Iterator[Run]:
    """Every run that decodes to text, with its place in characters."""
    data = text.encode("latin-1", "replace")
    for start, end in _long(data.translate(_BASE64)):
        run = text[start:end]
        if not (run.islower() or run.isupper()) and (held := from_base64(run)):  # names are, what is encoded never is
            padding = text[end : end + 2]
            yield Run(start, end + len(padding) - len(padding.lstrip("=")), held)
    for start, end in _long(data.translate(_PERCENT)) if "%" in text else ():
        run = text[start:end]
        if "%" in run and (held := _text(unquote_to_bytes(run))) and held != run:
            yield Run(start, end, held)


def _long(kinds: bytes) -> Iterator[tuple[int, int]]:
    """Where runs of SHORTEST characters or more stand; found by the search for a fixed text, which skips most of it."""
    end = 0
    while (start := kinds.find(_IN * SHORTEST, end)) >= 0:
        end = kinds.find(_OUT, start)
        end = len(kinds) if end < 0 else end
        yield start, end


def from_base64(run: str) -> str:
    """The text that is written in base64 in either alphabet, padded or not; empty where none is."""
    digits = run.rstrip("=").translate(_URL_ALPHABET)
    whole = digits[: len(digits) - (len(digits) % 4 == 1)]
    try:
        return _text(base64.b64decode(whole + "=" * (-len(whole) % 4)))
    except binascii.Error:
        return ""


def _text(data: bytes) -> str:
    """The bytes as text; empty for what is none. Windows writes two bytes a character."""
    wide = len(data) >= 4 and data[1:400:2].count(0) * 2 > len(data[1:400:2])
    try:
        text = data.decode("utf-16-le" if wide else "utf-8")
    except UnicodeDecodeError:
        return ""
    return "" if _CONTROL.search(text) else text
