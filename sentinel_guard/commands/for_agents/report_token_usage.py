"""``sentinel-guard usage report``: an agent, or its wrapper, reports its token usage (R6)."""

from __future__ import annotations

import json

from sentinel_guard.client import ask_agent
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine.state_paths import StatePaths

EXAMPLE = "sentinel-guard usage report --tokens 1200"


def report(
    places: StatePaths,
    *,
    tokens: int = 0,
    input: int = 0,  # noqa: A002 - as the option is called
    output: int = 0,
    cache_read: int = 0,
    cache_write: int = 0,
) -> int:
    """Report counts of tokens since the last report: a total, or by kind. Raises ConfigError, DaemonError."""
    by_kind = {"input": input, "output": output, "cache_read": cache_read, "cache_write": cache_write}
    if min(tokens, *by_kind.values()) < 0:
        raise ConfigError("A count of tokens is not negative.", EXAMPLE)
    if tokens and any(by_kind.values()):
        raise ConfigError("Report either --tokens or the kinds, not both.", EXAMPLE)
    counts = {"tokens": tokens} if tokens else {kind: count for kind, count in by_kind.items() if count}
    if not counts:
        raise ConfigError("There is no count of tokens to report.", EXAMPLE)
    return ask_agent(places, "usage", [json.dumps(counts)])[1]
