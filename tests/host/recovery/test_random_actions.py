"""Whatever acts follow each other, the rollback ends where the session began, and all that the agent made is kept.

``HYPOTHESIS_PROFILE=explore SENTINEL_EXAMPLES=5000`` looks further than the gate does.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from sentinel_guard.errors import HostError
from sentinel_guard.host.git import ignored_files
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import gitdir_backup, unkept_files
from sentinel_guard.host.recovery.baseline.worktree_inventory import RECENT
from sentinel_guard.host.recovery.snapshots.blocking_fifos import find_fifos
from tests.support.recovery import person_actions as actions
from tests.support.recovery.git_actions import AGENT, PERSON, TOO_EARLY
from tests.support.recovery.person_actions import ODD, Act
from tests.support.recovery.repository import ENV, TOLD, Repo, copied, template
from tests.support.recovery.without_rights import MISSING, WITHOUT_RIGHTS

EXAMPLES = int(os.environ.get("SENTINEL_EXAMPLES", "30"))
POOL = min(EXAMPLES, 64)
TELLING = re.compile("(modules/.*)?(objects|logs|worktrees|refs/sentinel)/")
"""What of a git directory tells what happened, and stays."""
INNER = re.compile(f"/.git/{TELLING.pattern}")
QUIETLY = ("--no-optional-locks", "-c", "diff.autoRefreshIndex=false")
SAID = re.compile(f" (?:{unkept_files.GONE}|{unkept_files.UNSETTLED})\\.$")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git knows it without an object, and fsck misses it."""
STEPS = {"os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.utime", "subprocess.Popen"}
"""What a kill comes before: everything that changes something on disk, and every git command."""


class Pool:
    """Copies of a repository whose files are no longer recent, which the rollback treats apart."""

    def __init__(self, top: Path) -> None:
        self.top, self.ready, self.count = top, list[Repo](), 0
        self.template = template(top / "template")
        for name in ODD:
            actions.put(self.template, f"src/{name}", name.encode(errors="surrogateescape"))
        self.template.commit("odd names")
        outside = top / "outside"
        outside.mkdir()
        (outside / "file").write_text("outside\n")

    def take(self) -> Repo:
        if not self.ready:
            self.ready = [self._copy() for _ in range(POOL)]
            time.sleep(RECENT + 0.1)
        return self.ready.pop()

    def _copy(self) -> Repo:
        self.count += 1
        shutil.copytree(self.top / "outside", self.top / str(self.count) / "outside")
        return copied(self.template, self.top / str(self.count) / "repo")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    top = tempfile.mkdtemp(prefix="sg-random-")
    yield Pool(Path(top))
    subprocess.run(["chmod", "-R", "u+rwX", top], check=False)
    shutil.rmtree(top)


def restricts(path: str) -> bool:
    return path.rpartition("/")[2] == ".env"


def files(root: Path) -> dict[str, tuple[object, ...]]:
    """Every file below a folder, by kind; ``.git`` folders too where ``root`` is no work tree."""
    found: dict[str, tuple[object, ...]] = {}
    for top, below, names in os.walk(root):
        if top == str(root) and ".git" in below:
            below.remove(".git")
        for name in (*names, *(b for b in below if Path(top, b).is_symlink())):
            path = Path(top, name)
            seen = path.lstat()
            if stat.S_ISREG(seen.st_mode):
                kind: tuple[object, ...] = ("file", oct(stat.S_IMODE(seen.st_mode)), path.read_bytes())
            else:
                kind = ("link", os.fsencode(path.readlink())) if stat.S_ISLNK(seen.st_mode) else ("special", 0, b"")
            found[os.path.relpath(path, root)] = kind
    return found


def whole(repo: Repo) -> dict[str, Any]:
    """What must be as it was, bit for bit."""
    git_dir = repo.root / ".git"
    ignored = {n.rstrip("/") for n in repo.git("ls-files", "-oi", "--exclude-standard", "-z").split("\0")}
    pipes = [n for n, k in files(repo.root).items() if k[0] == "special"]  # which that does not list
    ignored |= {n for n in pipes if repo.git("check-ignore", "--no-index", "--", n, ok=False)}
    metas = {n: k for n, k in files(git_dir).items() if not (TELLING.match(n) or n.startswith("refs/heads/side"))}
    told = repo.git("fsck", "--connectivity-only", "--no-dangling", "--no-reflogs", ok=False)
    nobodys = {n for n in files(repo.root) if not restricts(n) and (INNER.search(n) or below(n, ignored))}
    refs = gitdir_backup.refs(str(git_dir))
    return {
        "files": {n: k for n, k in files(repo.root).items() if n not in nobodys},
        "refs": {
            n: h for n, h in refs.items() if not n.startswith(("refs/sentinel/", "refs/heads/side", "worktrees/"))
        },
        "git directory": metas,
        "told": {args[0]: repo.git(*QUIETLY, *args, ok=False) for args in TOLD},
        "unsound": sorted(w for w in told.splitlines() if EMPTY_TREE not in w),
    }


def more(repo: Repo) -> dict[str, Any]:
    """What must be there at the end, where the baseline was complete at the start: what came besides stays."""
    git_dir = repo.root / ".git"
    trees = git_dir / "worktrees"
    listed = repo.git("ls-files", "-oi", "--exclude-standard", "-z").split("\0")
    ignored = {n for n in listed if n and n[-1] != "/" and not restricts(n) and "/.git/" not in f"/{n}"}
    ignored = {n for n in ignored if "/" not in n or not n.endswith(ignored_files.COMPILED)}  # docs/recovery.md
    every = files(repo.root)
    shown = [p for p in (repo.root, *repo.root.rglob("*")) if ".git" not in p.relative_to(repo.root).parts]
    metas = (git_dir, git_dir / "refs", git_dir / "refs/heads", git_dir / "logs")
    folders = (p for p in (*shown, *metas) if p.is_dir() and not p.is_symlink())
    return {
        "ignored": {n: every[n] for n in ignored if n in every and every[n][0] != "special"},
        "modes": {str(p.relative_to(repo.root)): stat.S_IMODE(p.stat().st_mode) for p in folders},
        "worktrees": dict.fromkeys(p.name for p in trees.glob("*")),
        "logs": {n: k[-1] for n, k in files(git_dir / "logs").items() if n != "refs/stash"},
    }


def missing(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What of it is not there, in words."""
    found = []
    for part, names in before.items():
        for name, old in names.items():
            new = after[part].get(name, "nothing")
            same = new[: len(old)] == old if part == "logs" and new != "nothing" else new == old
            found += [] if same else [f"{part}: {name!r} was {old!s:.300}, is {new!s:.300}"]
    return found


def below(name: str, tops: set[str]) -> bool:
    return name in tops or any(str(parent) in tops for parent in Path(name).parents)


def differences(before: dict[str, object], after: dict[str, object], at: str = "") -> list[str]:
    """In words, and shorter than the two states."""
    found = []
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            found += differences(old, new, f"{at}{key}: ")
        elif old != new:
            found.append(f"{at}{key!r} was {str(old)[:300]}, is {str(new)[:300]}")
    return found


def contents(*folders: Path) -> set[bytes]:
    return {kind[-1] for folder in folders for kind in files(folder).values()}


class Made:
    """What the agent leaves behind, and whether all of it can still be had."""

    def __init__(self, repo: Repo, before: dict[str, Any]) -> None:
        self.repo, known = repo, before["files"]
        self.files = {n: k[-1] for n, k in files(repo.root).items() if known.get(n) != k and k[0] != "special"}
        self.hashes = set[str]()
        with contextlib.suppress(PermissionError):  # the root may be shut
            dot = repo.root / ".git"
            self.hashes |= set(gitdir_backup.refs(str(dot)).values()) if dot.is_dir() else set()
        self.hashes -= set(before["refs"].values())

    def lost(self, baseline: api.Baseline, rescue: str) -> list[str]:
        kept = contents(self.repo.root, *baseline.folder.rglob("quarantine")) | self._rescued(rescue)
        stdin = b"".join(os.fsencode(n) + b"\0" for n in self.files)
        ignored = set(self._git("check-ignore", "-z", "--stdin", stdin=stdin).split(b"\0"))
        return [n for n, data in self.files.items() if data not in kept and os.fsencode(n) not in ignored]

    def unreachable(self) -> set[str]:
        asked = "".join(f"{h}^{{commit}}\n" for h in self.hashes).encode()
        told = self._git("cat-file", "--batch-check", stdin=asked).decode().splitlines()
        commits = {line.split()[0] for line in told if line.endswith(tuple("0123456789"))}
        held = self._git("rev-list", "--all") + self._git("rev-list", "HEAD")
        # What the agent has destroyed of its own cannot be had back.
        return {c for c in commits - set(held.decode().split()) if not self._broken(c)}

    def _broken(self, commit: str) -> bool:
        return self._run("rev-list", "--objects", "--quiet", commit).returncode != 0

    def _rescued(self, rescue: str) -> set[bytes]:
        if not rescue:
            return set()
        rows = self._git("ls-tree", "-rz", rescue).split(b"\0")
        return {self._git("cat-file", "blob", row.split()[2].decode()) for row in rows if row.split()[1:2] == [b"blob"]}

    def _git(self, *words: str, stdin: bytes = b"") -> bytes:
        return self._run(*words, stdin=stdin).stdout

    def _run(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        env = ENV | {"GIT_NO_REPLACE_OBJECTS": "1"}
        return subprocess.run(
            ["git", *words], cwd=self.repo.root, env=env, input=stdin, capture_output=True, check=False
        )


def killed(baseline: api.Baseline, step: int) -> None:
    """A rollback that dies by the strongest signal before its n-th step, if it has as many."""
    child = os.fork()
    if child == 0:
        left = step

        def count(event: str, _: object) -> None:
            nonlocal left
            if event in STEPS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        with contextlib.suppress(BaseException):
            loaded = api.load(baseline.folder)
            sys.addaudithook(count)
            api.rollback(loaded, restricts=restricts)
        os._exit(0)
    os.waitpid(child, 0)


def acts(table: tuple[Act, ...], least: int, most: int) -> st.SearchStrategy[list[tuple[str, int]]]:
    names = st.sampled_from([act.__name__ for act in table])
    return st.lists(st.tuples(names, st.integers(0, 1 << 16)), min_size=least, max_size=most)


BY_NAME = {act.__name__: act for act in (*PERSON, *AGENT)}


def perform(repo: Repo, chosen: list[tuple[str, int]]) -> None:
    for name, seed in chosen:
        if find_fifos(str(repo.root)):  # a git of the agent's would wait there for ever, and we for it
            return
        with contextlib.suppress(PermissionError):  # a folder may be shut, and nobody here be root
            BY_NAME[name](repo, random.Random(seed))


def outlook(baseline: api.Baseline) -> api.Plan | None:
    """What a rollback would do; None where it cannot be told."""
    try:
        return api.plan_rollback(api.load(baseline.folder), restricts=restricts)
    except HostError:
        return None


CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@settings(max_examples=EXAMPLES, suppress_health_check=CHECKS, phases=set(Phase) - {Phase.explain})
@given(
    person=acts(PERSON, 0, 6),
    agent=acts(AGENT, 1, 9),
    late=st.sampled_from((0, 0, 1, 3, 99)),
    kills=st.lists(st.integers(1, 120), max_size=2),
)
def test_whatever_is_done_the_end_is_the_start_and_nothing_is_lost(pool, person, agent, late, kills):
    """``late``: so many acts of the agent before the baseline is complete, if it ever is."""
    repo = pool.take()
    perform(repo, [act for act in person if not late or act[0] != "odd_mode"])
    before, besides = whole(repo), more(repo)
    baseline = api.begin(str(repo.root), repo.root.parent / "session", restricts, "s1")
    perform(repo, [act for act in agent[:late] if act[0] not in TOO_EARLY])
    if late <= len(agent):
        api.complete(baseline)
    perform(repo, agent[late:])
    made, outside = Made(repo, before), contents(repo.root.parent / "outside")
    (repo.root.parent / "ran").unlink(missing_ok=True)
    for step in kills:
        killed(baseline, step)
    report = api.rollback(api.load(baseline.folder), restricts=restricts, planned=None if kills else outlook(baseline))
    note(str(report.problems))
    assert differences(before, whole(repo)) == []
    # Before the baseline is complete an agent may change ignored files, or take them away: that is said, and no more.
    said = {SAID.sub("", p) for p in report.problems if late and SAID.search(p)}
    assert [p for p in report.problems if SAID.sub("", p) not in said] == []
    assert missing(besides, more(repo)) == [] or (late and (report.unkept or not report.ok))
    assert not (repo.root.parent / "ran").exists(), "a planted program ran"
    assert contents(repo.root.parent / "outside") == outside
    assert made.lost(baseline, report.rescue_ref) == []
    assert made.unreachable() == set()
    assert [change for change in api.plan(baseline) if change.path not in said] == []
    assert api.rollback(baseline).restored == ()
    subprocess.run(
        ["chmod", "-R", "u+rwX", repo.root.parent], check=True
    )  # what was shut and moved away is none of ours
    shutil.rmtree(repo.root.parent)


@pytest.mark.skipif(os.geteuid() != 0 or MISSING, reason="setpriv takes from root what modes of files do not hold back")
def test_the_same_where_modes_of_files_hold():
    which = f"{__file__}::{test_whatever_is_done_the_end_is_the_start_and_nothing_is_lost.__name__}"
    command = [*WITHOUT_RIGHTS, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", which]
    environ = {"SENTINEL_EXAMPLES": "10", **os.environ}
    done = subprocess.run(command, env=environ, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout
