"""Qwen Code: a line for each reply, with Gemini's names for the counts; subagents have files of their own."""

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


def _conversation(path: str, first: Json) -> Conversation:
    folder, name = path.split("/")[-2:]
    # A subagent's lies in a folder that is named after its parent's.
    names = (name.removesuffix(".jsonl") if folder == "chats" else folder, str(first.get("sessionId", "")))
    return Conversation(frozenset(filter(None, names)), str(first.get("cwd", "")))


def parse(line: Json) -> Iterable[Usage]:
    """Thoughts are a part of the candidates or not, by the model's provider; the total tells."""
    if line.get("type") != "assistant" or "usageMetadata" not in line:
        return
    used = mapping(line["usageMetadata"])
    taken, cached = count(used, "promptTokenCount"), count(used, "cachedContentTokenCount", missing=0)
    output = count(used, "candidatesTokenCount", missing=0)
    output = max(output, count(used, "totalTokenCount", missing=0) - taken)
    yield Usage(
        moment(line.get("timestamp")),
        max(0, taken - cached),
        output,
        cached,
        source=RECORD.agent,
        key=str(line["uuid"]),
        model=str(line.get("model", "")),
    )


RECORD = TokenRecord(
    "qwen",
    Form.LINES,
    (("QWEN_CODE_PROJECT_DIR", ".."), ("", ".qwen/projects")),  # the first is what it tells its tools
    ("*/chats/{name}.jsonl", "*/subagents/{name}/*.jsonl"),
    _conversation,
    lambda: parse,
    named_by="QWEN_CODE_SESSION_ID",
    marks=(b'"usageMetadata"',),
)
