"""How each client reads what a hook program said, written down from runs of the real clients (Cursor: from its
documentation), apart from our dialects.

``stopped(client, event, stdout, stderr, code)``: whether the call does not run. What a client does not understand lets
it run: a field that it does not know, plain text, most exit codes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping


def stopped(client: str, event: str, stdout: str, stderr: str, code: int) -> bool:
    """Whether the client takes this for a no."""
    return READERS[client](event, stdout, stderr, code)


def _said(stdout: str) -> Mapping[str, object] | None:
    try:
        said = json.loads(stdout)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _inner(said: Mapping[str, object]) -> Mapping[str, object]:
    inner = said.get("hookSpecificOutput", {})
    return inner if isinstance(inner, dict) else {}


def _claude(event: str, stdout: str, _stderr: str, code: int) -> bool:
    said = _said(stdout)
    if code == 2:
        return True
    if code or said is None:
        return False
    if event == "ConfigChange":
        return said.get("decision") == "block"
    # Without a refusal beside it ``continue: false`` lets this very tool run.
    return _inner(said).get("hookEventName") == event and _inner(said).get("permissionDecision") == "deny"


def _codex(event: str, stdout: str, stderr: str, code: int) -> bool:
    said = _said(stdout)
    if code == 2:
        return bool(stderr.strip())
    if code or said is None or set(said) - {"hookSpecificOutput"}:
        return False
    inner = _inner(said)
    if set(inner) - {"hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext"}:
        return False
    named = inner.get("hookEventName") == event and bool(inner.get("permissionDecisionReason"))
    return named and inner.get("permissionDecision") == "deny"


def _gemini(_event: str, stdout: str, _stderr: str, code: int) -> bool:
    said = _said(stdout)
    if code == 2:
        return True
    return code == 0 and said is not None and (said.get("decision") == "deny" or said.get("continue") is False)


def _qwen(event: str, stdout: str, _stderr: str, code: int) -> bool:
    said = _said(stdout)
    if code == 2:
        return True
    return code == 0 and said is not None and _inner(said).get("permissionDecision") == "deny" and bool(event)


def _copilot(_event: str, stdout: str, _stderr: str, code: int) -> bool:
    said = _said(stdout)
    return code != 0 or (said is not None and said.get("permissionDecision") == "deny")


def _cursor(_event: str, stdout: str, _stderr: str, code: int) -> bool:
    """As documented, without ``failClosed``."""
    said = _said(stdout)
    return code == 2 or (
        code == 0 and said is not None and said.get("permission") == "deny" and bool(said.get("user_message"))
    )


def _cline(_event: str, stdout: str, _stderr: str, _code: int) -> bool:
    said = _said(stdout)
    return said is not None and (said.get("cancel") is True or isinstance(said.get("overrideInput"), dict))


def _opencode(_event: str, stdout: str, _stderr: str, code: int) -> bool:
    """Our own plugin: anything but an answer without a refusal throws."""
    said = _said(stdout) if stdout.strip() else {}
    return code != 0 or said is None or "deny" in said


READERS = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "qwen": _qwen,
    "copilot": _copilot,
    "cursor": _cursor,
    "cline": _cline,
    "opencode": _opencode,
}
