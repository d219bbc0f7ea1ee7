"""Estimates of tokens (R6), where the policy wants them and nobody tells: what a call said, and what it printed.

Less than the truth: what its model reads besides (its own prompt, once or with each reply) is not seen (ADR 0046).
"""

from __future__ import annotations

from sentinel_guard.core.json_codec import dumps
from sentinel_guard.core.model import Action, Usage
from sentinel_guard.core.session import token_ledger
from sentinel_guard.daemon.live_sessions import Live, Sessions

A_TOKEN = 4
"""Characters."""
HANDED_OVER = 30_000
"""Characters of an output that an agent hands to its model at most (Claude Code; others cut earlier): the rest nobody
reads."""


def note(live: Live, sessions: Sessions, action: Action, printed: int, at: float) -> None:
    """Put an estimate of a call that has ended on record, where it is wanted: it printed so many characters.

    Raises StoreError.
    """
    told = live.session.token_sources - {token_ledger.ESTIMATE}
    if live.policy().cost.estimate and not told and not action.parent:
        sessions.note(live, [token_ledger.entry(live.id, at, usage(action, printed, at))])


def usage(action: Action, printed: int, at: float) -> Usage:
    """The reply that made a call, with what it was told of the call."""
    said, read = len(dumps(dict(action.arguments))), min(printed, HANDED_OVER)
    source = token_ledger.ESTIMATE
    return Usage(at, read // A_TOKEN, said // A_TOKEN, source=source, key=action.id, estimated=True)
