"""Public interface of baseline, rescue snapshot and rollback (DESIGN section 8; R9, R10)."""

from __future__ import annotations

from sentinel_guard.host.recovery.baseline.gitdir_backup import Change
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline, load
from sentinel_guard.host.recovery.baseline.start_tree import patch, start_tree
from sentinel_guard.host.recovery.baseline.take_baseline import begin, complete, take
from sentinel_guard.host.recovery.rollback.rollback import Plan, Report, plan, plan_rollback, rollback
from sentinel_guard.host.recovery.snapshots.take_snapshot import Occasion, TakenSnapshot, take_snapshot

__all__ = [
    "Baseline",
    "Change",
    "Occasion",
    "Plan",
    "Report",
    "TakenSnapshot",
    "begin",
    "complete",
    "load",
    "patch",
    "plan",
    "plan_rollback",
    "rollback",
    "start_tree",
    "take",
    "take_snapshot",
]
