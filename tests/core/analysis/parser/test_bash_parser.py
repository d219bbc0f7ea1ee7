"""The parser: which commands it finds, what it says about what it did not understand. Nothing here is ever run."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_guard.core.analysis.parser.bash_parser import MAX_TEXT, parse
from sentinel_guard.core.analysis.parser.syntax_tree import (
    Case,
    CommandSub,
    Coproc,
    Function,
    Group,
    If,
    List,
    Loop,
    Parameter,
    Pipeline,
    Script,
    Simple,
    Subshell,
    Test,
    simple_commands,
)


def names(script: Script) -> list[str]:
    found = []
    for command in simple_commands(script):
        if command.words:
            literal = command.words[0].literal
            found.append(command.words[0].source if literal is None else literal)
    return found


CLEAN = [
    # (script, command words in order, why)
    ("ls", ["ls"], "one command"),
    ("a; b && c || d & e\nf", ["a", "b", "c", "d", "e", "f"], "all separators"),
    ("a | b |& c", ["a", "b", "c"], "pipes"),
    ("ls\n\\rm -rf x", ["ls", "rm"], "a backslash before the name, on the next line"),
    ("a ==\nrm x", ["a", "rm"], "a line that ends in =="),
    ("x # c\n\\rm y", ["x", "rm"], "a comment between"),
    ("time { rm x; }", ["rm"], "time before a group"),
    ("time -p -- rm x", ["rm"], "time with options"),
    ("! { rm x; }", ["rm"], "negation before a group"),
    ("! time ! rm x", ["rm"], "prefixes in turn"),
    ("coproc rm x", ["rm"], "coproc of a simple command"),
    ("coproc P { rm x; }", ["rm"], "coproc with a name"),
    ("cat <<E; rm x\nbody\nE", ["cat", "rm"], "a command on the line of a heredoc"),
    ("cat <<E\n`rm x` $(rm y)\nE", ["cat", "rm", "rm"], "substitutions in a heredoc"),
    ("cat <<'E'\n$(rm x)\nE\nb", ["cat", "b"], "none in a quoted one"),
    ("cat <<\\E\n`rm x`\nE\nb", ["cat", "b"], "a backslash quotes too"),
    ("cat <<-E\n\ta\n\tE\nrm x", ["cat", "rm"], "tabs before the delimiter"),
    ("cat <<A <<B\na\nA\nb\nB\nrm x", ["cat", "rm"], "two heredocs"),
    ("cat <<E\nE\\\n\nrm x\nE", ["cat", "rm", "E"], "a delimiter that a continued line makes"),
    ("cat <<E\nfoo\\\nE\nls\nE\nrm", ["cat", "rm"], "a continued line that is no delimiter"),
    ("x=$(cat <<E\na\nEcho b)\nE", ["cat", "cho", "E"], "bash ends a heredoc in $( where the delimiter begins a line"),
    ("cat <<A $(echo x\n) -\nbody\nA\nrm", ["cat", "echo", "rm"], "an open heredoc waits for the end of $("),
    ("echo `a``b`", ["echo", "a", "b"], "two backticks in a row"),
    ("echo `a \\`b\\``", ["echo", "a", "b"], "nested backticks"),
    ('echo "`a \\"b\\"`"', ["echo", "a"], "backticks in quotes"),
    ('echo "$(a "$(b)")"', ["echo", "a", "b"], "nested substitution in quotes"),
    ("echo ${x:-$(a)} ${x/b/$(c)} ${x[$(d)]} ${x:$(e):$(f)}", ["echo", "a", "c", "d", "e", "f"], "inside of ${}"),
    ("echo \"${x:-'$(a)'}\" \"${x:-'}'}\"; b", ["echo", "a", "b"], "apostrophes in a quoted default"),
    ("echo $(( $(a) + `b` )) $[$(c)]", ["echo", "a", "b", "c"], "inside of arithmetic"),
    ("(( x = $(a) )); for ((i=$(b);;)); do c; done", ["a", "b", "c"], "arithmetic commands"),
    ("echo $((a) | b)", ["echo", "a", "b"], "a subshell that looks like arithmetic"),
    ("((a); b)", ["a", "b"], "the same as a command"),
    ("diff <(a) >(b) x<(c)", ["diff", "a", "b", "c"], "process substitution"),
    ("a=$(b) c; a[$(d)]=e f; x=(g $(h) [k]=`i`)", ["c", "b", "f", "d", "h", "i"], "assignments"),
    ("export a=$(b) c=(d $(e))", ["export", "b", "e"], "operands of export"),
    ("> $(a) b; <<<$(c) d; { e; } > `f`", ["b", "a", "d", "c", "e", "f"], "redirect targets"),
    ("[[ $(a) == b && -f `c` ]]; d", ["a", "c", "d"], "tests"),
    ("[[ x =~ ^(a|b)$ ]] && c", ["c"], "a regular expression"),
    ("f() { a; }; g() ( b ); function h { c; }; function i-j() { d; }; e", ["a", "b", "c", "d", "e"], "functions"),
    ("a@() { b; }; c", ["b", "c"], "an odd function name"),
    ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"], "if"),
    ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"], "while and until"),
    ("for i in $(a); do b; done; for i; { c; }; for i\nin x\ndo d; done", ["a", "b", "c", "d"], "for"),
    ("select i in x; do a; done", ["a"], "select"),
    ("case $(a) in x|$(b)) c;; (y) d;& *) e;;& esac; f", ["a", "b", "c", "d", "e", "f"], "case"),
    ("case in in in) a;; esac; case x in esac; b", ["a", "b"], "case with keywords as words"),
    ("echo $(case x in x) a;; esac)", ["echo", "a"], "case in a substitution"),
    ("echo $(a # )\n)", ["echo", "a"], "a comment in a substitution"),
    ("echo a#b #c\nd", ["echo", "d"], "a hash inside a word"),
    ("echo if then fi; ls done", ["echo", "ls"], "keywords as arguments"),
    ("a[$(b [c])]=1 d; a[$(b [)]=1 e; a[b[c]]=1 f", ["d", "b", "e", "b", "f"], "brackets inside of a subscript"),
    ("A=1 if; >x while", ["if", "while"], "keywords behind an assignment or redirect"),
    ("r\\\nm x; a \\\n b", ["rm", "a"], "continued lines"),
    ("2>&1 a &>b 3<&- {fd}>c <>d >|e", ["a"], "redirections of all kinds"),
    ("echo @(a|$(b)) !(c|d)", ["echo", "b"], "extended globs"),
    ("!(a)", ["a"], "a negated subshell without blank"),
    ("x=${ a; }; y=${| b; }", ["a", "b"], "substitution in braces, bash 5.3"),
    ("# only a comment", [], "nothing"),
    ("", [], "empty"),
    ("r\0m x", ["rm"], "bash drops NULs"),
    ("git commit -m 'rm -rf /' && grep \"rm -rf\" x", ["git", "grep"], "data is not execution"),
]


@pytest.mark.parametrize(("script", "found", "why"), CLEAN, ids=[row[-1] for row in CLEAN])
def test_commands_found(script, found, why):
    tree = parse(script)
    assert names(tree) == found
    assert tree.errors == ()


FLAGGED = [
    # (script, command words that must still be found, why)
    ("rm 'x", ["rm"], "unterminated '"),
    ('rm "x $(a)', ["rm", "a"], 'unterminated "'),
    ("rm $(a", ["rm", "a"], "unterminated $("),
    ("rm `a", ["rm", "a"], "unterminated backtick"),
    ("rm ${x:-$(a)", ["rm", "a"], "unterminated ${"),
    ("rm $((1 + $(a)", ["rm", "1", "a"], "unterminated arithmetic"),
    ("rm $[1", ["rm"], "unterminated $["),
    ("rm $'x", ["rm"], "unterminated $'"),
    ("rm @(a", ["rm"], "unterminated extended glob"),
    ("x=(a $(b)", ["b"], "unterminated array"),
    ("cat <<E\n$(a)", ["cat", "a"], "unterminated heredoc"),
    ("cat <<E", ["cat"], "heredoc without body"),
    ("rm >", ["rm"], "redirect without target"),
    ("if a; then b", ["a", "b"], "if without fi"),
    ("while a; do b", ["a", "b"], "loop without done"),
    ("case x in a) b", ["b"], "case without esac"),
    ("{ a", ["a"], "open group"),
    ("( a", ["a"], "open subshell"),
    ("[[ $(a)", ["a"], "open test"),
    ("for ((i=0", [], "open arithmetic for"),
    ("a ) b; c", ["a", "b", "c"], "stray )"),
    ("a; } ; b", ["a", "b"], "stray }"),
    ("a; done; b", ["a", "b"], "stray done"),
    ("a && ; b", ["a", "b"], "operator without command"),
    ("; a", ["a"], "separator without command"),
    ("a (b) c", ["a", "b"], "parenthesis after a word"),
    ("a;;b", ["a", "b"], ";; outside of case"),
    ('echo "$\\\n(a)"', ["echo"], "a dollar and its parenthesis on two lines"),
    ("a &\\\n& b", ["a", "b"], "an operator on two lines"),
    ("ti\\\nme rm", ["time"], "a keyword on two lines"),
    ("A\\\n=1 rm", ["A=1"], "an assignment on two lines"),
    ("a[x; b ]=1", [], "a subscript that another shell reads as commands"),
]


@pytest.mark.parametrize(("script", "found", "why"), FLAGGED, ids=[row[-1] for row in FLAGGED])
def test_errors_are_recorded_and_parsing_goes_on(script, found, why):
    tree = parse(script)
    assert tree.errors
    assert names(tree) == found


def test_the_shape_of_a_list():
    body = parse("a && b & c | d; ! e").body
    assert [separator for _, separator in body.items] == ["&", ";", ""]
    background, pipeline, negated = (node for node, _ in body.items)
    assert isinstance(background, List)
    assert [separator for _, separator in background.items] == ["&&", ""]
    assert isinstance(pipeline, Pipeline)
    assert [c.source for c in pipeline.commands] == ["c", "d"]
    assert (negated.negated, negated.timed) == (True, False)


SHAPES = [
    ("(a)", Subshell, "subshell"),
    ("{ a; } > b", Group, "group"),
    ("if a; then b; fi", If, "if"),
    ("while a; do b; done", Loop, "loop"),
    ("case a in b) c;; esac", Case, "case"),
    ("f() { a; }", Function, "function"),
    ("[[ a < b ]]", Test, "test"),
    ("coproc a", Coproc, "coproc"),
    ("a b > c", Simple, "simple command"),
]


@pytest.mark.parametrize(("script", "kind", "why"), SHAPES, ids=[row[-1] for row in SHAPES])
def test_the_node_of_a_command(script, kind, why):
    ((node, _),) = parse(script).body.items
    assert type(node) is kind


def test_a_simple_command_keeps_its_parts_and_span():
    text = "ls; A=1 B+=2 c[3]=x rm -f 'a b' 2>>log <in # why\n"
    command = list(simple_commands(parse(text)))[1]
    assert command.source == "A=1 B+=2 c[3]=x rm -f 'a b' 2>>log <in" == text[command.start : command.end]
    assert [(a.name, a.append, a.value.literal) for a in command.assignments] == [
        *(("A", False, "1"), ("B", True, "2"), ("c", False, "x"))
    ]
    assert [w.literal for w in command.words] == ["rm", "-f", "a b"]
    assert [(r.fd, r.op, r.target.literal) for r in command.redirects] == [("2", ">>", "log"), ("", "<", "in")]


def test_heredoc_bodies():
    plain, quoted = (
        next(simple_commands(parse(text))).redirects[0] for text in ("cat <<-E\n\ta $x\n\tE\n", "cat <<'E'\na $x\nE\n")
    )
    assert (plain.heredoc.source, plain.strip_tabs, plain.heredoc.literal) == ("a $x\n", True, None)
    assert (quoted.heredoc.literal, quoted.strip_tabs) == ("a $x\n", False)


PARAMETERS = [
    ("${x}", "x", "", None, None),
    ("${#x}", "x", "length", None, None),
    ("${#}", "#", "", None, None),
    ("${!x}", "x", "indirect", None, None),
    ("${!x*}", "x", "names", None, None),
    ("${!x[@]}", "x", "keys", None, None),
    ("${x:-a b}", "x", ":-", "a b", None),
    ("${x##*/}", "x", "##", "*/", None),
    ("${x//a/b}", "x", "//", "a", "b"),
    ("${x/#a}", "x", "/#", "a", None),
    ("${x:1:2}", "x", ":", "1", "2"),
    ("${x^^}", "x", "^^", "", None),
    ("${x@Q}", "x", "@Q", None, None),
    ("${#-x}", "#", "-", "x", None),
    ("${x^^^z}", "x", "^^", "^z", None),
    ("${x;y}", "x", "unknown", ";y", None),
]


@pytest.mark.parametrize(("text", "name", "op", "argument", "extra"), PARAMETERS, ids=[row[0] for row in PARAMETERS])
def test_the_parts_of_a_parameter(text, name, op, argument, extra):
    (part,) = next(simple_commands(parse(f"echo {text}"))).words[1].parts
    assert isinstance(part, Parameter)
    assert (part.name, part.op, part.source) == (name, op, text)
    assert (part.argument and part.argument.source, part.extra and part.extra.source) == (
        argument or (part.argument and ""),
        extra,
    )


def test_the_errors_of_a_substitution_are_its_own_and_the_whole_text_s():
    tree = parse("a $(b; ;) $(c)")
    first, second = (w.parts[0] for w in next(simple_commands(tree)).words[1:])
    assert isinstance(first, CommandSub)
    assert first.script.errors == tree.errors != ()
    assert second.script.errors == ()


LIMITS = [
    ("$(" * 3000, "depth", "substitutions"),
    ("(" * 3000, "time", "subshells"),
    ("{ " * 3000, "depth", "groups"),
    ("$((" * 3000, "time", "arithmetic"),
    ("${x:-" * 3000, "depth", "defaults"),
    ('"$(' * 3000, "depth", "quotes"),
    ("f() " * 3000, "depth", "functions"),
    ("@(" * 3000, "depth", "extended globs"),
    ("a[" * 30000, "", "subscripts"),
    ("((;" * 20000, "time", "arithmetic that is none"),
    ("a[;" * 20000, "time", "subscripts that are none"),
    ("echo $(( $(( 1 ) ) " * 3000, "time", "arithmetic read twice"),
    ("x " * MAX_TEXT, f"longer than {MAX_TEXT} characters", "size"),
    (")" * MAX_TEXT, "unexpected", "errors"),
]


@pytest.mark.parametrize(("text", "error", "why"), LIMITS, ids=[row[-1] for row in LIMITS])
def test_bombs_end_soon_and_are_errors(text, error, why):
    begin = time.process_time()
    tree = parse(text)
    assert any(error in e for e in tree.errors) or not error
    assert len(tree.errors) <= 101
    assert time.process_time() - begin < 5


SNIPPETS = [row[0] for row in CLEAN] + [row[0] for row in FLAGGED]


@given(st.text(alphabet=st.sampled_from(string.printable + "é\udcff\0"), max_size=200))
@settings(max_examples=300, deadline=2000)
def test_any_text_is_parsed(text):
    assert isinstance(parse(text), Script)


@given(
    st.sampled_from(SNIPPETS),
    st.sampled_from(SNIPPETS),
    st.integers(0, 60),
    st.integers(0, 60),
    st.sampled_from("$`'\"(){}<>&|;\\\n #"),
)
@settings(max_examples=500, deadline=2000)
def test_mutated_snippets_are_parsed(first, second, cut, where, char):
    text = first[:cut] + char + second[where:]
    tree = parse(text)
    for command in simple_commands(tree):
        assert command.source
