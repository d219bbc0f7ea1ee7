"""What the runner between a person's terminal and the agent's costs: output, a key's echo, a question drawn anew.

A real session on a real terminal, in turns with the same program on that terminal without us.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import time
from collections.abc import Iterator

import pexpect

from bench.benchmark_results import Row, median_ms
from tests.support.guarded_repository import BIN, Stage

OUTPUT = 200 << 20
"""Bytes that the agent prints."""
PIECE = 1 << 16
PERSON = {f"GIT_{who}_{what}": "bench@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
KEYS = 200
REDRAWS = 60
ROUNDS = 5
PROMPT = b"Confirm? (Y/N):"
SHOWN = 0.5
"""Seconds after which a question takes keys."""
SETUP = "import os, sys, tty; tty.setraw(0); os.write(1, b'ready')\n"
PRINTS = f"""{SETUP}os.read(0, 1)
for _ in range({OUTPUT // PIECE}):
    left = b"x" * {PIECE}
    while left:
        left = left[os.write(1, left) :]
os.write(1, b"over")
"""
ECHOES = f"{SETUP}while (d := os.read(0, 99)) != b'q': os.write(1, d)"


def rows() -> Iterator[Row]:
    """Throughput, echo and redrawing, beside what the terminal alone takes."""
    with contextlib.closing(Stage()) as stage:
        stage.environ |= PERSON
        stage.commit(a__txt="a\n")
        stage.policy('[confirm]\ndeploy = ["deploy"]\n')
        guarded, bare = [], []
        for _ in range(ROUNDS):
            guarded.append(_throughput(stage, guarded=True))
            bare.append(_throughput(stage, guarded=False))
        beside = f"the terminal alone {statistics.median(bare):,.0f} MB/s"
        yield Row("output through the runner", 50, statistics.median(guarded), "MB/s", beside, at_least=True)
        with_us, alone = _echo(stage, guarded=True), _echo(stage, guarded=False)
        beside = f"p99 {sorted(with_us)[int(KEYS * 0.99)] * 1000:.2f} ms; the terminal alone {median_ms(alone):.3f} ms"
        yield Row("echo of a key through the runner", 1, median_ms(with_us), "ms", beside)
        drawn = _redraws(stage)
        beside = f"p99 {sorted(drawn)[int(REDRAWS * 0.99)] * 1000:.1f} ms"
        yield Row("a key at the gate until it is redrawn", 30, median_ms(drawn), "ms", beside)


def _started(stage: Stage, program: str, *, guarded: bool) -> pexpect.spawn:
    command = [sys.executable, "-c", program]
    words = [str(BIN / "sentinel-guard"), "run", "--", *command] if guarded else command
    return stage.terminal(words[0], *words[1:])


def _until(fd: int, wanted: bytes) -> int:
    """Read until that was printed; the number of bytes."""
    last, size = b"", 0
    while wanted not in last:
        data = os.read(fd, PIECE)
        size += len(data)
        last = last[-len(wanted) :] + data
    return size


def _throughput(stage: Stage, *, guarded: bool) -> float:
    """Megabytes a second."""
    agent = _started(stage, PRINTS, guarded=guarded)
    _until(agent.child_fd, b"ready")
    began = time.perf_counter()
    os.write(agent.child_fd, b"g")
    size = _until(agent.child_fd, b"over")
    seconds = time.perf_counter() - began
    agent.close(force=True)
    return size / seconds / 1e6


def _echo(stage: Stage, *, guarded: bool) -> list[float]:
    """Seconds from each key to its echo."""
    agent = _started(stage, ECHOES, guarded=guarded)
    _until(agent.child_fd, b"ready")
    time.sleep(SHOWN)
    samples = []
    for n in range(KEYS):
        key = b"%d" % (n % 10)
        began = time.perf_counter()
        os.write(agent.child_fd, key)
        _until(agent.child_fd, key)
        samples.append(time.perf_counter() - began)
        time.sleep(0.01)
    agent.close(force=True)
    return samples


def _redraws(stage: Stage) -> list[float]:
    """Seconds from each key at a question to its word on the screen."""
    person = stage.on_terminal("deploy production")
    _until(person.child_fd, PROMPT)
    time.sleep(SHOWN)
    samples = []
    for n in range(REDRAWS):
        key = b"xz"[n % 2 : n % 2 + 1]
        began = time.perf_counter()
        os.write(person.child_fd, key)
        _until(person.child_fd, key + b" is no answer")
        samples.append(time.perf_counter() - began)
        time.sleep(0.02)
    person.close(force=True)
    return samples
