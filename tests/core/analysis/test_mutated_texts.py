"""Texts by chance: each is judged, and none makes the analysis or a check fail."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sentinel_guard
from bench.analysis.bash_script_generator import PLAIN, Generator
from sentinel_guard.core.model import Kind
from tests.core.analysis.test_step_budget import verdict_of

PACKS = Path(sentinel_guard.__file__).parent / "core" / "policy" / "packs"
SAMPLES = [
    text
    for path in sorted(PACKS.glob("*.toml"))
    for rule in tomllib.loads(path.read_text()).get("rule", [])
    for text in (*rule.get("hit", ()), *rule.get("miss", ()))
]
BITS = (
    *PLAIN,
    *"\"'`$(){}[]<>|&;\n\\#!*?~=",
    "$(",
    "${",
    "$((",
    "<<E\n",
    "rm -rf ",
    "bash -c ",
    "eval ",
    "\0",
    "\udcff",
    "é",
)


def mutated(text: str, seed: int) -> str:
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 6)):
        at, to = sorted(chance.choices(range(len(text) + 1), k=2))
        kept = chance.choice((text[:at] + text[to:], text[:at] + text[at:to] * 2 + text[to:], text))
        text = kept[:at] + chance.choice(BITS) + kept[at:]
    return text


def is_sound(text: str) -> bool:
    verdict = verdict_of(text)
    failed = [e.target for e in verdict.effects if e.kind is Kind.OPAQUE and "error" in e.how]
    assert not failed, (failed, text)
    return not any("gave no answer" in f.what for f in verdict.findings)


FOUND = ["time || b", "a; time && b"]
"""What the fuzzers have found, for ever."""


@pytest.mark.parametrize("text", FOUND)
def test_what_the_fuzzers_found_is_judged(text):
    assert is_sound(text)


@settings(max_examples=300, deadline=None)
@given(text=st.sampled_from(SAMPLES), seed=st.integers(0, 1 << 32))
def test_mutated_samples_are_judged(text, seed):
    assert is_sound(mutated(text, seed))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_mutated_scripts_are_judged(seed):
    assert is_sound(mutated(Generator(seed).script(), seed))


@settings(max_examples=200, deadline=None)
@given(text=st.lists(st.sampled_from(BITS), max_size=30).map("".join) | st.text(max_size=60))
def test_any_text_is_judged(text):
    assert is_sound(text)
