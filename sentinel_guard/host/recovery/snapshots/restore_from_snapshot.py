"""Compares a rescue snapshot with the work tree, and restores files from it.

Rules of this file:
1. HEAD, branches and index are left alone; what was not in the snapshot stays.
2. Before anything is written over, a snapshot of the present state is taken: a restore can be undone.
3. Settings and filters are those of the snapshot's session, where they are still there.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.git.private_git_dir import PrivateGitDir, layout
from sentinel_guard.host.git.run_git import lines
from sentinel_guard.host.machine.content_addressed_store import ContentAddressedStore, Kept, difference
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline.gitdir_backup import Change
from sentinel_guard.host.recovery.snapshots.snapshot_store import Snapshot, baseline_folder
from sentinel_guard.host.recovery.snapshots.take_snapshot import (
    BY_HAND,
    Occasion,
    TakenSnapshot,
    hand_folder,
    manifest,
    take_snapshot,
)

_WHAT = {"D": "deleted", "T": "replaced"}
"""git's letters, seen from the snapshot; ``changed`` for the others."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What bringing back would do."""

    tracked: list[Change]
    """Files of the commit that are otherwise now: ``changed``, ``replaced``, ``deleted``."""
    private: list[Change] = field(default_factory=list)
    """Restricted files, which come from the vault."""

    @property
    def changes(self) -> list[Change]:
        return sorted((*self.tracked, *self.private), key=lambda c: c.path)


@dataclass(frozen=True, slots=True)
class Restored:
    """What was brought back."""

    names: list[str]
    before: TakenSnapshot
    """The snapshot of what was there before."""
    problems: list[str]


@dataclass(frozen=True, slots=True)
class SnapshotRestore:
    """One snapshot of one repository."""

    places: StatePaths
    root: str
    snapshot: Snapshot

    def plan(self, paths: Sequence[str] = ()) -> Plan:
        """What of the given paths (relative to the top; none: all) is otherwise now. Raises HostError, ConfigError."""
        with self._opened() as shadow:
            kept = self._private()
            for path in paths:
                if not _holds(kept, path) and not shadow.git.names("--literal-pathspecs", "ls-files", "-z", "--", path):
                    words = f"{path} is not in snapshot {self.snapshot.id}."
                    raise ConfigError(words, f"See what is: sentinel-guard snapshots show {self.snapshot.id}")
            return Plan(_tracked(shadow, paths), self._differing(kept, paths))

    def diff(self, paths: Sequence[str] = ()) -> str:
        """The difference from the snapshot to the work tree, for its files. Raises HostError."""
        with self._opened() as shadow:
            flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--stat", "--patch")
            git = ("--literal-pathspecs", "diff", "--ignore-submodules=all", *flags)
            return os.fsdecode(shadow.git.run(*git, "--", *paths))

    def restore(self, plan: Plan, restricts: Callable[[str], bool]) -> Restored:
        """Make the files of a plan what they are in the snapshot; ``restricts`` as for ``rescue``. Raises HostError."""
        folder = hand_folder(self.places, self.root)
        targets = [f"{self.root}/{c.path}" for c in plan.changes]
        PrivateGitDir(layout(self.root), folder / "git").make()
        occasion = Occasion(BY_HAND, words := f"snapshots restore {self.snapshot.id}", words)
        label = f"{BY_HAND}-{self.snapshot.id}"
        before = take_snapshot(self.root, folder, label, also=targets, restricts=restricts, occasion=occasion)
        tree = SymlinkSafeFolder(self.root, folder / "replaced")
        names = [c.path for c in plan.tracked]
        for name in names:
            _make_way(tree, name, spare=name in before.left_out)
        failed = self._checked_out(names) if names else set()
        problems = [f"{name} could not be brought back." for name in sorted(failed)]
        problems += self._put_back(tree, plan.private)
        return Restored([c.path for c in plan.changes if c.path not in failed], before, problems)

    def _checked_out(self, names: list[str]) -> set[str]:
        """Write files of the snapshot; returns those that are still otherwise."""
        with self._opened() as shadow:
            flags = ("--force", "-u", "-q", "-z", "--stdin")
            shadow.git.run("checkout-index", *flags, stdin=lines(names), ok=(0, 1))
            return set(names).intersection(shadow.differing())

    def branch(self, name: str) -> str:
        """Make a branch or tag again that the snapshot names; returns its hash. Raises ConfigError, HostError."""
        tips = self.snapshot.tips or {}
        ref = next((r for r in (name, f"refs/heads/{name}", f"refs/tags/{name}") if r in tips), "")
        if not ref:
            names = ", ".join(sorted(r.split("/", 2)[2] for r in tips)) or "none"
            raise ConfigError(f"Snapshot {self.snapshot.id} names no branch '{name}'.", f"It names: {names}")
        git, tip = layout(self.root).git, tips[ref]
        now = git.text("rev-parse", "--verify", "--quiet", ref, ok=(0, 1))
        if now == tip:
            raise ConfigError(f"{ref} is there, and stands where it did.")
        if now:
            raise ConfigError(f"{ref} is there, at {now[:12]}.", f"Under another name: git branch NAME {tip}")
        git.run("update-ref", ref, tip, "0" * len(tip))
        return tip

    @contextlib.contextmanager
    def _opened(self) -> Iterator[PrivateGitDir]:
        """A private index that holds the snapshot."""
        where, session = layout(self.root), baseline_folder(self.places, self.root, self.snapshot)
        with tempfile.TemporaryDirectory(prefix="sentinel-guard-") as aside:
            base = PrivateGitDir(where, session / "git" if session else Path(aside, "git"))
            if not (base.folder / "HEAD").exists():
                base = PrivateGitDir(where, Path(aside, "git"))
                base.make()
            shadow = PrivateGitDir(where, base.folder, Path(aside, "index"))
            shadow.copy_index()
            # Of what is the same in both, the stat data stay: only the rest is read.
            shadow.git.run("read-tree", "--reset", self.snapshot.commit)
            shadow.unflag(shadow.flagged())
            shadow.git.run("update-index", "-q", "--refresh", ok=(0, 1))
            yield shadow

    def _private(self) -> dict[str, Kept]:
        session = baseline_folder(self.places, self.root, self.snapshot)
        if not session:
            return {}
        try:
            rows = json.loads(manifest(session, self.snapshot.commit).read_bytes())
            return {str(name): Kept(*row) for name, row in rows.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError) as e:
            raise HostError(
                f"The list of the restricted files of snapshot {self.snapshot.id} cannot be read: {e}"
            ) from e

    def _differing(self, kept: dict[str, Kept], paths: Sequence[str]) -> list[Change]:
        tree = SymlinkSafeFolder(self.root, Path(self.root))
        meant = {n: k for n, k in kept.items() if not paths or any(_below(n, p) for p in paths)}
        return [Change(n, d) for n, k in meant.items() if (d := difference(tree, n, k))]

    def _put_back(self, tree: SymlinkSafeFolder, changes: list[Change]) -> list[str]:
        session, kept = baseline_folder(self.places, self.root, self.snapshot), self._private() if changes else {}
        problems = []
        for change in changes:
            try:
                assert session is not None
                ContentAddressedStore(session / "vault").put_back(tree, change.path, kept[change.path])
            except (HostError, OSError) as e:
                problems.append(f"{change.path} could not be brought back: {e}")
        return problems


def _tracked(shadow: PrivateGitDir, paths: Sequence[str]) -> list[Change]:
    flags = ("--name-status", "-z", "--no-renames", "--ignore-submodules=all")
    told = shadow.git.names("--literal-pathspecs", "diff-files", *flags, "--", *paths)
    return [Change(name, _WHAT.get(letter, "changed")) for letter, name in zip(told[::2], told[1::2], strict=True)]


def _holds(kept: dict[str, Kept], path: str) -> bool:
    return any(_below(name, path) for name in kept)


def _below(name: str, path: str) -> bool:
    return path in (".", name) or name.startswith(f"{path}/")


def _make_way(tree: SymlinkSafeFolder, name: str, *, spare: bool) -> None:
    """What stands where a file, or a folder for it, is to be goes into the attic; a file too, if it is to be spared."""
    seen = tree.lstat(name)
    if seen is None or stat.S_ISDIR(seen.st_mode):
        tree.make_way(name)
    elif spare:
        tree.away(name)
