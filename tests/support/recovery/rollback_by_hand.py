"""A small repository that a session began in, and the command that rolls it back."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from sentinel_guard.commands.rollback import rollback
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.recovery import api


def repository(folder: Path) -> Path:
    """One commit, with the file ``a.txt``."""
    folder.mkdir()
    (folder / "a.txt").write_text("start\n")
    for command in ("init -q", "add -A", "commit -qm start"):
        subprocess.run(["git", *command.split()], cwd=folder, check=True)
    return folder


def begin(where: StatePaths, repo: Path, session: str) -> None:
    api.take(str(repo), where.session(session) / "baseline", lambda _: False, session)


def do(
    where: StatePaths,
    repo: Path,
    session: str = "",
    *,
    dry_run: bool = False,
    confirm: Callable[[str], bool] | None = None,
    later_too: bool = False,
) -> int:
    return rollback(where, repo, session, dry_run=dry_run, confirm=confirm, later_too=later_too)


def spoil(repo: Path) -> None:
    (repo / "a.txt").write_text("evil\n")
    (repo / "new.txt").write_text("new\n")


def contents(repo: Path) -> dict[str, str]:
    return {p.name: p.read_text() for p in repo.iterdir() if p.is_file()}


def git(repo: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True, text=True)
    return done.stdout.strip()
