"""A mask shows what is public about a value, and how long it is; a fingerprint matches equal values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.secrets.formats.base import fake
from sentinel_guard.core.secrets.formats.registry import FORMATS
from sentinel_guard.core.secrets.redacted_value import fingerprint, mask

PAT = "ghp_" + fake(36)

MASKS = [
    (PAT, "github-pat", "<ghp_… 40 characters>", "the prefix is public"),
    (PAT.upper(), "github-pat", "<GHP_… 40 characters>", "as it is written"),
    (PAT, "", "<… 40 characters>", "no rule"),
    (PAT, "generic-secret", "<… 40 characters>", "a rule without a form"),
    (PAT, "known-value", "<… 40 characters>", "a person's own value"),
    ("hunter2", "github-pat", "<… 7 characters>", "another form"),
    ("", "github-pat", "<… 0 characters>", "nothing"),
]


@pytest.mark.parametrize(("value", "rule", "shown", "why"), MASKS, ids=[row[3] for row in MASKS])
def test_what_is_shown_of_a_value(value, rule, shown, why):
    assert mask(value, rule) == shown


@given(st.text(min_size=8), st.sampled_from(["", "known-value", *sorted({row.rule for row in FORMATS})[:40]]))
def test_a_mask_holds_nothing_but_a_needle(value, rule):
    shown = mask(value, rule)
    needles = {needle for row in FORMATS if row.rule == rule for needle in row.needles}
    assert shown.removeprefix("<").split("…")[0].lower() in {"", *needles}


def test_equal_values_have_equal_fingerprints_and_only_under_one_key():
    one, other = b"k" * 32, b"l" * 32
    assert fingerprint(PAT, one) == fingerprint(PAT, one)
    assert len({fingerprint(PAT, one), fingerprint(PAT, other), fingerprint(PAT + "x", one)}) == 3
    assert len(fingerprint("\udcff", one)) == 16
    assert set(fingerprint(PAT, one)) <= set("0123456789abcdef")
