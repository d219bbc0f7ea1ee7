"""Steps and their table, and which of them are the failure loop."""

import pytest

from sentinel_guard.core.incidents import timeline
from sentinel_guard.core.incidents.timeline import between, clock, entries_until_stop, loop_calls, rows, steps, table
from sentinel_guard.core.model import Entry, Finding, Response
from sentinel_guard.core.text.markdown_escape import unescape_code_span

AT = 1_795_255_872.042  # 2026-11-21 10:11:12.042 UTC


def called(ident, command, op="", at=AT):
    data = {"id": ident, "tool": "shell", "arguments": {"command": command}, "response": "allow", "call": True}
    return Entry(at, "s", "verdict", {**data, "operation": op or command})


def ended(ident, code=0, error="", at=AT, **data):
    return Entry(at, "s", "outcome", {"id": ident, "code": code, "error": error, **data})


def state(event):
    return Entry(AT, "s", "state", {"event": event})


def story(*calls):
    """Entries of calls, each (operation, code, error), named a1 a2 ..."""
    made = []
    for n, (op, code, error) in enumerate(calls, 1):
        made += [called(f"a{n}", op, at=AT + n), ended(f"a{n}", code, error, at=AT + n + 0.5)]
    return made


GOOD, BAD, OTHER = ("make", 0, ""), ("make", 2, "e1"), ("make", 2, "e2")
EDIT = ("edit", 0, "")
LOOPS = (
    ((GOOD, BAD, BAD, BAD), {"make"}, ("a2", "a3", "a4"), "the success before is no part of it"),
    ((OTHER, BAD, BAD), {"make"}, ("a2", "a3"), "nor is another error"),
    ((BAD, EDIT, BAD, EDIT, BAD), {"make", "edit"}, ("a1", "a2", "a3", "a4", "a5"), "a cycle whose edits succeed"),
    ((BAD, EDIT, BAD, EDIT, BAD), {"make"}, ("a1", "a3", "a5"), "what came between is no member"),
    ((BAD,), set(), (), "a finding without operations"),
)


@pytest.mark.parametrize(("calls", "operations", "found"), [r[:3] for r in LOOPS], ids=[r[3] for r in LOOPS])
def test_the_loop_is_as_long_as_each_call_ended_as_it_did_later(calls, operations, found):
    finding = Finding("loop", Response.BREAK, "x", operations=frozenset(operations))
    assert loop_calls(story(*calls), finding) == found


def test_red_test_runs_since_the_last_green_one_are_a_loop():
    runs = [("a1", 1), ("a2", 0), ("a3", 2), ("a4", 2)]
    entries = []
    for n, (ident, count) in enumerate(runs):
        tests = {"runner": "pytest", "failed": ["t"] * bool(count), "count": count}
        entries += [called(ident, "pytest", at=AT + n), ended(ident, bool(count), at=AT + n, tests=tests)]
    entries += [called("a5", "ls", at=AT + 9), ended("a5", 2, at=AT + 9)]
    assert loop_calls(entries, Finding("failing_tests", Response.BREAK, "x")) == ("a3", "a4")


def test_the_failed_calls_that_the_error_rate_counted_are_a_loop():
    entries = story(BAD, *[(f"c{n}", n % 2, "e" * (n % 2)) for n in range(10)])
    assert loop_calls(entries, Finding("error_rate", Response.BREAK, "x")) == ("a3", "a5", "a7", "a9", "a11")


def test_no_finding_no_loop():
    assert loop_calls(story(BAD), None) == ()


TREES = (
    ([("", "t1"), ("t1", "t2")], ("t1", "t2"), "the first state is known only after the first call"),
    ([("t0", "t1"), ("t1", "t2")], ("t0", "t2"), "it is known before"),
    ([("", ""), ("t1", "t2")], ("t1", "t2"), "one was not measured"),
    ([("", "")], ("", ""), "none was"),
)


@pytest.mark.parametrize(("trees", "found"), [r[:2] for r in TREES], ids=[r[2] for r in TREES])
def test_the_trees_at_both_ends_of_the_loop(trees, found):
    entries = [ended(f"a{n}", 1, before=b, after=a) for n, (b, a) in enumerate(trees)]
    assert between(entries, [f"a{n}" for n in range(len(trees))]) == found
    assert between(entries, []) == ("", "")


def test_what_came_in_after_the_stop_is_no_part_of_it():
    entries = [called("a1", "x"), state("break"), called("a2", "y"), state("kill"), called("a3", "z")]
    assert entries_until_stop(entries) == entries[:4]
    assert entries_until_stop(entries[:1]) == entries[:1]


def test_rows_come_back_from_the_table():
    entries = [
        Entry(AT, "s", "session", {"command": ["agent", "a|b"]}),
        called("a1", "ls | wc `x`"),
        ended("a1", 2, excerpt="boom | bang"),
        Entry(AT, "s", "observation", {"id": "gone", "response": "hint", "findings": []}),
    ]
    found = rows("before\n" + "\n".join(table(entries, ["a1"])) + "\n\nafter")
    assert [(r.number, r.kind, r.in_loop) for r in found] == [
        (1, "session", False), (2, "verdict", True), (3, "outcome", True), (4, "observation", False),
    ]  # fmt: skip
    assert [r.what for r in found] == ["agent a\\|b", "`` ls \\| wc `x` ``", "of step 2", "call gone"]
    assert unescape_code_span(found[1].what) == "ls | wc `x`"
    assert found[2].result == "exit 2 boom \\| bang" and found[0].result == ""
    assert {r.time for r in found} == {clock(AT)}


def test_lines_that_git_ended_otherwise_are_read_alike():
    text = "\n".join(table([called("a1", "ls")])) + "\n"
    assert rows(text.replace("\n", "\r\n")) == rows(text)


@pytest.mark.parametrize("text", ["", "# a report\n", "| step | time |\n"])
def test_a_text_without_a_timeline_has_no_rows(text):
    assert rows(text) == []


def test_the_last_fifty_steps_are_shown_and_the_daemons_own_entries_are_none():
    entries = [called(f"a{n}", f"c{n}") for n in range(70)] + [Entry(AT, "s", "daemon", {"what": "x"})]
    found = steps(entries)
    assert len(found) == timeline.STEPS
    assert (found[0].data["id"], found[-1].data["id"]) == ("a20", "a69")
    assert table([]) == ["No step is on record."]


def test_a_line_across_the_screen_takes_no_room_from_the_error():
    entry = ended("a1", 1, excerpt="F [100%]\n" + "=" * 70 + " FAILURES " + "=" * 70 + "\nE assert 1 == 2 ...")
    assert timeline.describe_result(entry) == "exit 1 F [100%]\n=== FAILURES ===\nE assert 1 == 2 ..."
