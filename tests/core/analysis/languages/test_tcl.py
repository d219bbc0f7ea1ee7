"""Scripts of Tcl and expect: the commands in them, read as Tcl(n) reads words, and what they start."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.languages.tcl import calls

ROWS = (
    ("spawn ls -l", [("shell", ["ls -l"])], "words"),
    ("spawn -noecho ls", [("shell", ["ls"])], "options of spawn are none of the program"),
    ("spawn sh -c {ls; pwd}", [("shell", ["sh -c 'ls; pwd'"])], "a word in braces is one word"),
    ('spawn sh -c "ls; pwd"', [("shell", ["sh -c 'ls; pwd'"])], "so is one in quotes"),
    ("spawn {*}{ls -l}", [("shell", ["ls -l"])], "a list becomes its words"),
    ("if {1} {\n spawn ls\n}", [("shell", ["ls"])], "what stands in braces may be a script"),
    ("set x [exec ls]", [("shell", ["ls"])], "so may what stands in brackets"),
    ("exec ls | wc > n", [("shell", ["ls | wc > n"])], "pipes and redirections are a shell's"),
    ("exec sh << {ls}", [("shell", ["sh <<< ls"])], "but for the given text"),
    ("exec $x -l", [("shell", ['"$x" -l'])], "a variable is not known"),
    ("system ls -l", [("shell", ["ls -l"])], "a text for the shell"),
    ("eval {exec ls}", [("shell", ["ls"]), ("shell", ["ls"])], "eval runs its words"),
    ("open {|ls -l}", [("shell", ["ls -l"])], "a pipe"),
    ("open out w", [("open", ["out", "w"])], "a file"),
    ("file delete -force -- a b", [("delete", ["a", "b"])], "deleting"),
    ('spawn bash; send "ls\\r"', [("shell", ["bash"]), ("shell", ["ls\n"])], "typed into a shell"),
    ('spawn ftp; send "ls\\r"', [("shell", ["ftp"])], "typed into something else"),
    ("# exec ls\nputs {exec it}", [], "a remark, and a text that is no command"),
    ("exec {ls", [("shell", ["ls"])], "what is never closed ends with the text"),
)


@pytest.mark.parametrize(("text", "found", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_what_a_script_does(text: str, found: list[object], why: str) -> None:
    assert list(calls(text)) == found
