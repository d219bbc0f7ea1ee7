"""Codex CLI: its wrapper saves variables, loads a snapshot of the person's shell, restores them, runs the command."""

from __future__ import annotations

import re

from sentinel_guard.agents.base import QUOTED, CodingAgent, Framed, Start, given, subcommand, unquoted

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_SAVED = r"__CODEX_SNAPSHOT_(?:PROXY_)?(?:OVERRIDE(?:_SET)?_\d+|ENV_SET)"
_SAVE = rf'(?:{_SAVED}="\$\{{{_NAME}(?:\+x|-)\}}"\n)*'
_CLEAR = rf"builtin unset {_NAME}(?: {_NAME})? 2>/dev/null \|\| command unset {_NAME}(?: {_NAME})?"
_RESTORE = (
    rf'if \[ -n "\$\{{{_SAVED}\}}" \]; then\n'
    rf'  if \[ -z "\$\{{{_NAME}\+x\}}" \] \|\| \[ "\$\{{{_NAME}-\}}" != "\$\{{{_SAVED}\}}" \]; then '
    rf'export {_NAME}="\$\{{{_SAVED}\}}"; else export {_NAME}; fi\n'
    rf"else {_CLEAR}; fi\n{_CLEAR}\n"
)
_RESTORE_0_150 = rf'if \[ -n "\$\{{{_SAVED}\}}" \]; then export {_NAME}="\$\{{{_SAVED}\}}"; else unset {_NAME}; fi\n'
_RESTORES = rf"(?:{_RESTORE}|{_RESTORE_0_150})*"
_PROXIES = rf'if \[ -n "\$_?{_SAVED}" \] \|\| \[ -n "\$\{{{_NAME}\+x\}}" \]; then\n{_RESTORES}fi\n'
_PATH = rf'if \[ -n "\$\{{PATH:-\}}" \]; then export PATH={QUOTED}:"\$PATH"; else export PATH={QUOTED}; fi\n'
# The model may name the shell: it must be one, and the machine's own.
_SHELL = r"'/(?:usr/(?:local/)?)?bin/(?:ba|z|da|k)?sh'"
_FRAME = (
    rf"{_SAVE}\nif \. (?P<snapshot>{QUOTED}) >/dev/null 2>&1; then :; fi\n\n"
    rf"{_RESTORES}(?:{_PROXIES})?(?:{_PATH})*\nexec {_SHELL} -l?c (?P<command>{QUOTED})"
)
_SNAPSHOT = r"/[^\n]*/shell_snapshots/[\w.-]+\.sh"


def _unwrap(text: str) -> Framed | None:
    match = re.fullmatch(_FRAME, text)
    if match is None:
        return None
    snapshot = unquoted(match["snapshot"])
    # The shell is replaced by a new one: nothing of the wrapper runs behind the command.
    return Framed(unquoted(match["command"]), snapshot=snapshot) if re.fullmatch(_SNAPSHOT, snapshot) else None


_TRIES = r'set -e; \. "(?P<stem>/[^"$`\\\n]*/shell_snapshots/[\w-]+)\.tmp-(?P<number>\d+)"'


def _snapshot_of(text: str) -> str:
    match = re.fullmatch(_TRIES, text)
    return f"{match['stem']}.{match['number']}.sh" if match else ""


_NO_SERVER = frozenset(
    (
        "a", "app-server", "apply", "archive", "cloud", "completion", "debug", "delete", "doctor", "e", "exec",
        "exec-server", "features", "help", "login", "logout", "mcp", "mcp-server", "migrate-nfs-db",
        "migrate-rollouts", "plugin", "review", "sandbox", "unarchive", "update",
    )
)  # fmt: skip
"""Subcommands that run no tools, or run them by themselves."""
_MANAGES = (("remote-control", "stop"), ("remote-control", "pair"))
_ALONE = "--no-daemon"


def _start(words: tuple[str, ...]) -> Start:
    first = words[0] if words else ""
    if given(words, "-h", "--help", "-V", "--version") or words[:2] in _MANAGES:
        return Start(words)
    elsewhere = subcommand(words, ("app-server", "queue", "remote-control"))
    behind = words[words.index(elsewhere) + 1 :] if elsewhere else ()
    if elsewhere == "app-server" and subcommand(behind, ("proxy",)):
        return Start(words, refused="app-server proxy")
    if elsewhere == "queue" or (elsewhere == "remote-control" and not given(words, _ALONE)):
        return Start(words, refused=elsewhere)
    if first not in _NO_SERVER and given(words, "--remote"):
        return Start(words, refused="--remote")
    if first in _NO_SERVER or given(words, _ALONE):
        return Start(words)
    note = f"codex is started with {_ALONE}, so that its tools run inside the session"
    return Start((_ALONE, *words), _ALONE, listed=True, note=note)


AGENT = CodingAgent(
    "codex",
    frozenset({"codex"}),
    _unwrap,
    patience=8.0,  # yields after 10
    marks=("__CODEX_SNAPSHOT", "/shell_snapshots/"),
    snapshots=("CODEX_HOME", ".codex", "shell_snapshots"),
    snapshot_of=_snapshot_of,
    own=(
        _TRIES,
        r'(?s)if \[ -z "\$(?:\{BASH_ENV-\}|BASH_ENV)" \] && .*# Snapshot file.*compgen -e.*',
    ),
    start=_start,
    servers=r"\0app-server\0(?:(?:[^\0]+\0)*--listen[=\0](?:unix|ws)|daemon\0pid-update-loop\0)",
)
