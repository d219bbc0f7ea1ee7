"""Presets: settings that go together, between what is built in and what the user says (docs/policy.md, Presets).

``observe`` sets nothing; the judge and the git hooks ask for it (``softened``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.policy.policy import Policy

PLACE = ("protection", "preset")
OBSERVE, STANDARD, STRICT = "observe", "standard", "strict"
NAMES = (OBSERVE, STANDARD, STRICT)
"""From the loosest to the tightest: a project may ask for one behind the user's."""
SETTINGS: Mapping[str, Mapping[tuple[str, str], str | float | bool]] = {
    OBSERVE: {},
    STANDARD: {},
    STRICT: {
        ("paths", "create"): "deny",
        ("loop", "strict"): True,
        ("failures", "strict"): True,
        ("failures", "runs"): 3,
        ("error_rate", "trip"): 0.7,
        ("cost", "tokens_per_minute"): 30_000,
        ("gate", "typed_word"): True,
        ("gate", "seconds"): 120,
        ("recovery", "deep"): True,
        ("kernel", "mode"): "require",
    },
}
WOULD = "only observed, it would have been"
_WORDS = {
    Response.COOL_DOWN: "held up",
    Response.ASK: "put before a person",
    Response.DENY: "refused",
    Response.BREAK: "refused, with a pause of the session",
}
_STATE = frozenset({"session_state", "human", "judge"})
"""Checks that say how a session stands, or what a person said: that is so, whoever observes."""


def softened(finding: Finding, policy: Policy) -> Finding:
    """What becomes of a finding: under ``observe`` a hint that says what it would have done.

    As it is stays what no project would want tried out: a kill (L4), and what the guard needs for itself (``guard.*``).
    """
    kept = finding.check in _STATE or finding.rule.startswith("guard.")
    if policy.protection.preset != OBSERVE or kept or finding.response not in _WORDS:
        return finding
    # The breaker's own words forbid what is let pass here.
    what = f"{finding.rule or finding.check} spoke" if finding.response is Response.BREAK else finding.what
    observed = f"{what} ({WOULD} {_WORDS[finding.response]})"
    return replace(finding, response=Response.HINT, what=observed, instead="", ask=None, operations=frozenset())
