"""The checks that count: failing tests (R3), error rate, cost (R6)."""

import pytest

from sentinel_guard.core.checks.cost import CHECK as COST
from sentinel_guard.core.checks.error_rate import CHECK as ERROR_RATE
from sentinel_guard.core.checks.failing_tests import CHECK as FAILING_TESTS
from sentinel_guard.core.model import Response, TestRun, Usage
from sentinel_guard.core.policy.policy import Failures, Policy
from sentinel_guard.core.session.session import Session
from tests.support.judge_cases import Story, case, outcome


def run(*names, count=0, runner="pytest"):
    return TestRun(runner, frozenset(names), count or len(names))


A, AB, B, GREEN = run("a"), run("a", "b"), run("b"), TestRun("pytest", frozenset(), 0)

RUNS = (
    ((A,) * 5, "- - - hint break", "five red runs"),
    ((A, A, AB, AB, AB), "- - - hint break", "more and more red"),
    ((AB, AB, AB, A, A, A), "- - - - - -", "the failing set shrank"),
    ((A, B, A, B, A, B), "- - - - - -", "what failed before passes: pytest -x goes on"),
    ((A, A, A, GREEN, A, A), "- - - - - -", "a green run between"),
    ((run(count=5), run(count=5), run(count=4), run(count=3), run(count=2)), "- - - - -", "counts alone, falling"),
    ((run(count=5),) * 5, "- - - hint break", "counts alone, the same"),
    ((A, A, run("x", runner="jest"), A, A, A), "- - - - hint break", "another runner between"),
)


@pytest.mark.parametrize(("runs", "words", "why"), RUNS, ids=[r[2] for r in RUNS])
def test_red_runs(runs, words, why):
    story = Story(FAILING_TESTS)
    calls = [("pytest", {"code": int(r.count > 0), "error": "E", "tests": r}) for r in runs]
    assert [w or "-" for w in story.words(*calls)] == words.split()


def red(text, before, after):
    return {"code": 1, "error": f"E assert {text}", "tests": A, "before": before, "after": after}


STEPS = (
    ([red(f"{n} == 10", f"t{n}", f"t{n}") for n in range(6)], "- - - - - -", "test-driven: each edit moves the error"),
    ([red("0 == 10", f"t{n}", f"t{n}") for n in range(5)], "- - - hint break", "edits that change nothing"),
    ([red(f"{n} == 10", "t", "t") for n in range(5)], "- - - hint break", "another error, and no file changed"),
    ([red(f"{n % 2} == 10", f"t{n}", f"t{n}") for n in range(6)], "- - - - hint break", "two errors to and fro"),
    ([red(f"{n} == 10", "", "") for n in range(6)], "- - - - - -", "files not measured, the error moves"),
    (
        [red(f"{min(n, 2)} == 10", f"t{n}", f"t{n}") for n in range(7)],
        "- - - - - hint break",
        "progress at first, then none",
    ),
)


@pytest.mark.parametrize(("runs", "words", "why"), STEPS, ids=[r[2] for r in STEPS])
def test_another_error_after_an_edit_is_progress(runs, words, why):
    story = Story(FAILING_TESTS)
    assert [w or "-" for w in story.words(*(("pytest -q", r) for r in runs))] == words.split()


def test_strict_counts_failed_tests_whatever_was_edited():
    story = Story(FAILING_TESTS, Policy(failures=Failures(strict=True)))
    steps = [("pytest -q", red(f"{n} == 10", f"t{n}", f"t{n}")) for n in range(5)]
    assert story.words(*steps) == ["", "", "", "hint", "break"]


def test_red_runs_that_take_their_time():
    story = Story(FAILING_TESTS)
    assert [story.call("pytest", gap=20, code=1, error="E", tests=A) for _ in range(8)] == [[]] * 8


def test_strict_counts_failed_tests():
    story = Story(FAILING_TESTS, Policy(failures=Failures(strict=True)))
    assert story.words(("pytest", {"code": 1, "tests": run(count=5)})) == ["break"]


def test_red_runs_speak_of_the_test():
    story = Story(FAILING_TESTS)
    for _ in range(5):
        found = story.call("pytest", code=1, error="E", tests=AB)
    assert found[0].what.startswith("SYSTEM INTERVENTION:")
    assert "run one failing test alone (a)" in found[0].instead
    assert not found[0].operations


def rates(pattern, **more):
    """One call a letter: ``.`` is fine, ``x`` fails as before; after a change of files ``n`` fails anew, ``q`` without
    a word, and ``u`` so that nobody sees what it says; ``d`` says something new where no file changed.
    """
    story, words = Story(ERROR_RATE), []
    for i, letter in enumerate(pattern):
        ended = {".": {"out": "ok"}, "x": {"code": 1, "error": "x", "before": "t", "after": "t"}}.get(letter)
        error = {"q": "", "u": None}.get(letter, f"new {chr(97 + i)}")
        tree = "t" if letter == "d" else f"t{i}"
        ended = ended or {"code": 1, "error": error, "before": tree, "after": tree}
        words += story.words((f"c{i}", {**ended, **more}))
    return words


RATES = (
    ("x" * 9, "", "fewer than ten calls say nothing"),
    ("....xxxxxx", "hint", "60 %"),
    (".....xxxxx", "", "50 %"),
    (".xxxxxxxxx", "break", "90 %"),
    ("xxxxxxxxx.", "", "the last one succeeded"),
    ("nnnnnnnnnn", "hint", "each failure is new, files change: work in progress"),
    ("nnnnnnxxxx", "hint", "some of both"),
    ("dddddddddd", "hint", "each says something else, and no file changes: one finds one's way"),
    ("qqqqqqqqqq", "hint", "files change before each: whether it is the same without words is not known"),
    ("uuuuuuuuuu", "hint", "the same where nobody saw the words"),
    ("xxdddddddn", "break", "before the last alone a file changed"),
)


@pytest.mark.parametrize(("pattern", "word", "why"), RATES, ids=[r[2] for r in RATES])
def test_error_rate(pattern, word, why):
    assert rates(pattern)[-1] == word


ONCE = (
    ("xxxxxx....x.", ["hint"], "said at the call that crosses the line"),
    ("....xxxxxx" + "n" * 3, ["hint"], "not again with each failure that follows"),
    ("....xxxxxx.n.n", ["hint"], "nor after a success between"),
    ("....xxxxxx" + "." * 10 + "....nnnnnn", ["hint", "hint"], "again where all went well in between"),
)


@pytest.mark.parametrize(("pattern", "said", "why"), ONCE, ids=[r[2] for r in ONCE])
def test_the_error_rate_is_hinted_at_once(pattern, said, why):
    assert [w for w in rates(pattern) if w] == said


def test_polls_are_the_loops_business():
    story = Story(ERROR_RATE)
    assert [story.call("sleep 5; curl x", poll=True, code=7, error="refused") for _ in range(12)] == [[]] * 12


def test_the_end_of_a_poll_repeats_nothing_of_the_calls_before_it():
    story = Story(ERROR_RATE)
    assert story.words(*((f"c{i}", {"code": 1, "error": "x"}) for i in range(10)))[-1] == "break"
    assert story.call("sleep 5; curl x", poll=True, code=7, error="refused") == []


def test_a_silent_answer_is_no_error():
    story = Story(ERROR_RATE)
    for i in range(10):
        done = story.call(f"grep x f{i}", out="")
    assert done == []


def tokens(*reports, cooldowns=()):
    usage = tuple(Usage(at, output=n) for at, n in reports)
    return Session("s", usage=usage, cooldowns=cooldowns)


def replies(*told, **fields):
    """Replies of 30,000 tokens each, by their source."""
    return Session("s", usage=tuple(Usage(60.0, output=30_000, source=source) for source in told), **fields)


COSTS = (
    (tokens((50, 30_000), (60, 30_000)), Response.COOL_DOWN, "over the limit"),
    (tokens((60, 90_000)), None, "one response is no velocity"),
    (tokens((50, 25_000), (60, 25_000)), None, "at the limit"),
    (tokens((1, 30_000), (70, 30_000)), None, "a minute ago is over"),
    (tokens((60, 30_000), (66, 30_000)), None, "what is reported of a later time counts then"),
    (tokens((50, 30_000), (60, 30_000), cooldowns=(10, 20)), Response.COOL_DOWN, "the third"),
    (tokens((50, 30_000), (60, 30_000), cooldowns=(10, 20, 30)), Response.BREAK, "the fourth within ten minutes"),
    (tokens((50, 30_000), (60, 30_000), cooldowns=(-700, -600, -550)), Response.COOL_DOWN, "long ago"),
    (tokens((50, 30_000), (60, 30_000), cooldowns=(55,)), None, "what a cool-down was for counts once"),
    (tokens((50, 30_000), (60, 30_000), (61, 30_000), cooldowns=(55,)), Response.COOL_DOWN, "more since"),
    (replies("claude", "codex"), Response.COOL_DOWN, "two agents of one session"),
    (replies("claude", "report"), None, "a report tells of the same replies"),
    (replies("report", "estimate"), None, "and so does an estimate"),
    (replies("report", "report"), Response.COOL_DOWN, "reports alone count"),
    (replies("claude", "telemetry"), None, "telemetry tells of the same replies"),
    (replies("telemetry", "report"), None, "as do reports beside telemetry"),
    (Session("s", usage=(Usage(60.0, 90_000), Usage(61.0, 90_000, compaction=True))), None, "a compaction is exempt"),
)


@pytest.mark.parametrize(("session", "response", "why"), COSTS, ids=[r[2] for r in COSTS])
def test_cost(session, response, why):
    assert [f.response for f in COST(case("ls", session=session, at=65.0))] == ([response] if response else [])


@pytest.mark.parametrize(("before", "held"), [((), 30.0), ((10,), 60.0), ((10, 20), 120.0), ((-600, 10), 60.0)])
def test_each_cool_down_within_ten_minutes_takes_twice_as_long(before, held):
    [found] = COST(case("ls", session=tokens((50, 30_000), (60, 30_000), cooldowns=before), at=65.0))
    assert found.held == held and f"held for {held:.0f} s" in found.what
    assert found.why == "60,000 work tokens in 2 replies within a minute, the limit is 50,000"


def test_what_is_only_estimated_says_so():
    usage = tuple(Usage(60.0, output=30_000, source="estimate", estimated=True) for _ in range(2))
    [found] = COST(case("ls", session=Session("s", usage=usage), at=65.0))
    assert "60,000 work tokens (estimated) in 2 replies" in found.why


def test_cache_reads_are_not_counted():
    usage = tuple(Usage(60.0, input=10, cache_read=90_000, output=5, cache_write=20) for _ in range(9))
    assert list(COST(case("ls", session=Session("s", usage=usage), at=65.0))) == []


@pytest.mark.parametrize("seen", [{"outcome": outcome()}, {"parent": "a0"}], ids=["an outcome", "a step"])
def test_cost_looks_at_calls_that_are_proposed(seen):
    assert list(COST(case("ls", session=tokens((50, 30_000), (60, 30_000)), at=65.0, **seen))) == []
