"""Registry of the coding agents whose own record of tokens can be read."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from sentinel_guard.agents.token_records import claude, cline, codex, copilot, gemini, opencode, qwen
from sentinel_guard.agents.token_records.base import Conversation, TokenRecord

RECORDS: tuple[TokenRecord, ...] = (
    claude.RECORD,
    cline.RECORD,
    codex.RECORD,
    copilot.RECORD,
    gemini.RECORD,
    opencode.RECORD,
    qwen.RECORD,
)


def of_agent(name: str) -> TokenRecord | None:
    """The record of the agent of this name (``agents/registry``)."""
    return next((record for record in RECORDS if record.agent == name), None)


def belongs(conversation: Conversation, named: Collection[str], folders: Collection[str]) -> bool:
    """Whether a conversation is one that a client of a session has, by the ids that its tools were told.

    Where they were told none: by the folder in which it works, one of ``folders`` (absolute) or below.
    """
    if named:
        return not conversation.names.isdisjoint(named)
    return any(_is_in(conversation.folder, folder) for folder in folders)


def _is_in(told: str, folder: str) -> bool:
    hashed = hashlib.sha256(folder.encode(errors="surrogateescape")).hexdigest()
    dashed = claude.folder_name(folder)
    return told in (hashed, dashed) or f"{told}/".startswith(f"{folder}/")
