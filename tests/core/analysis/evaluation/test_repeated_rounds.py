"""A loop's rounds that are all the same are walked once: nothing else changes by it, and the verdict least of all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.analysis.bash_script_generator import Generator
from sentinel_guard.core.analysis import step_budget
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.evaluation import loop_iterations
from sentinel_guard.core.analysis.expansion import file_overlay
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.registry import CHECKS
from sentinel_guard.core.judge import judge
from sentinel_guard.core.model import Action, Effect, Kind, Layer
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.policy.rule_examples import HOME, ROOT, ExampleWorld
from sentinel_guard.core.session.session import Session

WORLD = ExampleWorld()


def action_of(text: str) -> Action:
    return Action("x", "x", Layer.CLI, "shell", {"command": text}, ROOT, 0.0, ROOT)


def effects_of(text: str, *, each: bool = False) -> tuple[Effect, ...]:
    """What a text does; ``each``: every round of its loops is walked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_overlay, "MAX_GLOBS", 1_000_000)  # fewer looks are fewer that are refused
        patch.setattr(step_budget, "ROUND_STEPS", step_budget.MAX_STEPS)  # and more rounds ask for more
        if each:
            patch.setattr(loop_iterations._Rounds, "_may_be_spared", lambda _: False)
        return analyse(action_of(text), WORLD)


def response_of(effects: tuple[Effect, ...], text: str):
    return judge(Case(action_of(text), effects, Session("x", root=ROOT), Policy(), home=HOME), CHECKS).response


def rounds(text: str, program: str = "x") -> int:
    return sum(e.kind is Kind.EXECUTE and e.target == program for e in effects_of(text))


SPARED = [
    # (a loop of 9 rounds, why all but the first two are the same)
    ("for i in {1..9}; do x; done", "it asks for nothing"),
    ("for i in {1..9}; do x $HOME; done", "what it asks for stays as it was"),
    ("for i in {1..9}; do a=1; x $a; done", "the same is assigned each time"),
    ("for i in {1..9}; do x | grep ok && break; sleep 1; done", "it waits for something"),
    ("for i in {1..9}; do echo a > f; x f; done", "the same is written each time"),
    ("for i in {1..9}; do (cd a; x); done", "the folder is a subshell's"),
    ("for i in {1..9}; do x; i=7; done", "it sets the variable to the same each time"),
    ("for i in {1..9}; do for i in {1..9}; do x; done; done", "loops of one name in each other"),
    ("f() { x; }; for i in {1..9}; do f; done", "a function that asks for nothing"),
]  # fmt: skip


@pytest.mark.parametrize("text", [row[0] for row in SPARED], ids=[row[1] for row in SPARED])
def test_rounds_that_are_the_same_are_walked_twice(text):
    assert rounds(text) in (2, 4), "each of two loops twice"


OTHERS = [
    # (a loop of 9 rounds that are not the same, in what)
    ("for i in {1..9}; do x $i; done", "the variable"),
    ("for i in {1..9}; do x ${!i}; done", "what it names"),
    ("n=i; for i in {1..9}; do x ${!n}; done", "the variable, by another one that holds its name"),
    ("declare -n n=i; for i in {1..9}; do x $n; done", "the variable, by a reference"),
    ("for i in {1..9}; do x $((i + 1)); done", "the variable, in arithmetic"),
    ("for i in {1..9}; do (( i > 8 )) && x; x; done", "the variable, in a condition"),
    ("f() { x $i; }; for i in {1..9}; do f; done", "the variable, in a function from before"),
    ("for i in {1..9}; do eval 'x $'i; done", "the variable, in a text that is evaluated"),
    ("for i in {1..9}; do case $i in 7) x;; esac; x; done", "the variable, as the subject of a case"),
    ("a=; for i in {1..9}; do a=$a/b; x $a; done", "a value that grows"),
    ("n=0; for i in {1..9}; do n=$((n + 1)); x $n; done", "a counter"),
    ("for i in {1..9}; do cd ..; x; done", "the folder"),
    ("for i in {1..9}; do echo a >> f; x; done", "a file that grows"),
    ("set -- 1 2 3 4 5 6 7 8 9; for i in {1..9}; do x; shift; done", "the positional parameters"),
    ("for i in {1..9}; do mkdir d$SECONDS; x; trap 'rm $i' EXIT; done", "a trap for each"),
    ("for i in {1..9}; do x $i; i=7; done", "the variable, which it asks for and sets"),
    ("for PATH in /a /b /c /d /e /f /g /h /i; do x; done", "a variable that programs read"),
]  # fmt: skip


@pytest.mark.parametrize("text", [row[0] for row in OTHERS], ids=[row[1] for row in OTHERS])
def test_rounds_that_differ_are_all_walked(text):
    assert rounds(text) >= 9


BEHIND = [
    # (a text whose loop is walked in part, a path that it deletes behind the loop)
    ("for i in a b c d; do x; done; rm $i", "d"),
    ("for i in a b c d; do x || break; done; rm $i", "b"),
    ("for i in a b c d; do x || break; done; rm $i", "d"),
    ("for i in a b c d; do f() { rm $i; }; done; f", "d"),
    ("for i in a b c d; do x; i=e; done; rm $i", "e"),
    ("for i in a b c d; do x; i=b; done; rm $i", "b"),
    ("for i in a a c d; do x; i=a; done; rm $i", "a"),
    ("for i in a a c d; do x; done; rm $i", "d"),
    ("for i in a b c d; do x && i=b; done; rm $i", "d"),
    ("for i in a b c d; do x && i=b; done; rm $i", "b"),
    ("for i in a b c d; do echo rm e; done | bash", "e"),
    ("rm $(for i in a b c d; do echo e; done | tail -1)", "e"),
]


@pytest.mark.parametrize(("text", "path"), BEHIND)
def test_behind_the_loop_all_is_as_if_every_round_had_been_walked(text, path):
    effects = effects_of(text)
    assert f"{ROOT}/{path}" in [e.target for e in effects if e.kind is Kind.DELETE]
    assert set(effects) == set(effects_of(text, each=True))


@pytest.mark.parametrize("text", [row[0] for row in (*SPARED, *OTHERS)], ids=[row[1] for row in (*SPARED, *OTHERS)])
def test_nothing_that_every_round_shows_is_missing(text):
    assert set(effects_of(text)) == set(effects_of(text, each=True))


HEADS = ("for i in {1..5}", "for i in a .env / b c", "for x in 1 2 3 4", "for i in /etc ~ . ..")


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 32), head=st.sampled_from(HEADS), nested=st.booleans())
def test_no_verdict_is_another_one_for_it(seed, head, nested):
    body = Generator(seed).script().strip() or ":"
    text = f"{head}; do\n{body}\ndone\nrm -rf $i"
    text = f"for j in 1 2 3; do\n{text}\ndone" if nested else text
    short, full = effects_of(text), effects_of(text, each=True)
    assert response_of(short, text) >= response_of(full, text)
    if not any(e.kind is Kind.OPAQUE and "parse" in e.how for e in full):
        assert set(short) == set(full)
