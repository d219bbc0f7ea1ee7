"""Rounds of loops have a budget of their own: beyond it they are looked at as one, and hide nothing behind the loop."""

from __future__ import annotations

import posixpath

import pytest

from sentinel_guard.core.analysis.step_budget import ROUND_BEYOND, ROUND_LEAST, ROUND_STEPS, Budget, RoundsExceeded
from sentinel_guard.core.model import Kind
from sentinel_guard.core.policy.rule_examples import ROOT
from tests.core.analysis.test_step_budget import calls, effects_of, unseen

PADDED = "x $i;" * 50
ROUNDS = [
    # (loops of more rounds than are walked one by one, what is found, of what it is found)
    ("for i in {1..200};do for j in {1..200};do rm $i$j;done;done", Kind.OPAQUE, "$i$j", "all pairs"),
    (f"for i in {{1..250}} .env x;do cat $i;done;{PADDED}", Kind.READ, f"{ROOT}/.env", "a name behind hundreds"),
    (f"for i in a b c d e f .env g;do {PADDED} cat $i;done", Kind.READ, f"{ROOT}/.env", "rounds that take long"),
    (f"for i in a b c d e f .env g;do {PADDED} rm -rf $i;done", Kind.DELETE, f"{ROOT}/.env", "the same, deleted"),
    (f"for i in a b c d e f / g;do {PADDED} rm -rf $i;done", Kind.DELETE, "/", "the top of all, between others"),
    (f"for i in a b c d e f .. g;do {PADDED} rm -rf $i;done", Kind.DELETE, posixpath.dirname(ROOT), "a folder above"),
    (f"for i in a b c d e f g;do {PADDED} done;rm -rf $i", Kind.DELETE, f"{ROOT}/g", "the last word, behind the loop"),
    (f"for i in {{1..99}};do {PADDED} done;for i in a .env;do cat $i;done", Kind.READ, f"{ROOT}/.env", "one behind it"),
    (f"for i in {{1..99}};do {PADDED} done;rm -rf /etc", Kind.DELETE, "/etc", "a command behind it"),
    (f"for ((i=0;i<99;i++));do {PADDED} done;rm -rf /etc", Kind.DELETE, "/etc", "rounds that are counted"),
    (f"while read i;do {PADDED} done < <(seq 99);rm -rf /etc", Kind.DELETE, "/etc", "lines that are read"),
]


@pytest.mark.parametrize(("text", "kind", "target"), [row[:3] for row in ROUNDS], ids=[row[3] for row in ROUNDS])
def test_rounds_beyond_the_budget_are_looked_at_as_one(text, kind, target):
    made = calls(text)
    assert any(e.kind is kind and (e.target == target or kind is Kind.OPAQUE) for e in effects_of(text))
    assert made < 400_000


def test_a_round_is_paid_for_once_and_rounds_without_end_are_not_walked():
    budget = Budget()
    with budget.round():
        with budget.round():
            budget.spend(100)
        assert budget.rounds == ROUND_STEPS - 100
    assert budget.rounds == ROUND_STEPS - 100
    with budget.round():
        budget.spend(ROUND_STEPS + ROUND_BEYOND)
        with pytest.raises(RoundsExceeded), budget.round():
            pytest.fail("a loop within it goes no further round either")
    with pytest.raises(RoundsExceeded), budget.round():
        pytest.fail("nor does the next loop")


LONG = "x $i;" * 400
BEHIND = [
    # (rounds that are too much, what stands behind them, what is found of it)
    (f"for i in a b c d e f;do {LONG} done", "rm -rf /etc", "/etc"),
    (f"for i in a b c d e f;do {LONG} cd $i;done", "rm -rf /etc", "/etc"),
    (f"for i in a b c d e f;do {LONG} done", "for j in a /etc;do rm -rf /etc;done", "/etc"),
    (f"while x;do for i in a b c d e f;do {LONG} done;rm -rf /etc;done", ":", "/etc"),
    (f"f(){{ for i in a b c d e f;do {LONG} done; }};f", "rm -rf /etc", "/etc"),
]


@pytest.mark.parametrize(("rounds", "behind", "target"), BEHIND)
def test_rounds_that_are_too_much_hide_nothing_that_stands_behind_them(rounds, behind, target):
    effects = effects_of(f"{rounds};{behind}")
    assert unseen(effects), "that they were not looked at is said"
    assert any(e.kind is Kind.DELETE and e.target == target for e in effects)


def test_what_rounds_leave_that_were_not_looked_at_is_not_known():
    effects = effects_of(f"d=a;for i in a b c d e f;do {LONG} d=$i;done;rm -rf $d")
    assert any(e.kind is Kind.OPAQUE and "delete" in e.how for e in effects)


def test_a_text_that_is_long_itself_has_less_left_for_rounds():
    budget = Budget()
    budget.spend(1_000)
    assert budget.rounds == ROUND_STEPS - 500
    budget.spend(2 * ROUND_STEPS)
    assert budget.rounds == ROUND_LEAST
    with budget.of_script():
        assert budget.rounds == ROUND_STEPS, "a script has rounds of its own"
    assert budget.rounds == ROUND_LEAST
