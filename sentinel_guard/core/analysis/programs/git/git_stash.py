"""Entries of ``git stash``: the commit that one is, as a file whose birth says when it was made."""

from __future__ import annotations

import re
from dataclasses import replace

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.git.git_config_files import common_dir
from sentinel_guard.core.model import Effect, Kind

_ENTRY = re.compile(r"(?:stash@\{)?(\d{1,3})\}?")
_CHANGED = "stash entries"
"""Of what a text made: there are other entries than on disk."""
_MADE = "a stash entry"


def verb(call: Call) -> str:
    """What is done, and that it is noted: after some the entries are numbered otherwise than on disk. A new one on top
    need not be: it is no older than the one that is looked at in its place.
    """
    said = call.operands[0].text if call.operands else "push"
    if said in ("pop", "store", "branch"):
        call.world.own.add(_CHANGED)
    elif said in ("push", "save") or said.startswith("-"):
        call.world.own.add(_MADE)
    return said


def dropped(call: Call) -> Effect:
    """The effect of ``git stash drop``, with the object that it takes the name from as its file."""
    file = _object(call)
    call.world.own.add(_CHANGED)
    return replace(call.effect(Kind.GIT_REWRITE, "stash"), file=file)


def _object(call: Call) -> str:
    """The absolute path of an entry's commit, which git never writes again; empty where it is packed, or unknown."""
    name = call.operands[1].text if len(call.operands) > 1 else "0"
    entry, git = _ENTRY.fullmatch(name), common_dir(call)
    if entry is None or git is None or _CHANGED in call.world.own:
        return ""
    if not any(call.world.kind(f"{git}/{name}") for name in ("refs/stash", "logs/refs/stash")):
        return f"{git}/refs/stash" if _MADE in call.world.own else ""
    lines = (call.world.read(f"{git}/logs/refs/stash") or "").splitlines()
    at = len(lines) - 1 - int(entry[1])
    commit = lines[at].split(" ")[1] if at >= 0 and lines[at].count(" ") else ""
    path = f"{git}/objects/{commit[:2]}/{commit[2:]}"
    return path if commit and call.world.kind(path) == "file" else ""
