"""Makes a git tree of the work tree as it was at session start, for diffs in incident reports (R9).

Made when it is asked for, from the kept index and the vault's raw files, through the start's own filters and into the
shadow's own object store: the user's repository gets nothing, and the start of a session does not wait.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from sentinel_guard.host.git.private_git_dir import PrivateGitDir
from sentinel_guard.host.git.repository import commit
from sentinel_guard.host.git.run_git import lines
from sentinel_guard.host.machine.content_addressed_store import ABSENT, UNKEPT
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.worktree_diff import start_index


def start_tree(baseline: Baseline, only: Collection[str] | None = None) -> str:
    """The hash of the tree; ``patch`` reads it. Restricted, ignored and too large files are not in it.

    ``only``: the untracked files that are; None for all.

    What is missing though git was told not to look at it (a sparse checkout) is as the index has it. Raises HostError.
    """
    with tempfile.TemporaryDirectory(prefix="start-", dir=baseline.folder) as folder:
        private = PrivateGitDir(baseline.where, baseline.shadow.folder, Path(folder, "index"))
        start_index(baseline, private)
        work = SymlinkSafeFolder(f"{folder}/tree", Path(folder, "attic"))
        Path(work.root).mkdir()
        vault, names = baseline.vault, _names(baseline, only)
        for name in names:
            if baseline.files[name].kind != ABSENT:
                vault.put_back(work, name, baseline.files[name])
        private.unflag(n for n in baseline.flagged if n in names)
        git = replace(private.git, work_tree=work.root)
        git.run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=lines(names))
        return git.text("write-tree", "--missing-ok")


def patch(baseline: Baseline, old: str, new: str) -> str:
    """The difference of two commits or trees, ``start_tree``'s among them; no program of the repository's is run.

    ``old`` and ``new`` are hashes, or refs of the repository. Raises HostError.
    """
    flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--stat", "--patch")
    found = [commit(baseline.where.git, n) if n.startswith("refs/") else n for n in (old, new)]
    return os.fsdecode(baseline.shadow.git.run("diff", *flags, *found, "--"))


def _names(baseline: Baseline, only: Collection[str] | None) -> list[str]:
    """What differed from the index, as far as it may be shown."""
    sparse = (n for n in baseline.flagged if n in baseline.files and baseline.files[n].kind == ABSENT)
    apart = {*baseline.restricted, *sparse}
    wanted = baseline.files if only is None else {*baseline.dirty, *only}
    return [n for n, kept in baseline.files.items() if n in wanted and n not in apart and kept.kind != UNKEPT]
