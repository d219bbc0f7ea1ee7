"""Measures what grows: with the same call again, with output, with quiet sessions, with the length of the log and of a
session.

Run with ``python -m bench.growth``, or as a part of ``make bench``. ENTRIES=100000 for a shorter log.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.benchmark_results import Row, cpu_timed, median_ms, show, timed
from bench.verdict_latency import Guarded
from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Action, Entry, Layer, Outcome, Verdict
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.session.fold_entries import Folds
from sentinel_guard.daemon.assembly import SWITCH
from sentinel_guard.host.file_integrity.file_watcher import SLOWEST
from tests.support.guarded_repository import BIN, Stage

CALLS = 60
"""Pairs of a bare and a guarded command of one kind."""
OUTPUTS = ((4, 0.3), (64, 1.0))
"""KB, and how many milliseconds more than without output they may cost."""
PRINTING = "head -c {bytes} /etc/services | od -c | head -c {bytes} # {number}"
QUIET = (1, 10, 50)
QUIET_SECONDS = 15.0
QUIET_SHARE = 0.2
"""Percent of a core, whatever the number of sessions."""
ENTRIES = int(os.environ.get("ENTRIES", "1000000"))
APPENDS, PAUSE = 1_000, 0.002
LONG = 10_000
"""Calls of a session that is taken up."""


def _added(guarded: Guarded, texts: list[str]) -> float:
    """Milliseconds that the guard adds to ``bash -c TEXT``, in turns with the bare command; medians."""
    shim, bare = str(guarded.places.shims(guarded.session) / "bash"), shutil.which("bash") or "/bin/bash"
    took: dict[str, list[float]] = {shim: [], bare: []}
    for text in texts:
        for program, environ in ((bare, os.environ), (shim, guarded.environ)):
            command = [program, "-c", text]
            took[program] += timed(
                lambda c=command, e=environ: subprocess.run(c, env=e, cwd=guarded.repo, capture_output=True, check=True)
            )
    return median_ms(took[shim]) - median_ms(took[bare])


def calls(guarded: Guarded) -> Iterator[Row]:
    numbers = range(CALLS)
    new = _added(guarded, [f"true {n}" for n in numbers])
    yield Row("a call that was not seen before, over the bare one", 1.5, new, "ms")
    # Three of each: of more, a loop is in question, and the work tree is looked at.
    again = _added(guarded, [f"true again {n // 3}" for n in numbers])
    yield Row("the same call up to three times, of a new one", 1.3, again / new, "x", f"{again:.1f} ms")
    for kilobytes, budget in OUTPUTS:
        texts = [PRINTING.format(bytes=kilobytes << 10, number=n) for n in numbers]
        more = _added(guarded, texts) - _added(guarded, [PRINTING.format(bytes=1, number=n) for n in numbers])
        yield Row(f"a call that prints {kilobytes} KB, over one that prints nothing", budget, more, "ms")


def _cpu_ms(pid: int) -> float:
    """Milliseconds of processor time of all threads that live."""
    used = 0
    for stat in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            used += int(stat.read_text().split()[0])
    return used / 1e6


def quiet_sessions() -> Iterator[Row]:
    """Real ones, each in a repository of its own, whose agent waits; by default, with the kernel layer where it works.

    All processes count: the daemon, runners, brokers.
    """
    stage, runs = Stage(), list[subprocess.Popen[bytes]]()
    try:
        stage.policy('[kernel]\nmode = "auto"')
        stage.sentinel("daemon", "start")
        for count in QUIET:
            for number in range(len(runs), count):
                repo = stage.folder / f"quiet{number}"
                subprocess.run(["git", "init", "-q", str(repo)], check=True)
                command, none = [str(BIN / "sentinel-guard"), "run", "--", "sleep", "600"], subprocess.DEVNULL
                runs.append(
                    subprocess.Popen(command, cwd=repo, env=stage.environ, stdin=none, stdout=none, stderr=none)
                )
            time.sleep(5 * SLOWEST)  # until they are looked at as seldom as can be
            pids = [*stage.processes()]
            before = sum(map(_cpu_ms, pids))
            time.sleep(QUIET_SECONDS)
            share = (sum(map(_cpu_ms, pids)) - before) / QUIET_SECONDS / 10
            yield Row(f"{count} quiet sessions, of a core", QUIET_SHARE, share, "%")
    finally:
        for run in runs:
            run.terminate()
        for run in runs:
            run.wait()
        stage.close()


def log(guarded: Guarded) -> Iterator[Row]:
    path = guarded.folder / "long" / "audit.sqlite3"
    path.parent.mkdir()
    data = {"id": "1", "tool": "shell", "arguments": {"command": "git status"}, "response": "allow"}
    entries = (Entry(time.time(), f"bench{n // 500}", "verdict", data) for n in range(ENTRIES))
    with contextlib.closing(SqliteStore(path)) as store:
        sys.setswitchinterval(SWITCH)
        worst = [max(_spaced(lambda: store.append(next(entries)))) for _ in range(5)]
        for entry in entries:
            store.append(entry)
    yield Row(f"slowest of {APPENDS:,} appends, some 500 a second", 5, median_ms(worst), "ms")
    opened = [sys.executable, "-c", OPENING, str(path)]
    took = [float(subprocess.run(opened, capture_output=True, text=True, check=True).stdout) for _ in range(5)]
    yield Row(f"opening a log of {ENTRIES:,} entries, CPU", 100, statistics.median(took), "ms")


def _spaced(append: Callable[[], object]) -> Iterator[float]:
    """Seconds of each append; in between the loop has other things to do."""
    for _ in range(APPENDS):
        time.sleep(PAUSE)
        yield from timed(append)


def long_session(guarded: Guarded) -> Iterator[Row]:
    """What a daemon that is started anew reads of a session that goes on."""
    with contextlib.closing(SqliteStore(guarded.folder / "session" / "audit.sqlite3")) as store:
        store.append(Entry(0.0, "s", "session", {"root": "/r"}))
        for number in range(LONG):
            action = Action(f"a{number}", "s", Layer.SHELL, "shell", {"command": f"make {number % 50}"}, "/r", number)
            verdict = encode_entries.of_verdict(Verdict(action), f"make {number % 50}", poll=False, policy=Policy())
            ended = Outcome(action.id, number + 0.5, number % 4, error="e" * 64, output="o" * 64, excerpt="x" * 200)
            for entry in (*verdict, encode_entries.of_outcome(action, ended)):
                store.append(entry)
        folds = Folds()
        took = cpu_timed(lambda: folds.of("s", lambda after: store.entries(session="s", after=after)))
        again = cpu_timed(lambda: folds.of("s", lambda after: store.entries(session="s", after=after)))
    yield Row(f"a session of {LONG:,} calls taken up, CPU", None, took * 1000, "ms", f"again {again * 1000:.2f} ms")


OPENING = """
import sys, time
from pathlib import Path
from sentinel_guard.audit.sqlite import SqliteStore
before = time.process_time()
SqliteStore(Path(sys.argv[1]))
print((time.process_time() - before) * 1000)
"""


def rows() -> Iterator[Row]:
    guarded = Guarded()
    try:
        yield from calls(guarded)
        yield from log(guarded)
        yield from long_session(guarded)
    finally:
        guarded.close()
    yield from quiet_sessions()


if __name__ == "__main__":
    show(rows())
