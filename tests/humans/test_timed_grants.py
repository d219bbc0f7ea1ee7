"""A yes to all of one kind for a while: what is that kind, and when it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sentinel_guard.core.model import Action, Ask, Finding, Layer, Response
from sentinel_guard.humans.timed_grants import TimedGrants, kind_of

PUSH = Finding("rules", Response.ASK, "`git push -f`", rule="git.push-force", ask=Ask("FORCE_PUSH", "origin"))
ACTION = Action("a1", "s1", Layer.SHELL, "shell", {"command": "git push -f"}, "/w", 10.0, "/w")
SUBJECTS = ("/w", "https://example.com/x.git", "refs/heads/feature")

OTHERS = [
    (ACTION, PUSH, SUBJECTS, True, "the same again"),
    (
        replace(ACTION, id="a2", arguments={"command": "git push --force origin"}),
        PUSH,
        SUBJECTS,
        True,
        "said otherwise",
    ),
    (ACTION, PUSH, (*SUBJECTS[:2], "refs/heads/main"), False, "another branch"),
    (ACTION, PUSH, ("/w", "https://other.example/x.git", "refs/heads/feature"), False, "another address"),
    (ACTION, PUSH, ("/v", *SUBJECTS[1:]), False, "another work tree"),
    (ACTION, PUSH, (*SUBJECTS, "refs/heads/main"), False, "one more branch"),
    (ACTION, replace(PUSH, ask=Ask("FORCE_PUSH", "upstream")), SUBJECTS, False, "another target"),
    (ACTION, replace(PUSH, rule="git.push-delete"), SUBJECTS, False, "another rule"),
    (replace(ACTION, root="/v"), PUSH, SUBJECTS, False, "another repository"),
    (replace(ACTION, layer=Layer.KERNEL), PUSH, SUBJECTS, False, "a held system call"),
    (replace(ACTION, layer=Layer.GIT), PUSH, SUBJECTS, False, "a step of git"),
    (ACTION, replace(PUSH, check="leak"), SUBJECTS, False, "what another check asks"),
    (ACTION, replace(PUSH, ask=Ask("FORCE_PUSH", "origin", "CRITICAL")), SUBJECTS, False, "what is critical"),
]


@pytest.mark.parametrize(
    ("action", "finding", "subjects", "covered"), [r[:4] for r in OTHERS], ids=[r[4] for r in OTHERS]
)
def test_what_a_yes_for_a_while_covers(action, finding, subjects, covered):
    grants = TimedGrants()
    given = kind_of(ACTION, [PUSH], SUBJECTS)
    grants.give(given, PUSH, 700.0)
    kind = kind_of(action, [finding], subjects)
    found = grants.covering(kind, 100.0) if kind else None
    assert bool(found) is covered


def test_it_ends_with_its_time_and_with_revoke():
    grants = TimedGrants()
    kind = kind_of(ACTION, [PUSH], SUBJECTS)
    first, second = grants.give(kind, PUSH, 700.0), grants.give(kind, PUSH, 800.0)
    assert grants.live(699.9) == [first, second] and grants.may_cover([PUSH], 699.9)
    assert grants.live(700.0) == [second] and grants.covering(kind, 700.0) == second
    assert grants.revoke("g9") == [] and grants.revoke("g2") == [second] and grants.live(0.0) == []
    assert not grants.may_cover([PUSH], 0.0)


def test_of_several_questions_at_once_each_must_be_covered():
    other = replace(PUSH, rule="x.y")
    grants = TimedGrants()
    grants.give(kind_of(ACTION, [PUSH], SUBJECTS), PUSH, 700.0)
    assert grants.covering(kind_of(ACTION, [PUSH, other], SUBJECTS), 1.0) is None
