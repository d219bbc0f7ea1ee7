"""GitHub Copilot CLI: a record for each request to a model, of side requests and subagents, too."""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.agents.token_records.base import (
    Conversation,
    Form,
    Json,
    TokenRecord,
    counts_with_cache,
    mapping,
    moment,
)
from sentinel_guard.core.model import Usage


def _conversation(path: str, first: Json) -> Conversation:
    told = mapping(first.get("data"))
    names = (path.split("/")[-2], str(told.get("sessionId", "")))
    return Conversation(frozenset(filter(None, names)), str(mapping(told.get("context")).get("cwd", "")))


def parse(line: Json) -> Iterable[Usage]:
    if line.get("type") != "session.usage_record":
        return
    used = mapping(mapping(line.get("data")).get("usage"))
    yield Usage(
        moment(line.get("timestamp")),
        *counts_with_cache(used),
        source=RECORD.agent,
        key=str(line["id"]),
        model=str(used.get("model", "")),
        compaction="compact" in str(used.get("interactionType", "")),
    )


RECORD = TokenRecord(
    "copilot",
    Form.LINES,
    (("COPILOT_HOME", "session-state"), ("", ".copilot/session-state")),
    ("{name}/events.jsonl",),
    _conversation,
    lambda: parse,
    named_by="COPILOT_AGENT_SESSION_ID",
    marks=(b'"session.usage_record"',),
)
