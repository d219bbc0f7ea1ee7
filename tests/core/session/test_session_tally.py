"""What a session came to, folded from its entries."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Entry
from sentinel_guard.core.session.session_tally import tally


def call(at, *, ran=True, level=""):
    return Entry(at, "s1", "verdict", {"call": ran, "response": "allow" if ran else "deny"}, level)


def step(at, level=""):
    return Entry(at, "s1", "verdict", {"parent": "a1", "response": "allow"}, level)


def state(at, event, **data):
    return Entry(at, "s1", "state", {"event": event, **data})


def human(at, **data):
    return Entry(at, "s1", "human", {"yes": True, **data})


ROWS = [
    ([], (0, 0, 0, 0.0), "nothing"),
    ([call(1), step(2), call(3)], (2, 0, 0, 0.0), "a step is no command"),
    ([call(1), call(2, ran=False, level="L2"), step(3, "L2")], (1, 2, 0, 0.0), "what was refused did not run"),
    ([Entry(1, "s1", "watch", {}, "L2"), Entry(2, "s1", "watch", {})], (0, 1, 0, 0.0), "what was put back"),
    ([state(10, "ask"), state(15, "answered"), human(15, question="q1")], (0, 0, 1, 5.0), "a question, and its wait"),
    ([human(1, grant="g1")], (0, 0, 0, 0.0), "a yes that was given before is no question"),
    ([state(10, "cool"), state(40, "expire"), state(50, "pause"), state(52, "resume")], (0, 0, 0, 32.0), "two waits"),
    ([state(10, "pause"), state(12, "pause"), state(15, "resume")], (0, 0, 0, 5.0), "a pause in a pause is one"),
    ([state(10, "break"), state(30, "kill")], (0, 0, 0, 20.0), "a pause that a kill ends"),
    ([state(10, "unheard-of"), call(20)], (1, 0, 0, 0.0), "a newer guard's event is passed over"),
]


@pytest.mark.parametrize(("entries", "counts"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_what_is_counted(entries, counts):
    found = tally(entries)
    assert (found.commands, found.refused, found.asked, found.held) == counts
