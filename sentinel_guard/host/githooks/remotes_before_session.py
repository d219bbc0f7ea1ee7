"""Where the remotes of a repository are and what they have, as far as the session cannot have set that (ADR 0053).

Rule of this file: only files from before the session say it, by change time, which nobody can set.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.git.private_git_dir import Layout
from sentinel_guard.host.git.run_git import Setting
from sentinel_guard.host.machine.atomic_files import read_regular

WITHIN = 600
"""Seconds between what git notes in a log and the writing of it: a message is written, a pack is fetched."""
_PLAIN = re.compile(
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)"
    r"|remote\..*\.fetch|branch\..*\.(?:merge|rebase|vscode-merge-base|gh-merge-base)"
)
"""Settings that neither lead a push anywhere nor come along: of all others those that are as before count alone."""
_MORE = re.compile(r"core\.worktree|remote\..*\.(?:push|mirror|receivepack|vcs)|push\.(?:followtags|recursesubmodules)")
"""Settings by which a push sends more, or by other ways, than its words say."""
_OWN_DEFAULTS = ("simple", "current", "upstream", "tracking", "nothing")
_LOGIN = re.compile(r"^([\w+.-]+://)[\w.%~+-]*(?::[\w.%~+-]*)?@|^[\w.+-]*@")
"""Not more: before a colon without a scheme, or a ``?``, stands the machine itself."""
_SPEAKS = ("GIT_EDITOR", "GIT_PAGER", "GIT_TERMINAL_PROMPT")
_MOVES = ("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM", *commit_contents.PLACES)
_LEADS = re.compile(r"GIT_\w+|(?:LD|DYLD)_\w+|EDITOR|VISUAL|SSH_ASKPASS|(?i:https?_proxy|all_proxy)")
"""Variables by which git, or what it starts, finds other settings, programs or ways."""
_HOMES = ("HOME", "XDG_CONFIG_HOME")


class Start(NamedTuple):
    environ: Mapping[str, str]
    """Of the command."""
    begun: Mapping[str, str]
    """As the session began."""
    since: float
    """When that was, seconds of the epoch."""


def is_of_here(where: Layout, since: float) -> bool:
    """Whether git worked in a repository on this machine before the session: one of its logs was written when the last
    entry says. What a checkout or a package brought along, and is called ``.git`` since, has other times.
    """
    for path in Path(where.common_dir, "logs").rglob("*"):
        if path.is_file() and _is_old(str(path), since):
            last = read_regular(path).rstrip(b"\n").rpartition(b"\n")[2]
            noted = re.search(rb"> (\d+) [+-]\d{4}(?:\t|$)", last)
            if noted and abs(int(noted[1]) - path.stat().st_ctime) < WITHIN:
                return True
    return False


def is_led(start: Start) -> bool:
    """Whether the command's own variables may lead git elsewhere, or to other settings than ours sees."""
    given, begun = start.environ, start.begun
    if not begun or any(given.get(name) != os.environ.get(name) for name in _HOMES):
        return True
    asked = (name for name in given if _LEADS.fullmatch(name) and name not in _SPEAKS)
    led = any(given[name] != begun.get(name) or name in _MOVES for name in asked)
    before = begun.get("PATH")
    return led or shutil.which("ssh", path=given.get("PATH", before)) != shutil.which("ssh", path=before)


def remotes(where: Layout, asked: str, found: Sequence[Setting], start: Start) -> list[str]:
    """The remotes that are meant; none where one may be another than before the session."""
    names = {s.key[7:-4] for s in found if s.key.startswith("remote.") and s.key.endswith(".url")}
    meant = [asked] if asked else sorted(names)
    if not names.issuperset(meant) or not all(_is_as_before(s, names, where, start.since) for s in found):
        return []
    return meant if all(_is_old(hook, start.since) for hook in _hooks(where, found)) else []


def _hooks(where: Layout, found: Sequence[Setting]) -> Iterator[str]:
    """The programs that a commit or a push runs, and those beside them that they may run: husky's are one folder up."""
    set_to = [s.value for s in found if s.key == "core.hookspath" and s.value]
    folder = Path(where.root, Path(set_to[-1]).expanduser()) if set_to else Path(where.common_dir, "hooks")
    beside = folder.parent if set_to and folder.parent.is_relative_to(where.root) else folder
    for one in {folder, beside} - {Path(where.root)}:
        yield from (str(path) for path in one.glob("*") if path.is_file())


def _is_as_before(setting: Setting, names: set[str], where: Layout, since: float) -> bool:
    key, value = setting.key.lower(), setting.value or ""
    if _MORE.fullmatch(key) or (key == "push.default" and value not in _OWN_DEFAULTS):
        return False
    origin = os.path.join(where.root, setting.origin)  # noqa: PTH118 - text with surrogates
    if _PLAIN.fullmatch(key) or (_is_old(origin, since) and _is_folder_old(Path(origin), since)):
        return True
    if key.endswith((".remote", ".pushremote", "remote.pushdefault")):
        return value in names
    return key.endswith(".url") and _bare(value) == _cloned_from(where, setting.key[7:-4], since)


def _is_old(path: str, since: float) -> bool:
    """Whether nobody changed a file since; a link counts, and what it leads to."""
    return max(os.lstat(path).st_ctime, os.stat(path).st_ctime) < since  # noqa: PTH116 - text with surrogates


def _is_folder_old(path: Path, since: float) -> bool:
    """Whether nobody moved or linked the folder of a settings file there: what is in it keeps its times."""
    home, folder = Path.home(), path.parent
    kept = folder == home or not folder.is_relative_to(home) or folder.name == ".git" or _is_old(str(folder), since)
    return kept and all(one.lstat().st_ctime < since for one in path.parents if one.is_symlink())


def _cloned_from(where: Layout, remote: str, since: float) -> str:
    """From where a repository of before the session was cloned: git notes it once, and never again."""
    log = f"{where.common_dir}/logs/refs/remotes/{remote}/HEAD"
    with contextlib.suppress(OSError):
        if os.path.realpath(log) == log and _is_old(log, since):
            first = os.fsdecode(read_regular(log)).partition("\n")[0]
            return _bare(first.partition("\tclone: from ")[2])
    return ""


def _bare(url: str) -> str:
    """An address without a login, as git notes it."""
    return _LOGIN.sub(r"\1", url)


def out(where: Layout, remote: str, since: float) -> Iterator[str]:
    """What a remote was seen to have before the session: by its references of that time."""
    common, below = Path(where.common_dir), f"refs/remotes/{remote}/"
    packed = common / "packed-refs"
    if packed.exists() and _is_old(str(packed), since):
        rows = (line.split(" ") for line in os.fsdecode(read_regular(packed)).splitlines())
        yield from (row[0] for row in rows if len(row) == 2 and row[1].startswith(below))
    folder = common / below
    if not folder.is_dir() or os.path.realpath(folder) != str(folder) or not _is_in_place(folder, below, since):
        return
    for path in folder.rglob("*"):
        within = [p for p in path.parents if p != folder and p.is_relative_to(folder)]
        if path.is_file() and os.path.realpath(path) == str(path) and _are_old((path, *within), since):
            text = os.fsdecode(read_regular(path)).strip()
            yield from [text] if re.fullmatch(r"[0-9a-f]{40,64}", text) else []


def _is_in_place(folder: Path, below: str, since: float) -> bool:
    """Whether nobody moved other references there: files in a folder that is moved keep their times."""
    with contextlib.suppress(OSError):
        head = folder / "HEAD"
        named = _is_old(str(head), since) and os.fsdecode(read_regular(head)).startswith(f"ref: {below}")
        return named or _is_old(str(folder), since)
    return _is_old(str(folder), since)


def _are_old(paths: Sequence[Path], since: float) -> bool:
    return all(_is_old(str(path), since) for path in paths)
