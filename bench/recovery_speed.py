"""Measures baseline, rollback, rescue snapshot and work tree hash beside git commands on the same work tree.

Run with ``python -m bench.recovery_speed [FILES ...]`` at the top of the repository, or as a part of ``make bench``.
Each figure is a median of interleaved runs, with a warm cache; by the clock, or in CPU time of all processes where the
row says so. The generated repositories are put back as they were.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.benchmark_results import Row, cpu_timed, median_ms, show, timed
from bench.random_repositories import SIZES, Texts, git, names, repository
from sentinel_guard.client import Operator
from sentinel_guard.host import policy_files
from sentinel_guard.host.git import worktree_tree_hash
from sentinel_guard.host.git.worktree_tree_hash import Worktrees
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.api import Baseline
from sentinel_guard.host.recovery.baseline.session_baseline import REST

TIMES = 7
LARGE = 30_000
"""Files from which on the budgets for large repositories hold."""
RESCUED, TREED = 5_000, 3_000
"""Files for which the budgets of a rescue snapshot and of a worktree tree are named."""
FEW, MANY = 20, 1_000
"""Files that an agent changes."""
UNTRACKED = 20_000
"""Untracked files whose baseline has a budget of its own."""
STATUS, RESET = ("status",), ("reset", "-q", "--hard")
STATUS_ALL = ("status", "-uall")
POLICY = policy_files.load_paths(places({"SENTINEL_HOME": "/nonexistent"}), "/nonexistent")
"""The built-in one, by which the daemon asks what is restricted."""
PATIENCE = 60.0
"""Seconds in which a baseline is complete, and a work tree is hashed."""
Pair = tuple[list[float], list[float]]
"""Seconds of ours, and of git's."""


@dataclass
class Ground:
    """One generated repository with the folders of sessions beside it."""

    root: Path
    files: list[str]
    folder: Path
    count: Iterator[int] = field(default_factory=itertools.count)
    packed: frozenset[Path] = frozenset()
    """Files of packs that were there before."""

    def begin(self) -> tuple[Baseline, float]:
        """A session's baseline whole, and the seconds that its agent waited for it."""
        folder, found = self.session(next(self.count)), list[Baseline]()
        waited = timed(lambda: found.append(self.begin_only(folder)))
        return api.complete(found[0]), waited[0]

    def begin_only(self, folder: Path) -> Baseline:
        """What the agent waits for, as the daemon asks for it."""
        patterns = [p for p in POLICY.paths.restricted if not p.startswith("!")]
        return api.begin(str(self.root), folder, self.restricts, folder.parent.name, patterns=patterns)

    def restricts(self, path: str) -> bool:
        return bool(POLICY.restricts(path, str(self.root)))

    def packs(self) -> frozenset[Path]:
        return frozenset((self.root / ".git/objects/pack").iterdir())

    def session(self, number: int) -> Path:
        """Where a session's baseline lies: the next one finds it there."""
        return self.folder / f"{number:04}" / "baseline"

    def edit(self, count: int) -> None:
        """Change so many files, all over the tree."""
        step, words = len(self.files) // count, f"# changed {next(self.count)}\n"
        for name in self.files[: count * step : step]:
            with (self.root / name).open("a") as file:
                file.write(words)

    def git(self, *words: str) -> float:
        return timed(lambda: git(self.root, *words))[0]

    def cpu(self, *words: str) -> float:
        return cpu_timed(lambda: git(self.root, *words))

    def tidy(self) -> None:
        """Back to the commit, without the refs and objects that the guard has added."""
        git(self.root, *RESET)
        refs = git(self.root, "for-each-ref", "--format=delete %(refname)", "refs/sentinel")
        git(self.root, "update-ref", "--stdin", stdin=refs)
        git(self.root, "prune", "--expire=now")
        for path in self.packs() - self.packed:
            path.unlink()
        shutil.rmtree(self.folder)
        self.folder.mkdir()


@contextlib.contextmanager
def ground(count: int) -> Iterator[Ground]:
    # Beside the repository: where objects can be linked, as they are below a home.
    root = repository(count)
    with tempfile.TemporaryDirectory(prefix="sessions-", dir=root.parent) as folder:
        made = Ground(root, names(count), Path(folder) / "run")
        made.folder.mkdir()
        made.packed = made.packs()
        yield made
        made.tidy()


def baseline(on: Ground) -> Pair:
    ours, theirs = [], []
    for _ in range(TIMES):
        theirs.append(on.git(*STATUS))
        ours.append(on.begin()[1])
    return ours, theirs


def rollback(on: Ground, count: int) -> Pair:
    """``git reset --hard`` has the same files to put back, and neither untracked ones nor anything else to look at."""
    ours, theirs = [], []
    for _ in range(TIMES):
        start, _ = on.begin()
        on.edit(count)
        theirs.append(on.git(*RESET))
        on.edit(count)
        ours += timed(partial(_roll_back, start.folder))
    return ours, theirs


def baseline_cpu(on: Ground) -> tuple[Pair, Pair]:
    """What the agent waits for, and the same with what is done while it works."""
    begun, whole, theirs = [], [], []
    for _ in range(TIMES):
        theirs.append(on.cpu(*STATUS))
        folder, found = on.session(next(on.count)), list[Baseline]()
        begun.append(cpu_timed(lambda f=folder, b=found: b.append(on.begin_only(f))))
        whole.append(begun[-1] + cpu_timed(lambda b=found: api.complete(b[0])))
    return (begun, theirs), (whole, theirs)


def rollback_cpu(on: Ground) -> Pair:
    """In a process that is there already."""

    def undo(start: Baseline) -> None:
        _roll_back(start.folder)

    return _undone_cpu(on, undo)


def by_hand_cpu(on: Ground) -> Pair:
    """``sentinel-guard rollback`` whole, its question answered at once."""
    home = on.folder.parent / "guard"
    (home / "state").mkdir(parents=True)
    (home / "state/sessions").symlink_to(on.folder)
    command = [sys.executable, "-m", "sentinel_guard", "rollback"]
    environ = {**os.environ, "SENTINEL_HOME": str(home), "PYTHONPATH": str(Path(__file__).parent.parent)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has its modules compiled

    def undo(start: Baseline) -> None:
        words = [*command, start.session]
        subprocess.run(words, cwd=on.root, env=environ, input=b"y\n", check=True, capture_output=True)

    return _undone_cpu(on, undo)


def _undone_cpu(on: Ground, undo: Callable[[Baseline], object]) -> Pair:
    ours, theirs = [], []
    for _ in range(TIMES):
        start, _ = on.begin()
        on.edit(FEW)
        theirs.append(on.cpu(*RESET))
        on.edit(FEW)
        ours.append(cpu_timed(partial(undo, start)))
    return ours, theirs


def unknown_to_git(root: Path, made: list[str]) -> None:
    """A repository without a tracked file."""
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
    git(root, *identity, "commit", "-q", "--allow-empty", "-m", "start")
    texts = Texts(UNTRACKED)
    for name in made:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(texts.next())


def untracked(large: Path | None) -> Iterator[Row]:
    """A small repository with UNTRACKED files that git does not know: first start, second start, rollback of FEW, and
    what a daemon holds after sessions in it and in a large one.
    """
    with tempfile.TemporaryDirectory(prefix="untracked-") as folder:
        root, made = Path(folder) / "repository", names(UNTRACKED)
        unknown_to_git(root, made)
        on = Ground(root, made, Path(folder) / "run")
        on.folder.mkdir()
        first = [cpu_timed(on.begin)]
        theirs = [on.cpu(*STATUS_ALL) for _ in range(TIMES)]
        yield _ratio(f"first baseline, {UNTRACKED:,} untracked files, CPU", None, (first, theirs), STATUS_ALL)
        before = _bytes_in(on.folder)
        second, room = [], []
        for _ in range(TIMES):
            second.append(cpu_timed(on.begin))
            room.append(_bytes_in(on.folder) - before)
            before += room[-1]
        yield _ratio(f"second baseline, {UNTRACKED:,} untracked files, CPU", 3, (second, theirs), STATUS_ALL)
        yield Row(f"second baseline, {UNTRACKED:,} untracked files, disk", 1, statistics.median(room) / 2**20, "MB")
        undone = []
        for _ in range(TIMES):
            start, _ = on.begin()
            on.edit(FEW)
            undone.append(cpu_timed(partial(_roll_back, start.folder)))
        yield _ratio(f"rollback of {FEW}, {UNTRACKED:,} untracked files, CPU", None, (undone, theirs), STATUS_ALL)
        held = _daemon_memory(Path(folder), [root, root, *([large, large] if large else [])])
        yield Row("memory of the daemon after sessions in large work trees", 80, held, "MB")


def _daemon_memory(folder: Path, roots: list[Path]) -> float:
    """Resident megabytes of a daemon of its own, after one session in each."""
    os.environ |= {"SENTINEL_HOME": str(folder / "guard"), "HOME": str(folder)}
    where = places()
    operator = Operator(where).connect()
    for root in roots:
        begun = operator.request(
            "start", command=["bench"], cwd=str(root), pid=os.getpid(), interactive=False, path=os.environ["PATH"],
            kind="run",
        )  # fmt: skip
        limit = time.monotonic() + PATIENCE
        while not (where.session(begun["session"]) / "baseline" / REST).exists() and time.monotonic() < limit:
            time.sleep(0.05)
        operator.request("end", session=begun["session"], code=0)
    time.sleep(2)
    pages = Path(f"/proc/{operator.request('hello')['pid']}/statm").read_text().split()[1]
    operator.request("stop", force=True)
    operator.close()
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _bytes_in(folder: Path) -> int:
    """Bytes on the disk below it, a hard link counted once."""
    found = {(s.st_dev, s.st_ino): s.st_blocks * 512 for p in folder.rglob("*") if (s := p.lstat()).st_size}
    return sum(found.values())


def _roll_back(folder: Path) -> None:
    report = api.rollback(api.load(folder))
    if not report.ok:
        raise SystemExit(f"A rollback failed: {report.problems}")


def rescue(on: Ground) -> Pair:
    return _looking(on, lambda start: api.take_snapshot(on.root.as_posix(), start.folder, start.session))


def tree(on: Ground) -> Pair:
    trees: list[Worktrees] = []

    def take(start: Baseline) -> None:
        trees[:] = trees or [Worktrees(str(on.root), start.folder)]
        if not trees[0].take():
            raise SystemExit(f"A work tree was not hashed: {trees[0].complaint()}")

    return _looking(on, take)


def _looking(on: Ground, work: Callable[[Baseline], object]) -> Pair:
    """Of a session in which FEW files are changed before each look."""
    start, _ = on.begin()
    on.edit(FEW)
    work(start)
    ours, theirs = [], []
    for _ in range(TIMES):
        on.edit(FEW)
        theirs.append(on.git(*STATUS))
        ours += timed(lambda: work(start))
    return ours, theirs


def rows(sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    for size in sizes:
        with ground(size) as on:
            large = size >= LARGE
            yield _ratio(f"baseline, {size:,} files", 2 if large else None, baseline(on), STATUS)
            on.tidy()
            for count in (FEW, MANY) if size > MANY else (FEW,):
                budget = 3 if large and count == FEW else None
                yield _ratio(f"rollback of {count:,} in {size:,} files", budget, rollback(on, count), RESET)
                on.tidy()
            yield _duration(f"rescue snapshot of {FEW} in {size:,} files", 50 if size == RESCUED else None, rescue(on))
            if large:
                begun, whole = baseline_cpu(on)
                yield _ratio(f"baseline, {size:,} files, CPU until the agent goes on", 1.5, begun, STATUS)
                yield _ratio(f"baseline, {size:,} files, CPU in all", 4, whole, STATUS)
                on.tidy()
                yield _ratio(f"rollback of {FEW} in {size:,} files, CPU", 3, rollback_cpu(on), RESET)
                on.tidy()
                yield _ratio(f"rollback of {FEW} by hand in {size:,} files, CPU", 3, by_hand_cpu(on), RESET)
    yield from untracked(repository(sizes[-1]) if sizes[-1] >= LARGE else None)
    # On a machine that does something else it takes longer than a session waits: that is a figure, too.
    worktree_tree_hash.DEAR = PATIENCE
    with ground(TREED) as on:
        yield _duration(f"worktree tree, {FEW} changed in {TREED:,} files", 25, tree(on))


def _ratio(what: str, budget: float | None, pair: Pair, than: tuple[str, ...]) -> Row:
    ours, theirs = map(median_ms, pair)
    beside = f"{ours:,.0f} ms; git {' '.join(w for w in than if w != '-q')} {theirs:,.0f} ms"
    return Row(what, budget, statistics.median(pair[0]) / statistics.median(pair[1]), "x", beside)


def _duration(what: str, budget: float | None, pair: Pair) -> Row:
    ours, theirs = map(median_ms, pair)
    return Row(what, budget, ours, "ms", f"{ours / theirs:.1f} x git status")


if __name__ == "__main__":
    show(rows(tuple(int(word) for word in sys.argv[1:]) or SIZES))
