import pytest

from sentinel_guard.core import response_text
from sentinel_guard.core.model import Answer, Ask, Finding, Question, Response, TestRun, Verdict
from sentinel_guard.core.response_phrases import INTERVENTION
from tests.support.judge_cases import action, outcome


def verdict(*findings, command="x", granted=()):
    return Verdict(action(command), (), findings, granted)


def finding(response, what="`git push -f`", why="it rewrites what others have fetched", instead="git push", rule=""):
    return Finding("rules", response, what, why, instead, rule)


OVER = "`git push -f`: it rewrites what others have fetched. This session is over: nothing more of it runs."
SAID = "`git push -f`: it rewrites what others have fetched. Instead: git push"

ANSWERS = (
    (verdict(), Answer(True), "allowed in silence"),
    (verdict(finding(Response.SNAPSHOT)), Answer(True), "a snapshot is taken in silence"),
    (verdict(finding(Response.HINT)), Answer(True, f"SENTINEL HINT: {SAID}"), "L1"),
    (verdict(finding(Response.COOL_DOWN)), Answer(True, f"SENTINEL COOL DOWN: {SAID}"), "R6"),
    (verdict(finding(Response.ASK)), Answer(False, f"403 SENTINEL BLOCKED: {SAID}", 126), "nobody answered"),
    (verdict(finding(Response.ASK), granted=(finding(Response.ASK),)), Answer(True), "a person said yes"),
    (verdict(finding(Response.DENY)), Answer(False, f"403 SENTINEL BLOCKED: {SAID}", 126), "L2"),
    (verdict(finding(Response.BREAK, INTERVENTION)), f"{INTERVENTION} it rewrites", "L3, R5 word for word"),
    (verdict(finding(Response.BREAK, "too much")), "SYSTEM INTERVENTION: too much: it", "L3, another breaker"),
    (verdict(finding(Response.DENY, INTERVENTION)), f"{INTERVENTION} it rewrites", "a paused session"),
    (verdict(finding(Response.KILL)), Answer(False, f"SENTINEL KILL SWITCH: {OVER}", 137), "L4"),
    (
        verdict(finding(Response.HINT), finding(Response.DENY)),
        Answer(False, f"403 SENTINEL BLOCKED: {SAID}", 126),
        "the strictest speaks",
    ),
    (verdict(finding(Response.DENY, "no", "", "")), Answer(False, "403 SENTINEL BLOCKED: no.", 126), "what alone"),
)


@pytest.mark.parametrize(("seen", "said", "why"), ANSWERS, ids=[r[2] for r in ANSWERS])
def test_answers(seen, said, why):
    got = response_text.answer(seen)
    assert got.text.startswith(said) if isinstance(said, str) else got == said


def test_the_sentence_of_the_protocol():
    assert INTERVENTION == (
        "SYSTEM INTERVENTION: Loop Detected. You have tried this exact operation 3 times and failed. You are "
        "prohibited from retrying the same inputs. You must either (A) Ask the user for help, "
        "or (B) Revert your changes."
    )


def test_cool_down_and_refused():
    assert response_text.cool_down(verdict(finding(Response.COOL_DOWN))) == f"SENTINEL COOL DOWN: {SAID}"
    assert response_text.cool_down(verdict()) == ""
    assert response_text.refused("no", "broken", "try") == "403 SENTINEL BLOCKED: no: broken. Instead: try"
    assert response_text.refused("It is full.", "nothing runs") == "403 SENTINEL BLOCKED: It is full. Nothing runs."


def test_nothing_secret_and_nothing_that_a_terminal_obeys():
    said = response_text.sentence(finding(Response.DENY, "\x1b[2J\u202etoken=abc123 \udcff"))
    assert said.startswith("\\x1b[2J\\u202etoken=<redacted> \\xff: it rewrites")


HEADLINES = (
    (verdict(), "Allowed.", "nothing"),
    (
        verdict(finding(Response.KILL, rule="system.delete")),
        "Kill switch (system.delete): `git push -f`: it rewrites",
        "a rule",
    ),
    (
        verdict(finding(Response.BREAK, INTERVENTION, "Three times"), command="make\nx"),
        "Circuit breaker (rules): `make x`. Three times.",
        "a loop",
    ),
)


@pytest.mark.parametrize(("seen", "said", "why"), HEADLINES, ids=[r[2] for r in HEADLINES])
def test_headlines(seen, said, why):
    assert response_text.headline(seen).startswith(said)


def test_the_gate_is_word_for_word():
    question = Question(
        "q1", "s", Ask("DEPLOY", "PRODUCTION\x07", "HIGH"), "./deploy\nprod \x1b[8m", "it changes it", 0.0, 0.0
    )
    shown = response_text.gate(question)
    block = "[SENTINEL SECURITY]\nAction: DEPLOY\nTarget: PRODUCTION\\x07\nRisk: HIGH\nConfirm? (Y/N): "
    assert shown.endswith(block)
    assert "  | ./deploy\n  | prod \\x1b[8m\n" in shown


def test_the_command_line_keeps_lines_and_shows_controls():
    assert response_text.command_line(action("a\nb\r\x1b[1m")) == "a\nb\\r\\x1b[1m"


HINTS = (
    (
        {"error": "a.py:3:1: F401 unused"},
        (
            "SENTINEL HINT: ruff/flake8: a.py:3:1: F401 unused. "
            "Next: open a.py at line 3, fix this first, then run the same command again."
        ),
        "a lint failure",
    ),
    (
        {"error": "bash: line 1: pyhton: command not found"},
        (
            "SENTINEL HINT: bash: pyhton: command not found. "
            "Next: check the spelling of pyhton; 'command -v pyhton' tells whether it is there."
        ),
        "a command that is not there",
    ),
    (
        {"error": "  File \"a.py\", line 1, in <module>\nModuleNotFoundError: No module named 'yaml'"},
        (
            "SENTINEL HINT: python: a.py:1: ModuleNotFoundError: No module named 'yaml'. "
            "Next: fix the import, or install what provides yaml."
        ),
        "a module that is not there",
    ),
    (
        {"error": "t.py:3: AssertionError", "tests": TestRun("pytest", frozenset({"t.py::b", "t.py::a"}), 2)},
        "SENTINEL HINT: pytest: t.py:3: AssertionError. Next: run t.py::a alone and read its whole error.",
        "red tests",
    ),
    (
        {"error": "t.py:3: AssertionError", "tests": TestRun("pytest", frozenset({"t.py::a"}), 1)},
        "SENTINEL HINT: pytest: t.py:3: AssertionError. Next: fix what t.py::a checks, then run it again.",
        "a single red test, whose error was just shown",
    ),
    ({"error": "fatal: not a git repository"}, "", "no place and nothing better: the tool has said it"),
    (
        {"error": "/w/src/a.py:3:1: F401 unused"},
        "SENTINEL HINT: ruff/flake8: src/a.py:3:1: F401 unused. Next: open src/a.py at line 3,",
        "below the call's folder",
    ),
    ({"error": "/wide/a.py:3:1: F401 unused"}, "SENTINEL HINT: ruff/flake8: /wide/a.py:3:1:", "beside it"),
    (
        {"error": "/usr/bin/python3: No module named pytest"},
        ("SENTINEL HINT: python: No module named pytest. Next: fix the import, or install what provides pytest."),
        "python -m of what is not there",
    ),
    (
        {"error": 'npm error Missing script: "tset"'},
        "SENTINEL HINT: npm: Missing script: \"tset\". Next: run 'npm run' to see the names that there are.",
        "a script that is not there",
    ),
    (
        {"error": "node:internal/modules/cjs/loader:1143\n  throw err;\n\nError: Cannot find module '/w/no.js'\n"},
        "",
        "a place inside the runtime is none of the agent's",
    ),
    (
        {"error": "a.c:1:1: error: x is not y, and"},
        "SENTINEL HINT: gcc: a.c:1:1: x is not y … Next: open a.c",
        "a sentence whose other half stood elsewhere",
    ),
    (
        {"error": "a.c:1:1: error: x\na.c:2:1: error: y"},
        "SENTINEL HINT: gcc: a.c:1:1: x (and 1 more). Next:",
        "several",
    ),
    ({"error": "hm"}, "", "nothing useful to say"),
)


@pytest.mark.parametrize(("ended", "said", "why"), HINTS, ids=[r[2] for r in HINTS])
def test_hints(ended, said, why):
    got = response_text.hint(action("make all"), outcome(code=1, **ended), "", ended["error"], verdict())
    assert got.startswith(said) if said else got == ""


@pytest.mark.parametrize("word", ["word", "and", "x,"])
def test_a_long_message_is_cut_between_words(word):
    said = response_text.hint(action(), outcome(code=1, error="x"), "", f"a.c:1:1: error: {f'{word} ' * 90}", verdict())
    message = said.removeprefix("SENTINEL HINT: gcc: a.c:1:1: ").partition(" Next: ")[0]
    assert len(message) <= response_text.MAX_MESSAGE
    assert message.endswith("…")
    assert not message.removesuffix(" …").endswith((",", "and", "wor"))


def test_no_next_step_is_built_from_an_assignment():
    said = response_text.hint(
        action("GIT_SEQUENCE_EDITOR=: git rebase -i HEAD~2"),
        outcome(code=128, error="x"), "", "fatal: there is already a rebase-merge directory, and", verdict(),
    )  # fmt: skip
    assert said == ""


def test_one_line_of_the_error_and_one_of_the_detectors():
    both = verdict(finding(Response.HINT), finding(Response.HINT, "more"))
    said = response_text.hint(action(), outcome(code=1, error="x"), "", "a.c:1:1: error: x\nb.c:1:1: error: y", both)
    assert [line[:20] for line in said.split("\n")] == ["SENTINEL HINT: gcc: ", "SENTINEL HINT: `git "]


def test_a_success_gets_no_hint_whatever_it_prints():
    assert response_text.hint(action(), outcome(), "a.c:1:1: error: x", "", verdict()) == ""


def test_a_warning_of_the_detectors_comes_after_the_error():
    said = response_text.hint(
        action(), outcome(code=1, error="x"), "", "a.c:1:1: error: x", verdict(finding(Response.HINT))
    )
    assert [line[:20] for line in said.split("\n")] == ["SENTINEL HINT: gcc: ", "SENTINEL HINT: `git "]


@pytest.mark.parametrize("file", ["/nope\x1b[2J.py", "a|b"])
def test_a_hint_is_safe_to_print(file):
    said = response_text.hint(
        action(), outcome(code=1, error="x"), "", f"{file}:1:1: error: password=hunter2", verdict()
    )
    assert "\x1b" not in said
    assert "hunter2" not in said
