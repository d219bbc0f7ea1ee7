"""Escape control characters and invisible or reordering Unicode in a text, so that a terminal may show it."""

from __future__ import annotations


def visible(text: str, keep: str = "") -> str:
    r"""The text with what a terminal would obey, reorder or not show written out (``\x1b``, ``\u202e``)."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c in keep else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
