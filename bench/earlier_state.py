"""Measures what a call costs beside an earlier state of this repository: both in one run, in turns, as ratios.

A figure in milliseconds is one machine's, on one day; its ratio to another one, taken in turns, is
nearly the same on all. ``make bench-earlier THEN=FOLDER``, where FOLDER is a worktree of an earlier commit with its
``.venv`` (``git worktree add --detach FOLDER COMMIT && make -C FOLDER .venv/.ready``). Nothing of it is changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.benchmark_results import Row, show

CALLS = int(os.environ.get("CALLS", "200"))
"""Of each kind, by each side."""
CALL = 0.75
"""Of then. A daemon that decides nothing takes 0.41 (docs/adr/0048)."""
ROUNDS, SECONDS = 3, 2.5
SETTLE = 0.004
"""Seconds after a call in which the daemon puts its end on record."""
RESTED, REST = 24, 0.5
"""Calls of each side while an agent thinks, and seconds before each of all: what is kept for a second is gone."""
PRINTING = "head -c {bytes} /etc/services | od -c | head -c {bytes} # {number}"
SERVER = """
import json, os, sys, time
sys.path.insert(0, os.getcwd())
try:
    from bench import verdict_latency as bench
    from bench.latency import git_hooks
except ImportError:  # before the folders had their names
    from bench import githooks as git_hooks, verdicts as bench
guarded = bench.Guarded()
checker, repo = bench.Checker(guarded.places), str(guarded.repo)
lines = "\\n".join(f"echo step {i} && ls -la dir{i} | grep x > out{i}.txt" for i in range(450))[:20_000]

def verdict(texts):
    began = time.process_time()
    for text in texts:
        checker.verdict(text, repo)
    return (time.process_time() - began) / len(texts)

def commit():
    git_hooks.TIMES = 15
    known = git_hooks.Repositories.__init__.__kwdefaults__ or git_hooks.Repositories.__init__.__annotations__
    repos = git_hooks.Repositories(guarded, guarded.environ, **({"session": True} if "session" in known else {}))
    try:
        hooked, bare = git_hooks.commits(repos)
        return hooked - bare
    finally:
        repos.close()

ASKED = {
    "throughput": lambda whole: bench.throughput(guarded, float(sys.argv[1]), whole=whole == "whole"),
    "script": lambda: verdict([lines]),
    "verdicts": lambda: verdict(bench.COMMANDS * 25),
    "commit": commit,
}
told = {"environ": dict(guarded.environ), "shims": str(guarded.places.shims(guarded.session)), "repo": repo}
print(json.dumps({**told, "daemon": guarded.daemon}), flush=True)
for line in sys.stdin:
    what, *rest = line.split()
    print(ASKED[what](*rest), flush=True)
guarded.close()
"""
"""A guarded session of one state, and what is measured within that state's own process."""


class Side:
    """One state at work in a throw-away home."""

    def __init__(self, tree: Path) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "SENTINEL_", "XDG_"))}
        command = [str(tree / ".venv/bin/python"), "-c", SERVER, str(SECONDS)]
        pipe = subprocess.PIPE
        self._server = subprocess.Popen(command, cwd=tree, env=kept, stdin=pipe, stdout=pipe, text=True)
        told = json.loads(self._answer())
        self.environ, self.shims, self.repo = told["environ"], told["shims"], told["repo"]
        self._daemon = int(told["daemon"])

    def ask(self, what: str) -> float:
        assert self._server.stdin
        self._server.stdin.write(f"{what}\n")
        self._server.stdin.flush()
        return float(self._answer())

    def daemon(self) -> float:
        """Milliseconds of processor time of its daemon so far."""
        used = 0
        for one in Path(f"/proc/{self._daemon}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                used += int(one.read_text().split()[0])
        return used / 1e6

    def close(self) -> None:
        assert self._server.stdin
        self._server.stdin.close()
        self._server.wait()

    def _answer(self) -> str:
        assert self._server.stdout
        if line := self._server.stdout.readline():
            return line
        raise RuntimeError("one of the two states did not answer; what it said stands above")


Sides = tuple[Side, Side]
"""As it was then, and as it is now."""
Taken = tuple[list[float], list[float]]
"""Milliseconds by the clock, and of processor time."""


def _calls(
    sides: Sides, program: str, words: Callable[[int], Sequence[str]], times: int = CALLS, rest: float = 0.0
) -> tuple[Taken, Taken, Taken]:
    """A command bare, then on each side, again and again."""
    taken: tuple[Taken, Taken, Taken] = ([], []), ([], []), ([], [])
    for number in range(times):
        for side, (clock, cpu) in zip((None, *sides), taken, strict=True):
            time.sleep(rest)
            seconds, spent = _call(side, program, words(number), sides[1].repo)
            clock.append(1000 * seconds)
            cpu.append(spent)
    return taken


def _call(side: Side | None, program: str, words: Sequence[str], bare: str) -> tuple[float, float]:
    """Seconds by the clock, and milliseconds of processor time; its output is read, as an agent does."""
    argv = [f"{side.shims}/{program}" if side else shutil.which(program) or program, *words]
    environ, repo, used = (side.environ, side.repo, side.daemon()) if side else (os.environ, bare, 0.0)
    before, began = _children(), time.perf_counter()
    subprocess.run(argv, env=environ, cwd=repo, capture_output=True, check=True)
    seconds = time.perf_counter() - began
    time.sleep(SETTLE)
    return seconds, 1000 * (_children() - before) + (side.daemon() - used if side else 0.0)


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _best(samples: Sequence[float]) -> float:
    """What a tenth of all lie below: other work on the machine only adds."""
    return sorted(samples)[len(samples) // 10]


def _row(what: str, budget: float | None, then: float, now: float, unit: str, *, at_least: bool = False) -> Row:
    return Row(f"{what}, of then", budget, now / then, "x", f"then {then:.3g}, now {now:.3g} {unit}", at_least=at_least)


def _added(taken: tuple[Taken, Taken, Taken], which: int, of: Callable[[Sequence[float]], float]) -> list[float]:
    bare, *guarded = (of(one[which]) for one in taken)
    return [one - bare for one in guarded]


def calls(sides: Sides) -> Iterator[Row]:
    for program, what, words in (
        ("true", "a new call of a program, over the bare one", lambda n: [str(n)]),
        ("bash", "a new `bash -c`, over the bare one", lambda n: ["-c", f"true {n}"]),
    ):
        taken = _calls(sides, program, words)
        then, now = _added(taken, 0, _best)
        yield _row(f"{what}, best tenth", CALL, then, now, "ms")
        then, now = _added(taken, 1, statistics.median)
        yield _row(f"{what}, CPU", CALL, then, now, "ms")
    taken = _calls(sides, "true", lambda n: [f"rested {n}"], RESTED, REST)
    then, now = _added(taken, 0, statistics.median)
    yield _row("a call after a rest, over the bare one, median", None, then, now, "ms")
    taken = _calls(sides, "bash", lambda n: ["-c", PRINTING.format(bytes=64 << 10, number=n)])
    then, now = _added(taken, 1, statistics.median)
    yield _row("a call that prints 64 KB, CPU", None, then, now, "ms")


def asked(sides: Sides) -> Iterator[Row]:
    for what, words, budget, factor, unit in (
        ("verdicts a second of daemon CPU", "throughput alone", 1.23, 1, "/s"),
        ("the same with their outcomes", "throughput whole", 1.23, 1, "/s"),
        ("a verdict on what agents type, CPU", "verdicts", None, 1000, "ms"),
        ("a verdict on 1,150 commands, CPU", "script", 0.77, 1000, "ms"),
        ("a commit in a session, hooks add", "commit", 0.59, 1, "ms"),
    ):
        found = [[side.ask(words) for side in sides] for _ in range(ROUNDS)]
        then, now = (factor * statistics.median(one) for one in zip(*found, strict=True))
        yield _row(what, budget, then, now, unit, at_least=unit == "/s")


def rows(then: Path) -> Iterator[Row]:
    with contextlib.ExitStack() as ends:
        sides = [ends.enter_context(contextlib.closing(Side(tree))) for tree in (then, Path.cwd())]
        both = (sides[0], sides[1])
        yield from calls(both)
        yield from asked(both)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("python -m bench.earlier_state FOLDER, a worktree of an earlier commit with its .venv")
    else:
        show(rows(Path(sys.argv[1]).absolute()))
