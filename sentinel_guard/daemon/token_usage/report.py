"""What an agent, or its wrapper, reports of its tokens (R6): ``sentinel-guard usage report``."""

from __future__ import annotations

import json

from sentinel_guard.core.model import Usage
from sentinel_guard.core.session import token_ledger
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.errors import PeerError

MOST = 10**12


def take(live: Live, sessions: Sessions, text: str, now: float) -> str:
    """Put a report on record; the words for who reported. Raises PeerError, StoreError."""
    sessions.note(live, [token_ledger.entry(live.id, now, usage(text, now))])
    return _standing(live, now)


def _standing(live: Live, now: float) -> str:
    """Where a session stands after a report."""
    limit = live.policy().cost.tokens_per_minute
    minute = token_ledger.per_minute(live.session.usage, now)
    words = f"{minute:,} tokens in the last minute; over {limit:,} there is a cool-down."
    own = sorted(live.session.token_sources - {token_ledger.REPORT, token_ledger.ESTIMATE})
    return f"{words} Counted is what {', '.join(own)} tells; reports are not added to it." if own else words


def usage(text: str, at: float) -> Usage:
    """The usage in a JSON object of counts; ``tokens`` alone counts as output. Raises PeerError."""
    names = token_ledger.COUNTS
    try:
        said = json.loads(text)
        counts = {k: 0 if said.get(k) is None else int(said[k]) for k in (*names, "tokens")}
    except (ValueError, AttributeError, TypeError, OverflowError) as e:
        raise PeerError("usage is a JSON object of counts", "sentinel-guard usage report --tokens N") from e
    if any(not 0 <= n <= MOST for n in counts.values()):
        raise PeerError("a count of tokens is not negative", "sentinel-guard usage report --tokens N")
    detailed = any(counts[k] for k in names)
    output = counts["output"] if detailed else counts["tokens"]
    return Usage(at, counts["input"], output, counts["cache_read"], counts["cache_write"], source=token_ledger.REPORT)
