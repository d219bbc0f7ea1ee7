"""Which known lines grep lets through: beside the real one."""

from __future__ import annotations

import subprocess

import pytest

from sentinel_guard.core.analysis.expansion.grep_filter import MAX_LINE, grep

LINES = "./src/a.py\n./node_modules/x.py\n./src/A.PY\n./a+b.txt\n./x(1).txt\n./dist\n\n./src/.env\n"

ROWS = [
    (["node_modules"], "a word"),
    (["-v", "node_modules"], "all others"),
    (["-vi", "SRC"], "letters of options, any case"),
    (["-i", "-v", "SRC"], "one by one"),
    (["--invert-match", "src"], "a long option"),
    ([r"\.py$"], "a dot, at the end"),
    (["^./src"], "at the beginning"),
    ([r"src\|dist"], "basic: an escaped bar is one of two"),
    (["src|dist"], "basic: a bar is a bar"),
    (["-E", "(src|dist)"], "extended"),
    (["-E", r"x\(1\)"], "extended: an escaped bracket is a bracket"),
    (["x(1)"], "basic: a bracket is a bracket"),
    (["a+b"], "basic: a plus is a plus"),
    (["-F", "a+b.txt"], "fixed"),
    (["-x", "./dist"], "the whole line"),
    (["-e", "dist"], "a pattern behind -e"),
    (["[ab].py"], "a set of characters"),
    (["s.*y"], "anything between"),
    (["zzz"], "none"),
]


@pytest.mark.parametrize(("words", "why"), ROWS, ids=[row[1] for row in ROWS])
def test_the_same_lines_as_grep(words, why):
    real = subprocess.run(["grep", *words], input=LINES, capture_output=True, text=True, check=False)
    assert grep(tuple(words), LINES) == real.stdout, why


UNTOLD = [
    (["-c", "x"], "it counts"),
    (["-o", "x"], "it prints parts of lines"),
    (["-r", "x"], "it searches files"),
    (["x", "file"], "it reads a file"),
    (["-e", "a", "-e", "b"], "several patterns"),
    (["-E", "(a+)+b"], "a repeated repetition, which may take for ever"),
    ([".*.*.*.*x"], "too many repetitions"),
    (["[[:alpha:]]"], "a class"),
    (["a{2}"], "a count"),
    ([r"\w"], "an extension"),
    (["*x"], "a star without anything before it"),
    (["a^b"], "an anchor in the middle"),
    (["-E", "(a"], "no pattern"),
    ([""], "an empty one"),
]


@pytest.mark.parametrize(("words", "why"), UNTOLD, ids=[row[1] for row in UNTOLD])
def test_what_is_not_told(words, why):
    assert grep(tuple(words), LINES) is None, why


def test_a_line_that_is_too_long():
    assert grep(("x",), "x" * (MAX_LINE + 1)) is None
