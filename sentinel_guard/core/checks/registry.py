"""The list of all checks, in the order in which their findings are recorded."""

from __future__ import annotations

from sentinel_guard.core.checks import cost, error_rate, failing_tests, leak, loop, rules, session_state
from sentinel_guard.core.checks.base import Check

CHECKS: tuple[Check, ...] = (
    session_state.CHECK,
    rules.rules,
    leak.CHECK,
    loop.CHECK,
    failing_tests.CHECK,
    error_rate.CHECK,
    cost.CHECK,
)
