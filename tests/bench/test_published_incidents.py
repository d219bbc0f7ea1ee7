"""What becomes of an incident, below a real daemon, without the cage: what is harmed is the stage's own."""

from __future__ import annotations

import pytest

from bench.published_incidents import LOST, STOPPED, UNDONE, outcome

FILES = {"a.txt": "one\n"}
LEFT = {"a.txt": "two\n", "notes.txt": "three\n", "~/mine.txt": "four\n"}
INCIDENTS = [  # the step that did the harm, what ran, what became of it
    ("rm ~/mine.txt", (), STOPPED),  # no snapshot has it
    ("git checkout -- . && rm notes.txt", (), UNDONE),  # the rollback has what was not committed
    ("kill $(pgrep -f 'other-program serve')", ("other-program serve",), LOST),  # whose folder is a temporary one
]


@pytest.mark.parametrize(("step", "running", "came"), INCIDENTS)
def test_what_becomes_of_an_incident(step: str, running: tuple[str, ...], came: str):
    incident = {"files": FILES, "left": LEFT, "running": running, "steps": [{"run": step, "harm": True}]}
    assert outcome(incident, None)[0] == came
