import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.checks.loop import CHECK
from sentinel_guard.core.model import Response
from tests.support.judge_cases import QUIET_FAILURE, UNSEEN_FAILURE, Story, red


def test_the_same_error_five_times_despite_changes():
    states = [red("boom", before=f"t{n}", after=f"t{n}") for n in range(5)]
    assert Story(CHECK).words(*((f"try {n}", s) for n, s in enumerate(states))) == ["", "", "", "hint", "break"]


def test_another_output_under_the_same_last_words_is_progress():
    states = [red("npm ERR! code 1", before=f"t{n}", after=f"t{n}", out=f"{9 - n} errors") for n in range(6)]
    assert "break" not in Story(CHECK).words(*(("npm run build", s) for s in states))


@pytest.mark.parametrize("outputs", ["aaabbb", "bbbaaa"])
def test_only_what_printed_the_same_is_the_same_error_despite_changes(outputs):
    tries = [(f"try {n}", red("boom", f"t{n}", f"t{n}", out=out)) for n, out in enumerate(outputs)]
    assert Story(CHECK).words(*tries) == [""] * 6


RETURNS = (
    ("", "where only failures are measured"),
    ("A", "where all calls are"),
)


@pytest.mark.parametrize(("measured", "why"), RETURNS, ids=[r[1] for r in RETURNS])
def test_files_that_come_back_twice_with_the_same_failure(measured, why):
    """Fix, failure, revert; the same again: in the end the files are where they were, and so is the failure."""
    story = Story(CHECK)
    story.call("make -s", **red("at first", "Z", "Z", out="first"))
    story.call("make -n", **red("other", "A", "A", out="first"))
    for n in range(2):
        story.call(f"sed -i s/a/{n}/ f", after=measured and "B")
        story.call(f"make {n}", **red("x", "B", "B", out=f"{n}"))
        story.call(f"git checkout f # {n}", after=measured)
        found = story.call(f"make -k {n}", **red(f"other {n}", "A", "A", out=f"{n}"))
    assert [f.response for f in found] == [Response.BREAK]
    assert "earlier state" in found[0].why


LAPS = (
    ({"error": ""}, ("test.sh",) * 2, "break", "the same one without a word"),
    ({"error": None}, ("test.sh",) * 2, "break", "the same one, and nobody saw what it said"),
    ({"error": ""}, ("one.sh", "two.sh"), "-", "one without a word, then another"),
)


@pytest.mark.parametrize(("said", "failing", "word", "why"), LAPS, ids=[r[3] for r in LAPS])
def test_files_that_come_back_twice_and_failures_without_words(said, failing, word, why):
    story = Story(CHECK)
    story.call("ls", out="first", after="A")
    for n, command in enumerate(failing):
        story.call(f"sed -i s/a/{n}/ f", out="", after="B")
        story.call(command, **red(before="B", after="B", out=f"{n}") | said)
        found = story.call(f"git checkout f # {n}", **red(f"checkout {n}", "A", "A"))
    assert [f.response.word for f in found] == ([word] if word != "-" else []), why


def test_files_that_come_back_twice_and_fail_as_they_do():
    story = Story(CHECK)
    story.call("ls", out="first", after="A")
    for n in range(2):
        story.call(f"sed -i s/a/{n}/ f", out="", after="B")
        found = story.call(f"git checkout f; make {n}", **red("x", "B", "A", out=f"{n}"))
    assert [f.response for f in found] == [Response.BREAK]
    assert "earlier state" in found[0].why


FAILURES = st.sampled_from([QUIET_FAILURE, UNSEEN_FAILURE, red("", code=1), red("moved"), red("other", code=9)])


@given(st.lists(st.tuples(st.sampled_from("ab"), FAILURES), max_size=4), st.booleans())
def test_a_failure_after_each_edit_is_never_a_loop(tries, measured_after):
    """Up to DESPITE_CHANGES tries with words, whatever they are."""
    story = Story(CHECK)
    for n, (command, ended) in enumerate(tries):
        found = story.call(command, **ended | {"before": f"t{n}", "after": f"t{n}" if measured_after else f"u{n}"})
        assert Response.BREAK not in [f.response for f in found]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([QUIET_FAILURE, UNSEEN_FAILURE])), max_size=24))
def test_a_failure_without_words_after_each_edit_is_never_a_loop(tries):
    story = Story(CHECK)
    for n, (command, ended) in enumerate(tries):
        assert story.call(command, **ended | {"before": f"t{n}", "after": f"t{n}"}) == []
