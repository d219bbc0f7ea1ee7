"""Tells which paths are settings files of coding agents, and where an agent's folders lie."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from sentinel_guard.core.policy.agent_settings import HOME, PROJECT, SettingsFolder, rows
from sentinel_guard.core.policy.path_patterns import Below

PLACEHOLDER = "{agent-settings}"
"""How a rule names them; files that no rule names are not watched either."""


def is_agent_settings(path: str, root: str, home: str) -> bool:
    """Whether an absolute path is a settings file of an agent: at the top of the repository, or in the home."""
    return _patterns(PROJECT).match(path, root.rstrip("/")) or _patterns(HOME).match(path, home.rstrip("/"))


def located(folder: SettingsFolder, home: str, environ: Mapping[str, str]) -> str:
    """Where an agent's folder outside of a project lies, absolute; empty where that cannot be said."""
    named = environ.get(folder.variable, "") if folder.variable else ""
    path = _expanded(f"{named.rstrip('/')}/{folder.below}" if named else folder.folder, home).rstrip("/")
    return path if path.startswith("/") else ""


def translated(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression for paths of the table, whose ``*`` stays within one name."""
    return re.compile("|".join(map(_within_names, patterns)))


def _within_names(pattern: str) -> str:
    return "[^/]*".join(map(re.escape, pattern.split("*")))


@lru_cache(maxsize=2)
def _patterns(which: str) -> Below:
    if which == PROJECT:
        return Below((file.path for _, folder, file in rows() if folder.folder == PROJECT), _within_names)
    outside = [(folder, file) for _, folder, file in rows() if folder.folder != PROJECT]
    return Below((f"{folder.folder}/{file.path}".removeprefix("~/") for folder, file in outside), _within_names)


def _expanded(path: str, home: str) -> str:
    if path == HOME or path.startswith("~/"):
        return home + path[1:] if home else ""
    return path
