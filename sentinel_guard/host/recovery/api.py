"""Baseline, rescue snapshot, rollback: the door to them (DESIGN section 8; R9, R10)."""

from __future__ import annotations

from sentinel_guard.host.baseline import Baseline, load
from sentinel_guard.host.metadata import Change
from sentinel_guard.host.rescue import Occasion, Rescue, rescue
from sentinel_guard.host.rollback import Plan, Report, outlook, plan, rollback
from sentinel_guard.host.starttree import patch, start_tree
from sentinel_guard.host.taking import begin, complete, take

__all__ = [
    "Baseline",
    "Change",
    "Occasion",
    "Plan",
    "Report",
    "Rescue",
    "begin",
    "complete",
    "load",
    "outlook",
    "patch",
    "plan",
    "rescue",
    "rollback",
    "start_tree",
    "take",
]
