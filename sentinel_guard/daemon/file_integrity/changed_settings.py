"""Whether the settings of a coding agent, as they were changed, still have our hooks run.

Rules of this file:
1. Where our hooks were installed they stand as they were put there; in any other file nothing switches them off.
2. What cannot be read as settings is kept out. It is a try to switch us off only where our hooks had stood.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.agents import registry
from sentinel_guard.agents.hook_dialect import HookDialect
from sentinel_guard.core.checks.rules import SETTINGS_RULE
from sentinel_guard.core.text.settings_edit import editor
from sentinel_guard.host import agent_hook_files, client_records, shims
from sentinel_guard.host.file_integrity.file_change import ChangeDecision, Tampering
from sentinel_guard.host.machine.state_paths import StatePaths

MOST = 1 << 20
"""Bytes of a settings file that is looked at."""
UNREAD = "it could not be read in time"


class Disarmed(NamedTuple):
    """Why our hooks would not run."""

    why: str
    rule: str = ""
    """Of the attack that it is; empty where it may be a slip."""


def look(places: StatePaths, dialect: HookDialect, path: str) -> Disarmed | None:
    """What a changed file (absolute path) does to our hooks; None where they run. Raises HostError where it cannot be
    known where they were installed.
    """
    real = os.path.realpath(path)
    known = agent_hook_files.known(places).items()
    ours = any(row.agent == dialect.client and real == os.path.realpath(file) for file, row in known)
    rule = SETTINGS_RULE if ours else ""
    try:
        text = client_records.text(path, MOST)
    except OSError as e:
        why = f"it cannot be read ({e.strerror or 'no regular file'}), and our hooks stood in it"
        return Disarmed(why, rule) if ours else None
    except ValueError as e:
        return Disarmed(f"it is too large to be looked at: {e}", rule)
    return _of_text(places, dialect, path, text, ours=ours)


def counted(places: StatePaths, change: Tampering, versions: tuple[bytes | None, bytes | None]) -> Tampering:
    """A change of a file that was put back, as a try where it took our hooks out, by its bytes before and after."""
    put_back = change.word is ChangeDecision.PUT_BACK and change.kind != "mode"
    if not put_back or change.path not in agent_hook_files.files(places):
        return change
    dialect = registry.hooks_of(agent_hook_files.known(places)[Path(change.path)].agent)
    if dialect is None:
        return change
    stood, stands = (_runs(places, dialect, change.path, data) for data in versions)
    return replace(change, strike=SETTINGS_RULE) if stood and not stands else change


def _runs(places: StatePaths, dialect: HookDialect, path: str, data: bytes | None) -> bool:
    text = (data or b"").decode(errors="replace")
    if scripts := dialect.scripts(_command(places)):
        return text in scripts.values()
    return _of_text(places, dialect, path, text, ours=True) is None


def _of_text(places: StatePaths, dialect: HookDialect, path: str, text: str, *, ours: bool) -> Disarmed | None:
    rule = SETTINGS_RULE if ours else ""
    try:
        settings = editor(path).value(text) if text.strip() else {}
    except ValueError as e:
        return Disarmed(f"it cannot be read as settings: {e}", rule)
    if off := dialect.disarmed(settings):
        return Disarmed(off, SETTINGS_RULE)
    missing = dialect.missing(settings, _command(places)) if ours else []
    why = f"our hooks do not stand in it as they were installed ({', '.join(missing)})"
    return Disarmed(why, rule) if missing else None


def _command(places: StatePaths) -> str:
    return shlex.quote(str(places.githook_folder / shims.HOOK))
