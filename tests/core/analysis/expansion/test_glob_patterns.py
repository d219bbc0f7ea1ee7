"""Shell patterns as regular expressions: what bash takes for a set is one, without a word on standard error."""

from __future__ import annotations

import itertools
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentinel_guard.core.analysis.expansion.glob_patterns import matches, may_share

SETS = [
    # (a pattern, what it is)
    ("[+--]", "a range up to the hyphen"),
    ("[--0]", "one from the hyphen"),
    ("[---]", "from the hyphen to itself"),
    ("[a--]", "an empty range"),
    ("[!+--]", "the others"),
    ("[a&&b]", "what other expressions take for an intersection"),
    ("[a||b~~c]", "and for a union, and a difference"),
    ("[[a]", "a bracket within"),
]
TEXTS = ("+", ",", "-", ".", "/x", "0", "5", "9", "a", "b", "&", "|", "~", "[", "c")


@pytest.mark.parametrize("pattern", [row[0] for row in SETS], ids=[row[1] for row in SETS])
def test_a_set_takes_in_what_bash_says(pattern):
    script = 'for text; do [[ $text == $pattern ]] && printf "%s\\n" "$text"; done; true'
    environ = {"pattern": pattern, "LC_ALL": "C"}
    said = subprocess.run(["bash", "-c", script, "x", *TEXTS], env=environ, capture_output=True, text=True, check=True)
    assert [text for text in TEXTS if matches(pattern, text)] == said.stdout.split()


def test_every_short_set_takes_in_what_bash_says():
    """Ranges of any ends, turned ones, quoted ones, and what stands first or last."""
    sets = [
        "".join(of)
        for signs in ("09a-", "9-]^!", "a-\\z")
        for n in (1, 2, 3, 4)
        for of in itertools.product(signs, repeat=n)
    ]
    pairs = [(f"[{one}]", text) for one in dict.fromkeys(sets) for text in (*TEXTS, "]", "^", "!", "\\", "z", "A")]
    script = 'while IFS= read -rd "" p && IFS= read -rd "" t; do [[ $t == $p ]] && printf 1 || printf 0; done'
    given = "".join(f"{pattern}\0{text}\0" for pattern, text in pairs)
    said = subprocess.run(
        ["bash", "-c", script], input=given, env={"LC_ALL": "C"}, capture_output=True, text=True, check=True
    )
    wrong = [pair for pair, yes in zip(pairs, said.stdout, strict=True) if matches(*pair) is not (yes == "1")]
    assert not wrong


SHARED = [
    # (two patterns, whether a name may match both, why)
    ("*", "*.env", True, "everything"),
    ("p*", "*.env", True, "its beginning"),
    ("*.log", "*.env", False, "two endings"),
    ("x*y*z", "*.env", False, "an ending"),
    ("x*y*v", "*.env", True, "its last letter"),
    ("*a", "b*", True, "an end and a beginning"),
    ("?", "ab", False, "one character"),
    ("??", "ab", True, "any two"),
    ("[0-9]*", "id_rsa", True, "a bracket may be any character"),
    ("[0-9]", "id_rsa", False, "but one"),
    ("id_*", "id_rsa", True, "a name"),
    ("ID_*", "id_rsa", False, "another one"),
    ("", "*", True, "nothing"),
    ("", "?*", False, "and something"),
    (r"\*", "a", False, "a quoted star"),
    (r"\*", "?", True, "which is one character"),
]


@pytest.mark.parametrize(("one", "other", "may"), [row[:3] for row in SHARED], ids=[row[3] for row in SHARED])
def test_what_two_patterns_share(one, other, may):
    assert (may_share(one, other), may_share(other, one)) == (may, may)


NAMES = st.text("ab.", max_size=6)


@given(NAMES, st.text("ab.*?", max_size=6), st.text("ab.*?", max_size=6))
@example("ab", "a*", "*b")
def test_a_name_that_two_patterns_match_is_one_that_they_share(name, one, other):
    if matches(one, name) and matches(other, name):
        assert may_share(one, other)


def test_no_set_of_signs_is_warned_of():
    """A warning is an error in tests."""
    found = [matches(f"[{''.join(signs)}]", "\n") for signs in itertools.product("-+a&~|", repeat=4)]
    assert not any(found)
