"""Fingerprint of a tool call (R5): the same hash for the same tool, arguments and folder, cosmetics apart."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterable

from sentinel_guard.core.model import Action, Layer

COSMETIC = frozenset({"description", "explanation", "timeout", "timeout_ms"})
"""Argument names that change how a call is shown or how long it may take, not what it does."""

_INSTALLERS = (
    *("pip3?", "uv", "uv pip", "poetry", "pdm", "conda", "mamba", "npm", "pnpm", "yarn", "bun", "cargo", "gem"),
    *("bundle", "composer", "go", "apt", "apt-get", "dnf", "yum", "apk", "brew", "pacman", "zypper", "nix-env"),
    *("choco", "winget"),
)
_INSTALL = re.compile(
    rf"(?:^|[\s;&|(/])(?:{'|'.join(_INSTALLERS)})\s+(?:-\S+\s+)*"
    r"(?:install|i|ci|add|get|require|sync|update|upgrade|-S\w*|-i\w*)(?![\w-])"
)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str)
_POLLS = re.compile(r"(?i)(?<![a-z])(?:poll|wait|status)(?![a-z])")
SLEEP_LED = re.compile(r"\s*sleep\s+\S")


def operation(action: Action) -> str:
    """The operation's hash: SHA-256 (hex) of canonical JSON. Two calls with the same one are the same try (R5)."""
    arguments = {name: value for name, value in action.arguments.items() if name not in COSMETIC}
    # ensure_ascii writes lone surrogates as escapes, so bytes that are not UTF-8 stay apart from each other.
    text = _CANONICAL.encode([action.tool, arguments, action.cwd])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def command_text(action: Action) -> str:
    """The action as a person would type it: the command, the argv quoted, else the tool with its arguments."""
    if isinstance(command := action.arguments.get("command"), str):
        return command
    if isinstance(argv := action.arguments.get("argv"), list | tuple):
        return shlex.join(str(word) for word in argv)
    if action.layer is Layer.KERNEL:
        return f"{action.arguments.get('program', '')}\n{action.tool} {action.arguments.get('object', '')}".strip()
    return f"{action.tool} {json.dumps(dict(action.arguments), sort_keys=True, default=str)}"


def is_install(action: Action) -> bool:
    """True for a call that installs packages: what failed for want of one may succeed after it."""
    return _INSTALL.search(command_text(action)) is not None


def is_poll(action: Action, declared: Iterable[str]) -> bool:
    """True for a call that waits for something by design: led by ``sleep``, declared (``loop.polls``: prefixes), or by
    the name of its tool or of its ``action``.
    """
    if action.layer is Layer.HOOK and _POLLS.search(f"{action.tool} {action.arguments.get('action', '')}"):
        return True
    text = command_text(action).strip()
    return bool(SLEEP_LED.match(text)) or any(prefix and text.startswith(prefix) for prefix in declared)
