"""What a report and the person's terminal say of a rollback: each state has one sentence, and none has two."""

from __future__ import annotations

import pytest

from sentinel_guard.core.incidents import rollback_words
from sentinel_guard.core.incidents.rollback_words import RollbackSummary

REF = "refs/sentinel/rescue/s"
PUT_BACK, AS_BEFORE = "was put back to", "nothing had to be put back"
UNTOUCHED, ALL_ENDED = "as the agent left them", "Every process of the session was ended."
BY_HAND = "sentinel-guard rollback s"
SAME, BACK = RollbackSummary(True, "abc", False), RollbackSummary(True, "abc", True, back=("a",))

# (what was done, the snapshot's ref, what is said, what is not, why)
STATES = (
    (None, "", (UNTOUCHED, BY_HAND), (PUT_BACK, AS_BEFORE), "a breaker: nothing was rolled back"),
    (
        RollbackSummary(True, "abc", False),
        "",
        (AS_BEFORE, ALL_ENDED),
        (PUT_BACK, UNTOUCHED, BY_HAND),
        "nothing differed",
    ),
    (
        RollbackSummary(True, "abc", True, back=("a",)),
        REF,
        (PUT_BACK, REF),
        (AS_BEFORE, UNTOUCHED, BY_HAND),
        "put back",
    ),
    (
        BACK,
        "",
        (PUT_BACK, "could be taken"),
        (UNTOUCHED, "nothing to keep"),
        "put back, and no snapshot could be taken",
    ),
    (
        RollbackSummary(False, "", False, problems=("The rollback failed: x.",)),
        "",
        ("No rescue snapshot was taken.", BY_HAND),
        (PUT_BACK, AS_BEFORE, UNTOUCHED),
        "the rollback failed",
    ),
    (
        RollbackSummary(True, "abc", False, running=(7,)),
        "",
        ("could not be ended: 7",),
        (ALL_ENDED,),
        "a process that could not be ended",
    ),
)


@pytest.mark.parametrize("row", STATES, ids=[row[4] for row in STATES])
def test_the_report_says_one_thing_of_each_state(row):
    done, rescue, said, unsaid, _ = row
    text = "\n".join([*rollback_words.impact(done), *rollback_words.recovery(done, rescue, "s", "/w")])
    assert [part for part in said if part not in text] == []
    assert [part for part in unsaid if part in text] == []


CHANGED = RollbackSummary(True, "abcdef0123456789", False, back=("a",), commits=("git merge r/1",))
NOTICES = (
    (
        CHANGED,
        REF,
        "/w",
        ("back at abcdef012345,", f"  sentinel-guard snapshots restore {REF} --all", "  git merge r/1"),
    ),
    (RollbackSummary(True, "abc", False), "", "/w", ("as at the session's start (abc)",)),
    (RollbackSummary(False, "", False, problems=("It failed.",)), "", "/w", ("It failed.", BY_HAND)),
    (
        RollbackSummary(True, "", False, back=("a",), only_aside=((".env", "/q/1"),)),
        REF,
        "/w",
        ("cp -a -- /q/1 /w/.env",),
    ),
    (RollbackSummary(True, "a", False, commits=tuple(f"git branch {n}" for n in range(9))), REF, "/w", ("… 5 more",)),
    (RollbackSummary(True, "a", False, running=(3,)), "", "", ("could not be ended: 3",)),
)


@pytest.mark.parametrize("row", NOTICES, ids=[row[3][0] for row in NOTICES])
def test_the_persons_lines(row):
    done, rescue, root, said = row
    text = "\n".join(rollback_words.kill_notice(done, rescue, "s", root))
    assert [part for part in said if part not in text] == []
    assert not (rollback_words.kill_notice(done, rescue, "s", root) and not root and "repository" in text)
