"""Rules are proved: examples, ways out, honest commands, and why an example does not hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Response
from sentinel_guard.core.policy import rule_examples
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Rule
from sentinel_guard.core.verify_policy import Prover
from sentinel_guard.host.policy_files import builtin

POLICY = merge(builtin())
GOOD = Rule("mine.frob", Response.DENY, "no", program=("frob",), hit=("frob x",), miss=("echo frob",), source="mine")


def problems(rule: Rule) -> tuple[str, ...]:
    return next(iter(Prover(replace(POLICY, rules=(*POLICY.rules, rule)), analyse).prove((rule,)))).problems


def test_a_good_rule_has_no_problems() -> None:
    assert problems(GOOD) == ()


WAYS_OUT = (
    ("ls", "", "a command that passes"),
    ("git reset --hard", "", "a snapshot lets it pass"),
    ("rm -rf /", "does not pass the guard (system.delete: kill, it deletes", "one that is stopped"),
    ("frob y", "does not pass the guard (mine.frob: deny", "its own rule stops it"),
    ("ask Ann (she doesn't bite)", "", "words that are no command"),
)


@pytest.mark.parametrize("row", WAYS_OUT, ids=[r[2] for r in WAYS_OUT])
def test_a_way_out_passes_the_guard(row) -> None:
    said = " ".join(problems(replace(GOOD, instead=row[0])))
    assert row[1] in said and bool(row[1]) is bool(said)


PUSH = Rule("x", Response.ASK, "w", program=("git",), subcommand=("push",), hit=("git push",), source="mine")
WHY_NOT = (
    (replace(GOOD, hit=("grep x",)), "program is frob, and the command has grep", "another program"),
    (replace(PUSH, hit=("git pull",)), "subcommand is push, and the command has pull", "another subcommand"),
    (
        replace(PUSH, any_flag=frozenset({"-f", "--force"})),
        "any_flag is --force, -f, and the command has none",
        "no flag",
    ),
    (replace(PUSH, all_flags=frozenset({"-f"}), hit=("git push -n",)), "all_flags is -f", "another flag"),
    (replace(PUSH, no_flag=frozenset({"-n"}), hit=("git push -n",)), "no_flag is -n, and the command has -n", "a no"),
    (replace(PUSH, operand=("prod*",), hit=("git push dev",)), "operand is prod*, and the command has dev", "operand"),
    (
        Rule("x", Response.DENY, "w", effect=("delete",), target=("{root}/m/*",), hit=("rm -r src",)),
        f"target is {{root}}/m/*, and the command has {rule_examples.ROOT}/src",
        "a target",
    ),
    (
        Rule("x", Response.DENY, "w", effect=("delete",), target=("/x/*",), hit=("ls",)),
        "effect is delete, and the command has execute",
        "no such effect",
    ),
    (
        Rule("x", Response.DENY, "w", effect=("write",), how=frozenset({"append"}), hit=("echo x > a",)),
        "how is append, and the command has truncate",
        "done otherwise",
    ),
    (
        Rule("x", Response.DENY, "w", effect=("delete",), sure=False, hit=("rm a",)),
        "sure is false, and the command has true",
        "certainty",
    ),
    (
        Rule("x", Response.DENY, "w", program=("a",), subcommand=("b",), hit=("c d",)),
        "program, subcommand do not fit together on any command of it (c d)",
        "nothing fits",
    ),
    (Rule("x", Response.DENY, "w", program=("a",), hit=("# a",)), "(none was found)", "no command at all"),
)


@pytest.mark.parametrize("row", WHY_NOT, ids=[r[2] for r in WHY_NOT])
def test_a_hit_that_does_not_match_says_which_key_failed(row) -> None:
    rule, words, _ = row
    [problem] = rule_examples.validate((rule,), analyse, POLICY)
    assert "does not match" in problem.words and words in problem.words


def test_honest_commands_that_a_rule_would_newly_stop_are_named() -> None:
    found = list(Prover(POLICY, analyse).newly_blocked(PUSH))
    assert ("git push", "git.push-force") in found
    assert all("git" in text for text, _ in found)


def test_what_is_stopped_today_is_no_disturbance_nor_is_a_hint() -> None:
    prover = Prover(POLICY, analyse)
    assert list(prover.newly_blocked(GOOD)) == []
    assert list(prover.newly_blocked(replace(PUSH, response=Response.HINT))) == []


def test_stopping_is_the_strictest_finding() -> None:
    prover = Prover(POLICY, analyse)
    assert prover.stopping("ls; sudo rm -rf /").response is Response.KILL
    assert prover.stopping("git reset --hard") is None
