"""What the runs of ``make test-agents`` and ``make bench-agents`` found, for docs/agents.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from sentinel_guard.agents import registry
from tests.support.agents.real_agents import AGENTS

RESULTS = Path(__file__).parents[2] / "real_agents" / "results.json"
OVERHEAD = RESULTS.with_name("overhead.json")


def record(outcomes: Mapping[str, str], date: str) -> None:
    """Remember how tests ended, by their names (``test_it[agent]``, ``test_it[agent-way]``), for ``agents_tested``."""
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for node, outcome in outcomes.items():
        test, _, rest = node.removesuffix("]").partition("[")
        name, _, way = rest.partition("-")
        if agent := next((a for a in AGENTS if a.name == name), None):
            row = known.setdefault(f"{test}, {way}" if way else test, {})
            row[name] = {"version": agent.version, "date": date, "outcome": outcome}
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


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


def agents_hooks() -> str:
    """Where each agent's own hooks stand, how long they are waited for, and when a call runs without an answer."""
    rows = [
        "| | in a project | `--user` | `--managed` | waits, s | a call runs without an answer where |",
        "|---" * 6 + "|",
    ]
    for agent in registry.AGENTS:
        if dialect := agent.hooks:
            at, waits = dialect.places, f"{dialect.waits:.0f}"
            files = [f"`{name}`" if name else "-" for name in (at.project, f"~/{at.user}", at.managed)]
            rows.append(f"| {agent.name} | {' | '.join(files)} | {waits} | {dialect.fails_open} |")
    return "\n".join(rows) + "\n"


def agents_overhead() -> str:
    """What a guarded session of short commands costs: a row an agent."""
    found = json.loads(OVERHEAD.read_text(encoding="utf-8"))
    head = ["| | bare, s | time, of the bare | processor time, of the bare |", "|---|---|---|---|"]
    rows = [
        f"| {a.name} {a.version} | {row['bare']['wall']:.1f} | {row['wall']:.2f} | {row['cpu']:.2f} |"
        for a in AGENTS
        if (row := found.get(a.name))
    ]
    return "\n".join([*head, *rows]) + "\n"


def agents_overhead_parts() -> str:
    """Where the time of such a session goes, in seconds, bare and guarded: a row an agent."""
    found = json.loads(OVERHEAD.read_text(encoding="utf-8"))
    head = [
        "| | to the first request to the model | the commands | the end | processor time | of which the daemon |",
        "|---|---|---|---|---|---|",
    ]
    rows = [
        f"| {a.name} | {' | '.join(_beside(row, part) for part in ('begin', 'commands', 'end', 'cpu'))} "
        f"| {row['guarded']['daemon']:.2f} |"
        for a in AGENTS
        if (row := found.get(a.name))
    ]
    return "\n".join([*head, *rows]) + "\n"


def _beside(row: dict[str, dict[str, float]], part: str) -> str:
    return f"{row['bare'][part]:.2f}, {row['guarded'][part]:.2f}"


def _tested(found: dict[str, dict[str, str]], name: str) -> str:
    row = found.get(name)
    if row is None:
        return "-"
    assert row["version"] == next(a.version for a in AGENTS if a.name == name), "run: make test-agents"
    return f"{'yes' if row['outcome'] == 'passed' else row['outcome']}, {row['date']}"
