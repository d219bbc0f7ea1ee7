"""Cline CLI: it gives its shell the model's command as it is."""

from __future__ import annotations

import re

from sentinel_guard.agents.base import CodingAgent, Start, given, subcommand

_ZEN = r"-[Vahipvyz]*z[Vahipvyz]*"
"""``-z``, alone or among other short options without a value."""


def _start(words: tuple[str, ...]) -> Start:
    zen = given(words, "--zen") or next((word for word in words if re.fullmatch(_ZEN, word)), "")
    return Start(words, refused=subcommand(words, ("connect", "dashboard", "hub", "schedule")) or zen)


AGENT = CodingAgent(
    "cline",
    frozenset({"cline"}),
    patience=25.0,  # ends a call after 30
    start=_start,
    # Its full screen works in a hub that it finds here, and leaves one behind.
    environ={"CLINE_HUB_DISCOVERY_PATH": "{folder}/cline/hub.json"},
    servers=r"\0--cline-hub-daemon\0",
)
