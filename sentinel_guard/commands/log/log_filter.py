"""Which entries of the audit log a person wants to see: ``log --blocked --asked --rule --since``."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sentinel_guard.core.model import Entry
from sentinel_guard.errors import ConfigError

REFUSED = frozenset({"L2", "L3", "L4"})
ASKED = frozenset({"human", "chat"})
_SPAN = re.compile(r"(\d{1,6})(s|m|h|d)")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class LogFilter:
    """What is not asked for takes nothing away; ``blocked`` and ``asked`` together show both."""

    blocked: bool = False
    """What was refused, put back or ended (L2 to L4)."""
    asked: bool = False
    """What a person was asked, and what they said."""
    rule: str = ""
    """Shell pattern: entries with a finding of such a rule or check."""
    since: float = 0.0
    """Seconds of the epoch."""

    def __bool__(self) -> bool:
        return self != LogFilter()

    def takes(self, entry: Entry) -> bool:
        kind = (self.blocked and entry.level in REFUSED) or (self.asked and entry.kind in ASKED)
        if (self.blocked or self.asked) and not kind:
            return False
        return entry.at >= self.since and (not self.rule or any(map(self._named, _names(entry))))

    def _named(self, name: str) -> bool:
        return fnmatch.fnmatchcase(name, self.rule)


def since(text: str, now: float) -> float:
    """Seconds of the epoch of ``30m``, ``2h``, ``1d`` (ago), or of a local date or time of ISO 8601; 0 for no text.

    Raises ConfigError.
    """
    if not text:
        return 0.0
    if found := _SPAN.fullmatch(text.strip()):
        return now - int(found[1]) * _UNITS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError) as e:
        raise ConfigError(f"--since {text!r} is no time.", "Say 30m, 2h, 1d, or 2026-11-25T14:00.") from e


def _names(entry: Entry) -> Iterator[str]:
    """Rules and checks that an entry names."""
    findings = entry.data.get("findings")
    for holder in (entry.data, *(findings if isinstance(findings, list | tuple) else ())):
        if isinstance(holder, Mapping):
            yield from (str(holder[key]) for key in ("rule", "check") if holder.get(key))
