"""What a person may be in the middle of, and what an agent may do then, one small act each, by chance.

Rules of this file:
1. Everything happens in the throw-away folder that holds the repository: nothing is written through a link that leads
   out of it.
2. An act that does not fit the present state does nothing.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from tests.support.recovery.repository import Repo

Act = Callable[[Repo, random.Random], None]
NOT_UTF8 = os.fsdecode(b"not-utf8-\xff\xfe")
ODD = ("odd 'n\"me\n-é", "-dash", NOT_UTF8, " lead", "trail ", "tab\there", "star*?[x]", "\\back")
FOLDERS = ("", "src", "src/deep", "docs", "brand/new", "untracked", os.fsdecode(b"d\xff"))


def names(r: Repo, *, folders: bool = False) -> list[str]:
    """Files below the root, ``.git`` apart; with ``folders`` those instead."""
    found = []
    for top, below, files in os.walk(r.root):
        if ".git" in below:
            below.remove(".git")
        links = [b for b in below if Path(top, b).is_symlink()]
        chosen = [b for b in below if b not in links] if folders else [*files, *links]
        found += [os.path.relpath(Path(top, n), r.root) for n in chosen]
    return sorted(found)


def pick(r: Repo, chance: random.Random, *, folders: bool = False) -> Path | None:
    found = names(r, folders=folders)
    return r.root / chance.choice(found) if found else None


def plain(r: Repo, chance: random.Random) -> Path | None:
    """A regular file that lies in the throw-away folder and not in ``.git``, whatever links lead to it."""
    path = pick(r, chance)
    fits = path and path.is_file() and inside(r, path) and ".git" not in path.resolve().relative_to(top(r)).parts
    return path if fits else None


def inside(r: Repo, path: Path) -> bool:
    return path.resolve().is_relative_to(top(r))


def top(r: Repo) -> Path:
    """The throw-away folder."""
    return r.root.parent.resolve()


def fresh(chance: random.Random) -> bytes:
    return f"{chance.getrandbits(48):x}\n".encode() * chance.randrange(1, 5)


def put(r: Repo, name: str, data: bytes) -> None:
    path = r.root / name
    if not inside(r, path) or path.is_dir():
        return
    with contextlib.suppress(OSError):  # a file may stand where a folder is wanted
        path.parent.mkdir(parents=True, exist_ok=True)
        if not stat.S_ISFIFO(path.stat().st_mode if path.exists() else 0):
            path.write_bytes(data)


def gone(path: Path | None) -> None:
    if path is None or not os.path.lexists(path):
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def git(*words: str) -> Act:
    """A git command, whether it succeeds or not."""

    def act(r: Repo, chance: random.Random) -> None:
        r.git(*words, ok=False)

    act.__name__ = " ".join(("git", *words))
    return act


def on_file(*words: str) -> Act:
    """A git command on one file."""

    def act(r: Repo, chance: random.Random) -> None:
        if path := pick(r, chance):
            r.git(*words, "--", os.path.relpath(path, r.root), ok=False)

    act.__name__ = " ".join(("git", *words, "FILE"))
    return act


# --- files ---


def edit(r: Repo, chance: random.Random) -> None:
    if path := plain(r, chance):
        path.write_bytes(fresh(chance))


def append(r: Repo, chance: random.Random) -> None:
    if path := plain(r, chance):
        with path.open("ab") as file:
            file.write(fresh(chance))


def edit_unseen(r: Repo, chance: random.Random) -> None:
    """Other content of the same size under the same time."""
    if path := plain(r, chance):
        seen = path.stat()
        path.write_bytes(bytes(b ^ 1 for b in path.read_bytes()))
        os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def replace_file(r: Repo, chance: random.Random) -> None:
    """Written aside and renamed over, as editors do."""
    if path := plain(r, chance):
        aside = path.with_name("aside.tmp")
        aside.write_bytes(fresh(chance))
        aside.rename(path)


def touch(r: Repo, chance: random.Random) -> None:
    if path := plain(r, chance):
        os.utime(path, ns=(1, 10**9 * chance.randrange(1, 10**9)))


def crlf(r: Repo, chance: random.Random) -> None:
    if path := plain(r, chance):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def delete(r: Repo, chance: random.Random) -> None:
    gone(pick(r, chance))


def delete_folder(r: Repo, chance: random.Random) -> None:
    gone(pick(r, chance, folders=True))


def new_file(r: Repo, chance: random.Random) -> None:
    name = chance.choice((*ODD, "plain.txt", "notes.md", "a/b/c/d.txt"))
    put(r, f"{chance.choice(FOLDERS)}/{name}".lstrip("/"), fresh(chance))


def new_ignored(r: Repo, chance: random.Random) -> None:
    put(r, chance.choice(("build/made.o", "trace.log", "src/deep/x.log")), fresh(chance))


def new_restricted(r: Repo, chance: random.Random) -> None:
    put(r, chance.choice((".env", "src/.env", "brand/new/.env")), fresh(chance))


def new_folder(r: Repo, chance: random.Random) -> None:
    with contextlib.suppress(OSError):
        (r.root / chance.choice(("void", "src/void", "void/in/void"))).mkdir(parents=True)


def rename(r: Repo, chance: random.Random) -> None:
    path, to = pick(r, chance, folders=chance.random() < 0.4), r.root / chance.choice(("moved", "src/moved", "docs"))
    if path and inside(r, to.parent):
        with contextlib.suppress(OSError):
            path.rename(to)


def executable(r: Repo, chance: random.Random) -> None:
    if path := plain(r, chance):
        path.chmod(path.stat().st_mode ^ 0o111)


def odd_mode(r: Repo, chance: random.Random) -> None:
    if path := plain(r, chance):
        path.chmod(chance.choice((0o600, 0o640, 0o444, 0o000, 0o777)))
        # Only who has root's rights can read a file without any permission, and only so can it be kept.
        if not os.access(path, os.R_OK):
            path.chmod(0o400)


def link(r: Repo, chance: random.Random) -> None:
    """A link in the place of a file or as a new one; some lead out of the work tree."""
    path = chance.choice((pick(r, chance), r.root / "new link", r.root / "src/new link"))
    if path and inside(r, path.parent):
        with contextlib.suppress(OSError):
            gone(path)
            path.symlink_to(chance.choice(("nowhere", "a.txt", "../outside/file", "src", "..", ".git/config")))


def hard_link(r: Repo, chance: random.Random) -> None:
    """Two names for one content: who writes to one writes to both."""
    one, other = plain(r, chance), pick(r, chance)
    if one and other and not one.is_symlink() and one != other and inside(r, other.parent):
        gone(other)
        os.link(one, other)


def folder_to_link(r: Repo, chance: random.Random) -> None:
    if path := pick(r, chance, folders=True):
        gone(path)
        path.symlink_to(r.root.parent / "outside")


def swap_kind(r: Repo, chance: random.Random) -> None:
    """A folder where a file was, or a file where a folder was."""
    folders = chance.random() < 0.5
    if path := pick(r, chance, folders=folders):
        gone(path)
        put(r, os.path.relpath(path if folders else path / "inside", r.root), fresh(chance))


def fifo(r: Repo, chance: random.Random) -> None:
    path = chance.choice((pick(r, chance), r.root / "src/pipe"))
    if path and inside(r, path.parent) and path.parent.is_dir():
        gone(path)
        os.mkfifo(path)


def ignore(r: Repo, chance: random.Random) -> None:
    folder = chance.choice(("", "src/", "brand/new/", "untracked/"))
    put(r, f"{folder}.gitignore", chance.choice((b"*\n", b"!build/\n!*.log\n", b"*.txt\n", b"")))


def attributes(r: Repo, chance: random.Random) -> None:
    name = chance.choice((".gitattributes", ".git/info/attributes", "src/.gitattributes"))
    put(r, name, chance.choice((b"* text eol=crlf\n", b"* filter=z\n", b"*.txt ident working-tree-encoding=UTF-16\n")))
