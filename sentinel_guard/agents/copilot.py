"""GitHub Copilot CLI: it gives its shell the model's command as it is; of a detached one it notes the process first."""

from __future__ import annotations

import re

from sentinel_guard.agents.base import CodingAgent, Framed, Start, given, subcommand

_DETACHED = r"(?s)echo \$\$ > '/tmp/copilot-detached-[\w-]+\.pid'; (?P<command>.*)"
_LOGIN = (
    r"printf %s '__copilot_login_env_snapshot_\w+__'; "
    + re.escape("if ! command env -0 2>/dev/null; then for __copilot_k in $(compgen -e); do ")
    + re.escape("""printf '%s=%s\\0' "$__copilot_k" "${!__copilot_k}"; done; fi""")
)


def _unwrap(text: str) -> Framed | None:
    match = re.fullmatch(_DETACHED, text)
    return Framed(match["command"], text) if match else None


_NO_SHELL = frozenset(
    (
        "completion", "config", "help", "instruction", "login", "lsp", "mcp", "memories", "plugin", "sandbox",
        "sessions", "skill", "update", "version",
    )
)  # fmt: skip
"""Subcommands in which no model runs commands."""
_OFF = {("--bash-env=off",), ("--bash-env", "off")}


def _start(words: tuple[str, ...]) -> Start:
    first = words[0] if words else ""
    if elsewhere := given(words, "--connect") or subcommand(words, ("app",)):
        return Start(words, refused=elsewhere)
    if first in _NO_SHELL or given(words, "-h", "--help", "-v", "--version"):
        return Start(words)
    pairs = (words[i : i + n] for i in range(len(words)) for n in (1, 2))
    if off := given(words, "--no-bash-env") or " ".join(next((pair for pair in pairs if pair in _OFF), ())):
        return Start(words, note="copilot is started without BASH_ENV: what its shell runs is not seen", unseen=off)
    if given(words, "--bash-env"):
        return Start(words)
    note = "copilot is started with --bash-env, so that its shell is seen; it keeps that as its setting"
    return Start(("--bash-env=on", *words), "--bash-env=on", note=note)


AGENT = CodingAgent(
    "copilot",
    frozenset({"copilot"}),
    _unwrap,
    marks=("/copilot-detached-",),
    patience=25.0,  # hands over what there is after 30
    own=(_LOGIN,),
    is_call=lambda argv, _environ: "-l" not in argv[1:-1],  # which its model cannot choose
    start=_start,
)
