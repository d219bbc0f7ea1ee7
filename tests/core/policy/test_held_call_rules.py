"""The rules of held calls ask about all that the policy restricts."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentinel_guard.core.model import Kind, Response
from sentinel_guard.core.policy.held_call_rules import HeldResources, rules
from sentinel_guard.core.policy.policy import Paths, Policy, Rule

ROOT = "/r[1]/repo"
LIBC = ctypes.CDLL(None)
PATTERN = st.text(st.sampled_from("ab.*?[]!/-"), min_size=1, max_size=7)
PATH = st.text(st.sampled_from("ab.-/"), min_size=1, max_size=8).filter(
    lambda path: all(part not in ("", ".", "..") for part in path.split("/"))
)
CASES = (
    (".env", ("/repo", ".env"), "a name, anywhere"),
    ("secrets/", ("/repo", "secrets"), "a folder, with all that is in it"),
    ("/sentinel.toml", ("/repo", "sentinel.toml"), "a name at the top"),
    ("config/prod/*.yml", ("/repo/config/prod", "*.yml"), "in a folder"),
    ("config/*/keys/x", ("/repo/config", "x"), "a wildcard on the way: more is asked about"),
    ("**/x", ("/repo", "x"), "in all folders"),
    ("a/**", ("/repo", "a"), "all below a folder"),
    ("a/**/b", ("/repo/a", "b"), "at any depth"),
    ("*", ("/repo", "*"), "everything"),
)


RULES = (
    ("{home}/.bashrc", [("below", "ask", "/home/me/.bashrc")], "a file of the home"),
    ("{root}/deploy/*.yml", [("name", "ask", "/repo/deploy", "*.yml")], "files in a folder of the repository"),
    ("{home}/.config/autostart/*", [("below", "ask", "/home/me/.config/autostart")], "all of a folder"),
    ("/etc/x", [("below", "ask", "/etc/x")], "a path"),
    ("{home}/*/keys/x", [("name", "ask", "/home/me", "x")], "a wildcard on the way: more is asked about"),
    ("{home}/**/.git/hooks/*", [("name", "ask", "/home/me", "hooks")], "all of a folder, at any depth"),
)


@pytest.mark.parametrize(("target", "expected"), [row[:2] for row in RULES], ids=[row[2] for row in RULES])
@pytest.mark.parametrize("held", [True, False], ids=["held", "not held"])
def test_a_rule_of_the_policy_is_held_where_it_says_so(target, expected, held):
    rule = Rule("own.rule", Response.ASK, "why", effect=(Kind.WRITE,), target=(target,), held=held)
    found = [
        r for r in rules(Policy(rules=(rule,)), "/repo", HeldResources(home="/home/me")) if r[0] in ("below", "name")
    ]
    assert found == (expected if held else [])


def test_what_a_rule_leaves_out_in_the_repository_costs_no_question():
    rule = Rule(
        "own.rule", Response.ASK, "why", effect=(Kind.WRITE,), held=True,
        target=("{home}/**/.git/hooks/*",), not_target=("{root}/**/hooks/*",),
    )  # fmt: skip
    found = [r for r in rules(Policy(rules=(rule,)), "/home/me/repo", HeldResources(home="/home/me")) if r[0] == "name"]
    assert found == [("name", "ask", "/home/me", "hooks"), ("name", "pass", "/home/me/repo", "hooks")]


def test_without_a_home_nothing_of_it_is_held():
    rule = Rule("own.rule", Response.ASK, "why", effect=(Kind.WRITE,), target=("{home}/.bashrc",), held=True)
    assert not [r for r in rules(Policy(rules=(rule,)), "/repo", HeldResources()) if r[0] == "below"]


def test_what_is_lost_outside_is_asked_about_where_people_work():
    held = HeldResources(home="/home/me", tools=("/home/me/.config",), released=("/home/me/old",))
    found = {rule[1:] for rule in rules(Policy(), "/work/repo", held) if rule[0] == "loss"}
    asked = {path for word, path in found if word == "ask"}
    assert asked == {"/home/me", "/work", "/home", "/srv", "/mnt", "/media"}
    assert {("pass", p) for p in ("/work/repo", "/tmp", "/home/me/.config", "/home/me/old", "/home/me/.npm")} <= found
    assert {("pass", name) for name in ("node_modules", "build", "*.o")} <= found


def names(policy, root="/repo"):
    return [rule[2:] for rule in rules(policy, root, HeldResources()) if rule[0] == "name"]


@pytest.mark.parametrize(("pattern", "rule"), [row[:2] for row in CASES], ids=[row[2] for row in CASES])
def test_a_pattern_becomes_a_folder_and_a_shell_pattern(pattern, rule):
    assert names(Policy(Paths((pattern,)))) == [rule]


def test_what_a_pattern_takes_back_is_asked_about_too():
    """It is for the policy to say which of two patterns decides."""
    assert names(Policy(Paths((".env*", "!.env.example")), Paths(("x",)))) == [("/repo", ".env*"), ("/repo", "x")]


def asks(policy, path):
    """As the broker decides (sentinel_guard/broker/rules.c)."""
    for folder, glob in names(policy, ROOT):
        if f"{path}/".startswith(f"{folder}/"):
            below = path[len(folder) :].split("/")
            if any(part and LIBC.fnmatch(glob.encode(), part.encode(), 0) == 0 for part in below):
                return True
    return False


@given(patterns=st.lists(PATTERN, min_size=1, max_size=3), path=PATH)
@example(patterns=["[^a]"], path="b")
@example(patterns=["a/"], path="a/b")
def test_whatever_is_restricted_is_asked_about(patterns, path):
    policy = Policy(Paths(tuple(patterns)))
    if policy.restricts(f"{ROOT}/{path}", ROOT):
        assert asks(policy, f"{ROOT}/{path}"), names(policy, ROOT)


def test_the_rest_is_asked_about_as_it_stands():
    held = HeldResources(
        ("/repo/.env",), ("/state",), ("/state/own",), ("/usr/bin/git",), "/state/shim", ("/tmp/t[1]",)
    )
    assert [rule for rule in rules(Policy(), "/repo", held) if rule[0] != "loss"] == [
        ("file", "ask", "/repo/.env"),
        ("below", "ask", "/state"),
        ("below", "pass", "/state/own"),
        ("program", "ask", "/usr/bin/git"),
        ("program", "pass", "/state/shim"),
        ("socket", "ask", "*/docker.sock"),
        ("socket", "ask", "*/podman.sock"),
        ("socket", "ask", "*/containerd.sock"),
        ("socket", "ask", "*/crio.sock"),
        ("socket", "ask", "/tmp/t\\[1\\]"),
    ]
