"""A text for fish, as bash would have it, and what it does."""

import pytest

from sentinel_guard.core.analysis.languages.fish_syntax import MAX_NESTING, to_bash
from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import REPO, effects_of, repository, told

REWRITTEN = [
    ("for f in *.ts; echo $f; end", "for f in *.ts; do\necho ${f} ; done ", "a loop"),
    ("if test -d a; rm a; else if b; c; else; d; end",
     "if test -d a; then\nrm a ; elif b; then\nc ; else\nd ; fi ", "branches"),
    ("while read -l x; echo $x; end < a", "while read -l x; do\necho ${x} ; done < a", "a loop that reads"),
    ("set -gx A b; set -l x 1 2; set -e A; set -q A", "export A=b ; x=(1 2) ; unset A ; true", "variables"),
    ("echo $x[2] $argv[1] $argv $status $x[2..-1]", "echo ${x[1]} ${1} $@ $? ${x[@]}", "items are counted from 1"),
    ("a; and b; or not c", "a && b || ! c", "words for operators"),
    ("echo (date | string trim)", "echo $(date | string trim)", "a substitution"),
    ("source (x | psub)", "source <(x)", "a substitution as a file"),
    ("x | source", "x | source /dev/stdin", "what comes by the pipe"),
    ("function f -a x; echo $argv; end", "f() {\necho $@ ; } ", "a function"),
    ("begin; a; end | b", "{\na ; }  | b", "a block"),
    ("switch $x; case a b; c; case '*'; d; end", "case ${x} in\na|b)\nc\n;; '*')\nd\n;; esac ", "a choice"),
    (r"echo 'it\'s' \"a $x\" # no", r"""echo 'it'\''s' \"a ${x}\" """.rstrip(), "quotes, and a comment"),
    ("for f in *", "for f in *; do\n", "not closed: the parser refuses it"),
]  # fmt: skip
DONE = [
    ("for f in (ls src); rm src/$f; end", ["delete src/a.py"], "a loop over what a command prints"),
    ("set d src; rm -rf $d", ["delete src force recursive"], "a variable"),
    ("function clean; rm -rf $argv; end; clean src", ["delete src force recursive"], "a function's arguments"),
    ("switch (uname); case Linux; rm old.log; case Darwin; rm README.md; end",
     ["delete old.log", "delete README.md"], "each arm may be"),
    ("for f in *.md; echo $f; end", [], "nothing is lost"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "bash"), [row[:2] for row in REWRITTEN], ids=[row[2] for row in REWRITTEN])
def test_a_text_is_rewritten(text: str, bash: str) -> None:
    assert to_bash(text) == bash


@pytest.mark.parametrize(("text", "expected"), [row[:2] for row in DONE], ids=[row[2] for row in DONE])
def test_what_a_text_does(text: str, expected: list[str]) -> None:
    world = repository({"src/a.py": "x\n"}, folders=(f"{REPO}/src",))
    assert told(effects_of(f'fish -c "{text.replace("$", chr(92) + "$")}"', world), Kind.DELETE) == expected


def test_deep_substitutions_end() -> None:
    assert to_bash("echo " + "(" * 4 * MAX_NESTING).count("$(") <= MAX_NESTING + 1


ZSH = [
    ("rm src/*.py(.om[1,5])", ["delete src/a.py"], "a choice among what a pattern finds"),
    ("ls src/*.py(N) | wc -l", [], "an option of a pattern"),
    ("f() { rm old.log; }; f", ["delete old.log"], "a function is none"),
]


@pytest.mark.parametrize(("text", "expected"), [row[:2] for row in ZSH], ids=[row[2] for row in ZSH])
def test_patterns_of_zsh(text: str, expected: list[str]) -> None:
    world = repository({"src/a.py": "x\n"}, folders=(f"{REPO}/src",))
    assert told(effects_of(f"zsh -c '{text}'", world), Kind.DELETE, Kind.OPAQUE) == expected
