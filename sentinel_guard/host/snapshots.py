"""Baseline, rescue snapshot, rollback: the door to them (DESIGN section 8; R9, R10)."""

from __future__ import annotations

from sentinel_guard.host.baseline import Baseline, load, take
from sentinel_guard.host.metadata import Change
from sentinel_guard.host.rescue import Rescue, forget, rescue
from sentinel_guard.host.rollback import Report, plan, rollback

__all__ = ["Baseline", "Change", "Report", "Rescue", "forget", "load", "plan", "rescue", "rollback", "take"]
