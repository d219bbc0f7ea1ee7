"""The scripts of our git hooks: the templates of ``hooks/``, filled in with a hook's name and the programs' paths."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import NamedTuple

NAMES = ("pre-commit", "pre-merge-commit", "pre-applypatch", "commit-msg", "pre-push")
"""The hooks that check whoever commits. A merge without conflicts runs pre-merge-commit, ``git am`` runs
pre-applypatch, and neither runs pre-commit (githooks(5))."""
SESSION = "reference-transaction"
"""The hook that checks in sessions alone: git runs it twice for each ref of a fetch (``session_hook``)."""
IN_SESSIONS = ".in-sessions"
"""Stands behind its name where it waits for a session."""
ALL = (*NAMES, SESSION)
MARK = "sentinel-guard-hook-8d1f6c2e"
"""Stands in every hook that is ours, and beside our lines in a configuration file."""
BEFORE = ".before-sentinel"
OWN = "sentinel-guard"
"""Our folder in a repository's common directory."""
TAKE_OUT = "take-out"
MODE = 0o755
OFTEN = (SESSION, "post-index-change")
"""git runs them so often that they ask for nothing that can be written down."""

_TEMPLATES = {name: name if name == "pre-push" else "pre-commit" for name in NAMES}
_BESIDE = f"""own=${{0%/*}}/../{OWN}
before=${{0%/*}}/../{OWN}/@HOOK@
[ -e "$before" ] || before=${{0%/*}}/@HOOK@{BEFORE}"""
# The last value of core.hooksPath that is not our own folder would be in force without us.
_AHEAD = f"""own=${{0%/*}}/..
before=${{0%/*}}/../../hooks
set -f
IFS='
'
for path in $(git config --type=path --get-all core.hooksPath); do
    case $path in */{OWN}/hooks) ;; *) before=$path ;; esac
done
before=$before/@HOOK@"""


class Programs(NamedTuple):
    """What a hook calls, absolute paths."""

    python: str
    launcher: str = ""
    """The launcher's face for git hooks; without it, or where it is gone, the hook calls Python."""
    socket: str = ""
    """The daemon's, for agents: where it is, a session may be alive."""
    program: str = ""
    """A file that is there as long as sentinel-guard is installed; ``python`` where it is not given."""
    absent: str = "refuse"
    """What a commit or push outside of every session meets where it is not: ``refuse`` or ``warn``."""


def chained_hook_script(name: str, programs: Programs) -> bytes:
    """A hook in the place of theirs: theirs is kept beside it."""
    return _filled(_TEMPLATES[name], _BESIDE, name, programs)


def own_folder_hook_script(name: str, theirs: str, programs: Programs) -> bytes:
    """A hook in a folder of our own. ``theirs`` is the folder of the one that it stands for; where it is empty, the
    hook asks git each time. A name that is not among NAMES is only handed on.
    """
    return _filled(_TEMPLATES.get(name, "forward"), _before(theirs, name) if theirs else _AHEAD, name, programs)


def session_hook_script(theirs: str, programs: Programs) -> bytes:
    """The hook that checks in sessions alone. ``theirs`` as above; empty for one in the place of theirs."""
    return _filled(SESSION, _before(theirs, SESSION) if theirs else _BESIDE, SESSION, programs)


def take_out_script() -> bytes:
    """What takes our hooks out of a repository without us; it lies in our folder there."""
    return (_templates() / TAKE_OUT).read_bytes().replace(b"@NAMES@", " ".join(ALL).encode())


def is_ours(hook: Path) -> bool:
    """Whether a file is a hook that we put in place."""
    try:
        return hook.is_file() and not hook.is_symlink() and MARK.encode() in hook.read_bytes()
    except OSError:
        return False


def _before(theirs: str, name: str) -> str:
    return f"own=${{0%/*}}/..\nbefore={shlex.quote(f'{theirs}/{name}')}"


def _filled(template: str, before: str, name: str, programs: Programs) -> bytes:
    text = (_templates() / template).read_bytes()
    theirs = "${0%/*}" if before is _BESIDE else "${before%/*}"
    places = {
        "BEFORE": before,
        "HOOK": name,
        "PREPARE": f"{theirs}/prepare-commit-msg",
        "MESSAGE": f"{theirs}/commit-msg{BEFORE if before is _BESIDE else ''}",
        "PYTHON": shlex.quote(programs.python),
        "LAUNCHER": shlex.quote(programs.launcher),
        "SOCKET": shlex.quote(programs.socket),
        "PROGRAM": shlex.quote(programs.program or programs.python),
        "ABSENT": "SENTINEL WARNING" if programs.absent == "warn" else "403 SENTINEL BLOCKED",
        "CODE": "0" if programs.absent == "warn" else "1",
    }
    for place, value in places.items():
        text = text.replace(f"@{place}@".encode(), os.fsencode(value))
    return text


def _templates() -> Path:
    """``hooks/``: in the wheel beside the package's rooms, in a checkout at its top."""
    package = Path(__file__).resolve().parents[2]
    return next((f for f in (package / "hooks", package.parent / "hooks") if f.is_dir()), package / "hooks")
