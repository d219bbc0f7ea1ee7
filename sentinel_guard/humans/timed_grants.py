"""A person's yes to all of one kind for a while: what it covers, and when it ends.

Rules of this file:
1. A kind is a rule, an action and a target as the gate shows them, and the subjects of the preview (of a push: the work
   tree, the address, the references). Another target is another kind.
2. Only what a person was asked about is covered: nothing that is refused, nothing critical, no held system call and no
   step of git's own.
3. It is the session's, and ends with its time, with ``revoke``, and with the first intervention (L3, L4).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from sentinel_guard.core.model import Action, Finding, Layer

LAYERS = frozenset({Layer.SHELL, Layer.LINE, Layer.SHIM, Layer.HOOK})
Kind = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class TimedGrant:
    id: str
    kind: Kind
    action: str
    target: str
    """As the gate showed them."""
    until: float
    """Seconds since the epoch."""


class TimedGrants:
    """Of one session."""

    def __init__(self) -> None:
        self._grants: list[TimedGrant] = []
        self._ids = itertools.count(1)

    def live(self, now: float) -> list[TimedGrant]:
        """Those that hold, oldest first."""
        self._grants = [grant for grant in self._grants if grant.until > now]
        return [*self._grants]

    def may_cover(self, findings: Sequence[Finding], now: float) -> bool:
        """Whether it is worth looking up the subjects of what is asked about."""
        shown = {(f.ask.action, f.ask.target) for f in findings if f.ask}
        return any((grant.action, grant.target) in shown for grant in self.live(now))

    def covering(self, kind: Kind, now: float) -> TimedGrant | None:
        return next((grant for grant in self.live(now) if kind <= grant.kind), None)

    def give(self, kind: Kind, finding: Finding, until: float) -> TimedGrant:
        """A person has said yes. ``finding``: what the gate showed."""
        assert finding.ask is not None
        grant = TimedGrant(f"g{next(self._ids)}", kind, finding.ask.action, finding.ask.target, until)
        self._grants.append(grant)
        return grant

    def revoke(self, ident: str = "") -> list[TimedGrant]:
        """End one, or all; those that were ended."""
        ended = [grant for grant in self._grants if ident in ("", grant.id)]
        self._grants = [grant for grant in self._grants if grant not in ended]
        return ended


def kind_of(action: Action, findings: Sequence[Finding], subjects: Sequence[str]) -> Kind | None:
    """The kind of what is asked about; None where no yes can hold for longer than once."""
    if action.layer not in LAYERS:
        return None
    if any(f.check != "rules" or f.ask is None or f.ask.risk == "CRITICAL" for f in findings):
        return None
    return frozenset((f.rule, f.ask.action, f.ask.target, action.root, *subjects) for f in findings if f.ask)
