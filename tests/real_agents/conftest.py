"""A throw-away user with one of the real agents, which a scripted model drives (``make test-agents``)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.support import real_agents
from tests.support.guarded_repository import BIN, Stage
from tests.support.scripted_model import ScriptedModel, Step


class Played:
    """One run of a real agent, and what came of it."""

    def __init__(self, stage: Stage, model: ScriptedModel, done: subprocess.CompletedProcess[str]) -> None:
        self.stage, self.told, self.done = stage, model.told, done

    def calls(self) -> list[str]:
        """The commands of the tool calls on record, as they were judged."""
        entries = (e["data"] for e in self.stage.log(kind="verdict"))
        return [str(d["arguments"].get("command", d["arguments"])) for d in entries if not d.get("parent")]


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture
def play(stage: Stage) -> Callable[[real_agents.RealAgent, Sequence[Step]], Played]:
    """Runs an agent without a terminal under guard, to the end of a script."""

    def run(agent: real_agents.RealAgent, steps: Sequence[Step]) -> Played:
        model = ScriptedModel(steps)
        try:
            started = set_up(stage, agent, model.url)
            command = [str(BIN / "sentinel-guard"), "run", "--", str(agent.path()), *started.arguments]
            done = subprocess.run(
                command, cwd=stage.repo, env=stage.environ, capture_output=True, text=True, errors="replace",
                check=False, stdin=subprocess.DEVNULL, timeout=100,
            )  # fmt: skip
        finally:
            model.close()
        return Played(stage, model, done)

    return run


def set_up(stage: Stage, agent: real_agents.RealAgent, url: str) -> real_agents.Started:
    """Put an agent's settings into the home, and its environment into the stage's."""
    assert agent.path().exists(), f"{agent.path()} is not there: make test-agents installs it"
    started = agent.started(url, stage.home, stage.repo)
    for name, settings in started.files.items():
        file = stage.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(settings if isinstance(settings, str) else json.dumps(settings))
    stage.environ |= {**started.environ, **real_agents.environment(stage.environ["PATH"])}
    if started.first:
        subprocess.run(
            [str(agent.path()), *started.first], cwd=stage.repo, env=stage.environ, check=True, timeout=60,
            stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip
    return started
