"""Measures the latency that the installed git hooks add with a daemon, outside of a session and inside of one.

Run with ``python -m bench.latency.git_hooks`` at the top of the repository, or as a part of ``make bench``.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.benchmark_results import Row, median_ms, show, timed
from bench.verdict_latency import WHO, Guarded
from sentinel_guard.host import shims
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.githooks.session_hook import SessionHook

BUDGET = 3.0
COMMIT = "a commit of one changed file"
ADDED = {("in a session", COMMIT): 10.0, ("outside", COMMIT): 10.0, ("without a daemon", COMMIT): 150.0}
"""Milliseconds that the hooks may add."""
SEARCHED = ("pre-commit, one changed file staged", "reference-transaction, a branch")
"""What matters: git is asked, and texts are looked through."""
TIMES = 40
COMMITS, REFS = 30, 1000
"""Of a rebase; of a fetch."""
TIMES_OF_REFS = {"in a session": 2.0, "outside": 1.3}
"""What a fetch and pack-refs of REFS may take of the time without hooks."""
ZEROS = "0" * 40


Work = Callable[[Path], object]
Pair = tuple[float, float]
"""Milliseconds with the hooks, and without them."""


class Repositories:
    """Two that are alike, one of them with the hooks in place."""

    def __init__(self, guarded: Guarded, environ: Mapping[str, str], *, session: bool) -> None:
        self.environ = {**environ, **WHO}
        self.plain = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "SENTINEL_"))} | WHO
        self.folder = guarded.repo / "hooks"
        self.hooked, self.bare = self.folder / "hooked", self.folder / "bare"
        for repo in (self.hooked, self.bare):
            repo.mkdir(parents=True)
            self.quiet(repo, "init", "-q", "-b", "main")
            for n in range(200):
                (repo / f"f{n}.py").write_text(f"def f{n}(x):\n    return x + {n}\n" * 20)
            self.quiet(repo, "add", "-A")
            self.quiet(repo, "commit", "-qm", "start")
        launcher = str(shims.place_hooks(guarded.places, {}).with_name(shims.GITHOOK))
        install_hooks.install(self.hooked, launcher=launcher, socket=str(guarded.places.agent_socket))
        if session:
            SessionHook().begin("bench", str(self.hooked))

    def git(self, repo: Path, *arguments: str) -> None:
        """As it is measured."""
        _git(repo, self.environ, arguments)

    def quiet(self, repo: Path, *arguments: str, stdin: str = "") -> str:
        """Without shims and hooks, for what is not measured."""
        return _git(repo, self.plain, ("-c", "core.hooksPath=/dev/null", *arguments), stdin)

    def forget_remotes(self, repo: Path) -> None:
        gone = self.quiet(repo, "for-each-ref", "--format=delete %(refname)", "refs/remotes/")
        self.quiet(repo, "update-ref", "--stdin", stdin=gone)

    def close(self) -> None:
        shutil.rmtree(self.folder)

    def both(self, prepare: Work, work: Work, times: int) -> Pair:
        """Milliseconds of some work with the hooks and without them, in turn; medians."""
        taken: dict[Path, list[float]] = {self.hooked: [], self.bare: []}
        for _ in range(times + 1):
            for repo in taken:
                prepare(repo)
                taken[repo] += timed(partial(work, repo))
        return median_ms(taken[self.hooked][1:]), median_ms(taken[self.bare][1:])

    def hook(self, name: str, *arguments: str, stdin: str = "") -> float:
        """Milliseconds of one hook, called as git calls it."""
        path = str(self.hooked / ".git" / "hooks" / name)
        environ = {**self.environ, "GIT_INDEX_FILE": ".git/index", "GIT_PREFIX": "", "GIT_EDITOR": ":"}

        def call() -> None:
            subprocess.run([path, *arguments], cwd=self.hooked, env=environ, input=stdin, text=True, check=True)

        return median_ms(timed(call, TIMES)[5:])


def _git(repo: Path, environ: Mapping[str, str], arguments: Sequence[str], stdin: str = "") -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=repo, env=environ, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout


def floors() -> Iterator[Row]:
    """What a process costs here, whatever it does."""
    for command in (["/bin/sh", "-c", ":"], ["git", "version"]):
        start = partial(subprocess.run, command, check=True, capture_output=True)
        yield Row(f"a process here: {' '.join(command)}", None, median_ms(timed(start, TIMES)), "ms")


def alone(repos: Repositories) -> Iterator[tuple[str, float]]:
    """Each hook by itself: what it asks about, milliseconds."""
    head = repos.quiet(repos.hooked, "rev-parse", "HEAD").strip()
    message = repos.hooked / ".git" / "COMMIT_EDITMSG"
    message.write_text("a line that fits\n")
    yield "pre-commit, nothing staged", repos.hook("pre-commit")
    (repos.hooked / "f1.py").write_text("def f1(x):\n    return x - 1\n")
    repos.quiet(repos.hooked, "add", "f1.py")
    yield "pre-commit, one changed file staged", repos.hook("pre-commit")
    repos.quiet(repos.hooked, "reset", "-q", "--hard")
    yield "commit-msg", repos.hook("commit-msg", str(message))
    yield "pre-push, up to date", repos.hook("pre-push", "origin", "../up.git")
    if not (repos.hooked / ".git/hooks/reference-transaction").exists():
        return
    line = f"{ZEROS} {head} refs/remotes/origin/x\n"
    yield "reference-transaction, no branch", repos.hook("reference-transaction", "prepared", stdin=line)
    line = f"{ZEROS} {head} refs/heads/x\n"
    yield "reference-transaction, a branch", repos.hook("reference-transaction", "prepared", stdin=line)
    yield "reference-transaction, committed", repos.hook("reference-transaction", "committed", stdin=line)


def _nothing(_repo: Path) -> None: ...


def commits(repos: Repositories) -> Pair:
    """A commit of one changed file. Each has another message: the same command again and again would be a loop."""
    number, message = itertools.count(), itertools.count()

    def stage(repo: Path) -> None:
        (repo / "f2.py").write_text(f"def f2(x):\n    return x + {next(number)}\n")
        repos.quiet(repo, "add", "f2.py")

    return repos.both(stage, lambda repo: repos.git(repo, "commit", "-qm", f"change {next(message)}"), TIMES)


def empty_commits(repos: Repositories) -> Pair:
    message = itertools.count()
    return repos.both(
        _nothing, lambda repo: repos.git(repo, "commit", "-qm", f"empty {next(message)}", "--allow-empty"), TIMES
    )


def rebases(repos: Repositories) -> Pair:
    """Milliseconds of a rebase of COMMITS commits."""

    def prepare(repo: Path) -> None:
        quiet = partial(repos.quiet, repo)
        quiet("checkout", "-q", "-B", "base", "main")
        quiet("commit", "-qm", "base", "--allow-empty")
        quiet("checkout", "-q", "-B", "side", "main")
        for n in range(COMMITS):
            (repo / f"new{n}.py").write_text(f"x = {n}\n")
            quiet("add", "-A")
            quiet("commit", "-qm", f"side {n}")

    return repos.both(prepare, lambda repo: repos.git(repo, "rebase", "-q", "base"), 3)


def fetches(repos: Repositories) -> Pair:
    """Milliseconds of a fetch of REFS branches."""
    origin = repos.folder / "origin.git"
    repos.quiet(repos.folder, "clone", "-q", "--bare", str(repos.bare), str(origin))
    repos.quiet(origin, "update-ref", "--stdin", stdin="".join(f"create refs/heads/b{n} main\n" for n in range(REFS)))

    fetch = ("fetch", "-q", str(origin), "refs/heads/*:refs/remotes/o/*")
    return repos.both(repos.forget_remotes, lambda repo: repos.git(repo, *fetch), 3)


def pack_refs(repos: Repositories) -> Pair:
    """REFS loose branches of a remote into one file, as gc does."""

    def prepare(repo: Path) -> None:
        repos.forget_remotes(repo)
        repos.quiet(
            repo, "update-ref", "--stdin", stdin="".join(f"create refs/remotes/o/b{n} HEAD\n" for n in range(REFS))
        )

    return repos.both(prepare, lambda repo: repos.git(repo, "pack-refs", "--all"), 3)


def gcs(repos: Repositories) -> Pair:
    return repos.both(_nothing, lambda repo: repos.git(repo, "gc", "-q"), 3)


def stashes(repos: Repositories) -> Pair:
    def prepare(repo: Path) -> None:
        (repo / "f3.py").write_text("x = 1\n")

    def work(repo: Path) -> None:
        repos.git(repo, "stash", "-q")
        repos.git(repo, "stash", "pop", "-q")

    return repos.both(prepare, work, 5)


def worktrees(repos: Repositories) -> Pair:
    number = iter(range(1000))
    return repos.both(_nothing, lambda repo: repos.git(repo, "worktree", "add", "-q", f"../w{next(number)}"), 5)


def clones(repos: Repositories) -> Pair:
    number = iter(range(1000))

    def work(repo: Path) -> None:
        repos.git(repo.parent, "clone", "-q", str(repo), f"c{next(number)}")

    return repos.both(_nothing, work, 3)


WORK: Mapping[str, Callable[[Repositories], Pair]] = {
    COMMIT: commits,
    "an empty commit": empty_commits,
    f"a rebase of {COMMITS} commits": rebases,
    "gc": gcs,
    "stash and pop": stashes,
    "worktree add": worktrees,
    "clone": clones,
}


MANY_REFS: Mapping[str, Callable[[Repositories], Pair]] = {
    f"a fetch of {REFS:,} refs": fetches,
    f"pack-refs of {REFS:,} refs": pack_refs,
}


def measured(guarded: Guarded, where: str, environ: Mapping[str, str]) -> Iterator[Row]:
    repos = Repositories(guarded, environ, session=where == "in a session")
    try:
        for what, ms in alone(repos):
            yield Row(f"git hook {where}: {what}", None if what in SEARCHED else BUDGET, ms, "ms")
        for what, work in WORK.items():
            hooked, bare = work(repos)
            beside = f"{bare:.1f} ms without them"
            yield Row(f"git {where}: {what}, hooks add", ADDED.get((where, what)), hooked - bare, "ms", beside)
        for what, work in MANY_REFS.items():
            hooked, bare = work(repos)
            beside = f"{hooked:.0f} ms, {bare:.0f} without hooks"
            yield Row(f"git {where}: {what}, of bare", TIMES_OF_REFS[where], hooked / bare, "x", beside)
    finally:
        repos.close()


def alone_without_a_daemon(guarded: Guarded) -> Iterator[Row]:
    """The hooks judge by themselves."""
    repos, where = Repositories(guarded, os.environ, session=False), "without a daemon"
    try:
        hooked, bare = commits(repos)
        beside = f"{bare:.1f} ms without them"
        yield Row(f"git {where}: {COMMIT}, hooks add", ADDED[where, COMMIT], hooked - bare, "ms", beside)
    finally:
        repos.close()


def rows() -> Iterator[Row]:
    guarded = Guarded()
    try:
        yield from floors()
        yield from measured(guarded, "in a session", guarded.environ)
        guarded.operator.request("end", session=guarded.session, code=0)
        yield from measured(guarded, "outside", os.environ)
        guarded.stop_daemon()
        yield from alone_without_a_daemon(guarded)
    finally:
        guarded.close()


if __name__ == "__main__":
    show(rows())
