"""TOML that is edited as text: what is put in is taken out again, and no other byte moves."""

from __future__ import annotations

import pytest

from sentinel_guard.core.text import toml_edit
from sentinel_guard.core.text.settings_edit import editor

PATH = ("hooks", "PreToolUse")
ELEMENT = {"hooks": [{"type": "command", "command": "'/x y/sentinel-hook' codex \"PreToolUse\"", "timeout": 600}]}
FLAG = {"hooks": True}


def ours(_element: object) -> bool:
    raise AssertionError("the mark tells")


TEXTS = [
    ("", "no text"),
    ('model = "x"\n', "another setting"),
    (
        '# why\nallowed_approval_policies = [\n  "never", # yes\n]\n\n[features]\nweb = false # mine\n',
        "comments, a table",
    ),
    ("[features]\n", "an empty table, to which something is added"),
    ('[hooks]\nmanaged_dir = "/opt"\n\n[[hooks.PreToolUse]]\nmatcher = "Bash"\n', "hooks of somebody else's"),
    ("[ features ]\r\na = 1\r\n", "lines of Windows"),
    ('x = """\n[features]\n"""\n', "a text that looks like a table"),
    ('"é" = "ü"\n[features] # all\nhooks = true\n', "the member is there"),
]


@pytest.mark.parametrize(("text", "why"), TEXTS, ids=[row[-1] for row in TEXTS])
def test_what_was_put_in_is_taken_out_again_to_the_byte(text, why):
    before = toml_edit.value(text)
    try:
        put = toml_edit.put_member(text, "features", FLAG)
    except ValueError:
        assert "looks like" in why, "said, and nothing is written"
        put = text
    for _ in range(2):
        put = toml_edit.put(put, PATH, ELEMENT)
    held = toml_edit.value(put)
    assert held["hooks"]["PreToolUse"] == [*before.get("hooks", {}).get("PreToolUse", []), ELEMENT, ELEMENT]
    assert {k: v for k, v in held.items() if k not in ("hooks", "features")} == {
        k: v for k, v in before.items() if k not in ("hooks", "features")
    }
    assert toml_edit.take(put, PATH, ours) == text


def test_a_last_line_without_an_end_gets_one():
    put = toml_edit.put("a = 1", PATH, ELEMENT)
    assert toml_edit.take(put, PATH, ours) == "a = 1\n"


def test_what_was_added_later_stays():
    put = toml_edit.put(toml_edit.put_member("", "features", FLAG), PATH, ELEMENT)
    later = put + '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "mine"\n'
    assert toml_edit.take(later, PATH, ours) == later[len(put) :]


WRONG = [
    ("[features]\nhooks = false\n", "the machine's owner has switched hooks off"),
    ("features = 1\n", "no table"),
    ("features = { web = true }\n", "a table that is closed"),
    ("a = ", "no TOML"),
]


@pytest.mark.parametrize(("text", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_member_that_cannot_be_put_is_said(text, why):
    with pytest.raises(ValueError):
        toml_edit.put_member(text, "features", FLAG)


CLOSED = [
    ("hooks = {}\n", "a table that is closed"),
    ("hooks = 1\n", "no table"),
    ("[hooks]\nPreToolUse = []\n", "an array that is closed"),
    ("[hooks]\nPreToolUse = 1\n", "no array"),
]


@pytest.mark.parametrize(("text", "why"), CLOSED, ids=[row[-1] for row in CLOSED])
def test_a_table_that_cannot_be_put_is_said(text, why):
    with pytest.raises(ValueError):
        toml_edit.put(text, PATH, ELEMENT)


def test_the_ending_of_a_name_tells_the_editor():
    assert editor("/etc/codex/requirements.toml") is toml_edit and editor("/x/settings.json") is not toml_edit
