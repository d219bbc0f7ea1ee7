"""A point in time as people read it, everywhere the same."""

from __future__ import annotations

from datetime import UTC, datetime


def when(at: float) -> str:
    """Local time with milliseconds and offset: ``2026-11-21 14:03:22.123 +01:00``; ``at`` in seconds of the epoch."""
    try:
        local = datetime.fromtimestamp(at, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return repr(at)
    return local.isoformat(" ", "milliseconds")[:23] + " " + local.isoformat()[-6:]
