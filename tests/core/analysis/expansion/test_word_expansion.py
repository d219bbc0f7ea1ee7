"""What words become."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.expansion.assignments import assign
from sentinel_guard.core.analysis.expansion.word_expansion import Field, Scope, expand, expand_one
from sentinel_guard.core.analysis.parser.bash_parser import parse
from sentinel_guard.core.analysis.parser.simple_command_parser import assignment
from sentinel_guard.core.analysis.parser.syntax_tree import Assignment, simple_commands
from tests.support.fakes import FakeWorld

WORLD = FakeWorld(
    {
        "/repo/.git/HEAD": "",
        "/repo/src/a.py": "",
        "/repo/src/b.py": "",
        "/repo/src/odd[1].py": "",
        "/repo/README": "",
        "/etc/passwd": "",
    },
    links={"/repo/link": "/etc"},
    programs={"rm": "/usr/bin/rm"},
)


def scope(**changes) -> Scope:
    world = changes.pop("world", WORLD)
    return Scope(world, **{"cwd": "/repo", "environ": world.environ, "home": world.home, **changes})


def last_command(text: str, here: Scope) -> list[Field]:
    """The fields of the last command, the assignments before it done."""
    commands = [node for node, _ in parse(text).body.items]
    for command in commands:
        for one in command.assignments:
            assign(one, here)
    return [field for word in commands[-1].words for field in expand(word, here)]


def texts(text: str, **changes) -> list[str]:
    return [field.text for field in last_command(text, scope(**changes))]


KNOWN = [
    # (script, the last command's arguments, why)
    ("rm -rf x", ["rm", "-rf", "x"], "plain words"),
    (r"r''m \-rf 'a b' \"q\"", ["rm", "-rf", "a b", '"q"'], "quotes go away"),
    ("$'\\x72m' $'a\\tb' $'\\u00e9\\101'", ["rm", "a\tb", "éA"], "ANSI-C quotes"),
    ("echo ''", ["echo", ""], "an empty quoted word stays"),
    ("x=; echo $x a", ["echo", "a"], "an empty variable gives no field"),
    ('x=; echo "$x"', ["echo", ""], "a quoted empty variable gives one"),
    ("x='a b'; echo $x", ["echo", "a", "b"], "splitting"),
    ("x='a b'; echo \"$x\"", ["echo", "a b"], "no splitting in quotes"),
    ("rm${IFS}-rf${IFS}x", ["rm", "-rf", "x"], "IFS as blanks"),
    ("IFS=,; x=rm,-rf,y; $x", ["rm", "-rf", "y"], "another IFS"),
    ("x=rm; y=-rf; $x $y z", ["rm", "-rf", "z"], "a command in a variable"),
    ("a=r; b=m; $a$b x", ["rm", "x"], "a command in two variables"),
    ("a=r; a+=m; $a x", ["rm", "x"], "appending"),
    ("a=(rm -rf x); ${a[@]}", ["rm", "-rf", "x"], "an array as a command"),
    ('a=(rm -rf "x y"); "${a[@]}"', ["rm", "-rf", "x y"], "a quoted array"),
    ("a=(x y); a+=(z); echo ${a[2]} $a ${#a[@]}", ["echo", "z", "x", "3"], "array items"),
    ('a=(x y); echo "${a[*]}" ${a[-1]}', ["echo", "x y", "y"], "array joined, from behind"),
    ("{rm,-rf,x}", ["rm", "-rf", "x"], "braces make the command"),
    ("echo {a,b}{1..3}", ["echo", "a1", "a2", "a3", "b1", "b2", "b3"], "braces twice"),
    ("echo {01..3} {c..a} {5..1..2}", ["echo", "01", "02", "03", "c", "b", "a", "5", "3", "1"], "ranges"),
    (
        "echo {x} a{b,c}d{e} {a,} \"{a,b}\" {'q r',s}",
        ["echo", "{x}", "abd{e}", "acd{e}", "a", "{a,b}", "q r", "s"],
        "odd braces",
    ),
    ("rm -rf ~ ~/x ~+/y ~root", ["rm", "-rf", "/home/ann", "/home/ann/x", "/repo/y", "/root"], "tilde"),
    ('echo "~" a~ \\~', ["echo", "~", "a~", "~"], "no tilde"),
    ("x=~/y; echo $x", ["echo", "/home/ann/y"], "tilde in an assignment"),
    ("echo $HOME ${PWD} $USER", ["echo", "/home/ann", "/repo", "ann"], "the environment"),
    ("echo src/*.py", ["echo", "src/a.py", "src/b.py", "src/odd[1].py"], "a glob against the tree"),
    ("echo /etc/pass*", ["echo", "/etc/passwd"], "an absolute glob"),
    ("echo src/[ab].py 'src/*.py' src/\\*", ["echo", "src/a.py", "src/b.py", "src/*.py", "src/*"], "quoted stars"),
    ("x='src/a*'; echo $x \"$x\"", ["echo", "src/a.py", "src/a*"], "a glob in a variable"),
    ('echo src/"odd[1]"*', ["echo", "src/odd[1].py"], "a quoted bracket in a glob"),
    ("echo nothing*", ["echo", "nothing*"], "a glob without match stays"),
    ("echo $(echo rm) `echo -rf`", ["echo", "rm", "-rf"], "constant substitutions"),
    ("$(printf '\\162\\155') x", ["rm", "x"], "printf octal"),
    ("$(printf '%s%s' r m) $(printf '\\x2drf')", ["rm", "-rf"], "printf %s and hex"),
    ("$(printf '%b' '\\x72m') $(printf '%d-%x' 10 255)", ["rm", "10-ff"], "printf %b %d %x"),
    ("echo $(printf '%s,' a b)", ["echo", "a,b,"], "printf repeats its format"),
    ("$(echo cm0gLXJmIHg= | base64 -d)", ["rm", "-rf", "x"], "base64"),
    ("$(base64 -d <<< cm0=) x", ["rm", "x"], "base64 of a here-string"),
    ("$(base64 --decode <<E\ncm0=\nE\n) x", ["rm", "x"], "base64 of a heredoc"),
    ("$(echo 726d | xxd -r -p) x", ["rm", "x"], "hex"),
    ("$(echo mr | rev) $(rev <<<fr-)", ["rm", "-rf"], "rev"),
    ("$(echo eb | tr a-z n-za-m)", ["ro"], "rot13"),
    ("$(echo RM | tr '[:upper:]' '[:lower:]')", ["rm"], "tr classes"),
    ("$(echo r-m | tr -d -) x", ["rm", "x"], "tr -d"),
    ("$(echo xrmx | cut -c2-3) $(echo a:rm | cut -d: -f2)", ["rm", "rm"], "cut"),
    ("$(echo xx | sed s/xx/rm/) $(echo a.b | sed 's|\\.|-|g')", ["rm", "a-b"], "simple sed"),
    ("$(printf 'a\\nrm\\n' | tail -n1) $(printf 'rm\\nb\\n' | head -1)", ["rm", "rm"], "head and tail"),
    ("echo $(pwd) $(basename /a/b.c .c) $(dirname /a/b)", ["echo", "/repo", "b", "/a"], "path words"),
    ("echo $(cd src && pwd) $(pwd)", ["echo", "/repo/src", "/repo"], "cd inside stays inside"),
    ("echo $(realpath link/x) $(readlink -f link)", ["echo", "/etc/x", "/etc"], "links are followed"),
    ("echo $(which rm) $(command -v rm)", ["echo", "/usr/bin/rm", "/usr/bin/rm"], "which"),
    ("cd $(git rev-parse --show-toplevel)", ["cd", "/repo"], "top of the repository"),
    ("t=$(mktemp -d); rm -rf $t/x", ["rm", "-rf", "/tmp/tmp.XXXXXXXXXX/x"], "a fresh folder is named by its template"),
    ("t=$(mktemp --suffix=.db); rm $t", ["rm", "/tmp/tmp.XXXXXXXXXX.db"], "with an ending"),
    ("t=$(mktemp --suffix .db -p /var/tmp a.XXXX); rm $t", ["rm", "/var/tmp/a.XXXX.db"], "in a folder"),
    ("t=$(mktemp -p src -d a.XXXX); rm $t", ["rm", "/repo/src/a.XXXX"], "in this one"),
    ("t=$(mktemp --tmpdir a.XXXX); rm $t", ["rm", "/tmp/a.XXXX"], "in the temporary one"),
    ("echo $(echo a; echo b) $(command echo c)", ["echo", "a", "b", "c"], "several constants"),
    (
        "echo $((1+2*3)) $((7/2)) $((-7/2)) $((2**3)) $((010)) $((0x1f))",
        ["echo", "7", "3", "-3", "8", "8", "31"],
        "arithmetic",
    ),
    ("n=4; echo $((n+1)) $(( $n * 2 )) $[n-1]", ["echo", "5", "8", "3"], "arithmetic with variables"),
    ("x=a.tar.gz; echo ${x%.gz} ${x%%.*} ${x#*.} ${x##*.}", ["echo", "a.tar", "a", "tar.gz", "gz"], "trimming"),
    ('x=/a/b; echo "${x%/*}" ${x##*/}', ["echo", "/a", "b"], "trimming in quotes"),
    ("x=rxm; echo ${x/x/} ${x//[rm]/-} ${x/#r/s} ${x/%m/n}", ["echo", "rm", "-x-", "sxm", "rxn"], "replacing"),
    ("x=abcdef; echo ${x:2} ${x:1:2} ${x: -2} ${x:0:-1} ${#x}", ["echo", "cdef", "bc", "ef", "abcde", "6"], "slices"),
    ("x=rM; echo ${x^^} ${x,,} ${x^} ${x,} ${x@U}", ["echo", "RM", "rm", "RM", "rM", "RM"], "case"),
    ('x="it\'s"; echo ${x@Q}', ["echo", "'it'\\''s'"], "quoting"),
    ("x=y; y=rm; ${!x} a", ["rm", "a"], "indirection"),
    ("echo ${no:-d} ${no-d} ${no:+d} ${no:=e} $no", ["echo", "d", "d", "e", "e"], "defaults of an unset variable"),
    ("x=v; echo ${x:-d} ${x:+d} ${x:?m}", ["echo", "v", "d", "v"], "defaults of a set one"),
    ("x=; echo ${x:-d} ${x-d} ${x:+d} ${x+d}", ["echo", "d", "d"], "defaults of an empty one"),
    ('echo "${no:-a b}" ${no:-a b} ${no:-~}', ["echo", "a b", "a", "b", "/home/ann"], "defaults split and expand"),
    ('echo "$(echo "$(echo a)")"', ["echo", "a"], "nested substitution"),
    ("cat <(rm x)", ["cat", "/dev/fd/63"], "a process substitution is a descriptor"),
]


@pytest.mark.parametrize(("script", "fields", "why"), KNOWN, ids=[row[-1] for row in KNOWN])
def test_what_is_known(script, fields, why):
    found = last_command(script, scope())
    assert [f.text for f in found] == fields
    assert all(f.known for f in found)


UNKNOWN = [
    # (script, text of its last field, why)
    ('rm -rf "$NO_SUCH/"', "/", "unset expands to nothing and is not sure"),
    ("rm -rf $NO_SUCH", "", "unset alone is a field that may be anything"),
    ("x=$(whoami); rm $x/a", "$x/a", "an unknown variable keeps its name"),
    ("rm $(whoami)/a", "$(whoami)/a", "an unknown output keeps its source"),
    ("rm $(cat secret)", "$(cat secret)", "a file's content"),
    ("rm `date`", "`date`", "backticks"),
    ("rm $RANDOM.x", "$RANDOM.x", "set by the shell while it runs"),
    ("rm ${!x@}", "${!x@}", "names of variables"),
    ("x=$(whoami); rm ${x%/}", "${x%/}", "an operator on an unknown value"),
    ("x=$(whoami); rm ${x:-/}", "${x:-/}", "a default behind an unknown value"),
    ("rm ${NO_SUCH:?}/", "${NO_SUCH:?}/", "bash would stop here"),
    ("rm @(a|b)", "@(a|b)", "an extended glob"),
    ("rm ~bob/x", "~bob/x", "another user's home"),
    ("rm $(echo a || echo b)", "$(echo a || echo b)", "a choice is no constant"),
    ("rm $(echo a > f)", "$(echo a > f)", "output that goes elsewhere"),
    ("rm $(echo a", "$(echo a", "an unfinished substitution"),
    ("rm $((x++))", "$((x++))", "arithmetic that assigns"),
    ("rm $(printf '%s' $(whoami))", "$(printf '%s' $(whoami))", "an unknown piece inside"),
    ("declare -A m; m[k]=v; rm ${m[k]}", "${m[k]}", "an associative array"),
    ("rm {1..100000}", "{1..100000}", "more words than are looked at"),
    ("rm ${x@P}", "", "prompt expansion of an unset variable"),
    ("rm $(sed -n 1p f)", "$(sed -n 1p f)", "sed of another form"),
    ("rm $(echo x | base64 -d file)", "$(echo x | base64 -d file)", "base64 of a file"),
]


@pytest.mark.parametrize(("script", "text", "why"), UNKNOWN, ids=[row[-1] for row in UNKNOWN])
def test_what_is_not_known(script, text, why):
    field = last_command(script, scope())[-1]
    assert (field.text, field.known) == (text, False)


def test_a_glob_without_match_says_that_it_is_a_pattern():
    (_, field) = last_command("rm build/*", scope())
    assert field == Field("build/*", pattern=True, source="build/*")


def test_a_relative_glob_needs_a_known_folder():
    (_, field) = last_command("rm src/*.py", scope(cwd=None))
    assert (field.text, field.pattern) == ("src/*.py", True)


def test_positional_parameters():
    assert texts('echo "$@" $# $1 "$*" ${2} ${@:2} "${3}"', positional=("a b", "c")) == [
        *("echo", "a b", "c", "2", "a", "b", "a b c", "c", "c", "")
    ]
    assert texts('echo "$@"') == ["echo"]
    assert not last_command('echo "$@"', scope(positional=None))[1].known


def test_a_function_is_no_constant():
    here = scope(functions={"echo": parse("true").body})
    assert not last_command("rm $(echo a)", here)[1].known


def test_a_copy_keeps_changes_inside():
    outer = scope()
    inner = outer.copy()
    last_command("x=1; true", inner)
    inner.cwd = "/"
    assert (outer.variables, outer.cwd) == ({}, "/repo")


def test_one_field_is_neither_split_nor_globbed():
    here = scope(variables={"x": ("src/a b",)})
    redirect = parse("> $x*").body.items[0][0].redirects[0]
    assert expand_one(redirect.target, here).text == "src/a b*"
    (assigned,) = parse('y="$x"*').body.items[0][0].assignments
    assert expand_one(assigned.value, here).text == "src/a b*"


def test_a_redirect_target_globs_to_one_file():
    target = parse("> READ*").body.items[0][0].redirects[0].target
    assert expand_one(target, scope(), glob=True).text == "README"
    many = parse("> src/*").body.items[0][0].redirects[0].target
    assert expand_one(many, scope(), glob=True).text == "src/*"


def test_operands_of_export_are_assignments():
    command = next(simple_commands(parse("export A=~/x B+=y c d[1]=z 'e=f'")))
    found = [assignment(word) for word in command.words[1:]]
    assert [(a.name, a.append, a.value.source) for a in found if a] == [
        *(("A", False, "~/x"), ("B", True, "y"), ("d", False, "z"))
    ]
    here = scope()
    assign(found[0], here)
    assert here.variables == {"A": ("/home/ann/x",)}
    assert isinstance(found[3], Assignment)


def test_values_that_double_stay_small():
    here = scope()
    doubled = "a=aaaaaaaaaaaaaaaa; " + "a=$a$a; " * 60 + "rm $a"
    assert not last_command(doubled, here)[-1].known
    arrays = "a=(1 2); " + "a=(${a[@]} ${a[@]}); " * 60 + "rm ${a[@]}"
    assert not last_command(arrays, scope())[-1].known


@pytest.mark.parametrize(
    "word", ["{a,b}" * 40, "{" * 3000, "{a," * 500 + "}" * 500, "{1..9}" * 9, "{a,b}" + "x" * 9000]
)
def test_a_word_with_too_many_braces_is_unknown(word):
    (_, field) = last_command(f"rm {word}", scope())
    assert (field.text, field.known) == (word, False)
