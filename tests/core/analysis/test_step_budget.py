"""Whatever a text is made of, its analysis ends soon; what it did not look at is opaque.

No clock: work is counted in calls of functions, which is the same on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.evaluation import simple_command
from sentinel_guard.core.analysis.parser.bash_parser import MAX_TEXT
from sentinel_guard.core.analysis.step_budget import (
    MATCHES,
    MATCHES_AT_LEAST,
    MATCHES_IN_ALL,
    MAX_STEPS,
    Budget,
    BudgetExceeded,
)
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.registry import CHECKS
from sentinel_guard.core.judge import judge
from sentinel_guard.core.model import Action, Effect, Kind, Layer, Response, Verdict
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.policy.rule_examples import HOME, ROOT, ExampleWorld
from sentinel_guard.core.session.session import Session

WORLD = ExampleWorld()


def action_of(text: str) -> Action:
    return Action("x", "x", Layer.CLI, "shell", {"command": text}, ROOT, 0.0, ROOT)


def effects_of(text: str) -> tuple[Effect, ...]:
    return analyse(action_of(text), WORLD)


def verdict_of(text: str) -> Verdict:
    action = action_of(text)
    case = Case(action, analyse(action, WORLD), Session("x", root=ROOT), Policy(), home=HOME)
    return judge(case, CHECKS)


def unseen(effects: tuple[Effect, ...]) -> bool:
    return any(e.kind is Kind.OPAQUE and "parse" in e.how for e in effects)


def calls(text: str, made: Callable[[str], object] = effects_of) -> int:
    """Calls that an analysis, or a verdict, makes, those into C counted."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        made(text)
    finally:
        sys.setprofile(before)
    return count


def many(text: str, behind: str = ""):
    return lambda n: text * n + behind


def numbered(text: str, behind: str = ""):
    return lambda n: "".join(text.replace("N", str(i)).replace("M", str(i + 1)) for i in range(n)) + behind


def nested(head: str, middle: str, tail: str):
    return lambda n: head * n + middle + tail * n


GROWS = [
    # (what is built of n parts, what it is)
    (many("x|", "y"), "pipes"),
    (lambda n: "echo x" + "|tr a b" * n + "|sh", "a constant through pipes"),
    (many("a&&", "b"), "and-or lists"),
    (many("a&"), "jobs"),
    (many("cd a;"), "folder below folder"),
    (many("(cd a);"), "subshells"),
    (lambda n: "rm " + "w " * n, "words"),
    (lambda n: "rm " + "*a " * n, "globs"),
    (lambda n: "rm " + "@(a|b)" * n, "extended globs"),
    (lambda n: "rm " + "{a,b} " * n, "braces"),
    (lambda n: "rm -rf " + "../" * n, "folders above"),
    (lambda n: "rm " + "$(echo a) " * n, "substitutions"),
    (lambda n: "rm x" + " >a" * n, "redirections"),
    (lambda n: "a=1 " * n + "rm x", "assignments before a command"),
    (many("a=(x y);"), "arrays"),
    (many("a[1]=2 "), "subscripts"),
    (lambda n: "a" + "[" * n + "x" + "]" * n + "=1", "a subscript in a subscript"),
    (numbered("vN=1;", "rm $v1"), "variables"),
    (lambda n: "case $x in " + "a) rm x;;" * n + "esac", "arms"),
    (lambda n: "case z in " + "a) rm x;;" * n + "esac", "arms that are not taken"),
    (many("if x;then y;fi;"), "conditions"),
    (many("for i in 1 2;do rm $i;done;"), "loops"),
    (many("f(){ x; };f;"), "functions"),
    (many("cat <<E\nx\nE\n"), "heredocs"),
    (lambda n: "while read x;do rm $x;done <<E\n" + "a\n" * n + "E", "lines that are read"),
    (many("echo x>>f;"), "a file that grows"),
    (many("eval 'rm x';"), "texts that are evaluated"),
    (many("bash -c 'rm x';"), "shells"),
    (many("git status;"), "git"),
    (lambda n: "rm $'" + "\\x41" * n + "'", "escapes"),
    (lambda n: "[[ " + "a && " * n + "a ]]", "a test"),
    (lambda n: "rm ${x" + "/a" * n + "}", "a pattern"),
    (lambda n: "find . " + "-exec rm {} \\; " * n, "find"),
    (lambda n: "echo " + "a " * n + "| xargs -n1 rm", "xargs"),
    (lambda n: "# it's\n" * n, "comments"),
    (lambda n: "rm \\\n" * n, "continued lines"),
]
SIZE = 120

PER_WORD = [
    # (a command, a word of which it is given many, what it is)
    ("curl", "http://hN.example/a", "addresses"),
    ("curl", "'$HOME/a'", "values in addresses"),
    ("aria2c", "w", "names that may be addresses"),
    ("wget", "$x", "unknown words"),
    ("elinks", "http://hN.example/a", "pages"),
    ("rails", "db:drop:N", "tasks"),
    ("kill", "$x", "processes that are not known"),
    ("ln -s", "/etc/aN .;ln -s", "links"),
    ("bun", "w", "a script that is called like its first word"),
    ("rm -rf", "/usr/aN", "system files"),
    ("chmod 777", "/usr/aN", "modes of system files"),
]


@pytest.mark.parametrize(("command", "word"), [row[:2] for row in PER_WORD], ids=[row[2] for row in PER_WORD])
def test_a_verdict_grows_with_the_words_and_not_faster(command, word):
    def text(n: int) -> str:
        return " ".join((command, *(word.replace("N", str(i)) for i in range(n))))

    calls(text(2), verdict_of)
    small, big = calls(text(SIZE), verdict_of), calls(text(2 * SIZE), verdict_of)
    assert big < 2.5 * small + 500, (small, big)


@pytest.mark.parametrize("build", [row[0] for row in GROWS], ids=[row[1] for row in GROWS])
def test_work_grows_with_the_text_and_not_faster(build):
    calls(build(2))  # what is made on first use
    small, big = calls(build(SIZE)), calls(build(2 * SIZE))
    assert big < 2.5 * small + 500, (small, big)


ENDS = [
    # (a text, what it is)
    ("cat|" * 10_000 + "cat", "10,000 pipes"),
    ("echo {" * 170_000, "1 MB of braces"),
    ("'" * 1_000_001, "1 MB of quotes"),
    ('"$(' * 330_000, "1 MB of quotes in substitutions"),
    ("(" * 1_000_000, "1 MB of parentheses"),
    ("`" * 1_000_001, "1 MB of backticks"),
    ("$((" * 330_000, "1 MB of arithmetic"),
    ("${" * 500_000, "1 MB of parameters"),
    ("cat <<E;" * 125_000, "1 MB of heredocs"),
    (";" * 1_000_000, "1 MB of separators"),
    ("rm x &&" * 140_000, "1 MB of and-or lists"),
    ("w " * 500_000, "1 MB of words"),
    ("for i in 1 2 3;do " * 38 + "rm $i" + ";done" * 38, "loops in loops"),
    ("a=(x y);" + 'a=("${a[@]}" "${a[@]}");' * 99 + ";rm ${a[@]};" * 999, "an array that doubles"),
    ("a='" + "x " * 9_000 + "';" + "rm $a;" * 5_000, "one value in many words"),
    ("rm " + "{1..500} " * 6_000, "many ranges"),
    ("f0(){ rm x; };" + "".join(f"f{i}(){{ f{i - 1};f{i - 1};}};" for i in range(1, 18)) + "f17", "calls that double"),
    ("alias a0='rm x'\n" + "".join(f"alias a{i}='a{i - 1};a{i - 1}'\n" for i in range(1, 18)) + "a17", "more aliases"),
    ("a0=x;" + "".join(f"a{i}='eval $a{i - 1};eval $a{i - 1}';" for i in range(1, 18)) + "eval $a17", "doubling evals"),
    ("x=%s;" % ("a" * 4_000) + "y=${x##*a*b};" * 3_000, "a pattern that is tried everywhere"),
    ("".join(f"ln -s x{i} x{i + 1};" for i in range(3_000)) + "rm -rf x3000/a", "links to links"),
    ("echo xxxxxxxxx>f;" + "cat f f>g;cat g g>f;" * 3_000, "files that double"),
]  # fmt: skip


@pytest.mark.parametrize("text", [row[0] for row in ENDS], ids=[row[1] for row in ENDS])
def test_it_ends_and_says_that_it_did_not_see_all(text):
    assert unseen(effects_of(text))


VALUES = [
    # (a text whose last command is about a value, what it is)
    ("a=xx;" + "a=$a$a;" * 100 + "rm $a", "a value that doubles"),
    ("a=xx;" + "a+=$a;" * 100 + "rm $a", "a value that is appended to itself"),
    ("a=xx;" + "printf -v a %s%s $a $a;" * 100 + "rm $a", "printf -v"),
    ("x=a;" + "x=${x//a/aaaa};" * 50 + "rm $x", "a replacement that is longer"),
    ("a=xx;" + "a=$(echo $a$a);" * 50 + "rm $a", "an output that doubles"),
    ("set -- a b;" + 'set -- "$@" "$@";' * 50 + 'rm "$@"', "arguments that double"),
    ("rm $(printf '%1000000000d' 1)", "a width"),
    ("rm $(printf '%.1000000000d' 1)", "a precision"),
    ("rm $((9" + "**9" * 50 + "))", "a tower of powers"),
    ("rm x$((1<<" + "9" * 100 + "))", "a shift"),
    ("rm $(seq 1000000000)", "seq"),
    ("rm {1..1000000000}", "a range"),
    ("rm {a,b}" + "{a,b}" * 30, "braces by braces"),
    ("rm " + "@(a|" * 30 + ")" * 30, "extended globs in each other"),
    ("echo QUFB" + "|base64" * 100 + "|sh", "base64 of base64"),
]


@pytest.mark.parametrize("text", [row[0] for row in VALUES], ids=[row[1] for row in VALUES])
def test_no_value_grows_without_end(text):
    effects = effects_of(text)
    assert all(len(e.target) <= MAX_TEXT for e in effects)
    assert any(e.kind in (Kind.DELETE, Kind.OPAQUE) for e in effects)


def test_what_was_found_before_the_end_counts():
    effects = effects_of("sh -c 'rm -rf /etc;" + "x;" * 9_000 + "'")
    assert Effect(Kind.DELETE, "/etc", True, frozenset(("recursive", "force"))) in {
        Effect(e.kind, e.target, e.sure, e.how) for e in effects
    }
    assert unseen(effects)


class Crowded(ExampleWorld):
    """A folder of two thousand files, two of which matter, and one of ten."""

    FILES = (*(f"{ROOT}/many/f{n:04}" for n in range(2000)), f"{ROOT}/many/z.pem", f"{ROOT}/many/zz.env")
    FEW = tuple(f"{ROOT}/few/f{n:02}" for n in range(10))

    def glob(self, pattern: str) -> tuple[str, ...]:
        return {f"{ROOT}/many/*": self.FILES, f"{ROOT}/few/*": self.FEW}.get(pattern, ())

    def kind(self, path: str) -> str:
        return "file" if path in self.FILES or path in self.FEW else super().kind(path)


def targets(text: str, kind: Kind) -> list[str]:
    return [e.target for e in analyse(action_of(text), Crowded()) if e.kind is kind]


def test_of_a_pattern_that_takes_in_too_many_what_matters_is_looked_at():
    found = targets("rm many/*", Kind.DELETE)
    assert len(found) < MATCHES + 10
    assert {f"{ROOT}/many/z.pem", f"{ROOT}/many/zz.env"} <= set(found), "they come last of all"
    assert f"{ROOT}/many" in found, "the rest goes with its folder"


def test_patterns_that_come_after_many_are_looked_at_too():
    found = targets("cat many/*; wc many/*; cut -c1 many/*; rm few/*", Kind.DELETE)
    assert set(Crowded.FEW) <= set(found)
    assert len(targets("cat many/*;" * 50, Kind.READ)) < MATCHES_IN_ALL + 50 * (MATCHES_AT_LEAST + 4)


class WithScript(ExampleWorld):
    def read(self, path: str) -> str | None:
        long = "for i in {1..200};do for j in {1..200};do x $i$j;done;done\n"
        return long if path.endswith("long.sh") else None


@pytest.mark.parametrize("start", ["bash long.sh", ". ./long.sh", "./long.sh", "(bash long.sh)"])
def test_a_long_script_on_disk_hides_nothing_that_stands_behind_it(start):
    effects = analyse(action_of(f"{start}; rm -rf /etc"), WithScript())
    assert ("/etc", True) in [(e.target, e.sure) for e in effects if e.kind is Kind.DELETE]
    assert not unseen(effects)


def test_a_script_takes_nothing_from_the_text_nor_all_from_the_next_script():
    budget = Budget(10, scripts=100)
    with budget.of_script():
        budget.spend(50)
        with pytest.raises(BudgetExceeded), budget.of_script():
            budget.spend(26)
        with pytest.raises(BudgetExceeded):
            budget.spend(1)
    with budget.of_script():
        budget.spend(12)
    assert (budget.left, budget.scripts) == (10, 13)
    budget.spend(10)
    with pytest.raises(BudgetExceeded):
        budget.spend(1)


# ---- what goes wrong in the guard itself is a no ----


def test_an_analysis_that_fails_is_refused_with_words(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(simple_command, "command", broken)
    verdict = verdict_of("echo x > a; ls")
    assert verdict.response is Response.DENY
    assert "analysis" in verdict.decisive.what
    assert "ZeroDivisionError: oops" in verdict.decisive.why
    assert [e.target for e in verdict.effects if e.kind is Kind.WRITE] == [f"{ROOT}/a"]


@pytest.mark.parametrize("method", ["resolve", "kind", "glob", "read", "which"])
def test_a_machine_that_fails_is_refused_and_nothing_else(method):
    class Broken(ExampleWorld):
        pass

    def fails(*_):
        raise OSError("no such machine")

    setattr(Broken, method, fails)
    text = "cd a; rm *.o; bash x.sh; rm $(which ls)"
    action = action_of(text)
    case = Case(action, analyse(action, Broken()), Session("x", root=ROOT), Policy(), home=HOME)
    assert judge(case, CHECKS).response >= Response.DENY or method == "which"


def test_a_tool_whose_arguments_are_no_arguments_is_never_a_crash():
    for arguments in ({"command": 1}, {"command": None}, {"argv": [None, 3]}, {"file_path": []}, {"edits": "x"}, {}):
        for tool in ("shell", "Write", "MultiEdit", "apply_patch", "Grep", "mcp__x__y"):
            action = Action("x", "x", Layer.HOOK, tool, arguments, ROOT, 0.0, ROOT)
            assert not [e for e in analyse(action, WORLD) if "error" in e.how]


def test_the_budget_is_enough_for_what_people_write():
    text = "\n".join(f"echo step {i} && ls -la dir{i} | grep x > out{i}.txt" for i in range(400))
    assert len(text) > 20_000
    assert not unseen(effects_of(text))
    assert len(text) < MAX_STEPS
