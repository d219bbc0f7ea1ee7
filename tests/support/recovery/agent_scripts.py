"""What agents do to a repository, and what a person was in the middle of. Run on throw-away repositories only."""

from __future__ import annotations

import os
import subprocess
import zlib

from tests.support.recovery.repository import Repo


def edits_and_commits(r: Repo) -> None:
    for name in "abch":
        r.write(f"{name}.txt", "evil\n")
    r.write("src/y.py", "evil\n")
    r.commit("evil")


def resets_and_cleans(r: Repo) -> None:
    r.git("reset", "-q", "--hard")
    r.git("clean", "-qfd")


def cleans_ignored_too(r: Repo) -> None:
    r.git("clean", "-qfdx", "-e", "build")


def edits_env(r: Repo) -> None:
    r.write(".env", "KEY=stolen\n", 0o644)


def links_env(r: Repo) -> None:
    r.remove(".env")
    (r.root / ".env").symlink_to("/etc/hostname")


def adds_files(r: Repo) -> None:
    r.write("brand/new/one.txt", "1")
    r.write("-dash\n\"quote'\\", "2")
    r.write("src/deep/more.py", "3")
    (r.root / "dangling").symlink_to("nowhere")


def hides_by_ignoring(r: Repo) -> None:
    r.write(".gitignore", "*\n")
    r.write("hidden.txt", "h")
    r.write("selfish/.gitignore", "*\n")
    r.write("selfish/x", "x")


def hides_by_exclude(r: Repo) -> None:
    r.write(".git/info/exclude", "*\n")
    r.write("excludes", "*\n")
    r.git("config", "core.excludesFile", str(r.root / "excludes"))
    r.git("config", "status.showUntrackedFiles", "no")
    r.write("hidden.txt", "h")


def plants_flags(r: Repo) -> None:
    r.git("update-index", "--skip-worktree", "g.txt")
    r.git("update-index", "--assume-unchanged", "h.txt")
    r.write("g.txt", "evil\n")
    r.write("h.txt", "evil\n")


def plants_worktree(r: Repo) -> None:
    r.write("a.txt", "evil\n")
    elsewhere = r.root.parent / "elsewhere"
    elsewhere.mkdir()
    r.git("config", "core.worktree", str(elsewhere))


def plants_programs(r: Repo) -> None:
    mark = f"touch {r.root.parent}/ran"
    r.write("g.txt", "evil g one\n")
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit"):
        r.write(f".git/hooks/{hook}", f"#!/bin/sh\n{mark}\n", 0o755)
    r.write(".git/info/attributes", "* filter=z\n")
    r.write(".gitattributes", "* filter=z diff=z\n")
    for key in ("filter.z.smudge", "filter.z.clean", "diff.z.textconv", "core.fsmonitor", "diff.external"):
        subprocess.run(["git", "config", key, f"{mark}; cat"], cwd=r.root, check=True)


def leaves_locks(r: Repo) -> None:
    for name in ("index.lock", "HEAD.lock", "config.lock", "refs/heads/main.lock", "packed-refs.lock"):
        r.write(f".git/{name}", "")
    r.write("a.txt", "evil\n")


def replaces_start(r: Repo) -> None:
    start = r.git("rev-parse", "HEAD")
    r.write("g.txt", "evil\n")
    r.commit("evil")
    evil = r.git("rev-parse", "HEAD")
    r.git("reset", "-q", "--hard", start)
    r.git("replace", start, evil)


def switches_branch(r: Repo) -> None:
    r.git("checkout", "-q", "-f", "-b", "agent/work")
    r.write("z.txt", "z")
    r.commit()


def detaches_and_deletes(r: Repo) -> None:
    r.git("checkout", "-q", "-f", "--detach")
    r.git("branch", "-q", "-D", "main", "other")
    r.git("tag", "-f", "v1")
    r.write("g.txt", "evil\n")
    r.commit()


def drops_stash(r: Repo) -> None:
    r.git("stash", "clear")
    r.write("g.txt", "agent's\n")
    r.git("stash", "push", "-q")


def deletes_git(r: Repo) -> None:
    r.remove(".git")
    r.write("a.txt", "evil\n")


def reinitialises(r: Repo) -> None:
    deletes_git(r)
    r.git("init", "-q", "-b", "fresh")
    r.commit("all mine")


def points_git_elsewhere(r: Repo) -> None:
    r.remove(".git")
    r.write(".git", "gitdir: /nowhere\n")


def links_git_elsewhere(r: Repo) -> None:
    (r.root / ".git").rename(r.root.parent / "moved.git")
    (r.root / ".git").symlink_to(r.root.parent / "moved.git")


def junks_metadata(r: Repo) -> None:
    for name in ("index", "HEAD", "refs/heads/main", "config", "packed-refs"):
        r.write(f".git/{name}", "junk\x00\n")


def rewrites_and_collects(r: Repo) -> None:
    r.write("g.txt", "amended\n")
    r.git("commit", "-q", "-a", "--amend", "-m", "amended")
    r.git("reflog", "expire", "--expire=now", "--all")
    r.git("gc", "-q", "--prune=now")


def deletes_objects(r: Repo) -> None:
    r.remove(".git/objects")


def poisons_object(r: Repo) -> None:
    blob = r.git("rev-parse", "HEAD:g.txt")
    path = r.root / ".git/objects" / blob[:2] / blob[2:]
    path.unlink()
    path.write_bytes(zlib.compress(b"blob 5\0evil\n"))
    r.write("g.txt", "evil\n")


def plants_alternates(r: Repo) -> None:
    r.write(".git/objects/info/alternates", "/nowhere\n")


def forges_times(r: Repo) -> None:
    r.git("config", "core.checkStat", "minimal")
    r.git("config", "core.trustctime", "false")
    path = r.root / "g.txt"
    seen = path.stat()
    path.write_text("G ONE\n" * 5)
    os.utime(path, ns=(seen.st_mtime_ns, seen.st_mtime_ns))


def changes_modes(r: Repo) -> None:
    (r.root / "g.txt").chmod(0o755)
    (r.root / "h.txt").chmod(0o600)
    (r.root / "run.sh").chmod(0o644)
    r.remove("link")
    (r.root / "link").symlink_to("/etc/passwd")


def links_folder_outside(r: Repo) -> None:
    outside = r.root.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "y.py").write_text("untouched\n")
    r.remove("src")
    (r.root / "src").symlink_to(outside)


def swaps_file_and_folder(r: Repo) -> None:
    r.remove("g.txt")
    r.write("g.txt/inside", "i")
    r.remove("src")
    r.write("src", "a file")


def plants_sparse(r: Repo) -> None:
    r.git("config", "core.sparseCheckout", "true")
    r.write(".git/info/sparse-checkout", "/a.txt\n")
    r.write("g.txt", "evil\n")


def embeds(r: Repo) -> None:
    inner = Repo(r.root / "inner")
    inner.root.mkdir()
    inner.git("init", "-q")
    inner.write("x", "x")
    inner.commit()


def renames_branch(r: Repo) -> None:
    r.git("branch", "-M", "renamed")


def only_looks(r: Repo) -> None:
    r.git("log", "-1")


def stash(r: Repo) -> None:
    r.write("c.txt", "stashed\n")
    r.git("stash", "push", "-q", "-m", "mine")


def conflict(r: Repo) -> None:
    r.git("checkout", "-q", "-b", "theirs", "HEAD~1")
    r.write("h.txt", "theirs\n")
    r.commit()
    r.git("checkout", "-q", "main")
    r.git("merge", "theirs", ok=False)


def rebase(r: Repo) -> None:
    conflict(r)
    r.git("merge", "--abort")
    r.git("rebase", "theirs", ok=False)


def detach(r: Repo) -> None:
    r.git("checkout", "-q", "--detach", "HEAD~1")


def intend_to_add(r: Repo) -> None:
    r.write("intended.txt", "i")
    r.git("add", "-N", "intended.txt")


def skip_worktree(r: Repo) -> None:
    r.git("update-index", "--skip-worktree", "g.txt")
    r.write("g.txt", "the person's local settings\n")


def resolves_and_commits(r: Repo) -> None:
    r.write("h.txt", "resolved\n")
    r.commit()


def aborts_rebase(r: Repo) -> None:
    r.git("rebase", "--abort")


def edits_hidden(r: Repo) -> None:
    r.write("g.txt", "evil\n")
    r.write("intended.txt", "evil\n")
