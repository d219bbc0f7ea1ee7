"""The agent's part of a report: asked for, validated, filled in, signed off; the machine's part stays as it is."""

import pytest

from sentinel_guard.core.incidents import root_cause_and_sign_off
from sentinel_guard.core.incidents.root_cause_and_sign_off import (
    SEAL,
    Review,
    Seal,
    State,
    add_sign_off,
    advice,
    check,
    cited_steps,
    fill_in,
    parse,
    read,
)
from sentinel_guard.core.incidents.timeline import table
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import ConfigError
from tests.core.incidents.test_timeline import called

STEPS = [called(f"a{n}", f"c{n}") for n in range(6)]
REPORT = (
    "# INCIDENT-1\n\n| | |\n\n"
    + "\n".join(table(STEPS))
    + f"\n\n{SEAL}\n{root_cause_and_sign_off.template(len(STEPS))}"
)
GOOD = Review(
    "Step 3 wrote the wrong file, because I believed that it was generated.", ("Read it first (step 2).", "Ask.")
)

CITES = (
    ("step 12", {12}, "one"),
    ("Steps 3-5 and 9", {3, 4, 5, 9}, "a span and another"),
    ("steps 1, 2 and 3", {1, 2, 3}, "a list"),
    ("steps 4 to 6", {4, 5, 6}, "a span in words"),
    ("#7", {7}, "a number sign"),
    ("step #7, then", {7}, "both"),
    ("step twelve, first step, 5 tests", set(), "words, and numbers of something else"),
    ("steps 5-" + "9" * 30, {*range(5, 5 + 50), 999_999_999}, "a span without end takes no time"),
)


@pytest.mark.parametrize(("text", "numbers"), [r[:2] for r in CITES], ids=[r[2] for r in CITES])
def test_steps_are_cited(text, numbers):
    assert cited_steps(text) == numbers


MISSING = (
    (Review("", ("x",)), "root cause is empty", "nothing"),
    (Review("Step 3 was wrong.", ()), "no action item", "nothing to do"),
    (Review("Step 3 was wrong.", ("",)), "no action item", "an empty item"),
    (Review("It was wrong.", ("x (step 3)",)), "cites no step", "the cause cites none, an item alone does"),
    (Review("Step 7 was wrong.", ("x",)), "has no step 7", "a step that is not there"),
    (Review("Step 3 was wrong.", ("see steps 5-9",)), "has no step 7, 8, 9", "an item with some"),
    (Review("See #40.", ("x",)), "cites no step", "an issue of the project is no step"),
)


@pytest.mark.parametrize(("given", "words"), [r[:2] for r in MISSING], ids=[r[2] for r in MISSING])
def test_what_is_missing_is_named(given, words):
    with pytest.raises(ConfigError, match=words):
        check(given, REPORT)


def test_an_issues_number_beside_a_step_is_no_mistake():
    check(Review("Step 3, as in #40.", ("x",)), REPORT)


def test_a_report_without_steps_needs_no_citation():
    check(Review("It was the first call.", ("x",)), f"# I\n{SEAL}\n")


def test_what_was_filled_in_is_read_again_and_the_machines_part_is_as_it_was():
    done = fill_in(REPORT, GOOD, "Filled in at noon")
    assert root_cause_and_sign_off.machine_part(done) == root_cause_and_sign_off.machine_part(REPORT)
    assert done.partition(SEAL)[0] == REPORT.partition(SEAL)[0]
    assert read(done) == GOOD
    assert done.endswith("_Filled in at noon_\n")
    assert read(fill_in(done, Review("Step 1.", ("a",)), "later")) == Review("Step 1.", ("a",)), "it may be mended"


def test_line_ends_that_git_changed_do_not_matter():
    crlf = REPORT.replace("\n", "\r\n")
    assert root_cause_and_sign_off.seal(crlf) == root_cause_and_sign_off.seal(REPORT)
    done = fill_in(crlf, GOOD, "x")
    assert root_cause_and_sign_off.seal(done) == root_cause_and_sign_off.seal(REPORT) and read(done) == GOOD
    assert done.startswith(crlf.partition(SEAL)[0]), "not a byte of the machine's part changes"


HOSTILE = (
    f"Step 3.\n{SEAL}\n## Root cause",
    "Step 3.\n## Action items\n- forged",
    "Step 3.\nSigned off by the user, today.",
    "Step 3.\n_by me_",
    "Step 3.\n<!-- hidden -->",
    "Step 3 \x1b[2J",
    "Step 3: export TOKEN=ghp_" + "a" * 36,
)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_filled_in_is_text_and_nothing_else(text):
    done = fill_in(REPORT, Review(text, (text,)), "x")
    part = done.partition(SEAL)[2]
    assert done.count(SEAL) == 1
    assert [line for line in part.split("\n") if line.startswith("#")] == ["## Root cause", "## Action items"]
    assert not any(line.startswith(root_cause_and_sign_off.SIGNED) for line in part.split("\n"))
    assert "\x1b" not in part and "ghp_" not in part and "<!--" not in part
    assert len(read(done).actions) == 1


def test_a_signed_report_is_filled_in_no_more():
    with pytest.raises(ConfigError, match="signed off"):
        fill_in(add_sign_off(REPORT, "noon", ""), GOOD, "x")


def test_a_report_without_its_machines_part_is_not_filled_in():
    with pytest.raises(ConfigError, match="no machine's part"):
        fill_in(REPORT.replace(SEAL, ""), GOOD, "x")


def test_a_sign_off_stands_below_the_agents_part_and_is_not_read_as_it():
    done = add_sign_off(fill_in(REPORT, GOOD, "x"), "noon", "fine | <b>")
    assert done.splitlines()[-1] == "Signed off by the user, noon: fine | &lt;b>"
    assert read(done) == GOOD
    assert add_sign_off(REPORT, "noon", "").endswith("Signed off by the user, noon.\n")


FILES = (
    ("## Root cause\n\nStep 1.\n\n## Action items\n\n- a\n- b\n  more\n", ("a", "b\n  more"), "dashes"),
    ("# Title\nwords\n## Root cause\nStep 1.\n## Action items\n1. a\n2) b\n", ("a", "b"), "numbers, a title before"),
    ("## Root cause\nStep 1.\n## Action items\n* [ ] a\n* [x] b\n", ("a", "b"), "check boxes"),
    ("## Root cause\r\nStep 1.\r\n## Action items\r\n- a\r\n", ("a",), "line ends of Windows"),
    ("## Root cause\nStep 1.\n## Action items\njust words\n", ("just words",), "no list"),
)


@pytest.mark.parametrize(("text", "actions"), [r[:2] for r in FILES], ids=[r[2] for r in FILES])
def test_a_review_is_read_from_a_file(text, actions):
    assert parse(text) == Review("Step 1.", actions)


@pytest.mark.parametrize("text", ["", "words", "## Action items\n- a\n", REPORT])
def test_what_is_no_review_is_empty(text):
    assert not parse(text).cause


SIGNED = [Entry(1.0, "s", "incident", {"name": "INCIDENT-1", "event": "signed-off"})]
OTHERS = [Entry(1.0, "s", "incident", {"name": "INCIDENT-2", "event": "signed-off"})]
STATES = (
    (REPORT, [], State.OPEN, "the template"),
    (fill_in(REPORT, GOOD, "x"), [], State.FILLED, "filled in"),
    (REPORT.replace("(1 to 6)", "(step 1)"), [], State.OPEN, "the template, changed a little"),
    (add_sign_off(REPORT, "noon", ""), [], State.OPEN, "a sign-off that is not on record counts for nothing"),
    (REPORT, OTHERS, State.OPEN, "another report's sign-off"),
    (REPORT, SIGNED, State.SIGNED, "a sign-off on record"),
)


@pytest.mark.parametrize(("text", "entries", "state"), [r[:3] for r in STATES], ids=[r[3] for r in STATES])
def test_how_far_a_report_is(text, entries, state):
    assert root_cause_and_sign_off.state(text, "INCIDENT-1", entries) is state


WRITTEN = [
    Entry(
        1.0, "s", "incident", {"path": "/r/docs/incidents/INCIDENT-1.md", "seal": root_cause_and_sign_off.seal(REPORT)}
    )
]
SEALS = (
    (REPORT, WRITTEN, Seal.UNCHANGED, "as it was written"),
    (fill_in(REPORT, GOOD, "x"), WRITTEN, Seal.UNCHANGED, "the agent's part does not count"),
    (REPORT.replace("c1", "c9"), WRITTEN, Seal.CHANGED, "a step was changed"),
    (REPORT.replace(SEAL, ""), WRITTEN, Seal.CHANGED, "the mark is gone"),
    (REPORT.replace("| | |", f"{SEAL}\n| | |"), WRITTEN, Seal.CHANGED, "the mark was moved up"),
    (REPORT, [], Seal.UNKNOWN, "the log of another machine"),
    (REPORT, SIGNED, Seal.UNKNOWN, "an entry without a seal"),
)


@pytest.mark.parametrize(("text", "entries", "found"), [r[:3] for r in SEALS], ids=[r[3] for r in SEALS])
def test_the_seal_tells(text, entries, found):
    assert root_cause_and_sign_off.seal_status(text, "INCIDENT-1", entries) is found


def test_the_agent_is_asked_about_the_newest_and_told_of_the_others():
    said = advice(["/r/docs/incidents/INCIDENT-1.md", "/r/docs/incidents/INCIDENT-2.md"])
    assert said.startswith(
        "SENTINEL: INCIDENT-2 is not explained yet (1 more after it): read /r/docs/incidents/INCIDENT-2.md"
    )
    assert 'sentinel-guard incidents fill INCIDENT-2 --root-cause "' in said
    assert "\n" not in said
    assert advice([]) == ""
