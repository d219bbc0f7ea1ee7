"""GitHub Copilot CLI: a record for each request to a model, of side requests and subagents, too."""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.agents.token_records.base import (
    Conversation,
    Form,
    Json,
    Parser,
    TokenRecord,
    count,
    mapping,
    moment,
)
from sentinel_guard.core.model import Usage


def _conversation(path: str, first: Json) -> Conversation:
    told = mapping(first.get("data"))
    names = (path.split("/")[-2], str(told.get("sessionId", "")))
    return Conversation(frozenset(filter(None, names)), str(mapping(told.get("context")).get("cwd", "")))


def parse(line: Json) -> Iterable[Usage]:
    """``inputTokens`` includes what was cached and what was written to the cache."""
    if line.get("type") != "session.usage_record":
        return
    used = mapping(mapping(line.get("data")).get("usage"))
    cached, written = (count(used, name, missing=0) for name in ("cacheReadTokens", "cacheWriteTokens"))
    yield Usage(
        moment(line.get("timestamp")),
        max(0, count(used, "inputTokens") - cached - written),
        count(used, "outputTokens"),
        cached,
        written,
        source=RECORD.agent,
        key=str(line["id"]),
        model=str(used.get("model", "")),
        compaction="compact" in str(used.get("interactionType", "")),
    )


def _parser() -> Parser:
    return parse


RECORD = TokenRecord(
    "copilot",
    Form.LINES,
    (("COPILOT_HOME", "session-state"), ("", ".copilot/session-state")),
    ("{name}/events.jsonl",),
    _conversation,
    _parser,
    named_by="COPILOT_AGENT_SESSION_ID",
    marks=(b'"session.usage_record"',),
)
