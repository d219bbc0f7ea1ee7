"""Nouns -> dicts -> JSON, and entries back again."""

from __future__ import annotations

import json
import math
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.json_codec import (
    as_stored,
    dumps,
    effect_json,
    entry_from,
    entry_json,
    finding_json,
    stored_with_text,
    verdict_json,
)
from sentinel_guard.core.model import (
    Action,
    Ask,
    Command,
    Effect,
    Entry,
    Finding,
    Kind,
    Layer,
    Peer,
    Response,
    Verdict,
)

ACTION = Action("a1", "s1", Layer.SHIM, "git", {"argv": ("git", "push")}, "/r", 5.0, "/r", "", Peer(7, 70))
ASKED = Finding("rules", Response.ASK, "git push -f", "rewrites", "lease", "git.push-force", ask=Ask("PUSH", "origin"))
LOOP = Finding("loop", Response.BREAK, "again", operations=frozenset({"b", "a"}))
PUSH = Effect(
    Kind.PUBLISH, "origin", False, frozenset({"force", "append"}), Command("git", ("git", "push"), via=("env",))
)

SHAPES = [
    (
        "a finding of a loop",
        finding_json(LOOP),
        {"check": "loop", "rule": "", "response": "break", "level": "L3", "what": "again", "why": "", "instead": "",
         "evidence": "", "ask": None, "operations": ["a", "b"]},
    ),
    (
        "a finding that asks",
        finding_json(ASKED)["ask"],
        {"action": "PUSH", "target": "origin", "risk": "HIGH"},
    ),
    (
        "an effect with its command",
        effect_json(PUSH),
        {"kind": "publish", "target": "origin", "sure": False, "how": ["append", "force"], "command": ["git", "push"],
         "via": ["env"]},
    ),
    (
        "an effect of a tool has no command",
        effect_json(Effect(Kind.WRITE, "/r/x")),
        {"kind": "write", "target": "/r/x", "sure": True, "how": [], "command": [], "via": []},
    ),
    (
        "a verdict without findings",
        verdict_json(Verdict(ACTION)),
        {"response": "allow", "level": "", "findings": [], "granted": [], "effects": [], "authorized_by": ""},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given_shape", "shape"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_the_shape_of_a_noun(given_shape, shape):
    assert given_shape == shape
    dumps(given_shape)


def test_a_granted_finding_is_kept_and_no_longer_decides():
    said = verdict_json(Verdict(ACTION, (PUSH,), (ASKED,), (ASKED,), "user"))
    assert said["response"] == "allow"
    assert said["granted"] == said["findings"] == [finding_json(ASKED)]
    assert said["authorized_by"] == "user"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_an_entry_comes_back_as_it_was(data):
    entry = Entry(1.25, "s1", "verdict", data, "L2", 3, "p", "h")
    assert entry_from(json.loads(dumps(entry_json(entry)))) == entry


@given(st.binary(max_size=40))
def test_bytes_that_are_no_utf8_survive(raw):
    text = raw.decode("utf-8", "surrogateescape")
    line = dumps(entry_json(Entry(1.0, "s1", "verdict", {"argv": [text]})))
    assert line.isascii()
    assert json.loads(line)["data"]["argv"][0].encode("utf-8", "surrogateescape") == raw


SETTLED = [
    ("tuples become lists", {"a": (1, (2,))}, {"a": [1, [2]]}),
    ("keys become strings", {1: "x"}, {"1": "x"}),
    ("numbers stand in the order of their texts", {9: "x", 10: "y"}, {"9": "x", "10": "y"}),
    ("sets become sorted lists", {"a": frozenset({"y", "x"})}, {"a": ["x", "y"]}),
    ("a mapping is a dict", {"a": MappingProxyType({"b": 1})}, {"a": {"b": 1}}),
    ("an enumeration is its value", {"a": Layer.SHIM, "b": Response.DENY}, {"a": "shim", "b": 5}),
]


@pytest.mark.parametrize(("data", "after"), [row[1:] for row in SETTLED], ids=[row[0] for row in SETTLED])
def test_an_entry_is_settled_as_a_log_gives_it_back(data, after):
    entry, text = stored_with_text(Entry(1, "s1", "verdict", data))
    assert (entry.data, text) == (after, dumps(after))
    assert as_stored(entry) == entry


REFUSED = [
    ("no number", {"a": math.nan}),
    ("no finite number", {"a": math.inf}),
    ("bytes", {"a": b"x"}),
    ("an object", {"a": object()}),
]


@pytest.mark.parametrize("data", [row[1] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_no_json_is_refused(data):
    with pytest.raises((TypeError, ValueError)):
        dumps(data)


ROW = {"seq": 4, "at": 1.0, "session": "s1", "kind": "end", "level": "", "data": "{}", "prev": "p", "hash": "h"}
UNREADABLE = [
    ("data that is no JSON", ROW | {"data": "{"}),
    ("data that is no object", ROW | {"data": "[]"}),
    ("data with NaN, which no log writes", ROW | {"data": '{"a":NaN}'}),
    ("data nested without end", ROW | {"data": "[" * 100_000}),
    ("a time that is text", ROW | {"at": "now"}),
    ("a time without end", ROW | {"at": math.inf}),
    ("a time that no float holds", ROW | {"at": 10**400}),
    ("a session that is bytes", ROW | {"session": b"s1"}),
    ("a missing field", {"seq": 4}),
]


@pytest.mark.parametrize("row", [row[1] for row in UNREADABLE], ids=[row[0] for row in UNREADABLE])
def test_a_row_that_cannot_be_read_is_an_entry_that_says_so(row):
    entry = entry_from(row)
    assert (entry.kind, entry.seq) == ("unreadable", 4)
    dumps(entry_json(entry))


def test_a_row_without_a_number_is_unreadable_too():
    assert entry_from(ROW | {"seq": "x"}).seq == 0


def test_the_data_of_a_row_may_be_text_or_a_mapping():
    assert entry_from(ROW) == entry_from(ROW | {"data": {}}) == Entry(1.0, "s1", "end", {}, "", 4, "p", "h")
