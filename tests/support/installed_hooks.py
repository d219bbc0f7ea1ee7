"""A repository whose git hooks are put in place for tests: the guard that they call writes down how it was called."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from sentinel_guard.host.githooks import install_hooks

SAYS = '#!/bin/sh\nexec 9>>"%s"\necho "%s ${0##*/} $*" >&9\ncat >&9\n'
"""A hook of theirs: writes down its name, its arguments and what it reads."""


def git(folder: Path, *args: str, check: bool = True, **environ: str) -> subprocess.CompletedProcess[str]:
    told = {**os.environ, **environ}
    done = subprocess.run(
        ["git", *args], cwd=folder, check=False, capture_output=True, text=True, env=told, stdin=subprocess.DEVNULL
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and link: mode, and bytes or target."""
    found = [p for p in sorted(folder.rglob("*")) if p.is_symlink() or p.is_file()]
    return {
        str(p.relative_to(folder)): (p.lstat().st_mode, os.fsencode(p.readlink()) if p.is_symlink() else p.read_bytes())
        for p in found
    }


class Hooked:
    """One repository, and what was called in it."""

    def __init__(self, folder: Path, *init: str, name: str = "repo") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.root, self.log = folder, folder / name, folder / "called"
        self.python = folder / "my python"
        self.refuse(nothing=True)
        git(folder, "init", "-q", *init, name)

    def refuse(self, *, nothing: bool = False) -> None:
        """The guard says no from now on, or yes again."""
        text = f'#!/bin/sh\nshift 4\necho "ours $*" >>"{self.log}"\ncat >>"{self.log}"\nexit {0 if nothing else 1}\n'
        self.python.write_text(text)
        self.python.chmod(0o755)

    def install(self, folder: Path | None = None) -> list[str]:
        return install_hooks.install(folder or self.root, str(self.python))

    def uninstall(self, folder: Path | None = None) -> list[str]:
        return install_hooks.uninstall(folder or self.root)

    def put(self, name: str, text: str | bytes, mode: int = 0o755) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)
        return path

    def theirs(self, name: str, word: str = "theirs") -> Path:
        return self.put(name, SAYS % (self.log, word))

    def called(self) -> list[str]:
        """Who was called since the last time, in order."""
        said = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return said

    def commit(self, folder: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
        """A commit whose message is edited: each hook judges for itself."""
        told = {"GIT_EDITOR": "true", **environ}
        return git(folder or self.root, "commit", "-q", "--allow-empty", "-e", "-m", "x", check=False, **told)
