"""A throw-away user with one of the real agents, which a scripted model drives (``make test-agents``)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.agents import tested_agents
from tests.support.agents.full_screen_agent import FullScreenAgent
from tests.support.agents.real_agents import RealAgent, Started, install_hooks, set_up
from tests.support.agents.scripted_model import ScriptedModel, Step
from tests.support.guarded_repository import BIN, Stage
from tests.support.time_limits import limit

ROOT = Path(__file__).parents[2]
RECORDS = bool(os.environ.get("SENTINEL_TEST_RECORD"))
"""True in ``make test-agents``: what a run finds goes into docs/agents.md, and the file that its table is made of."""
HOMES = Path("/var/tmp")
LIMIT = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LIMIT))


_found: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.failed:
        _found[report.nodeid.rpartition("::")[2]] = report.outcome


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not RECORDS or hasattr(session.config, "workerinput"):
        return
    tested_agents.record(_found, time.strftime("%Y-%m-%d", time.gmtime()))
    # In a process of its own: it imports the whole guard.
    subprocess.run([sys.executable, "-m", "tests.support.generated_documents", "agents"], cwd=ROOT, check=False)


class Played:
    """One run of a real agent, and what came of it."""

    def __init__(self, stage: Stage, model: ScriptedModel, done: subprocess.CompletedProcess[str]) -> None:
        self.stage, self.told, self.done = stage, model.told, done
        self.used, self.asked = model.used, model.asked

    def calls(self) -> list[str]:
        return self.stage.calls()


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage(HOMES)
    yield stage
    left = stage.processes()
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    stage.close()


@pytest.fixture
def play(stage: Stage) -> Callable[[RealAgent, Sequence[Step]], Played]:
    """Runs an agent without a terminal, to the end of a script; again in the home as it left it.

    Under ``run``, or without (``guarded=False``); ``hooked``: its own hooks guard it, which ``install`` puts in place
    with the options ``level``. ``arguments``: the usual ones -> those of this run; ``inside``: a command that starts
    it, and its words.
    """
    known: list[tuple[int, Started]] = []

    def run(
        agent: RealAgent,
        steps: Sequence[Step],
        *,
        guarded: bool = True,
        hooked: bool = False,
        level: Sequence[str] = (),
        arguments: Callable[[Sequence[str]], Sequence[str]] = tuple,
        inside: Sequence[str] = (),
        **options: object,
    ) -> Played:
        model = ScriptedModel(steps, port=known[0][0] if known else 0, **options)
        try:
            if not known:
                known.append((model.port, set_up(stage, agent, model.url)))
                if hooked:
                    install_hooks(stage, agent, *level)
            started = known[0][1]
            run_by = [str(BIN / "sentinel-guard"), "run", "--"] if guarded else []
            command = [*inside, *run_by, str(agent.path()), *arguments(started.arguments)]
            done = subprocess.run(
                command, cwd=stage.repo, env=stage.environ, capture_output=True, text=True, errors="replace",
                check=False, stdin=subprocess.DEVNULL, timeout=limit(100),
            )  # fmt: skip
        finally:
            model.close()
        return Played(stage, model, done)

    return run


@pytest.fixture
def on_screen(stage: Stage) -> Iterator[Callable[[RealAgent, Sequence[Step]], FullScreenAgent]]:
    """Starts an agent on a full screen under guard, for a script of turns."""
    with contextlib.ExitStack() as open_screens:

        def start(agent: RealAgent, steps: Sequence[Step], **options: bool) -> FullScreenAgent:
            screen = FullScreenAgent(stage, agent, steps, **options)
            open_screens.callback(screen.close)
            return screen

        yield start
