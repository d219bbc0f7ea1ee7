"""``sentinel-guard help-me CONTEXT``: an agent asks for a person, and waits (R8)."""

from __future__ import annotations

from sentinel_guard.client import ask_agent
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine.state_paths import StatePaths

MAX_CONTEXT = 1 << 16


def help_me(places: StatePaths, context: str) -> int:
    """Prints the person's words as they come; returns when they typed /resume. Raises ConfigError, DaemonError."""
    if not context.strip():
        raise ConfigError("Say what you need help with.", 'sentinel-guard help-me "I am stuck on the regex"')
    if len(context) > MAX_CONTEXT:
        raise ConfigError(f"The context is over {MAX_CONTEXT} characters long.", "Say it shorter, or name a file.")
    return ask_agent(places, "help", [context])[1]
