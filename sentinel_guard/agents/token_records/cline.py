"""Cline CLI: one file of all messages, written anew with each; beside it one that tells of the conversation."""

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

ENDING = ".messages.json"


def _about(path: str) -> str:
    """That of the session, which its folder is named after; those of subagents lie in it, too."""
    folder = path.rpartition("/")[0]
    return f"{folder}/{folder.rpartition('/')[2]}.json"


def _conversation(_path: str, first: Json) -> Conversation:
    return Conversation(frozenset((str(first.get("session_id", "")),)), str(first.get("cwd", "")))


def parse(document: Json) -> Iterable[Usage]:
    messages = document["messages"]
    if not isinstance(messages, list):
        raise TypeError("messages is no list")
    for message in map(mapping, messages):
        if message.get("role") == "assistant" and "metrics" in message:
            yield _used(message, mapping(message["metrics"]))


def _used(message: Json, used: Json) -> Usage:
    return Usage(
        moment(message.get("ts")),
        *counts_with_cache(used),
        source=RECORD.agent,
        key=str(message["id"]),
        model=str(mapping(message.get("modelInfo")).get("id", "")),
    )


RECORD = TokenRecord(
    "cline",
    Form.DOCUMENT,
    (
        ("CLINE_SESSION_DATA_DIR", ""),
        ("CLINE_DATA_DIR", "sessions"),
        ("CLINE_DIR", "data/sessions"),
        ("", ".cline/data/sessions"),
    ),
    (f"{{name}}/*{ENDING}",),
    _conversation,
    lambda: parse,
    about=_about,
)
