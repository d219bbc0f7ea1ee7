"""Claude Code: a line for each part of a reply, each with the whole reply's counts so far; the last one is final.

A subagent's conversation lies in a folder that is named after its parent's.
"""

from __future__ import annotations

import re
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

MADE_UP = "<synthetic>"
"""Model of a reply that the client wrote itself: of an error, say."""


def _conversation(path: str, _first: Json) -> Conversation:
    """The folder's name is that of the work folder, with a dash for all but letters and digits: it cannot be undone."""
    parts = path.split("/")
    stem = parts[-1].removesuffix(".jsonl")
    parent = parts[-3] if parts[-2] == "subagents" else stem
    project = parts[-4] if parts[-2] == "subagents" else parts[-2]
    return Conversation(frozenset((stem, parent)), project)


def folder_name(folder: str) -> str:
    """What it calls a work folder."""
    return re.sub(r"[^A-Za-z0-9]", "-", folder)


def _parser() -> Parser:
    shortened = False

    def parse(line: Json) -> Iterable[Usage]:
        nonlocal shortened
        if line.get("subtype") == "compact_boundary":
            shortened = True
        message = mapping(line.get("message"))
        if line.get("type") != "assistant" or message.get("model") == MADE_UP or "usage" not in message:
            return
        used = mapping(message["usage"])
        after, shortened = shortened, False
        yield Usage(
            moment(line.get("timestamp")),
            count(used, "input_tokens"),
            count(used, "output_tokens"),
            count(used, "cache_read_input_tokens", missing=0),
            count(used, "cache_creation_input_tokens", missing=0),
            source=RECORD.agent,
            key=str(message["id"]),
            model=str(message.get("model", "")),
            compaction=after,
        )

    return parse


RECORD = TokenRecord(
    "claude",
    Form.LINES,
    (("CLAUDE_CONFIG_DIR", "projects"), ("", ".claude/projects")),
    ("*/{name}.jsonl", "*/{name}/subagents/*.jsonl"),
    _conversation,
    _parser,
    named_by="CLAUDE_CODE_SESSION_ID",
    marks=(b'"usage"', b'"compact_boundary"'),
)
