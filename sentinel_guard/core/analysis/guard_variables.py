"""The variables by which the guard's programs come first (PATH, BASH_ENV), and code of any language that takes them.

One rule for all ways: the shell's own are in ``evaluation/environment_variables.py``, ``env -i`` and its kin in
``evaluation/wrapper_effects.py``; here is what code of another language says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

NAMES = ("PATH", "BASH_ENV", "SENTINEL_SESSION", "SENTINEL_CALL", "SENTINEL_STARTUP", "SENTINEL_SHELL")
"""What must stay as it is for what a session starts to be judged."""
DROPPED = "environment of nothing"
"""The target of a PRIVILEGE: a program is started without the variables of the session."""

SWITCHES = (
    "SENTINEL_GUARD*",
    "SENTINEL_DISABLE*",
    "SENTINEL_MODE",
    "SENTINEL_SKIP*",
    "SENTINEL_BYPASS*",
    "SENTINEL_OFF",
)
"""Patterns of names that would turn a guard off, if there were any such."""
_ANY = "|".join((*NAMES, *(name.replace("*", r"\w*") for name in SWITCHES)))
_NAME = rf"['\"]?(?P<name>{_ANY})['\"]?"
_SETS = re.compile(
    rf"(?:os\.environ\[|process\.env(?:\.|\[)|\$ENV\{{|\bENV\[|\$env:|Deno\.env\.set\(|\bputenv\(|\bsetenv\(|Setenv\("
    rf"|\.SetEnvironmentVariable\()\s*{_NAME}\s*[\]}}]?\s*(?:=(?![=~>])|,)"
    r"(?P<value>\s*\((?:[^()]|\([^()]{0,200}\)){0,400}\)|[^\n;]*)"
)
_DROPS = re.compile(
    rf"(?:\bdel\s+os\.environ\[|\bos\.environ\.pop\(|\bos\.unsetenv\(|\bdelete\s+(?:process\.env(?:\.|\[)|\$ENV\{{)|"
    rf"\bENV\.delete\(|Deno\.env\.delete\(|Unsetenv\(|Remove-Item\s+Env:)\s*{_NAME}"
)
_READS = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*(?::=|=(?!=))[^\n;=]*?(?:environ|getenv|Getenv|process\.env|Deno\.env|ENV\b)[^\n;=]{0,20}?\bPATH\b"
)
"""A variable that is given what PATH holds."""


def changed_in_code(text: str) -> Iterator[str]:
    """The names that code takes away, or gives another value that does not hold the old one.

    PATH may be given what the code made of the old one: ``p = os.environ["PATH"]; os.environ["PATH"] = x + p``.
    """
    if "PATH" not in text and "BASH_ENV" not in text and "SENTINEL_" not in text:
        return
    held = {match["name"] for match in _READS.finditer(text)}
    for match in _SETS.finditer(text):
        made = match["name"] == "PATH" and not held.isdisjoint(re.findall(r"[A-Za-z_]\w*", match["value"]))
        if match["name"] not in match["value"] and not made:
            yield match["name"]
    for match in _DROPS.finditer(text):
        yield match["name"]
