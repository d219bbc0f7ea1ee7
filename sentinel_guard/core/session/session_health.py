"""A session's state and health metrics, as ``status --json`` gives them."""

from __future__ import annotations

from collections.abc import Sequence

from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.session import token_ledger
from sentinel_guard.core.session.failure_exit_codes import failed
from sentinel_guard.core.session.session import Call, Session


def status(session: Session, policy: Policy, now: float) -> dict[str, object]:
    """State, seconds left (float) and the metrics of R3, R5 and R6: loop count, error rate, tokens a minute.

    The last is None where nobody has told of tokens: it is not known.
    """
    window = session.calls[-policy.loop.window :]
    return {
        "session": session.id,
        "root": session.root,
        "command": list(session.command),
        "started": session.started,
        "start_hash": session.start_hash,
        "state": session.state.value,
        "seconds_left": round(max(0.0, session.until - now), 1),
        "reason": session.reason,
        "half_open": session.half_open,
        "calls": len(session.calls),
        "loop_count": loop_count(window),
        "error_rate": error_rate(window),
        "tokens_per_minute": token_ledger.per_minute(session.usage, now) if session.token_sources else None,
        "tokens_from": sorted(session.token_sources),
        "tokens_unread": session.tokens_unread,
        "cooldowns": len(session.cooldowns),
    }


def loop_count(window: Sequence[Call]) -> int:
    """How many times the newest operation stands at the window's end without another between."""
    count = 0
    for call in reversed(window):
        if call.operation != window[-1].operation:
            break
        count += 1
    return count


def error_rate(window: Sequence[Call]) -> float:
    """Share of ended calls that failed, 0 to 1."""
    ended = [c.outcome for c in window if c.outcome]
    return round(sum(map(failed, ended)) / len(ended), 2) if ended else 0.0
