"""Environment variables that change what other programs do: PATH, LD_PRELOAD, GIT_CONFIG_…, PROMPT_COMMAND."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect, Kind

_SENSITIVE = frozenset(
    [
        "PATH",
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "SHELLOPTS",
        "BASHOPTS",
        "SHELL",
        "GIT_EXEC_PATH",
        "GIT_SSH",
        "GIT_TEMPLATE_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_NOSYSTEM",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "PERL5OPT",
        "PERL5LIB",
        "RUBYOPT",
        "ZDOTDIR",
    ]
)
_TEXTS = frozenset(
    [
        "PROMPT_COMMAND",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_PROXY_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "PAGER",
        "GIT_EDITOR",
        "EDITOR",
        "VISUAL",
        "GIT_SEQUENCE_EDITOR",
        "GIT_ASKPASS",
        "SUDO_ASKPASS",
        "SSH_ASKPASS",
        "MANPAGER",
        "LESSOPEN",
        "BROWSER",
    ]
)
"""Their value is run as a command."""
_HIDES = {
    "TAR_OPTIONS": re.compile(
        r"(?:action=exec=|--(?:to|rsh|rmt)-command[= ]|--(?:info|new-volume)-script[= ]|--use-compress-program[= ])(.*)"
    ),
    "MAKEFLAGS": re.compile(r"--eval()"),
    "GNUMAKEFLAGS": re.compile(r"--eval()"),
}
"""Options that name a command; what make evaluates is not followed."""


def environment(walk: Walker, name: str, value: Field, source: str, place: WalkContext) -> None:
    """The effects of giving a variable this value."""
    if name == "PATH" and place.disk:
        return  # virtual environments and version managers do; what runs then is in their text, which is read
    if name in _SENSITIVE or name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "BASH_FUNC_", "SENTINEL_")):
        old = place.scope.environ.get(name, "")
        keeps = f"${name}" in source or f"${{{name}" in source or (bool(old) and old in value.text)
        how = frozenset(("append",) if keeps else ())
        walk.add(Effect(Kind.PRIVILEGE, f"environment {name}", sure=value.known, how=how), place)
    if name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_PARAMETERS")) and "core.hookspath" in value.text.lower():
        walk.add(Effect(Kind.GIT_REWRITE, "config core.hookspath", sure=value.known), place)
    if name in _HIDES and value.known and (match := _HIDES[name].search(value.text)):
        walk.text(match[1] or UNKNOWN, place.inside())
    if name == "PS4" and value.known and ("$(" in value.text or "`" in value.text):
        walk.text(f': "{value.text}"', place.inside())
    if name in _TEXTS and value.known and value.text.strip():
        walk.text(value.text.replace(UNKNOWN, ""), place.inside())
