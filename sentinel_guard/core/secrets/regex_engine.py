r"""Compile regular expressions when first needed, by RE2 where it is installed (extra ``re2``), else by ``re``.

Both read a pattern alike: classes such as ``\w`` take in ASCII only, and no pattern has what RE2 has not.
"""

from __future__ import annotations

import functools
import re
from typing import Any

try:
    import re2 as _engine
except ImportError:
    _engine = None


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A format's pattern; ASCII classes."""
    if _engine is None:
        return re.compile(pattern, re.ASCII)
    found: Any = _engine.compile(pattern)
    return found  # type: ignore[no-any-return]  # its objects do what those of re do


@functools.cache
def compile_with_re(pattern: str) -> re.Pattern[str]:
    """A pattern that only ``re`` understands (what it repeats is never given back, what stands before is looked at)."""
    return re.compile(pattern)


def searchable(text: str) -> str:
    """The text, each character in its place, without what is no UTF-8: RE2 refuses that."""
    return text if text.isascii() else compile_with_re("[\ud800-\udfff]").sub("\ufffd", text)
