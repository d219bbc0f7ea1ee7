"""Claude Code: its wrapper loads a snapshot of the person's shell, evaluates the command, and notes the folder."""

from __future__ import annotations

import re

from sentinel_guard.agents.base import PATH, QUOTED, CodingAgent, Framed, Start, given, never, subcommand, unquoted

_UNSET = (
    r"\{ \\builtin unalias -- '(?:which|unsetenv)'; "
    r"\\builtin unset -f -- '(?:which|unsetenv)'; \} >/dev/null 2>&1 \|\| true && "
)
_TOO_OLD = re.escape(
    r"""{ case "${BASH_VERSINFO-}" in '2'|'3') \builtin printf '%s\n' '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"""
    r""""${BASH_VERSION-}" >&2; \builtin exit 126; \exit 126;; esac; } && """
)
_WORD = r"[\w./:@%+,-]+"
_FRAME = (
    rf"(?:{_TOO_OLD})?(?:source (?P<snapshot>{PATH}) 2>/dev/null \|\| true && )?"
    r"(?:(?:\\builtin )?(?:shopt -u extglob|setopt NO_EXTENDED_GLOB) 2>/dev/null \|\| true && )?"
    rf"(?:{_UNSET})*"
    rf"(?P<evaluated>eval (?P<command>{_WORD}|{QUOTED})(?: (?:\\)?< ?/dev/null)? && pwd -P >\| /tmp/claude-[\w-]+-cwd)"
)
_TAKES = rf"(?s)SNAPSHOT_FILE=(?P<snapshot>{PATH})\n.*"
_SNAPSHOT = r"/[^\n]*/shell-snapshots/snapshot-(?:bash|zsh)-[\w-]+\.sh"


def _unwrap(text: str) -> Framed | None:
    match = re.fullmatch(_FRAME, text)
    if match is None:
        return None
    snapshot = unquoted(match["snapshot"] or "")
    if snapshot and not re.fullmatch(_SNAPSHOT, snapshot):
        return None
    return Framed(unquoted(match["command"]), text[match.start("evaluated") :], snapshot)


def _snapshot_of(text: str) -> str:
    match = re.fullmatch(_TAKES, text)
    return unquoted(match["snapshot"]) if match else ""


def _start(words: tuple[str, ...]) -> Start:
    # Background agents run below a supervisor that precedes the session or outlives it; --tmux below tmux's own server.
    elsewhere = given(words, "--bg", "--background", "--tmux", "--desktop")
    return Start(words, refused=subcommand(words, ("agents", "attach", "respawn")) or elsewhere)


AGENT = CodingAgent(
    "claude",
    frozenset({"claude", "claude-code"}),
    _unwrap,
    patience=110.0,  # moves to the background after 120
    marks=("/shell-snapshots/snapshot-", ">| /tmp/claude-"),
    snapshots=("CLAUDE_CONFIG_DIR", ".claude", "shell-snapshots"),
    snapshot_of=_snapshot_of,
    own=("env", _TAKES),
    is_call=never,
    start=_start,
    environ={"CLAUDE_CODE_DISABLE_AGENT_VIEW": "1"},
    servers=r"\0(?:daemon\0run|--bg-pty-host|--bg-spare)\0",
)
