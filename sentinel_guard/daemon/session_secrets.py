"""The user's own secrets in a session: the leak check searches for them, records and messages redact them.

Rules of this file:
1. The values are in memory only, and are read again when a moment has passed: what is on disk counts.
2. Whatever a session puts on record or tells a person goes through here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from sentinel_guard.core.model import Entry, Finding, Verdict
from sentinel_guard.core.secrets.allowlisted_findings import NONE, Allowlist
from sentinel_guard.core.secrets.redact_before_logging import redact_secrets, redact_secrets_in_data, redact_truncated
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING, UserSecrets

FRESH = 0.5
"""Seconds for which the values are taken as read."""


class SessionSecrets:
    """Of one session. Safe to call from several threads."""

    def __init__(
        self,
        collect: Callable[[], UserSecrets] = lambda: NOTHING,
        key: bytes = b"",
        baseline: Callable[[], Allowlist] = lambda: NONE,
    ) -> None:
        """``key``: for keyed hashes of what was found; empty for none. ``baseline``: what a person said of finds."""
        self.key, self.baseline = key, baseline
        self._collect, self._lock = collect, threading.Lock()
        self._seen: tuple[float, UserSecrets] | None = None

    def known(self) -> UserSecrets:
        """The values as they are on disk, or were a moment ago."""
        with self._lock:
            at = time.monotonic()
            if self._seen is None or at - self._seen[0] > FRESH:
                self._seen = at, self._collect()
            return self._seen[1]

    def text(self, text: str) -> str:
        """The text without secrets."""
        return redact_secrets(text, self.known())

    def piece(self, text: str) -> str:
        """The same for a text that may have been cut at its ends."""
        return redact_truncated(text, self.known())

    def entry(self, entry: Entry) -> Entry:
        """The entry without secrets."""
        data = redact_secrets_in_data(entry.data, self.known())
        assert isinstance(data, dict)
        return Entry(entry.at, entry.session, entry.kind, data, entry.level, entry.seq, entry.prev, entry.hash)

    def verdict(self, verdict: Verdict) -> Verdict:
        """The verdict with findings that may be told to anybody."""
        if not verdict.findings:
            return verdict
        return replace(verdict, findings=tuple(map(self._finding, verdict.findings)))

    def _finding(self, finding: Finding) -> Finding:
        ask = finding.ask and replace(finding.ask, target=self.text(finding.ask.target))
        what, why, evidence = map(self.text, (finding.what, finding.why, finding.evidence))
        return replace(finding, what=what, why=why, evidence=evidence, ask=ask)
