"""A rule from an example."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.policy import rule_from_example
from sentinel_guard.errors import ConfigError

DRAFTS = (
    ("kubectl delete ns *", {"program": "kubectl", "subcommand": "delete", "operand": "ns"}, "a star is anything"),
    ("/usr/bin/frob now", {"program": "frob", "operand": "now"}, "no folder"),
    ("sudo frob", {"program": "frob"}, "wrappers come off"),
    ("bash -c 'frob --all'", {"program": "frob", "all_flags": ["--all"]}, "a shell's text"),
    ("git -C sub push -f", {"program": "git", "subcommand": "push", "all_flags": ["-C", "-f"]}, "flags"),
    ("frob prod-*", {"program": "frob", "operand": "prod-*"}, "a pattern in a word"),
    ("frob *", {"program": "frob"}, "only a star"),
)


@pytest.mark.parametrize("row", DRAFTS, ids=[r[2] for r in DRAFTS])
def test_the_keys_of_an_example(row) -> None:
    assert rule_from_example.draft(row[0], analyse).keys == row[1]


NOTES = (
    ("kubectl delete ns prod", "'ns' is looked at, not prod", "a second word"),
    ("frob -f", "-f is not --force", "a flag has another name"),
    ("frob", "every frob there is", "a bare program"),
)


@pytest.mark.parametrize("row", NOTES, ids=[r[2] for r in NOTES])
def test_what_a_person_should_know_is_noted(row) -> None:
    assert row[1] in " ".join(rule_from_example.draft(row[0], analyse).notes)


BAD = (
    ("ls | wc", "holds several commands: ls, wc", "a pipeline"),
    ("", "no command in", "nothing"),
    ("x=1", "no command in", "only an assignment"),
    ("frob (", "can be read", "a syntax error"),
    ('"$X" a', "can be read", "a command that is not known"),
)


@pytest.mark.parametrize("row", BAD, ids=[r[2] for r in BAD])
def test_what_is_not_one_command_is_refused_with_an_example(row) -> None:
    with pytest.raises(ConfigError, match=row[1]) as caught:
        rule_from_example.draft(row[0], analyse)
    assert "policy add" in caught.value.hint


def test_names() -> None:
    keys = {"program": "kubectl", "subcommand": "delete", "operand": "ns/Prod*"}
    assert rule_from_example.name(keys, "project") == "project.kubectl-delete-ns-prod"
    assert rule_from_example.name({"program": "!"}, "user") == "user.rule"
    assert rule_from_example.action("project.kubectl-delete-ns") == "KUBECTL_DELETE_NS"


def test_harmless_commands_are_the_words_as_data_and_a_call_for_help() -> None:
    assert rule_from_example.harmless({"program": "git", "subcommand": "push"}, "git push") == [
        "echo 'git push'",
        "git --help",
    ]
    assert rule_from_example.harmless({"program": "git"}, "git") == ["echo git"]
