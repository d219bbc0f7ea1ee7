"""opencode: it gives its shell the model's command as it is."""

from __future__ import annotations

from sentinel_guard.agents.base import CodingAgent, Start, given, subcommand


def _start(words: tuple[str, ...]) -> Start:
    return Start(words, refused=subcommand(words, ("attach",)) or given(words, "--attach"))


AGENT = CodingAgent(
    "opencode",
    frozenset({"opencode", "opencode-ai"}),
    patience=110.0,  # ends a call after 120
    start=_start,
    servers=r"^[^\0]+\0(?:serve|web)\0",
)
