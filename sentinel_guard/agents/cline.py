"""Cline CLI: it gives its shell the model's command as it is."""

from __future__ import annotations

from sentinel_guard.agents.base import CodingAgent

AGENT = CodingAgent("cline", frozenset({"cline"}), patience=25.0)  # ends a call after 30
