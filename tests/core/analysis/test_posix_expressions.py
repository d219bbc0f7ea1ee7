"""Regular expressions of POSIX tools, and that none takes long."""

from __future__ import annotations

import time

import pytest

from sentinel_guard.core.analysis.posix_expressions import compiled, extended, for_short_texts

FOUND = [
    ("vite", "node vite", True, "a word"),
    ("^vite", "node vite", False, "the beginning"),
    ("a.*b.*c", "1 a 2 b 3 c", True, "pieces in order"),
    ("a.*b.*c", "c b a", False, "pieces out of order"),
    ("^a.*c$", "abc", True, "both ends"),
    ("a.+b", "ab", False, "something between"),
    ("x|a.*b", "a b", True, "an alternative"),
    ("(vite|next) dev", "next dev", True, "a group"),
    ("[v]ite", "vite", True, "brackets"),
    ("[[:digit:]]+", "p 80", True, "a class"),
    ("^[[:upper:]_]+=", "API_KEY=x", True, "one of capitals"),
    ("[[:upper:]]", "ab", False, "and of nothing else"),
    ("[^ ]+.*vite", "node /x/vite", True, "a repeat leaves the next piece what it needs"),
    ("ab?.*b$", "ab", True, "and so does what may be there or not"),
    ("(next(-dev)?|vite) .*3000", "next-dev --port 3000", True, "in a group, too"),
]
LONG = [
    "(a+)+b",
    "(a|a)*b",
    "a?" * 30 + "a" * 30,
    "(.|..)" * 30 + "b",
    "a*a*a*a*b",
    "((a*)*)*b",
    r"(a)\1",
    "a**",
    "[[=a=]]",
    "x" * 999,
]


@pytest.mark.parametrize(("expression", "text", "found", "why"), FOUND)
def test_what_is_found(expression: str, text: str, found: bool, why: str) -> None:
    assert compiled(expression).is_in(text) is found, why


@pytest.mark.parametrize("expression", LONG)
def test_what_could_take_long_is_not_looked_for(expression: str) -> None:
    assert compiled(expression) is None


@pytest.mark.parametrize(
    "expression", ["a*b", ".*a.*b.*c.*d", "a+.*a+.*b", "(a|b).*c{2,}", "a?a?a?b", "(a|aa)" * 5 + "b", "(aa)*b"]
)
def test_the_others_are_quick(expression: str) -> None:
    began = time.process_time()
    assert not compiled(expression).is_in("a" * 10_000)
    assert time.process_time() - began < 0.5


LONG_AT_ONCE = [
    "(a+)+b",
    "(a|a)*b",
    "((a|a))*b",
    "(a|a){30}b",
    "(a?)*b",
    "(a+){9}b",
    "(a+){2,}b",
    "((a*)*)*b",
    "(.+)+!",
    "a?" * 30 + "a" * 30,
    "a*a*a*a*a*b",
    "(.|..)" * 30 + "b",
    r"(a)\1",
    "a**",
]


@pytest.mark.parametrize("expression", LONG_AT_ONCE)
def test_what_could_take_long_in_a_short_text_is_not_looked_for(expression: str) -> None:
    assert for_short_texts(expression, ignores_case=False) is None


@pytest.mark.parametrize(
    "expression",
    [
        "a*a*a*a*b",
        "a.*a.*a.*a.*b",
        "a*.*a+.*b",
        "(a?a)?a*a+b",
        "(aa)*a*b",
        "(a{1,3}b){3}a{1,3}",
        "(a|b|c|d|e|f|g)z",
        r"\<a+[[:digit:]]",
    ],
)
def test_the_others_are_quick_in_a_short_text(expression: str) -> None:
    began = time.process_time()
    assert not for_short_texts(expression, ignores_case=False).search("a" * 45)
    assert time.process_time() - began < 0.5


def test_whole_and_either_case() -> None:
    assert not compiled("ab|c", whole=True).is_in("abc")
    assert compiled("ab|c", whole=True).is_in("c")
    assert compiled("AB", ignores_case=True).is_in("ab")


@pytest.mark.parametrize(
    ("basic", "told"), [(r"a\|b", "a|b"), ("a+b", r"a\+b"), (r"\(a\)", "(a)"), ("f(x)", r"f\(x\)"), ("[+(]", "[+(]")]
)
def test_basic_expressions(basic: str, told: str) -> None:
    assert extended(basic) == told
