"""Gemini CLI: its wrapper runs the command in a subshell that notes its background jobs."""

from __future__ import annotations

import re

from sentinel_guard.agents.base import CodingAgent, Framed

_FRAME = (
    r"(?s)"
    r"(?:shopt -u promptvars nullglob extglob nocaseglob dotglob; )?_bgpids_file=/tmp/gemini-shell-\w+/bgpids\.tmp\n"
    r"\(\n  trap 'jobs -p > \"\$_bgpids_file\"' EXIT\n(?P<command>.*)\n\)\n__code=\$\?\nexit \$__code"
)


def _unwrap(text: str) -> Framed | None:
    match = re.fullmatch(_FRAME, text)
    return Framed(match["command"], text) if match else None


AGENT = CodingAgent(
    "gemini",
    frozenset({"gemini"}),
    _unwrap,
    marks=("_bgpids_file=",),
    patience=280.0,  # ends a call that has been silent for 300
)
