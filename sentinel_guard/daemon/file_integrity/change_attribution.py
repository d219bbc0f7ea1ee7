"""Who changed a restricted file: the session's agent, the person, or nobody can tell (DESIGN section 8).

Rules of this file:
1. While a call runs, and a moment after it, the change is the session's: it may have others work for it.
2. It is the person's only where it is proved that no process of the session ran when it happened.
3. In between the person is asked; where nobody can be asked, it is the session's.
"""

from __future__ import annotations

import time

from sentinel_guard.core.session.session import Session, State
from sentinel_guard.daemon.live_sessions import Live
from sentinel_guard.host.file_integrity.file_change import ChangeDecision
from sentinel_guard.host.file_integrity.process_activity import Activity, Ran
from sentinel_guard.host.machine import processes

AFTER = 1.0
"""Seconds after a call in which what it left behind may still be at work."""
BUSY_SECONDS, BUSY_SHARE = 0.02, 0.05
"""An agent that spent so much time on a processor, and such a share of it, was at work."""
_WAITING = (State.AWAITING_HUMAN, State.ASKING)
"""States in which a call may be under way that only waits for the person."""


def attribute(live: Live, activity: Activity, changed_after: float, acted: float) -> ChangeDecision:
    """Whose a change is that happened after a moment; ``acted``: when the session's last action was allowed.

    Times in seconds of the epoch. Takes a look at the session's processes only where the last ones were at rest.
    """
    session = live.session
    if session.over or (_calls(live, acted) and session.state not in _WAITING):
        return ChangeDecision.PUT_BACK
    lately = activity.lately(live.agent)
    if lately.others_ran or _busy(lately):
        return ChangeDecision.PUT_BACK
    activity.look(shell=not live.agent, parts=live.parts)
    word = judge(activity.since(changed_after, live.agent), waiting=session.state in _WAITING)
    if word is ChangeDecision.TAKE and not _all_known(live, activity):
        word = ChangeDecision.ASK
    if word is ChangeDecision.ASK and not (session.interactive and live.runner):
        return ChangeDecision.PUT_BACK
    return word


def judge(ran: Ran, *, waiting: bool) -> ChangeDecision:
    """What the processes' doing says; ``waiting``: the session waits for the person, its calls with it."""
    if not ran.proved or ran.others_ran or _busy(ran):
        return ChangeDecision.PUT_BACK
    if ran.agent_ran or (ran.others and not waiting):
        return ChangeDecision.ASK
    return ChangeDecision.TAKE


def _busy(ran: Ran) -> bool:
    return ran.agent >= max(BUSY_SECONDS, BUSY_SHARE * ran.seconds)


def _calls(live: Live, acted: float) -> bool:
    return bool(live.calls) or time.time() - max(acted, _ended(live.session)) < AFTER


def _ended(session: Session) -> float:
    ends = (call.outcome.at for call in session.calls if call.outcome)
    return max(ends, default=0.0)


def _all_known(live: Live, activity: Activity) -> bool:
    """Whether no process carries the session's mark that the looks did not see: one that left its tree."""
    owner = live.session.owner
    spare = frozenset({processes.own_pid(), *([owner.pid] if owner else [])})
    found = processes.tree((owner.pid,) if owner else (), spare, f"SENTINEL_SESSION={live.id}")
    return found <= activity.known | live.parts
