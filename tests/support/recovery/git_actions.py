"""The acts of ``recovery_actions`` on git itself, and the lists of all: what a person may do, what an agent may."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import zlib

from tests.support.recovery.person_actions import (
    Act,
    append,
    attributes,
    crlf,
    delete,
    delete_folder,
    edit,
    edit_unseen,
    executable,
    fifo,
    folder_to_link,
    fresh,
    git,
    gone,
    hard_link,
    ignore,
    inside,
    link,
    new_file,
    new_folder,
    new_ignored,
    new_restricted,
    odd_mode,
    on_file,
    pick,
    put,
    rename,
    replace_file,
    swap_kind,
    touch,
)
from tests.support.recovery.repository import Repo

POISON = (
    ("core.worktree", "/nonexistent"), ("core.bare", "true"), ("core.fsmonitor", "touch ../ran; false"),
    ("core.hooksPath", ".git/evil"), ("core.excludesFile", "a.txt"), ("core.trustctime", "false"),
    ("core.checkStat", "minimal"), ("core.ignoreStat", "true"), ("core.autocrlf", "true"), ("core.fileMode", "false"),
    ("core.symlinks", "false"), ("core.sparseCheckout", "true"), ("core.precomposeUnicode", "true"),
    ("filter.z.clean", "touch ../ran; tr a-z b-za"), ("filter.z.smudge", "touch ../ran; tr a-z b-za"),
    ("filter.z.required", "true"), ("diff.external", "touch ../ran"), ("status.showUntrackedFiles", "no"),
    ("core.ignoreCase", "true"), ("index.version", "4"), ("core.untrackedCache", "true"), ("core.splitIndex", "true"),
    ("extensions.worktreeConfig", "true"), ("user.name", "somebody else"), ("include.path", "../a.txt"),
)  # fmt: skip
PARTS = (
    "HEAD", "index", "config", "refs", "refs/heads", "packed-refs", "hooks", "info", "logs", "objects", "objects/pack",
    "ORIG_HEAD", "refs/stash", "logs/refs/stash", "description", "lfs", "logs/HEAD", "logs/refs/heads", "worktrees",
)  # fmt: skip
LOCKS = ("index.lock", "HEAD.lock", "config.lock", "refs/heads/main.lock", "packed-refs.lock", "shallow.lock")


def poison_config(r: Repo, chance: random.Random) -> None:
    r.git("config", *chance.choice(POISON), ok=False)


def plant_hook(r: Repo, chance: random.Random) -> None:
    name = chance.choice(("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "evil/x"))
    if (r.root / ".git").is_dir():
        put(r, f".git/hooks/{name}", b"#!/bin/sh\ntouch ../ran # " + fresh(chance))
        with contextlib.suppress(OSError):
            (r.root / ".git/hooks" / name).chmod(0o755)


def delete_part(r: Repo, chance: random.Random) -> None:
    gone(r.root / ".git" / chance.choice(PARTS))


def junk_part(r: Repo, chance: random.Random) -> None:
    name = chance.choice((*PARTS, "shallow", "info/grafts", "info/sparse-checkout", "info/exclude", "MERGE_HEAD"))
    if (r.root / ".git").is_dir():
        put(r, f".git/{name}", chance.choice((b"", b"junk\0\n", b"*\n", b"ref: refs/heads/nowhere\n", fresh(chance))))


def leave_lock(r: Repo, chance: random.Random) -> None:
    if (r.root / ".git").is_dir():
        put(r, f".git/{chance.choice(LOCKS)}", b"")


def delete_git(r: Repo, chance: random.Random) -> None:
    gone(r.root / ".git")


def init_again(r: Repo, chance: random.Random) -> None:
    r.git("init", "-q", "-b", "fresh", ok=False)


def move_git(r: Repo, chance: random.Random) -> None:
    """The git directory elsewhere, with a file, a link or nothing in its place."""
    dot, away = r.root / ".git", r.root.parent / f"moved{chance.getrandbits(16)}"
    if not dot.is_dir() or dot.is_symlink() or away.exists():
        return
    dot.rename(away)
    match chance.randrange(3):
        case 0:
            dot.write_text(f"gitdir: {away}\n")
        case 1:
            dot.symlink_to(away)


def delete_objects(r: Repo, chance: random.Random) -> None:
    objects = [p for p in sorted((r.root / ".git/objects").glob("[0-9a-fp]*/*")) if p.is_file()]
    for path in chance.sample(objects, min(len(objects), 5)):
        gone(path)


def poison_object(r: Repo, chance: random.Random) -> None:
    """Another content under the name of a loose blob, as a new file."""
    objects = [p for p in sorted((r.root / ".git/objects").glob("[0-9a-f]*/*")) if p.is_file()]
    if objects:
        path = chance.choice(objects)
        gone(path)
        path.write_bytes(zlib.compress(b"blob 5\0evil\n"))


def alternates(r: Repo, chance: random.Random) -> None:
    if (r.root / ".git/objects").is_dir():
        put(r, ".git/objects/info/alternates", b"/nonexistent\n")


def replace_start(r: Repo, chance: random.Random) -> None:
    commits = r.git("rev-list", "--all", ok=False).split()
    if len(commits) > 1:
        r.git("replace", "-f", *chance.sample(commits, 2), ok=False)


def commit_all(r: Repo, chance: random.Random) -> None:
    r.git("add", "-A", ok=False)
    r.git("commit", "-q", "--allow-empty", "-m", f"agent {chance.getrandbits(32)}", ok=False)


def rewrite_and_collect(r: Repo, chance: random.Random) -> None:
    r.git("reflog", "expire", "--expire=now", "--all", ok=False)
    r.git("gc", "-q", "--prune=now", ok=False)


def embed(r: Repo, chance: random.Random) -> None:
    inner = Repo(r.root / chance.choice(("inner", "src/inner", "untracked/inner")))
    if inside(r, inner.root) and not os.path.lexists(inner.root):
        with contextlib.suppress(OSError):
            inner.root.mkdir(parents=True)
            inner.git("init", "-q", ok=False)
            put(inner, "x", fresh(chance))
            if chance.random() < 0.7:
                commit_all(inner, chance)


def flag(r: Repo, chance: random.Random) -> None:
    if path := pick(r, chance):
        word = chance.choice(("skip-worktree", "assume-unchanged", "no-skip-worktree", "chmod=+x", "force-remove"))
        r.git("update-index", f"--{word}", "--", os.path.relpath(path, r.root), ok=False)
        edit(r, chance)


def conflict(r: Repo, chance: random.Random) -> None:
    put(r, "h.txt", fresh(chance))
    r.git("commit", "-q", "-m", "ours", "--", "h.txt", ok=False)
    r.git(*chance.choice((("merge", "other"), ("rebase", "other"), ("cherry-pick", "other"))), ok=False)


def submodule(r: Repo, chance: random.Random) -> None:
    """A library that the person's repository holds as a submodule."""
    library = Repo(r.root.parent / "library")
    if not library.root.exists():
        library.root.mkdir()
        library.git("init", "-q", "-b", "main")
        put(library, "lib.txt", fresh(chance))
        commit_all(library, chance)
    words = ("submodule", "add", "-q", str(library.root), chance.choice(("sub", "src/sub")))
    r.git("-c", "protocol.file.allow=always", *words, ok=False)


def in_submodule(r: Repo, chance: random.Random) -> None:
    """Whatever else may be done, in the submodule."""
    inner = Repo(r.root / chance.choice(("sub", "src/sub")))
    if inside(r, inner.root) and (inner.root / ".git").is_file():
        detach = git("checkout", "-q", "--detach")
        chance.choice((edit, append, delete, new_file, commit_all, detach, plant_branch))(inner, chance)


def plant_branch(r: Repo, chance: random.Random) -> None:
    r.git("checkout", "-qfb", f"agent{chance.getrandbits(16)}", ok=False)
    commit_all(r, chance)


def in_worktree(r: Repo, chance: random.Random) -> None:
    """A commit in another worktree, made if there is none."""
    side = Repo(r.root.parent / "side")
    if not side.root.exists():
        r.git("worktree", "add", "-q", "-b", f"side{chance.getrandbits(16)}", str(side.root), ok=False)
    if (side.root / ".git").is_file():
        put(side, "side.txt", fresh(chance))
        commit_all(side, chance)


def large_file(r: Repo, chance: random.Random) -> None:
    """As git-lfs keeps one."""
    if (r.root / ".git").is_dir():
        data = fresh(chance)
        digest = hashlib.sha256(data).hexdigest()
        put(r, f".git/lfs/objects/{digest[:2]}/{digest[2:4]}/{digest}", data)


def shut_folder(r: Repo, chance: random.Random) -> None:
    """One that may not be read or written any more: the root, a part of the git directory, or another."""
    named = [r.root, r.root / ".git", r.root / ".git/refs", r.root / ".git/refs/heads", r.root / ".git/logs"]
    path = chance.choice([*(p for p in named if p.is_dir()), pick(r, chance, folders=True) or r.root])
    if path.is_dir() and not path.is_symlink() and inside(r, path):
        path.chmod(chance.choice((0, 0o500, 0o300, 0o755)))


def nothing(r: Repo, chance: random.Random) -> None:
    r.git("status", ok=False)


PERSON: tuple[Act, ...] = (
    edit, append, replace_file, crlf, delete, new_file, new_file, new_ignored, new_restricted, new_folder, rename,
    executable, odd_mode, link, swap_kind, ignore, flag, conflict, commit_all, embed,
    on_file("add"), on_file("add", "-N"), on_file("rm", "-q", "--cached"), on_file("rm", "-qf"), git("add", "-A"),
    git("stash", "push", "-q"), git("checkout", "-q", "--detach"), git("checkout", "-q", "--orphan", "unborn"),
    git("branch", "person"), git("tag", "-a", "-m", "t", "v2"), git("config", "alias.x", "status"),
    git("config", "core.autocrlf", "input"), git("pack-refs", "--all"), git("gc", "-q"), git("bisect", "start"),
    submodule, large_file, large_file, in_worktree,
    git("update-index", "--split-index"), git("notes", "add", "-m", "note"), git("checkout", "-qf", "other"),
)  # fmt: skip

AGENT: tuple[Act, ...] = (
    *(act for act in PERSON if act not in (submodule, large_file, in_worktree)), shut_folder, shut_folder,
    git("reflog", "expire", "--expire=now", "--all"), git("reflog", "delete", "HEAD@{0}"),
    edit, edit_unseen, edit_unseen, touch, delete_folder, hard_link, folder_to_link, fifo, attributes,
    poison_config, poison_config, plant_hook, delete_part, delete_part, junk_part, junk_part, leave_lock, delete_git,
    init_again, move_git, delete_objects, poison_object, alternates, replace_start, commit_all, rewrite_and_collect,
    nothing, in_submodule, in_submodule, in_worktree,
    git("commit", "-qam", "more"), git("commit", "-q", "--amend", "-m", "amended"), git("reset", "-q", "--hard"),
    git("reset", "-q", "--hard", "HEAD~1"), git("reset", "-q", "--soft", "HEAD~1"), git("reset", "-q"),
    git("stash", "push", "-qu"), git("stash", "pop"), git("stash", "drop"), git("stash", "clear"),
    git("clean", "-qffd"), git("clean", "-qffdx"), git("checkout", "-qfb", "agent/work"),
    git("checkout", "-qf", "main"),
    git("checkout", "-q", "."), git("branch", "-D", "main"), git("branch", "-D", "other"),
    git("branch", "-M", "renamed"), git("tag", "-f", "v1"), git("tag", "-d", "v1"), git("merge", "-q", "other"),
    git("merge", "--abort"), git("rebase", "--abort"), git("revert", "--no-edit", "HEAD"),
    git("rm", "-rqf", "src"), git("mv", "src", "lib"),
    git("read-tree", "--empty"), git("update-ref", "-d", "HEAD"), git("worktree", "add", "-q", "../side"),
    git("sparse-checkout", "set", "src"), git("symbolic-ref", "HEAD", "refs/heads/nowhere"), git("add", "-Af"),
    git("update-index", "--untracked-cache"), git("repack", "-adq"), git("prune-packed"),
    git("reset", "-q", "--mixed", "v1"),
)  # fmt: skip

TOO_EARLY = frozenset([
    "delete_git", "move_git", "delete_part", "junk_part", "delete_objects", "poison_object", "rewrite_and_collect",
    "delete_folder", "folder_to_link", "swap_kind", "git clean -qffd", "git clean -qffdx", "git repack -adq", "rename",
    "odd_mode", "git mv src lib", "shut_folder", "git add -Af",
])  # fmt: skip
"""What no rollback promises to undo where it came before the baseline was complete: objects that are destroyed, here or
in a repository in the repository, modes that git does not know, and ignored files that are destroyed (those that were
added by force go with the next checkout): they are named."""
