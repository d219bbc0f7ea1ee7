"""Flattens the gitignore rules of a whole work tree into one list from its top, so that later edits hide nothing.

Order and meaning are gitignore(5)'s: the user's file, ``info/exclude``, each ``.gitignore`` from the top down; the last
pattern that matches decides.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from sentinel_guard.host.machine.atomic_files import read_regular


def flatten(
    root: str,
    files: Iterable[str],
    common_dir: str,
    settings: Iterable[tuple[str, str | None]],
    ignored: Iterable[str] = (),
) -> bytes:
    """``files``: names of the ``.gitignore`` files below ``root``; ``settings``: git's, for ``core.excludesFile``;
    ``ignored``: what is ignored, in any case.
    """
    patterns = [*_patterns(_user_file(settings), ""), *_patterns(Path(common_dir, "info/exclude"), "")]
    for name in sorted(files, key=lambda n: n.count("/")):
        patterns += _patterns(Path(root, name), name.rpartition("/")[0])
    patterns += [f"/{_literal(name)}" for name in ignored if "\n" not in name]
    return os.fsencode("".join(f"{p}\n" for p in patterns))


def _user_file(settings: Iterable[tuple[str, str | None]]) -> Path:
    named = [v for k, v in settings if k == "core.excludesfile" and v]
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(named[-1] if named else f"{base}/git/ignore").expanduser()


def _patterns(path: Path, folder: str) -> list[str]:
    try:
        lines = os.fsdecode(read_regular(path)).removeprefix("\ufeff").split("\n")
    except OSError:
        return []
    patterns = [line for line in lines if line and not line.startswith("#")]
    if not folder:
        return patterns
    return [] if "\n" in folder else [_moved(p, _literal(folder)) for p in patterns]


def _literal(name: str) -> str:
    """A name as a pattern that takes in nothing else; a space at its end would count for nothing."""
    escaped = re.sub(r"([\\*?\[])", r"\\\1", name)
    return re.sub(r" +$", lambda spaces: "\\ " * len(spaces[0]), escaped)


def _moved(pattern: str, folder: str) -> str:
    """The same pattern as it reads from the top: with a slash it is bound to its folder, else it holds at any depth."""
    no, pattern = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    pattern = pattern[1:] if pattern.startswith(("\\#", "\\!")) else pattern
    bound = "/" in pattern.rstrip().rstrip("/")
    return f"{no}/{folder}/{pattern.lstrip('/')}" if bound else f"{no}/{folder}/**/{pattern}"
