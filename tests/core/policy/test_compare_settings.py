"""Versions of settings files: what counts, what an agent writes of its own, and what is no settings at all."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from sentinel_guard.core.policy.agent_settings import ALL, SettingsFile, rows
from sentinel_guard.core.policy.compare_settings import EVERYTHING, are_answers, changed_keys

FILE = SettingsFile(
    "a.json", ("hooks", "projects.*.mcpServers", "tools", "!tools.theme", "permissions"), ("permissions",)
)
RECORDED = json.loads((Path(__file__).parents[2] / "vectors/agent_settings.json").read_text())
TABLE = {(agent.agent, folder.folder, file.path): file for agent, folder, file in rows()}

CHANGES = [
    ('{"hooks": {"Stop": [1]}}', '{"model": "x", "hooks": {"Stop": [1]}}', [], "another key"),
    ('{"hooks": {"Stop": [1]}}', '{\n  "hooks": {"Stop": [ 1 ]}\n}\n', [], "the layout"),
    ('{"a": 1, "hooks": {}}', '{"a": 1}', [], "an empty value is none"),
    (None, '{"model": "x"}', [], "a new file without any key that counts"),
    ('{"model": "x"}', None, [], "such a file is removed"),
    ("{}", '{"hooks": {"Stop": [1]}}', ["hooks.Stop"], "a hook comes"),
    ('{"hooks": {"Stop": [1]}}', "{}", ["hooks.Stop"], "a hook goes"),
    ('{"hooks": {"Stop": [1]}}', None, ["hooks.Stop"], "it goes with its file"),
    ('{"hooks": {"Stop": [1]}}', '{"hooks": {"Stop": [2]}}', ["hooks.Stop"], "a hook is another one"),
    ("{}", '{"projects": {"/r/my.app": {"mcpServers": {"x": {"command": "y"}}}}}',
     ["projects./r/my.app.mcpServers.x.command"], "a star is any key, with dots in it too"),
    ('{"projects": {"/r": {"lastCost": 1}}}', '{"projects": {"/r": {"lastCost": 2}}}', [], "beside the star's key"),
    ("{}", '{"tools": {"theme": "dark"}}', [], "taken back with !"),
    ("{}", '{"tools": {"theme": "dark", "shell": "x"}}', ["tools.shell"], "beside what was taken back"),
    ("{}", '{"hooks": {"Stop": [1]}, "hooks": {}}', [], "of a key that comes twice the last counts, as in JavaScript"),
    ("{}", '{"hooks": {}, "hooks": {"Stop": [1]}}', ["hooks.Stop"], "the same, the other way round"),
    ("{}", '{"x": {"__proto__": {"hooks": [1]}}}', ["x.__proto__.hooks"], "what a merge may put on every object"),
    ("{}", '// mine\n{"hooks": {"Stop": [1], /* , */},}', ["hooks.Stop"], "comments and closing commas"),
    ("{}", '{"hooks": "// no comment /* nor this", "x": ",}"}', ["hooks"], "what looks like a comment in a text"),
    ("\ufeff{}", '\ufeff{"hooks": [1]}', ["hooks"], "a byte order mark"),
    ("no json", '{"hooks": [1]}', ["hooks"], "it was broken before"),
    ("{}", '{"\\u0068ooks": [1]}', ["hooks"], "a key with an escape"),
]  # fmt: skip


ASKED = SettingsFile("a.json", ("hooks", "disableHooks", "trusted", "permissions"), ("trusted", "permissions"))
WITHDRAWN = (
    ({"trusted": True}, {}, [], "a yes is taken away"),
    ({"trusted": True}, {"trusted": False}, [], "and said no to"),
    ({}, {"trusted": True}, ["trusted"], "a yes that nobody said"),
    ({"trusted": False}, {"trusted": True}, ["trusted"], "a no that becomes a yes"),
    ({"permissions": {"deny": ["x"]}}, {}, ["permissions.deny"], "a no is taken away"),
    ({"disableHooks": True}, {}, ["disableHooks"], "no answer of a person's"),
)


@pytest.mark.parametrize(("before", "after", "keys"), [r[:3] for r in WITHDRAWN], ids=[r[3] for r in WITHDRAWN])
def test_a_persons_yes_may_be_taken_back(before, after, keys):
    versions = (json.dumps(before).encode(), json.dumps(after).encode())
    assert [".".join(key) for key in changed_keys(ASKED, "a.json", *versions)] == keys


@pytest.mark.parametrize(("before", "after", "keys", "why"), CHANGES, ids=[c[3] for c in CHANGES])
def test_the_keys_that_count_are_compared(before, after, keys, why):
    versions = [None if v is None else v.encode() for v in (before, after)]
    assert [".".join(key) for key in changed_keys(FILE, "a.json", *versions)] == keys, why


UNREADABLE = [
    (b"", "emptied by who writes it"),
    (b'{"hooks": [', "half written"),
    (b"[1, 2]", "no table"),
    (b"\xff\xfe{}", "no text"),
    (b'{"hooks": ' + b"[" * 100_000, "nested without end"),
    (b'{"a":' * 5000 + b"1" + b"}" * 5000, "nested deeper than anything is"),
    (b'{"' + b'\\"' * 200_000, "a text that never closes"),
    (b"/* " * 200_000, "comments that never close"),
]


@pytest.mark.parametrize(("after", "why"), UNREADABLE, ids=[u[1] for u in UNREADABLE])
def test_what_cannot_be_read_is_told_apart_from_what_is_empty(after, why):
    with pytest.raises(ValueError, match=r"a\.json cannot be read"):
        changed_keys(FILE, "a.json", b"{}", after)


def test_toml_is_compared_by_its_keys():
    file = SettingsFile("config.toml", ("notify", "mcp_servers"))
    before, more = b'model = "x"\n# mine\n', b'model = "y"\n[projects."/r"]\ntrust_level = "trusted"\n'
    assert changed_keys(file, "/r/config.toml", before, more) == ()
    assert changed_keys(file, "/r/config.toml", before, b'notify = ["x"]\n') == (("notify",),)


def test_a_file_without_keys_is_compared_byte_by_byte():
    script, rules = SettingsFile("hooks/*"), SettingsFile("rules/*", answers=ALL)
    assert changed_keys(script, "x", b"a", b"a") == ()
    assert changed_keys(script, "x", b"a", b"a\n") == (EVERYTHING,)
    assert changed_keys(script, "x", None, b"") == (EVERYTHING,)
    assert not are_answers(script, (EVERYTHING,)) and are_answers(rules, (EVERYTHING,))


def test_files_that_come_and_go_count_where_they_change():
    file = SettingsFile("hooks.json", ALL, comes_and_goes=True)
    assert changed_keys(file, "x.json", None, b'{"a": 1}') == changed_keys(file, "x.json", b'{"a": 1}', None) == ()
    assert changed_keys(file, "x.json", b'{"a": 1}', b'{"a": 2}') == (("a",),)


ANSWERS = [
    ((("permissions", "allow"),), True, "one of them"),
    ((("permissions", "allow"), ("hooks", "Stop")), False, "with one that is none"),
    ((("hooks", "Stop"),), False, "none of them"),
    ((), False, "nothing changed"),
]


@pytest.mark.parametrize(("keys", "answers", "why"), ANSWERS, ids=[a[2] for a in ANSWERS])
def test_an_answer_is_nothing_but_an_answer(keys, answers, why):
    assert are_answers(FILE, keys) is answers, why


def _id(row):
    return f"{row['agent']} {row['version']}, {row['path']}, {row['during']}"


@pytest.mark.parametrize("row", RECORDED, ids=map(_id, RECORDED))
def test_what_the_real_agents_write_does_not_count_or_is_an_answer(row):
    file = TABLE[row["agent"], row["folder"], row["path"]]
    versions = [None if v is None else v.encode() for v in row["versions"]]
    found = [changed_keys(file, row["path"], a, b) for a, b in pairwise(versions)]
    assert len(found) == len(versions) - 1 > 0
    assert all(are_answers(file, keys) for keys in found) if row["answers"] else not any(found)
