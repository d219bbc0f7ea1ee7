"""What a push from a repository without our hooks may send, looked at as ``pre-push`` would (ADR 0053).

Rules of this file:
1. More than is sent may be looked at, never less: all that is not known to be at the remote, and all that is changed
   and not ignored, as two commits of our own.
2. Only what the session cannot have set says where the remote is and what it has: files from before it, by change time.
3. Nothing is written to the repository, and no program of its settings is run. What is too much, or takes too long, is
   not known.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.core.model import Response
from sentinel_guard.core.policy import presets
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.git import commit_contents, repository
from sentinel_guard.host.git.capture_worktree import capture
from sentinel_guard.host.git.private_git_dir import Layout, PrivateGitDir, layout, scan
from sentinel_guard.host.git.run_git import Setting, settings, until
from sentinel_guard.host.githooks import pushes_and_refs
from sentinel_guard.host.githooks.hook_request import HookCase
from sentinel_guard.host.machine.atomic_files import read_regular

FILES, COMMITS, BYTES = 2000, 500, 10 << 20
"""That are looked at."""
WITHIN = 600
"""Seconds between what git notes in a log and the writing of it: a message is written, a pack is fetched."""
SHOWN = 3
"""Finds that are told."""
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
_NO = ("false", "no", "off", "0", "")
_OTHERS = ("ls-files", "--others", "-z", "--exclude-standard")
_MESSAGES = ("MERGE_MSG", "SQUASH_MSG")
"""Files of a git directory whose words a commit without a message has."""
_SPEAKS = ("GIT_EDITOR", "GIT_PAGER", "GIT_TERMINAL_PROMPT")
_MOVES = ("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM", *commit_contents.PLACES)
_LEADS = re.compile(r"GIT_\w+|(?:LD|DYLD)_\w+|EDITOR|VISUAL|SSH_ASKPASS|(?i:https?_proxy|all_proxy)")
"""Variables by which git, or what it starts, finds other settings, programs or ways."""
_HOMES = ("HOME", "XDG_CONFIG_HOME")


Known = Callable[[Path, Policy], UserSecrets]
"""The person's own values that count for a repository."""


class Push(NamedTuple):
    folder: str
    remote: str
    """Empty: what the settings say."""
    refs: Sequence[str]
    said: str
    """Words of the commands, which may come to be messages and names."""


class Start(NamedTuple):
    environ: Mapping[str, str]
    """Of the command."""
    begun: Mapping[str, str]
    """As the session began."""
    since: float
    """When that was, seconds of the epoch."""


class Bounds(NamedTuple):
    folder: Path
    """Of the guard: what is made for a look lies in it, and nowhere else."""
    moment: float
    """At which what is not known yet is not known (``time.monotonic``)."""


def look(push: Push, start: Start, bounds: Bounds, policy: Callable[[Path], Policy], known: Known) -> str | None:
    """What was found, in redacted words, empty for nothing; None where not all is known. Blocks while git works."""
    with until(bounds.moment):
        return _look(push, start, bounds.folder, policy, known)


def _look(push: Push, start: Start, own: Path, policy: Callable[[Path], Policy], known: Known) -> str | None:
    try:
        top = repository.top(push.folder)
        if top is None or _is_led(start) or not _is_of_here(where := layout(top), start.since):
            return None
        if os.path.lexists(f"{where.git_dir}/MERGE_HEAD") or os.path.lexists(f"{where.common_dir}/reftable"):
            return None
        found = settings(replace(where.git, settings=start.begun.get("GIT_CONFIG_GLOBAL", "")))
        remotes, sources = _remotes(where, push.remote, found, start), _sources(where, push.refs)
        if not remotes or sources is None:
            return None
        out = [identity for remote in remotes for identity in _out(where, remote, start.since)]
        own.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=own) as folder:
            made = _uncommitted(where, found, push.said, Path(folder))
            ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
            environ = {**ours, "GIT_DIR": folder, "GIT_WORK_TREE": top}
            case = HookCase(
                "pre-push", Path(top), Path(top), policy(Path(top)), (), b"", environ,
                lambda: known(case.root, case.policy), session=True,
            )  # fmt: skip
            return _found(case, made, sources, out) if made else None
    except (SentinelError, OSError, ValueError):
        return None


def _is_of_here(where: Layout, since: float) -> bool:
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


def _is_led(start: Start) -> bool:
    """Whether the command's own variables may lead git elsewhere, or to other settings than ours sees."""
    given, begun = start.environ, start.begun
    if not begun or any(given.get(name) != os.environ.get(name) for name in _HOMES):
        return True
    asked = (name for name in given if _LEADS.fullmatch(name) and name not in _SPEAKS)
    led = any(given[name] != begun.get(name) or name in _MOVES for name in asked)
    before = begun.get("PATH")
    return led or shutil.which("ssh", path=given.get("PATH", before)) != shutil.which("ssh", path=before)


def _remotes(where: Layout, asked: str, found: Sequence[Setting], start: Start) -> list[str]:
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
    if _PLAIN.fullmatch(key) or (_is_old(origin, since) and _is_way_old(Path(origin), since)):
        return True
    if key.endswith((".remote", ".pushremote", "remote.pushdefault")):
        return value in names
    return key.endswith(".url") and _bare(value) == _cloned_from(where, setting.key[7:-4], since)


def _is_old(path: str, since: float) -> bool:
    """Whether nobody changed a file since; a link counts, and what it leads to."""
    return max(os.lstat(path).st_ctime, os.stat(path).st_ctime) < since  # noqa: PTH116 - text with surrogates


def _is_way_old(path: Path, since: float) -> bool:
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


def _found(case: HookCase, made: Sequence[str], sources: Sequence[str], out: Sequence[str]) -> str | None:
    root, environ = case.root, case.environ
    commits = commit_contents.between(root, [*made, *sources], out, environ=environ)
    if len(commits.ids) > COMMITS:
        return None
    changes = commit_contents.changed(root, commits.ids, environ)
    sizes = commit_contents.sizes(root, [c.blob for c in changes if c.blob], environ)
    if len(changes) > FILES or sum(sizes.values()) > BYTES:
        return None
    judged = pushes_and_refs.carried(case, commits, sources)
    if judged.notes:
        return None
    grave = [f.what for f in (presets.softened(f, case.policy) for f in judged.findings) if f.response >= Response.ASK]
    said = "; ".join(grave[:SHOWN])
    for identity in made:
        said = said.replace(identity[:12], "to come")
    return said


def _uncommitted(where: Layout, found: Sequence[Setting], said: str, folder: Path) -> list[str] | None:
    """What is staged, and what is changed or new in the work tree, as a commit each; None for too much of it."""
    head = repository.head(where.root)
    shadow = PrivateGitDir(where, folder)
    shadow.make(found, filters=False)
    shadow.copy_index()
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(f"{where.common_dir}/shallow", folder / "shallow")
    shadow.unflag(shadow.flagged())  # a commit that names such a file takes it
    names = scan(shadow, "--exclude-standard")
    told = {s.key: s.value for s in found}
    if (told.get("core.ignorecase", "false") or "true").lower() not in _NO:  # it may take a rule back, too
        names = list(dict.fromkeys((*names, *shadow.git.names("-c", "core.ignoreCase=true", *_OTHERS))))
    if not head or len(names) > FILES or sum(map(int, _sizes(where.root, names))) > BYTES:
        return None
    for name in _MESSAGES:
        with contextlib.suppress(FileNotFoundError):
            said += "\n" + os.fsdecode(read_regular(Path(where.git_dir, name)))
    staged, tree = shadow.git.text("write-tree"), capture(shadow, names)
    if tree.left_out:
        return None
    made, words = [head], said.encode("utf-8", "surrogateescape")
    for one in (staged, tree.hash):
        made.append(os.fsdecode(shadow.git.run("commit-tree", one, "-p", made[-1], "-F", "-", stdin=words)).strip())
    return made[1:]


def _sizes(root: str, names: Sequence[str]) -> Iterator[int]:
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            yield os.lstat(f"{root}/{name}").st_size


def _sources(where: Layout, refs: Sequence[str]) -> list[str] | None:
    """The objects that refspecs name; one that is not there yet is a branch made of HEAD.

    A push takes a branch or a tag of that name before all that else may have it: an object, ``ORIG_HEAD``.
    """
    found = []
    for refspec in refs:
        source = refspec.partition(":")[0]
        if not source or source == "tag" or source[0] in "+-^" or any(sign in source for sign in ("*", "@{")):
            return None
        if any(part.startswith(pushes_and_refs.PRIVATE) for part in refspec.split(":")):
            return None
        found.append(where.git.text("rev-parse", "--verify", "--quiet", "--end-of-options", source, ok=(0, 1)))
        named = (f"refs/heads/{source}", f"refs/tags/{source}")
        found += where.git.text("for-each-ref", "--format=%(objectname)", *named).split()
    return [identity for identity in found if identity]


def _out(where: Layout, remote: str, since: float) -> Iterator[str]:
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
