"""Prunes what ended sessions leave on the disk, when newer ones have come.

Rules of this file:
1. The newest baselines stay, for a rollback by hand; so does all of a session whose incident report is not signed off,
   and of one whose vault holds restricted files of a rescue snapshot.
2. Of the others their copies of what the person has anyway go. What was moved away (quarantine, tampered versions) and
   reports that could not be written into the repository are the only ones of their kind: they stay.
3. Nothing goes of a session whose end is not on record, and of none that is live at the moment of pruning.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from sentinel_guard.core.incidents.root_cause_and_sign_off import SIGNED
from sentinel_guard.errors import HostError
from sentinel_guard.host import incident_files
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.recovery.baseline.session_baseline import MANIFEST

KEPT = 10
"""Ended sessions whose baselines are kept, for a rollback by hand."""
ONLY = ("tampered", "incidents")
"""What a session's folder may hold besides its baseline that nobody else has."""
QUARANTINE, RESCUED = "quarantine", "rescued"


def prune(places: StatePaths, ended: Callable[[], Collection[str]], keep: int = KEPT) -> None:
    """Drop what is not needed any more of all but the ``keep`` newest of the sessions that have ``ended``.

    That is asked after the folders were listed: a session that begins meanwhile is not among them.
    """
    folder = places.state / "sessions"
    listed = [*folder.iterdir()] if folder.is_dir() else []
    over = ended()
    old = sorted(p for p in listed if p.name in over)
    for session in old[: max(0, len(old) - keep)]:
        if not (session / "baseline" / RESCUED).exists() and not _unsigned(places, session):
            _drop(session)


def _drop(session: Path) -> None:
    # The manifest first: what is half gone is no baseline to roll back to.
    (session / "baseline" / MANIFEST).unlink(missing_ok=True)
    inside = (session / "baseline").iterdir() if (session / "baseline").is_dir() else ()
    for path in [*(p for p in inside if p.name != QUARANTINE), *session.iterdir()]:
        if path.name in ONLY or (path.name == "baseline" and (path / QUARANTINE).exists()):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    if not any(session.iterdir()):
        session.rmdir()


def _unsigned(places: StatePaths, session: Path) -> bool:
    """True where a report about the session waits for a person."""
    try:
        root = json.loads((session / "baseline" / MANIFEST).read_bytes())["root"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    for report in incident_files.found(places, str(root)):
        try:
            text = incident_files.read(report)
        except HostError:
            continue
        if incident_files.session(text) == session.name and f"\n{SIGNED}" not in text:
            return True
    return False
