"""The lists of all checks, in the order in which their findings are recorded."""

from __future__ import annotations

from sentinel_guard.core.checks import cost, error_rate, failing_tests, leak, loop, rules, session_state
from sentinel_guard.core.checks.base import Check

OF_PROPOSALS: tuple[Check, ...] = (session_state.CHECK, rules.rules, leak.CHECK, cost.CHECK)
OF_OUTCOMES: tuple[Check, ...] = (loop.CHECK, failing_tests.CHECK, error_rate.CHECK)
CHECKS = (*OF_PROPOSALS, *OF_OUTCOMES)
