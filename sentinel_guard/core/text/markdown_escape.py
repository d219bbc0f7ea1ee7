"""Escape untrusted text for Markdown, so that it cannot become structure, and unescape it.

Rules of this file:
1. Nothing that comes from an agent can end a line, a cell, a code span or block, or the machine's part of a report.
2. What stands in a code span of a table comes back as it was (``uncoded``): a report is read by programs too.
"""

from __future__ import annotations

import re

from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.redact_by_pattern import redact

COMMENT = "<!-- sentinel:"
"""What every comment of ours begins with, and no text of others does."""
MAX_CELL = 160
"""Characters."""
NEWLINE = "⏎"
"""A line's end, where everything stands on one line."""


def line(text: str) -> str:
    """As one line of prose."""
    return no_link(_no_comment(visible(redact(" ".join(text.split()))))).replace("<", "&lt;").replace("`", "'")


def cell(text: str) -> str:
    """As prose in a table."""
    return _cut(line(text)).replace("|", "\\|")


def code_span(text: str) -> str:
    """As a code span in a table; empty for nothing. What is too long ends in ``…``."""
    lines = [part.rstrip() for part in redact(text.strip()).replace("\r\n", "\n").split("\n")]
    said = _cut(_no_comment(visible(f" {NEWLINE} ".join(lines))))
    fence = _fence(said, 1)
    pad = " " if said.startswith("`") or said.endswith("`") else ""
    return f"{fence}{pad}{said}{pad}{fence}".replace("|", "\\|") if said else ""


def unescape_code_span(span: str) -> str:
    """What ``coded`` was given, apart from what it hid, made visible or cut off."""
    said = span.strip().replace("\\|", "|")
    fence = len(said) - len(said.lstrip("`"))
    inner = said[fence:-fence] if fence else said
    inner = inner[1:-1] if inner.startswith(" ") else inner
    return inner.replace(f" {NEWLINE} ", "\n")


def block(text: str, language: str = "") -> str:
    """As a code block."""
    fence = _fence(text, 3)
    return f"{fence}{language}\n{_no_comment(text)}\n{fence}"


def section(title: str, lines: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def _fence(text: str, least: int) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def no_link(text: str) -> str:
    """Without links and images: whoever looks at a report would load an image from where an agent wants."""
    return text.replace("](", "] (")


def _no_comment(text: str) -> str:
    return text.replace("<!--", "<! --")


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…"
