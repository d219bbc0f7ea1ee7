"""Gemini CLI: a line when a reply has come, and again when its calls have ended; an id counts once."""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.agents.token_records.base import (
    Conversation,
    Form,
    Json,
    TokenRecord,
    count,
    mapping,
    moment,
)
from sentinel_guard.core.model import Usage


def _conversation(_path: str, first: Json) -> Conversation:
    """``projectHash`` is the SHA-256 of the work folder's path."""
    return Conversation(frozenset((str(first.get("sessionId", "")),)), str(first.get("projectHash", "")))


def parse(line: Json) -> Iterable[Usage]:
    """``input`` includes what was cached; thoughts and what tools added are counted apart from ``output``."""
    if line.get("type") != "gemini" or "tokens" not in line:
        return
    used = mapping(line["tokens"])
    cached = count(used, "cached", missing=0)
    yield Usage(
        moment(line.get("timestamp")),
        max(0, count(used, "input") - cached) + count(used, "tool", missing=0),
        count(used, "output") + count(used, "thoughts", missing=0),
        cached,
        source=RECORD.agent,
        key=str(line["id"]),
        model=str(line.get("model", "")),
    )


RECORD = TokenRecord(
    "gemini",
    Form.LINES,
    (("", ".gemini/tmp"),),
    ("*/chats/*.jsonl", "*/chats/*/*.jsonl"),
    _conversation,
    lambda: parse,
    marks=(b'"tokens"',),
)
