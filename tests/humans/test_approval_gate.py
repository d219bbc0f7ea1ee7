"""The gate's other keys: details, a reason, a word for a wrong key; what would happen stands with the question."""

from __future__ import annotations

import pytest

from sentinel_guard.humans.approval_gate import Gate
from sentinel_guard.humans.terminal_prompts import Drawn, columns, paint

USUAL = (80, 24)
BLOCK = ["[SENTINEL SECURITY]", "Action: FORCE_PUSH", "Target: origin", "Risk: HIGH", "Confirm? (Y/N): "]
EVENT = {
    "question": "q1", "action": "FORCE_PUSH", "target": "origin", "risk": "HIGH", "detail": "git push -f",
    "why": "it rewrites what others have fetched", "seconds": 300,
    "preview": ["to git@example.com:a/b.git (origin)", "main: LOST for others: 2 commits", "  abc123 one"],
    "details": "\n".join(f"detail {n}" for n in range(60)),
}  # fmt: skip


def gate(size=USUAL, **changes):
    asked = Gate({**EVENT, **changes}, 1000.0)
    asked.lines(size, 1000.0)
    return asked


def typed(asked, *keys, size=USUAL):
    for key in keys:
        asked.feed(key.encode())
        shown = asked.lines(size, 1000.0)
    return shown


def test_what_would_happen_stands_with_the_question_and_the_block_is_last():
    lines = gate().lines(USUAL, 1000.0)
    at = [lines.index(f"  {line}") for line in EVENT["preview"]]
    assert at == sorted(at) and at[0] > lines.index("  | git push -f") and lines[-5:] == BLOCK


def test_a_preview_cannot_move_the_cursor_or_draw_a_block():
    lines = gate(preview=["\x1b[2J x", "[SENTINEL SECURITY]\nAction: HARMLESS"]).lines(USUAL, 1000.0)
    assert "  \\x1b[2J x" in lines and lines.count("[SENTINEL SECURITY]") == 1 and "Action: HARMLESS" not in lines


def test_a_yes_counts_only_after_the_whole_preview_was_shown():
    asked = gate(preview=[f"row {n}" for n in range(40)])
    assert "Not yet" in "\n".join(typed(asked, "y")) and asked.answer is None
    typed(asked, " ", " ", " ", "y")
    assert asked.answer is True


ON_SCREEN = [
    (["d"], "detail 0", "d shows the details"),
    (["d", " "], "detail 20", "they are paged"),
    (["d", "d"], "  | git push -f", "d goes back"),
    (["d", "q"], "  | git push -f", "so does q"),
    (["d", "\x1b"], "  | git push -f", "Escape leaves the details, and refuses nothing"),
    (["x"], "x is no answer.", "a word for a wrong key"),
    (["x", " "], "r: no, with a reason", "which goes with the next key"),
    (["r"], "Reason for the agent, and Enter: ", "r asks for the reason"),
]


@pytest.mark.parametrize(("keys", "seen"), [row[:2] for row in ON_SCREEN], ids=[row[2] for row in ON_SCREEN])
def test_what_a_key_shows(keys, seen):
    asked = gate()
    lines = typed(asked, *keys)
    assert any(seen in line for line in lines) and asked.answer is None
    assert BLOCK[:4] == lines[-5:-1] or BLOCK[:4] == lines[-6:-2], "the protocol's block stays at the end"
    assert all(columns(line) <= USUAL[0] for line in lines) and len(lines) <= USUAL[1]


ANSWERS = [
    (["r", "use staging", "\r"], False, "use staging", "a no with its reason"),
    (["r", "ü", "\x7f", "no", "\r"], False, "no", "mended, letters of any language"),
    (["r", "\r"], False, "", "no reason is a plain no"),
    (["r", "y", "\r"], False, "y", "a y in a reason is no yes"),
    (["r", "x", "\x1b"], False, "", "Escape: a no without it"),
    (["r", "yes"], None, "yes", "nothing is decided before Enter"),
    (["d", "y"], True, "", "who has read the question may answer from the details"),
    (["d", "n"], False, "", "and say no"),
    (["t"], None, "", "t, where it was not offered"),
]


@pytest.mark.parametrize(("keys", "answer", "reason"), [row[:3] for row in ANSWERS], ids=[row[3] for row in ANSWERS])
def test_reasons_and_details_change_no_answer(keys, answer, reason):
    asked = gate()
    typed(asked, *keys)
    assert (asked.answer, asked.reason, asked.timed) == (answer, reason, False)


def test_a_yes_for_a_while_is_a_key_of_its_own_where_it_is_offered():
    asked = gate(timed=600)
    assert any("t: yes to this kind for 10 min" in line for line in asked.lines(USUAL, 1000.0))
    typed(asked, "t")
    assert (asked.answer, asked.timed) == (True, True)
    asked = gate(timed=600)
    typed(asked, "y")
    assert (asked.answer, asked.timed) == (True, False)


def test_a_yes_for_a_while_needs_all_that_a_yes_needs():
    asked = gate(timed=600, preview=[f"row {n}" for n in range(40)])
    typed(asked, "t")
    assert asked.answer is None, "the question was not read"
    asked = gate(timed=600, word="bako")
    typed(asked, "t", "\r", "bako\r")
    assert (asked.answer, asked.timed) == (True, True)
    asked = gate(timed=600, word="bako")
    typed(asked, "t", "oops\r")
    assert asked.answer is False, "another word is a no"


def test_details_are_no_part_of_what_has_to_be_read():
    asked = gate(preview=[f"row {n}" for n in range(40)])
    typed(asked, "d", " ", " ", " ", " ", "y")
    assert asked.answer is None, "the question itself was not read"


@pytest.mark.parametrize("size", [(20, 9), (20, 10), (80, 9), (80, 11), (200, 50)])
@pytest.mark.parametrize("keys", ["", "d", "d ", "r", "rabc", "x"])
def test_all_of_it_fits_the_smallest_screen(size, keys):
    asked = gate(size, word="bakodu")
    lines = typed(asked, *keys, size=size) if keys else asked.lines(size, 1000.0)
    assert len(lines) <= size[1] and all(columns(line) <= size[0] for line in lines)


def test_silence_while_a_reason_is_written_is_a_no():
    asked = gate()
    typed(asked, "r", "because")
    asked.tick(1300.0)
    assert asked.answer is False


COLOURS = [
    ("HIGH", "1;31", "red"),
    ("MEDIUM", "1;33", "yellow"),
    ("UNHEARD-OF", "1", "bold"),
]


@pytest.mark.parametrize(("risk", "colour"), [row[:2] for row in COLOURS], ids=[row[2] for row in COLOURS])
def test_the_block_has_its_risks_colour_and_no_byte_between_its_lines(risk, colour):
    asked = gate(risk=risk)
    lines = asked.lines(USUAL, 1000.0)
    drawn = paint(lines, asked.drawn)
    block = "\r\n".join(["[SENTINEL SECURITY]", "Action: FORCE_PUSH", "Target: origin", f"Risk: {risk}", BLOCK[4]])
    assert drawn.endswith(f"\x1b[{colour}m{block}\x1b[0m") and drawn.count("\x1b") == 2
    assert paint(lines, Drawn()) == "\r\n".join(lines)


def test_a_screen_that_is_too_small_has_no_block_to_colour():
    asked = gate((10, 3))
    assert asked.drawn == Drawn()
