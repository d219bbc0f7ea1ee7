"""What the runs of ``make test-agents`` found, for docs/agents.md."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.agents.real_agents import AGENTS

RESULTS = Path(__file__).parents[2] / "real_agents" / "results.json"


def agents_tested() -> str:
    """What the last runs of ``make test-agents`` found: a row a test, a column an agent."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    names = [agent.name for agent in AGENTS]
    head = [f"| | {' | '.join(f'{a.name} {a.version}' for a in AGENTS)} |", "|---" * (len(names) + 1) + "|"]
    rows = [
        f"| {test.removeprefix('test_').replace('_', ' ')} | {' | '.join(_tested(found, n) for n in names)} |"
        for test, found in results.items()
    ]
    return "\n".join([*head, *rows]) + "\n"


def _tested(found: dict[str, dict[str, str]], name: str) -> str:
    row = found.get(name)
    if row is None:
        return "-"
    assert row["version"] == next(a.version for a in AGENTS if a.name == name), "run: make test-agents"
    return f"{'yes' if row['outcome'] == 'passed' else row['outcome']}, {row['date']}"
