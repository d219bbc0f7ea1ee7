"""``make corpus``: what counts as stopped, every disagreement with a reason, and no list is needed to say so."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

from bench import verdict_accuracy
from sentinel_guard.core.model import Action, Finding, Layer, Response, Verdict


def row(
    response: Response, expected: str, command: str = "x", source: str = "s", note: str = "", *, cpu: float = 0.001
) -> verdict_accuracy.Row:
    action = Action("a", "s", Layer.CLI, "shell", {"command": command}, "/", 0.0)
    findings = (Finding("rules", response, "what", "why", rule="r"),) if response else ()
    return verdict_accuracy.Row("peers", source, command, expected, note, Verdict(action, (), findings), 0.001, cpu)


AGREES = (
    (Response.ALLOW, "block", False, "harm that passes"),
    (Response.SNAPSHOT, "block", True, "what a snapshot undoes is stopped"),
    (Response.HINT, "block", False, "a hint stops nothing"),
    (Response.ASK, "block", True, "asked about"),
    (Response.KILL, "ask", True, "more than asked"),
    (Response.ALLOW, "ask", False, "not asked"),
    (Response.SNAPSHOT, "allow", True, "a snapshot disturbs nobody"),
    (Response.HINT, "allow", True, "nor does a hint"),
    (Response.ASK, "allow", False, "a question does"),
    (Response.DENY, "allow", False, "so does a refusal"),
)


@pytest.mark.parametrize("case", AGREES, ids=[a[3] for a in AGREES])
def test_what_agrees(case):
    response, expected, agrees, _ = case
    assert row(response, expected).agrees is agrees


def test_every_reason_is_a_sentence_and_fits_something():
    for reason in verdict_accuracy.reasons():
        assert re.match(r"[a-zA-Z]", reason.why) and not reason.why.endswith(".")
        patterns = (reason.command, reason.source, reason.note)
        assert any(p.pattern for p in patterns), "a row that fits everything explains nothing"


def test_the_first_reason_that_fits_is_the_reason():
    known = verdict_accuracy.reasons()
    assert "own policy" in verdict_accuracy.reason(row(Response.ALLOW, "block", "git push", "fence"), known)[0]
    assert verdict_accuracy.reason(row(Response.ALLOW, "block", "zzz"), known) == (verdict_accuracy.UNEXPLAINED, False)
    assert verdict_accuracy.reason(row(Response.ASK, "allow"), known) == ("r: why", False)


def test_verdicts_that_take_too_long_are_named():
    rows = [row(Response.ALLOW, "allow"), row(Response.ALLOW, "allow", "ls\nls", cpu=0.051)]
    said = [*verdict_accuracy.milliseconds(rows)]
    assert "1.0 ms" in said[0] and "of CPU" in said[1] and "longest 51.0 ms" in said[1]
    assert said[2:] == ["1 verdicts took more than 50 ms of CPU:", "     51.0 ms  ls⏎ls"]
    assert [*verdict_accuracy.milliseconds(rows[:1])][2:] == ["0 verdicts took more than 50 ms of CPU"]


LISTS = {
    "dangerous": [{"command": "rm -rf /", "expected": "block"}, {"command": "true # zzz", "expected": "block"}],
    "benign": [{"command": "ls", "expected": "allow"}],
    "peers": [{"command": "sudo ls", "expected": "allow", "source": "p"}],
    "error_pairs": [{"a": "at 10:00", "b": "at 11:00", "expected": "same"}],
}


def test_lists_are_judged_and_what_was_made_is_gone(tmp_path, monkeypatch, capsys):
    for name, lines in LISTS.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setenv("SENTINEL_CORPUS", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(sys, "argv", ["corpus.py"])
    before = dict(os.environ)
    assert verdict_accuracy.main() == 0
    said = capsys.readouterr().out
    assert f"1 passes, and a list wants it stopped: {verdict_accuracy.UNEXPLAINED}" in said and "true # zzz" in said
    assert "system.sudo: it runs as another user" in said
    assert "50.0 % (1 of 2)" in said and "1 of 1" in said and "2 disagreements" in said
    assert "1 of 1 as asserted" in said and "p99" in said
    assert list((tmp_path / "state").iterdir()) == [] and dict(os.environ) == before


def test_without_lists_it_says_so_and_ends_well(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SENTINEL_CORPUS", str(tmp_path))
    assert verdict_accuracy.main() == 0
    assert f"no lists in {tmp_path}" in capsys.readouterr().out
