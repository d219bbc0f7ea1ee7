"""The git hooks of a repository: ours put in place beside what is there, and taken away without a trace.

Rules of this file:
1. What is ours carries ``MARK``. What is not ours is kept, as NAME.before-sentinel, bytes and mode, and run first.
2. ``install`` twice is ``install`` once; ``uninstall`` gives back what was there.
3. Hooks that several repositories share are left alone.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host import files
from sentinel_guard.host.staged import git

NAMES = ("pre-commit", "pre-push")
MARK = "sentinel-guard-hook-8d1f6c2e"
"""Stands in every hook that is ours."""
BEFORE = ".before-sentinel"
_MODE = 0o755


def install(root: Path, python: str = sys.executable) -> list[str]:
    """Puts our hooks in place. Returns what was done, a sentence a hook. Raises HostError.

    ``python`` is the interpreter that the hooks call, absolute.
    """
    folder = hooks_folder(root)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [said for name in NAMES if (said := _install(folder, name, python))]
    except OSError as e:
        raise HostError(f"Cannot put hooks into {folder}: {e.strerror}.", "Check the folder's permissions.") from e


def uninstall(root: Path) -> list[str]:
    """Takes our hooks away and puts back what was there. Returns what was done, a sentence a hook. Raises HostError."""
    folder = hooks_folder(root)
    try:
        return [said for name in NAMES if (said := _uninstall(folder / name))]
    except OSError as e:
        raise HostError(f"Cannot take hooks out of {folder}: {e.strerror}.", "Check the folder's permissions.") from e


def installed(root: Path) -> tuple[Path, ...]:
    """Our hooks that are in place."""
    folder = hooks_folder(root)
    return tuple(folder / name for name in NAMES if is_ours(folder / name))


def is_ours(hook: Path) -> bool:
    """Whether a file is a hook that we put in place."""
    try:
        return hook.is_file() and not hook.is_symlink() and MARK.encode() in hook.read_bytes()
    except OSError:
        return False


def hooks_folder(root: Path) -> Path:
    """Where git looks for this repository's hooks (core.hooksPath, linked work trees). Raises HostError."""
    folder = _absolute(root, "--git-path", "hooks")
    common = _absolute(root, "--git-common-dir")
    if not any(_below(folder, own) for own in (common, root)):
        raise HostError(
            f"git takes this repository's hooks from {folder}, which other repositories share.",
            "Give this one its own: git config core.hooksPath .git/hooks",
        )
    if folder.name == "_" and folder.parent.name == ".husky":
        raise HostError(
            "husky owns this repository's hooks, and does not run one under another name.",
            "Add the line `sentinel-guard hook pre-commit` to .husky/pre-commit.",
        )
    return folder


def _absolute(root: Path, *question: str) -> Path:
    said = os.fsdecode(git(root, "rev-parse", *question)).removesuffix("\n")
    return Path(os.path.realpath(root / said))


def _below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(os.path.realpath(folder))


def _install(folder: Path, name: str, python: str) -> str:
    hook, before = folder / name, folder / (name + BEFORE)
    text = _text(name, python)
    if is_ours(hook):
        if hook.read_bytes() == text and os.access(hook, os.X_OK):
            return ""
        files.write(hook, text, _MODE)
        return f"Renewed the hook {hook}."
    kept = ""
    if os.path.lexists(hook):
        if os.path.lexists(before):
            raise HostError(
                f"Both {hook} and {before} are there.", "Keep the one that you need as the former, remove the latter."
            )
        hook.rename(before)
        kept = f" Yours is kept as {before.name} and runs first."
    try:
        files.write(hook, text, _MODE)
    except HostError:
        _put_back(before, hook)
        raise
    return f"Put the hook {hook} in place.{kept}"


def _uninstall(hook: Path) -> str:
    before = hook.with_name(hook.name + BEFORE)
    if is_ours(hook):
        hook.unlink()
        _put_back(before, hook)
        return f"Took the hook {hook} away." + (" Yours is back." if os.path.lexists(hook) else "")
    if os.path.lexists(before):
        return f"Left {hook} alone: it is not ours. What was there before sentinel-guard is {before.name}."
    return ""


def _put_back(before: Path, hook: Path) -> None:
    if os.path.lexists(before):
        before.rename(hook)


def _text(name: str, python: str) -> bytes:
    template = (_templates() / name).read_bytes()
    return template.replace(b"@PYTHON@", os.fsencode(shlex.quote(python)))


def _templates() -> Path:
    """``hooks/``: in the wheel beside the package's rooms, in a checkout at its top."""
    package = Path(__file__).resolve().parent.parent
    return next((f for f in (package / "hooks", package.parent / "hooks") if f.is_dir()), package / "hooks")
