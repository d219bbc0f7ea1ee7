"""Measures what a guarded session of a real coding agent costs: the same short commands, bare and guarded in turn.

    make bench-agents        needs npm; SENTINEL_BENCH_AGENTS="claude codex" for some of them

A whole run of the agent without a screen, against a scripted model on loopback. The daemon runs already, as it does in
a day's second session; what it uses counts. What is found goes into docs/agents.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.benchmark_results import Row, show
from bench.verdict_latency import WHO
from tests.support.agents.real_agents import AGENTS, RealAgent, set_up
from tests.support.agents.scripted_model import ScriptedModel
from tests.support.agents.tested_agents import OVERHEAD
from tests.support.guarded_repository import BIN, Stage

ROUNDS = 5
COMMANDS = ("echo {}", "ls", "git status --short", "cat a.txt # {}", "grep -n a a.txt", "pwd")
STEPS = tuple(("shell", command.format(n)) for n in range(4) for command in COMMANDS)
TICKS = os.sysconf("SC_CLK_TCK")
WITHIN = 1.25
"""Of the bare time: the budget."""
PARTS = ("wall", "begin", "commands", "end", "cpu", "daemon")
"""Of a ``Cost``: what docs/agents.md shows."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one run, and of all processors."""

    begin: float
    """To the first request to the model."""
    commands: float
    """From there to the last one."""
    end: float
    cpu: float
    daemon: float
    """What of it the daemon has used."""

    @property
    def wall(self) -> float:
        return self.begin + self.commands + self.end


def once(stage: Stage, agent: RealAgent, port: int, *, guarded: bool) -> Cost:
    model = ScriptedModel(STEPS, port)
    try:
        started = set_up(stage, agent, model.url)
        guard = [str(BIN / "sentinel-guard"), "run", "--"] if guarded else []
        before, daemon, began = _used(stage), _used_by_daemons(stage), time.monotonic()
        done = subprocess.run(
            [*guard, str(agent.path()), *started.arguments], cwd=stage.repo, env=stage.environ, capture_output=True,
            stdin=subprocess.DEVNULL, check=False, timeout=120,
        )  # fmt: skip
        ended, first, last = time.monotonic(), model.asked[0], model.asked[-1]
        used = _used(stage) - before
        cost = Cost(first - began, last - first, ended - last, used, _used_by_daemons(stage) - daemon)
    finally:
        model.close()
    if len(model.told) != len(STEPS):
        sys.exit(f"{agent.name} ran {len(model.told)} of {len(STEPS)} commands:\n{done.stderr.decode()[-2000:]}")
    return cost


def _used(stage: Stage) -> float:
    """Seconds of processor time that our ended children and the daemons of the stage have used."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + _used_by_daemons(stage)


def _used_by_daemons(stage: Stage) -> float:
    seconds = 0.0
    for pid in stage.daemons():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        seconds += sum(map(int, fields[11:15])) / TICKS
    return seconds


def measured(agent: RealAgent) -> tuple[list[Cost], list[Cost]]:
    stage = Stage(Path("/var/tmp"))
    stage.environ |= WHO
    try:
        stage.write("a.txt", "a\n")
        for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "start")):
            subprocess.run(["git", *words], cwd=stage.repo, env=stage.environ, check=True)
        stage.sentinel("daemon", "start")
        with contextlib.closing(ScriptedModel(STEPS)) as model:
            port = model.port  # the same each time: an agent may keep the address
        for guarded in (False, True):  # what an agent does at its very first start, and a daemon in its first session
            once(stage, agent, port, guarded=guarded)
        runs = [once(stage, agent, port, guarded=guarded) for _ in range(ROUNDS) for guarded in (False, True)]
        return runs[::2], runs[1::2]
    finally:
        stage.close()


def _median(costs: list[Cost], part: str) -> float:
    return round(statistics.median(getattr(cost, part) for cost in costs), 2)


def rows() -> Iterator[Row]:
    wanted = os.environ.get("SENTINEL_BENCH_AGENTS", "").split()
    found = json.loads(OVERHEAD.read_text()) if OVERHEAD.exists() else {}
    for agent in AGENTS:
        if wanted and agent.name not in wanted:
            continue
        bare, guarded = measured(agent)
        pairs = list(zip(bare, guarded, strict=True))
        wall = statistics.median(g.wall / b.wall for b, g in pairs)
        cpu = statistics.median(g.cpu / b.cpu for b, g in pairs)
        seconds = [statistics.median(cost.wall for cost in costs) for costs in (bare, guarded)]
        phases = [{part: _median(costs, part) for part in PARTS} for costs in (bare, guarded)]
        found[agent.name] = {"wall": round(wall, 2), "cpu": round(cpu, 2), "bare": phases[0], "guarded": phases[1]}
        OVERHEAD.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        load = os.getloadavg()[0]
        beside = f"bare {seconds[0]:.2f} s, guarded {seconds[1]:.2f} s; processor time {cpu:.2f}; load {load:.1f}"
        yield Row(f"24 short commands in {agent.name}, of the bare time", WITHIN, wall, "", beside)


if __name__ == "__main__":
    show(rows())
