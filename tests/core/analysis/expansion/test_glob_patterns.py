"""Shell patterns as regular expressions: what bash takes for a set is one, without a word on standard error."""

from __future__ import annotations

import itertools
import subprocess

import pytest

from sentinel_guard.core.analysis.expansion.glob_patterns import matches

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


def test_no_set_of_signs_is_warned_of():
    """A warning is an error in tests."""
    found = [matches(f"[{''.join(signs)}]", "\n") for signs in itertools.product("-+a&~|", repeat=4)]
    assert not any(found)
