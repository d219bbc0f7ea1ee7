"""JSON that is edited as text: what is put in is taken out again, and no other byte moves."""

from __future__ import annotations

import json

import pytest

from sentinel_guard.core.text import json_edit

PATH = ("hooks", "PreToolUse")
ELEMENT = {"matcher": "*", "hooks": [{"type": "command", "command": "/x/sentinel-hook claude PreToolUse"}]}


def ours(element: object) -> bool:
    return "sentinel-hook" in json.dumps(element)


TEXTS = [
    ('{\n  "model": "x"\n}\n', "another setting"),
    ('{"model": "x"}', "one line, no end of line"),
    ('{\n\t"a": 1,\n\t"b": {"c": [1, 2]}\n}\n', "tabs"),
    (
        '{\n    "hooks": {\n        "Stop": [\n            {"hooks": []}\n        ]\n    }\n}\n',
        "a hook of somebody else's",
    ),
    (
        '{\n  "hooks": {\n    "PreToolUse": [\n      {\n        "matcher": "Bash"\n      }\n    ]\n  },\n  "z": 1\n}',
        "beside one at the same event",
    ),
    ('{"hooks":{"PreToolUse":[{"matcher":"Bash"}]}}', "the same on one line"),
    ('{\r\n  "model": "x"\r\n}\r\n', "lines of Windows"),
    ('// why\n{\n  /* a } here */\n  "model": "x" // and "there"\n}\n', "comments"),
    ('{\n  "s": "a \\" } ] , // no comment",\n  "n": -1.5e3\n}', "strings that look like more"),
    ('\ufeff{"a": true}', "a byte order mark"),
]


@pytest.mark.parametrize(("text", "why"), TEXTS, ids=[row[-1] for row in TEXTS])
def test_what_was_put_in_is_taken_out_again_to_the_byte(text, why):
    put = json_edit.put(text, PATH, ELEMENT)
    assert put != text
    hooks = json_edit.value(put)["hooks"]["PreToolUse"]
    assert hooks[-1] == ELEMENT
    assert json_edit.take(put, PATH, ours) == text


def test_several_events_one_after_the_other_and_back():
    text = '{\n  "model": "x"\n}\n'
    put = text
    for name in ("A", "B", "C"):
        put = json_edit.put(put, ("hooks", name), ELEMENT)
    assert json_edit.value(put) == {"model": "x", "hooks": {name: [ELEMENT] for name in "ABC"}}
    for name in ("A", "C", "B"):
        put = json_edit.take(put, ("hooks", name), ours)
    assert put == text


SETTLED = [
    ("", {"hooks": {"PreToolUse": [ELEMENT]}}, "no text"),
    ("{}", {"hooks": {"PreToolUse": [ELEMENT]}}, "an empty object"),
    ('{ "hooks" : { } }', {"hooks": {"PreToolUse": [ELEMENT]}}, "an empty inner one"),
    ('{"hooks": {"PreToolUse": []}}', {"hooks": {"PreToolUse": [ELEMENT]}}, "an empty list"),
    ('{"a": [1,],}', {"a": [1], "hooks": {"PreToolUse": [ELEMENT]}}, "commas at ends"),
    ('{"hooks": 1, "hooks": {}}', {"hooks": {"PreToolUse": [ELEMENT]}}, "a name twice: the last counts"),
]


@pytest.mark.parametrize(("text", "wanted", "why"), SETTLED, ids=[row[-1] for row in SETTLED])
def test_it_is_put_in_whatever_stands_there(text, wanted, why):
    assert json_edit.value(json_edit.put(text, PATH, ELEMENT)) == wanted
    assert not ours(json_edit.value(json_edit.take(json_edit.put(text, PATH, ELEMENT), PATH, ours) or "{}"))


def test_what_was_added_later_stays_where_ours_is_taken_out():
    put = json_edit.put("{}", PATH, ELEMENT)
    later = json_edit.put(put, PATH, {"matcher": "Bash"})
    assert json_edit.value(json_edit.take(later, PATH, ours)) == {"hooks": {"PreToolUse": [{"matcher": "Bash"}]}}


def test_a_member_is_put_in_and_taken_out():
    text = '{\n  "a": 1\n}\n'
    put = json_edit.put_member(text, "version", 1)
    assert json_edit.value(put) == {"a": 1, "version": 1} and json_edit.take_member(put, "version") == text


MEMBERS = [
    ('{"a": 1}', "version", 1, {"a": 1, "version": 1}, "none of this name"),
    ('{"version": 1}', "version", 1, {"version": 1}, "it is there"),
    ("", "c", {"on": True}, {"c": {"on": True}}, "no text"),
    ('{\n  "c": {\n    "x": []\n  }\n}', "c", {"on": True}, {"c": {"x": [], "on": True}}, "an object that lacks it"),
    ('{"c": {"on": true}}', "c", {"on": True}, {"c": {"on": True}}, "an object that has it"),
]


@pytest.mark.parametrize(("text", "name", "element", "held", "why"), MEMBERS, ids=[row[-1] for row in MEMBERS])
def test_a_member_is_put_where_it_is_not_there(text, name, element, held, why):
    put = json_edit.put_member(text, name, element)
    assert json_edit.value(put) == held and (put == text) == (bool(text) and json_edit.value(text) == held)


OTHERS = [
    ('{"version": 2}', "version", 1),
    ('{"c": {"on": false}}', "c", {"on": True}),
    ('{"c": 1}', "c", {"on": True}),
    ("[]", "c", 1),
]


@pytest.mark.parametrize(("text", "name", "element"), OTHERS)
def test_a_member_with_another_value_is_somebody_elses(text, name, element):
    with pytest.raises(ValueError):
        json_edit.put_member(text, name, element)


WRONG = [
    ('{"hooks": []}', "a list where an object is wanted"),
    ('{"hooks": {"PreToolUse": {}}}', "an object where a list is"),
    ("[]", "no object at all"),
    ('{"a": }', "no value"),
    ("{a: 1}", "a name without quotes"),
    ('{"a": 1} x', "something behind it"),
    ('{"a": 1', "no end"),
    ("[" * 200, "too deep"),
]


@pytest.mark.parametrize(("text", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_what_cannot_be_edited_is_said(text, why):
    with pytest.raises(ValueError):
        json_edit.put(text, PATH, ELEMENT)
