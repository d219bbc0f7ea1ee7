from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.loop import CHECK
from sentinel_guard.core.model import Entry, Response
from sentinel_guard.core.policy.policy import Loop, Policy
from sentinel_guard.core.response_phrases import INTERVENTION
from sentinel_guard.core.session.session import Session
from sentinel_guard.core.text.normalize_output import BLANK
from tests.support.judge_cases import QUIET_FAILURE, UNSEEN_FAILURE, Story, action, case, outcome, red

RED = {"code": 2, "error": "a.c:1: error: x", "before": "t", "after": "t"}
OK = {"out": "clean"}
SAME = {"before": "t", "after": "t"}
SILENT_OK = {"out": "", "before": "t", "after": "t"}


STORIES = (
    ((("make", RED),) * 3, "- hint break", "the same failing call three times"),
    (
        (("make", RED), ("cat a.c", OK), ("make", RED), ("ls", OK), ("make", RED)),
        "- - hint - break",
        "with reading between",
    ),
    (
        (("make", red()), ("make", red(before="u", after="u")), ("make", red(before="v", after="v"))),
        "- - -",
        "a file changed between",
    ),
    ((("make", red("1")), ("make", red("2")), ("make", red("3")), ("make", red("4"))), "- - - -", "the error moves"),
    (
        (("make", red("took 3 ms")), ("make", red("took 9 ms")), ("make", red("took 4 ms"))),
        "- hint break",
        "only a duration differs",
    ),
    ((("make", red(before="", after="")),) * 3, "- hint break", "no fingerprint, the very same outcome"),
    (tuple((c, RED) for c in "abcde"), "- - - hint break", "the same error of five different tries"),
    ((("a", RED), ("b", RED), ("a", RED)), "- - break", "the same error of two tries, one of which comes again"),
    (
        tuple((f"sed -i s/{n}/x/ f && make", RED | {"before": f"t{n}", "after": f"t{n + 1}"}) for n in range(6)),
        "- - - hint break break",
        "a change of its own is progress, but not for ever",
    ),
    *(
        (
            tuple(
                (f"sed -i {c} f && make", RED | {"before": f"t{n}", "after": f"t{n + 1}"}) for n, c in enumerate(tries)
            ),
            "- - hint",
            f"another one changes a file, and this one comes again: {tries}",
        )
        for tries in ("abb", "baa")
    ),
    (
        (("make", RED), ("make", RED), ("npm install x", OK), ("make", RED), ("make", RED)),
        "- hint - - hint",
        "what was installed between is progress",
    ),
    (
        (("make", RED), ("make", RED), (".venv/bin/pip install x", OK), ("make", RED), ("make", RED)),
        "- hint - - hint",
        "a program of an environment installs as any",
    ),
    (
        (("make", RED), ("make", RED), ("npm install x", RED | {"error": "no such package"}), ("make", RED)),
        "- hint - break",
        "what could not be installed is none",
    ),
    (
        (("test -d a", red("", code=1)), ("false", red("", code=1)), ("cmp x y", red("", code=1))),
        "- - -",
        "no words are no error",
    ),
    ((("git status", OK),) * 4, "- - - -", "looking four times"),
    ((("git status", OK),) * 11, "-" + " -" * 8 + " hint -", "looking ten times is hinted at, once"),
    ((("git status", OK),) * 20, "-" + " -" * 8 + " hint" + " -" * 9 + " break", "looking twenty times"),
    (
        tuple(("git status", OK | {"after": "t" if n > 4 else ""}) for n in range(10)),
        "- - - - - - hint - - -",
        "files that were looked at only from the fifth time on",
    ),
    (
        tuple(("make", {"out": "ok", "after": f"v{n}" if n > 4 else ""}) for n in range(24)),
        "-" + " -" * 23,
        "the same success with other files each time",
    ),
    ((("./run", {}),) * 24, "-" + " -" * 23, "nobody saw what it printed: no evidence"),
    ((("exit 3", QUIET_FAILURE),) * 3, "- hint break", "the same failure without a word"),
    ((("exit 3", UNSEEN_FAILURE),) * 3, "- hint break", "the same failure, and nobody saw what it said"),
    (tuple((f"exit 3 # {n}", QUIET_FAILURE) for n in range(6)), "-" + " -" * 5, "others that fail without a word"),
    (tuple((f"exit 3 # {n}", UNSEEN_FAILURE) for n in range(6)), "-" + " -" * 5, "others that nobody saw fail"),
    (
        tuple(("./run", QUIET_FAILURE | {"code": n}) for n in range(3, 8)),
        "- - - - -",
        "without a word, another exit code",
    ),
    (
        (("exit 3", QUIET_FAILURE), ("exit 3", UNSEEN_FAILURE), ("exit 3", QUIET_FAILURE)),
        "- - -",
        "seen to be empty, and not seen",
    ),
    (
        (
            ("ls", OK),
            ("exit 3", UNSEEN_FAILURE),
            ("cat x", {}),
            ("exit 3", UNSEEN_FAILURE),
            ("ls", OK),
            ("exit 3", UNSEEN_FAILURE),
        ),
        "- - - hint - break",
        "with reading between that nobody saw",
    ),
    ((("true", SILENT_OK),) * 8, "- - - hint - - - break", "eight times without a word"),
    ((("cat x", OK | SAME),) * 8, "- - - hint - - - break", "the same success, and the files stand still"),
    ((("ls", OK | SAME), ("cat x", OK | SAME)) * 5, "- - - - - hint - - - break", "two successes in turn"),
    ((("true", {"out": ""}),) * 24, "-" + " -" * 23, "without a word, and no file was looked at"),
    (
        tuple((c, SILENT_OK | {"after": "t" if n > 2 else ""}) for n in range(7) for c in "abc"),
        "-" + " -" * 11 + " hint" + " -" * 3 + " break" * 5,
        "three silent calls in turn: told when files were compared",
    ),
    (
        tuple(("true", {"out": "", "after": f"v{n // 4}" if n % 3 == 0 else ""}) for n in range(30)),
        "- - - hint" + " -" * 26,
        "without a word, and files that were looked at now and then are others",
    ),
    (tuple(("board", {"out": f"v{n}"}) for n in range(12)), " ".join("-" * 12), "the output changes"),
    ((("board", {"out": "a"}), ("board", {"out": "b"})) * 5, "-" + " -" * 8 + " hint", "the output goes to and fro"),
    ((("edit", OK), ("make", RED)) * 3, "- - - hint - break", "a cycle of two calls: no hint at its success"),
    ((("a", OK), ("b", OK), ("c", RED)) * 3, "- - - - - hint - - break", "a cycle of three calls"),
    ((("ls", OK), ("cat x", OK)) * 4, "- - - - - - - -", "a short cycle without a failure"),
    (
        (
            *(("ls", OK | {"before": "s", "after": "s"}), ("write a", SILENT_OK | {"before": "s"})),
            *(("ls", OK | SAME), ("write a", SILENT_OK)) * 3,
        ),
        "- - - - - hint - -",
        "what the first round made, the others only repeat",
    ),
    (
        tuple((f"write {c}", SILENT_OK | {"before": f"t{n}", "after": f"t{n + 1}"}) for n, c in enumerate("ab" * 4)),
        "- - - - - - - -",
        "each round makes something else",
    ),
    (
        (("ls", OK), ("make", RED), ("make", RED), ("ls", OK), ("make", RED)),
        "- - hint - break",
        "no cycle, but the same failure",
    ),
    (
        (("a", red("1")), ("b", red("2")), ("c", OK)) * 2,
        "- - - hint hint -",
        "two that fail in a cycle, each of which was hinted at: no hint at its success",
    ),
    (
        (*(("f", red(before=f"t{n}", after=f"t{n + 1}")) for n in range(2)), ("g", red(before="t2", after="t2"))),
        "- hint break",
        "one that changes files of its own comes again, then one that changes none",
    ),
)


@pytest.mark.parametrize(("calls", "words", "why"), STORIES, ids=[r[2] for r in STORIES])
def test_stories(calls, words, why):
    assert [w or "-" for w in Story(CHECK).words(*calls)] == words.split()


TURNS = (
    ((("a", RED), ("a", RED)), "the same call came 2 times, with the same outcome", "one that comes again"),
    ((("a", red("1")), ("b", red("2"))) * 2, "2 calls came in turn, 4 in all, with the same outcome", "two in turn"),
)


@pytest.mark.parametrize(("calls", "said", "why"), TURNS, ids=[r[2] for r in TURNS])
def test_a_hint_says_what_came_in_turn(calls, said, why):
    story = Story(CHECK)
    found = [story.call(command, **ended) for command, ended in calls][-1]
    assert [(f.response, f.what) for f in found] == [(Response.HINT, said)], why


def test_two_that_came_in_turn_once_are_no_cycle_however_few_are_allowed():
    calls = (("ls", OK), ("a", red("1")), ("b", OK), ("a", red("2")))
    assert Story(CHECK, Policy(loop=Loop(repeats=2))).words(*calls)[-1] == ""


OLD = (
    ({"code": 3, "error": BLANK}, 3, "break", "a failure that said nothing, or was not seen to"),
    ({"code": 0}, 24, "allow", "a success that said nothing, or was not seen to"),
)


@pytest.mark.parametrize(("told", "count", "word", "why"), OLD, ids=[r[3] for r in OLD])
def test_what_was_put_on_record_before_seen_was_told_from_not_seen(told, count, word, why):
    session, act = Session("s"), action("make")
    for n in range(count):
        begun = {"id": f"a{n}", "operation": "o", "tool": "shell", "call": True}
        session = session.after(Entry(n, "s", "verdict", begun))
        session = session.after(Entry(n + 0.5, "s", "outcome", {"id": f"a{n}", "before": "t", "after": "t", **told}))
    last = session.calls[-1]
    found = CHECK(Case(replace(act, id=last.action), (), session, Policy(), last.outcome, "o"))
    assert max((f.response.word for f in found), default="allow") == word, why


def test_polls_have_their_own_budget():
    words = [max((f.response.word for f in s), default="") for s in _polls(20)]
    assert [i for i, w in enumerate(words, 1) if w] == [10, 20]
    assert (words[9], words[19]) == ("hint", "break")


def _polls(count):
    story = Story(CHECK)
    return [story.call("sleep 30; curl -s host/ready", poll=True, **red("refused")) for _ in range(count)]


def test_tries_a_minute_apart_are_a_poll():
    story = Story(CHECK)
    assert [story.call("gh run view", gap=61, **RED) for _ in range(9)] == [[]] * 9


def test_one_minute_of_quiet_between_tries_makes_no_poll():
    story = Story(CHECK)
    found = [story.call("make", gap=gap, **RED) for gap in (1, 61, 1)]
    assert [f.response for f in found[-1]] == [Response.BREAK]


def test_infrastructure_errors_have_a_budget_of_eight():
    story = Story(CHECK)
    words = [
        max((f.response.word for f in story.call("npm ci", **red("HTTP 429 Too Many Requests"))), default="")
        for _ in range(8)
    ]
    assert words == [""] * 6 + ["hint", "break"]


REFUSED = "curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server"


def test_a_server_that_starts_is_waited_for():
    story = Story(CHECK)
    calls = [("curl -fsS http://127.0.0.1:1/health", red(REFUSED, code=7))] * 3
    assert story.words(*calls, ("curl -fsS http://127.0.0.1:1/health", OK)) == [""] * 4


def test_a_server_that_is_looked_after_between_tries_has_eight_rounds():
    calls = (("curl localhost:8080", red(REFUSED, code=7)), ("tail server.log", {"out": "starting"})) * 8
    words = Story(CHECK).words(*calls)
    assert [i for i, w in enumerate(words, 1) if w == "break"] == [16]
    assert "hint" in words[:15]


ADVICE = (
    ("make", RED, 2, "the same once more and the circuit breaker stops you", "change something", "a failure"),
    ("curl x", red(REFUSED), 7, "the same once more and", "find out whether the service runs", "a service"),
    ("git status", OK, 10, "10 more and the circuit breaker", "go on with what it showed", "a success"),
)


@pytest.mark.parametrize(("calls", "says", "way"), [(r[:3], *r[3:5]) for r in ADVICE], ids=[r[5] for r in ADVICE])
def test_what_a_hint_says_is_true_and_fits_the_call(calls, says, way):
    story, (command, ended, at) = Story(CHECK), calls
    hint = [story.call(command, **ended) for _ in range(at)][-1][0]
    assert says in hint.why
    assert hint.instead.startswith(way)
    left = 1 if "once more" in says else 10
    assert [story.call(command, **ended) for _ in range(left)][-1][0].response is Response.BREAK


ROUND = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([OK, RED, red("y"), red(REFUSED)])), max_size=14)


@given(ROUND)
def test_once_more_is_never_an_empty_threat(calls):
    story = Story(CHECK)
    for command, ended in calls:
        if "once more" in "".join(f.why for f in story.call(command, **ended)):
            assert [f.response for f in story.call(command, **ended)] == [Response.BREAK]
            break


@given(ROUND)
def test_a_success_among_the_first_ten_calls_gets_no_hint(calls):
    story = Story(CHECK)
    for command, ended in calls[:9]:
        assert Response.HINT not in [f.response for f in story.call(command, **ended) if ended is OK]


def test_the_intervention_is_word_for_word_and_keyed_to_the_whole_cycle():
    story = Story(CHECK)
    for _ in range(3):
        story.call("edit", **OK)
        found = story.call("make", **RED)
    (finding,) = found
    assert finding.what == INTERVENTION
    said = "2 calls came in turn, 6 in all, with the same outcome. This session is paused for 60 s"
    assert finding.why == said
    assert finding.operations == {c.operation for c in story.session.calls}
    assert len(finding.operations) == 2


STRICT = (
    ((("git status", OK),) * 3, "- hint break", "identical calls, even successful ones"),
    ((("a", RED), ("ls", OK), ("b", RED), ("c", RED)), "- - hint break", "the last three error outputs are identical"),
    ((("a", red("1")), ("b", RED), ("c", RED), ("d", RED)), "- - - break", "no more than the last three"),
    ((("make", red("1")), ("make", red("2")), ("make", red("3"))), "- hint break", "whatever came of it"),
    ((("make", RED), ("ls", OK), ("make", RED), ("ls", OK)), "- - hint -", "not in a row"),
    ((("sleep 9", OK),) * 3, "- hint break", "polls, too"),
)


@pytest.mark.parametrize(("calls", "words", "why"), STRICT, ids=[r[2] for r in STRICT])
def test_strict_is_the_letter_of_the_protocol(calls, words, why):
    story = Story(CHECK, Policy(loop=Loop(strict=True)))
    assert [w or "-" for w in story.words(*calls)] == words.split()


def test_repeats_are_policy():
    assert Story(CHECK, Policy(loop=Loop(repeats=2))).words(*(("make", RED),) * 2) == ["", "break"]


SILENT = (
    (case("make"), "a proposal"),
    (case("make", outcome=outcome(code=1, error="x"), parent="p"), "a step of a call"),
    (case("make", outcome=outcome(code=1, error="x")), "a call that the session does not know"),
)


@pytest.mark.parametrize(("seen", "why"), SILENT, ids=[r[1] for r in SILENT])
def test_says_nothing(seen, why):
    assert list(CHECK(seen)) == []
