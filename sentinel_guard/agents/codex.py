"""Codex CLI: its wrapper saves variables, loads a snapshot of the person's shell, restores them, runs the command."""

from __future__ import annotations

import re

from sentinel_guard.agents.base import QUOTED, CodingAgent, Framed, unquoted

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_SAVED = r"__CODEX_SNAPSHOT_(?:PROXY_)?(?:OVERRIDE(?:_SET)?_\d+|ENV_SET)"
_SAVE = rf'(?:{_SAVED}="\$\{{{_NAME}(?:\+x|-)\}}"\n)*'
_UNSET = rf"builtin unset {_NAME}(?: {_NAME})? 2>/dev/null \|\| command unset {_NAME}(?: {_NAME})?"
_RESTORE = (
    rf'if \[ -n "\$\{{{_SAVED}\}}" \]; then\n'
    rf'  if \[ -z "\$\{{{_NAME}\+x\}}" \] \|\| \[ "\$\{{{_NAME}-\}}" != "\$\{{{_SAVED}\}}" \]; then '
    rf'export {_NAME}="\$\{{{_SAVED}\}}"; else export {_NAME}; fi\n'
    rf"else {_UNSET}; fi\n{_UNSET}\n"
)
_PROXIES = rf'if \[ -n "\$_?{_SAVED}" \] \|\| \[ -n "\$\{{{_NAME}\+x\}}" \]; then\n(?:{_RESTORE})*fi\n'
_PATH = rf'if \[ -n "\$\{{PATH:-\}}" \]; then export PATH={QUOTED}:"\$PATH"; else export PATH={QUOTED}; fi\n'
_FRAME = re.compile(
    rf"{_SAVE}\nif \. (?P<snapshot>{QUOTED}) >/dev/null 2>&1; then :; fi\n\n"
    rf"(?:{_RESTORE})*(?:{_PROXIES})?(?:{_PATH})*\nexec {QUOTED} -l?c (?P<command>{QUOTED})"
)
_SNAPSHOT = re.compile(r"/[^\n]*/shell_snapshots/[\w.-]+\.sh")


def _unwrap(text: str) -> Framed | None:
    match = _FRAME.fullmatch(text)
    if match is None:
        return None
    snapshot = unquoted(match["snapshot"])
    return Framed(unquoted(match["command"]), (snapshot,)) if _SNAPSHOT.fullmatch(snapshot) else None


AGENT = CodingAgent(
    "codex",
    frozenset({"codex"}),
    _unwrap,
    patience=8.0,  # yields after 10
    marks=("__CODEX_SNAPSHOT", "/shell_snapshots/"),
    own=(
        re.compile(r'set -e; \. "/[^"$`\\\n]*/shell_snapshots/[\w.-]+"'),
        re.compile(r'if \[ -z "\$\{BASH_ENV-\}" \].*__codex_snapshot_command.*', re.DOTALL),
    ),
)
