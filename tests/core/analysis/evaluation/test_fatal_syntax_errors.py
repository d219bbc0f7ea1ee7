"""Which errors need no question, since no shell runs what was not understood; and which still do."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from sentinel_guard.core.analysis.evaluation.fatal_syntax_errors import all_fatal
from sentinel_guard.core.analysis.parser.bash_parser import MAX_TEXT, parse

REFUSED = [
    ("echo 'oops", "an apostrophe that nobody closes"),
    ('echo "oops $X', "a quote that nobody closes"),
    ("git commit -m \"fix #12; it's done", "signs inside of the quote mean nothing"),
    ("ls\necho \"x y'", "on the second line"),
    ('echo "a $(ls | wc -l) $X', "a substitution in the quote, closed"),
    ("echo 'T? '\"'$( [ -n \\\"$X\\\" ] && echo set ) && git status'", "one with quotes of its own"),
    ("ls )", "a stray parenthesis"),
    ("(ls", "an open subshell"),
    ("echo $(ls", "an open substitution"),
    ("ls &&", "an operator and then nothing"),
    ("| ls", "nothing and then an operator"),
    ("ls | ", "a pipe to nowhere"),
    ("echo hi >", "a redirection to nowhere"),
    ("if true; then ls", "if without fi"),
    ("for i in 1 2; do echo $i", "for without done"),
    ("while true; ls; done", "while without do"),
    ("for f in a; do echo x; n=$(grep y z) echo done", "the keyword is a word of echo's, behind a substitution"),
    ("if test $(ls | wc -l) -gt 0; then ls", "if without fi, behind one"),
    ("case x in a) ls", "case without esac"),
    ("{ ls", "an open group"),
    ("done", "a keyword that closes nothing"),
    ("ls; fi", "another"),
]
READ_TO_THE_END = [
    ("cat <<E\nfoo", "a heredoc without its end has the rest as its body"),
    ("cat <<E", "one without a body"),
    ("cd src\ncat > x <<'E'\nit's", "on the second line, quoted"),
]
ASKED = [
    ("x " * MAX_TEXT, "longer than what is read"),
    ("$(" * 3000, "deeper than what is read"),
    ("(" * 3000, "more than there is time for"),
    ("echo 'x\n# it's", "even quotes, and yet an error elsewhere"),
    ("echo it\\'s 'x", "a backslash before a quote: shells differ"),
    ("echo 'a\\' ; ls / '", "fish goes on behind that backslash"),
    ('echo "a\\" ; ls', "csh closes the quote there"),
    ('echo "a `ls', "backticks"),
    ('echo "a $(ls', "a substitution in a quote: who closes what?"),
    ('echo "a $(case x in a) ls', "one whose parenthesis closes nothing"),
    ('echo "a $(echo ")', "a quote in one"),
    ('echo "a $( [ -n \\" ] ; ls ; [ \\" ] )', "csh closes the quote in one"),
    ('echo "a $(ls # it)', "a comment in one"),
    ("echo ${x", "an open parameter"),
    ("echo ${x:-'}", "a quote in one"),
    ("echo $'x", "a quote of bash alone"),
    ("ls # it's\necho 'x", "a comment that other readers take for text"),
    ("echo $((1 + ", "arithmetic"),
    ("[[ a", "a test of bash alone"),
    ("alias q=ls\nq 'x", "an alias may bring quotes of its own"),
    ("let x=( 1 )", "bash takes it"),
    ("echo a (b)", "zsh takes it"),
    ("function { ls; }", "zsh runs it at once"),
    ("f() { ls", "a function that other shells may call"),
    ("{ ls } always { ls }", "zsh takes it"),
    ("cat <<E\nE \nls", "a line that looks like the delimiter"),
    ("cat <<E\na\\\nb", "lines that are joined"),
    ("cat <<$E\nls", "a delimiter that is not plain"),
    ("cat <<A <<B\nA\nls", "two heredocs"),
    ("x=$(cat <<E\nls)", "a heredoc in a substitution"),
    ("a &\\\n& b", "an operator on two lines: bash takes it"),
    ("for f in a; do echo $(case x in a) ls; done", "a substitution whose parenthesis closes nothing"),
    ("for f in a; do n=$(eval x) ls", "one that runs what is not seen"),
    ("for f in a; do n=$(ls $(pwd)) ls", "one in another"),
    ("for f in a; do n=$((1)) ls", "arithmetic, or two of them"),
    ("ls", "no error at all"),
]


def says(text: str) -> bool:
    script = parse(text)
    return all_fatal(script.source, script.errors)


def ids(table):
    return [row[-1] for row in table]


@pytest.mark.parametrize("text", [r[0] for r in REFUSED + READ_TO_THE_END], ids=ids(REFUSED + READ_TO_THE_END))
def test_what_every_shell_refuses_needs_no_question(text):
    assert parse(text).errors
    assert says(text)


@pytest.mark.parametrize("text", [r[0] for r in ASKED], ids=ids(ASKED))
def test_what_some_shell_might_run_does(text):
    assert not says(text)


JUDGED = {"zsh": {"ls &&"}}
"""Of these a shell runs what stands before the error, all of which was judged."""
SHELLS = [name for name in ("bash", "dash", "zsh", "ksh", "mksh") if shutil.which(name)]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shells_here_do_refuse_them(shell):
    assert {text for text, _ in REFUSED if accepts(shell, text)} <= JUDGED.get(shell, set())
    assert [text for text, _ in READ_TO_THE_END if not accepts(shell, text)] == []


def accepts(shell: str, text: str) -> bool:
    """It only reads: ``-n``."""
    return subprocess.run([shell, "-n", "-c", text], capture_output=True, check=False).returncode == 0
