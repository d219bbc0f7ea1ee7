"""Qwen Code: it gives its shell the model's command as it is."""

from __future__ import annotations

from sentinel_guard.agents.base import CodingAgent

AGENT = CodingAgent(
    "qwen",
    frozenset({"qwen", "qwen-code"}),
    patience=110.0,  # ends a call after 120
    servers=r"/(?:qwen|cli\.js)\0serve\0",
)
