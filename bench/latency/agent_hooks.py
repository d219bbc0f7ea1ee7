"""Measures what the hooks of a coding agent cost: our hook program beside one that does nothing, called as clients do.

Run with ``python -m bench.latency.agent_hooks`` at the top of the repository, or as a part of ``make bench``. It plays
Claude Code: a process that runs its hooks by ``/bin/sh -c`` and hands them a payload.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator

from bench.benchmark_results import Row, median_ms, percentile_ms, show
from bench.verdict_latency import COMMANDS, Guarded
from sentinel_guard.agents import registry
from sentinel_guard.host import shims

BUDGET = 3.0
TIMES = 300
EMPTY = "/bin/true"
EVENTS = ("PreToolUse", "PostToolUse")


def payload(event: str, number: int, folder: str) -> str:
    """What Claude Code says of a call; each is another one, as the loop check would stop the same again and again."""
    command = f"{COMMANDS[number % len(COMMANDS)]} # {number}"
    told = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"toolu_{number}"}
    end = {"tool_response": {"stdout": "done\n", "stderr": ""}, "duration_ms": 20} if event == "PostToolUse" else {}
    where = {"session_id": "bench", "cwd": folder, "hook_event_name": event, "permission_mode": "default"}
    return json.dumps({**where, **told, **end})


# Under the agent's name, by which the guard finds whose hook it is.
CLIENT = """
import json, subprocess, sys, time
for line in sys.stdin:
    command, given = json.loads(line)
    began = time.perf_counter()
    done = subprocess.run(["/bin/sh", "-c", command], input=given.encode(), capture_output=True, check=True)
    seconds = time.perf_counter() - began
    assert not done.stdout + done.stderr, done
    print(seconds, flush=True)
"""


class Client:
    """A process that runs hooks as Claude Code does."""

    def __init__(self, guarded: Guarded) -> None:
        command = ["claude", "-c", CLIENT]
        self._process = subprocess.Popen(
            command,
            executable=sys.executable,
            cwd=guarded.repo,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def seconds(self, command: str, given: str) -> float:
        """What one hook takes."""
        if not (self._process.stdin and self._process.stdout):
            raise RuntimeError("it has no pipes")
        print(json.dumps([command, given]), file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


def measured(guarded: Guarded) -> Iterator[Row]:
    """Milliseconds over an empty hook, in turns with it."""
    program = shlex.quote(str(shims.place_hooks(guarded.places, registry.hook_forms())))
    samples: dict[tuple[str, str], list[float]] = {(e, p): [] for e in EVENTS for p in (EMPTY, program)}
    client = Client(guarded)
    for number in range(TIMES):
        for (event, hook), times in samples.items():
            given = payload(event, number, str(guarded.repo))
            times.append(client.seconds(f"{hook} claude {event}", given))
    client.close()
    for event in EVENTS:
        ours, empty = samples[event, program][10:], median_ms(samples[event, EMPTY][10:])
        beside = f"p99 {percentile_ms(ours, 0.99) - empty:.2f} ms; an empty one takes {empty:.2f} ms"
        yield Row(f"an agent's {event} hook, over an empty one", BUDGET, median_ms(ours) - empty, "ms", beside)


def rows() -> Iterator[Row]:
    guarded = Guarded()
    try:
        guarded.operator.request("end", session=guarded.session, code=0)
        yield from measured(guarded)
    finally:
        guarded.close()


if __name__ == "__main__":
    show(rows())
