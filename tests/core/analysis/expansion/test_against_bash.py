"""What argv would bash really run: bash itself as the oracle, the tricks by name, and constants against coreutils."""

from __future__ import annotations

import os
import random
import shutil
import subprocess

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.expansion import constant_output
from sentinel_guard.core.analysis.expansion.constant_output import ProgramContext
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.bash.argv_oracle import Cage, differences
from tests.support.fakes import FakeWorld

SNIPPETS = 300
WORLD = FakeWorld(
    {"/repo/a.txt": "", "/repo/.git/HEAD": "", "/bin/rm": "", "/repo/cmd": "rm"}, programs={"rm": "/bin/rm"}
)


@pytest.mark.skipif(not shutil.which("cc"), reason="the stub is compiled")
@pytest.mark.skipif(os.geteuid() != 0 and not shutil.which("unshare"), reason="nobody may build a cage here")
def test_what_bash_runs_is_foreseen():
    with Cage() as cage:
        found = list(differences(cage, range(SNIPPETS)))
    wrong = [(s.seed, s.text, real, ours) for verdict, s, real, ours in found if verdict in ("wrong", "hung")]
    assert not wrong
    assert sum(verdict == "same" for verdict, *_ in found) > SNIPPETS * 0.4
    assert sum(len(real) for _, _, real, _ in found) > SNIPPETS  # they really ran


def effects_of(command: str):
    return analyse(Action("1", "s", Layer.SHELL, "shell", {"command": command}, "/repo", 0.0, root="/repo"), WORLD)


def rows(table):
    return [pytest.param(*row[:-1], id=row[-1]) for row in table]


TRICKS = [
    # (text, why): each runs rm -rf / or what comes to the same
    ("r''m -rf /", "quotes inside the name"),
    ("r\\m -rf /", "a backslash inside the name"),
    ("$'\\x72m' -rf /", "ANSI-C quotes"),
    ("$'\\x{72}m' -rf /", "ANSI-C braces"),
    ("${x:-rm} -rf /", "a default"),
    ("${u:=rm} -rf /", "a default that is assigned"),
    ("$(printf '\\x72\\x6d') -rf /", "printf"),
    ('$(printf "\\\\$(printf %o 114)m") -rf /', "printf in printf"),
    ("$(echo cm0gLXJmIC8= | base64 -d)", "base64"),
    ("$(openssl base64 -d <<< cm0=) -rf /", "openssl"),
    ("`rev<<<mr` -rf /", "rev of a here-string"),
    ("$(tr a-z n-za-m <<<ez) -rf /", "rot13"),
    ("$(python3 -c 'print(\"rm\")') -rf /", "a constant of Python"),
    ("$(awk 'BEGIN{print \"rm\"}') -rf /", "a constant of awk"),
    ("$(echo m r | awk '{print $2 $1}') -rf /", "fields of awk"),
    ("$(jq -rn '\"rm\"') -rf /", "a constant of jq"),
    ("$(perl -e 'print \"rm\"') -rf /", "a constant of Perl"),
    ("$(expr substr xrm 2 2) -rf /", "expr"),
    ("$(for i in r m; do printf %s $i; done) -rf /", "a loop that prints"),
    ("c() { echo rm; }; $(c) -rf /", "a function that prints"),
    ("/b?n/rm -rf /", "a glob of a folder"),
    ("/bin/r[m] -rf /", "a glob of the name"),
    ("{rm,-rf,/}", "braces"),
    ("rma=rm; $rm{a,b} -rf /", "braces make a name"),
    ("a=r b=m; $a$b -rf /", "two variables"),
    ("rm -rf ${HOME:0:1}", "a slice"),
    ('x=(rm -rf /); "${x[@]}"', "an array"),
    ("a=([5]=rm); ${a[5]} -rf /", "an array with gaps"),
    ("declare -A m=([k]=rm); ${m[k]} -rf /", "an array with names"),
    ('set -- rm -rf /; "$@"', "positional parameters"),
    ("set rm -rf /; $*", "without dashes"),
    ('eval "$(echo rm -rf /)"', "eval of an output"),
    ("v=rm; c=v; ${!c} -rf /", "indirection"),
    ("declare -n r=c; c=rm; $r -rf /", "a name reference"),
    ("readonly c=rm; c=ls; $c -rf /", "an assignment that fails"),
    ("printf -v c rm; $c -rf /", "printf -v"),
    ("read c <<< rm; $c -rf /", "read"),
    ("{ read a; read b; } <<< $'x\\nrm'; $b -rf /", "the second line"),
    ("mapfile -t a <<< 'rm -rf /'; ${a[0]}", "mapfile"),
    ("x=RM; ${x,,} -rf /", "another case"),
    ("IFS=,; c=rm,-rf,/; $c", "another IFS"),
    ('f() { "$@"; }; alias g=f; f rm -rf /', "a function that hands on"),
    ("f() { local c=rm; $c -rf /; }; f", "a local name"),
    ("trap 'rm -rf /' EXIT", "a trap"),
    ("trap 'rm -rf $d' EXIT; d=/", "a trap that knows more at the end"),
    ("trap 'rm -rf /' DEBUG; true", "a debug trap"),
    ("PROMPT_COMMAND='rm -rf /'", "the prompt"),
    ("hash -p /bin/rm ls; ls -rf /", "the hash table"),
    ("BASH_CMDS[ls]=/bin/rm; ls -rf /", "the hash table by its name"),
    ("BASH_ALIASES[ls]='rm -rf'; ls /", "the aliases by their name"),
    ("alias rm=echo; rm -rf /", "an alias that no shell expands"),
    ("shopt -s expand_aliases\nalias a='rm ' b=-rf\na b /", "an alias behind an alias"),
    ("exec -a ls rm -rf /", "another argv[0]"),
    ("coproc rm -rf /", "a coprocess"),
    (". /dev/stdin <<< 'rm -rf /'", "sourced input"),
    ("bash -c '\"$1\" -rf /' _ rm", "arguments of a text"),
    ("echo 'rm -rf /' | bash -s", "a shell's input"),
    ("bash <(echo rm -rf /)", "a process substitution"),
    ("env -S 'rm -rf /'", "env -S"),
    ("hyperfine 'sleep 1' 'rm -rf /' -w 3", "each operand is a text"),
    ("hyperfine -L n 1,2 'rm -rf /'", "behind an option of two values"),
    ("hyperfine -L d /tmp/x,/ 'rm -rf {d}'", "each value of an option"),
    ("hyperfine -L c ls,rm -L d / --prepare '{c} -rf {d}' true", "in a text beside the commands, too"),
    (f"hyperfine -L a {','.join(map(str, range(99)))} -L b /,x 'echo {{a}}' 'rm -rf {{b}}'", "behind many values"),
    ("hyperfine -S 'rm -rf /' ls", "its shell"),
    ("$(cabal list-bin app) rm -rf /", "where nothing is printed the next word is the command"),
    ("B=$(cabal list-bin app); $B rm -rf /", "the same by a variable"),
    ("$(cabal list-bin app --builddir=/tmp/x -v0) rm -rf /", "the same with options"),
    ("$(cabal list-bin -v0 rm --builddir=/tmp/x) -rf /", "a program of that name, with options"),
    ("echo 'a$b' > x.sh; sed -i 's/a$b/rm -rf \\//' x.sh; sh x.sh", "a dollar in the middle is itself to sed"),
    ("echo / | xargs -I{} sh -c 'rm -rf {}'", "xargs into a shell"),
    ("x='$(rm -rf /)'; echo ${x@P}", "prompt expansion"),
    ("x='a[$(rm -rf /)]'; echo $((x))", "a subscript that runs"),
    ("command_not_found_handle() { rm -rf /; }; nosuchcmd", "the handler of what is not found"),
    ("if test -f x; then c=rm; else c=ls; fi; $c -rf /", "one of two"),
    ("case x in x) c=rm;; esac; $c -rf /", "an arm that matches"),
    ("while read c; do $c -rf /; done <<< rm", "a loop over lines"),
    ("cd nowhere; rm -rf ../../", "a folder that is not there"),
    ("shopt -s dotglob; cd /; rm -rf *", "hidden names too"),
    ("cabal() { echo rm; }; $(cabal list-bin app) -rf /", "a function that prints another program"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "why"), TRICKS, ids=[row[-1] for row in TRICKS])
def test_a_trick_is_seen_through(command, why):
    assert any(e.kind is Kind.DELETE and e.target in ("/", "/home/ann") for e in effects_of(command)), why


HONEST = [
    ("$VENV/bin/python -m pytest", "python", "a program below a variable"),
    ("VENV=$(poetry env info -p); $VENV/bin/python x.py", "python", "below what prints one path"),
    ("$(npm bin)/eslint src", "eslint", "below an output"),
    ("$(go env GOPATH)/bin/golangci-lint run", "golangci-lint", "the same of Go"),
    ("$(swift build -c release --show-bin-path)/app x", "app", "and of Swift"),
    ("$(cabal list-bin exe:app) +RTS -s", "app", "an output that is a program's place"),
    ("$(cabal list-bin app --enable-profiling --builddir=/tmp/x -v0) /tmp/w", "app", "the same with options"),
    ("$(cabal list-bin --builddir /tmp/x -O2 app 2>/dev/null) x", "app", "an option with a value of its own"),
    ("git clone ssh://h/y y; $(cabal list-bin app -v0) x", "app", "options without values lead into no other folder"),
    ("BIN=$(stack exec -- which app); time $BIN x", "app", "the same in a variable"),
    ("$PYTHON -m pytest", "python3", "a variable that holds a program by custom"),
    ("PYTHON=${PYTHON:-python3}; $PYTHON -m pytest", "python3", "with its default"),
    ("if command -v pnpm; then PM=pnpm; else PM=npm; fi; $PM install", "pnpm", "one of two"),
    ("[[ $OSTYPE == d* ]] && SED=gsed || SED=sed; $SED -n 1p a", "gsed", "one of two in one line"),
    ('run() { echo "+ $*"; "$@"; }; run pytest -q', "pytest", "a function that hands on"),
    ('"$HOME/.cargo/bin/cargo" build', "cargo", "below home"),
    ('CMD=(npm test); "${CMD[@]}"', "npm", "an array"),
    ("seq 2000000 > /tmp/x; hyperfine --input /tmp/x './app {n}' -P n 1 9", "app", "what it reads is no text"),
    ("npx --yes @wordpress/env --version", "wp-env", "a package whose program has another name"),
]


@pytest.mark.parametrize(("command", "program"), rows(HONEST))
def test_an_honest_word_is_no_riddle(command, program):
    effects = effects_of(command)
    assert not [e.target for e in effects if e.kind is Kind.OPAQUE and e.how & {"name", "code", "parse"}]
    assert program in [e.command.program for e in effects if e.kind is Kind.EXECUTE and e.command]


RIDDLES = [
    ("X=$(cat f); $X/bin/python x", "it may be several words"),
    ("$X/bash -c ls", "a shell"),
    ("$(git log -1 --format=%s)/bin/x", "an output that somebody chose"),
    ("$X -rf /", "a variable of no custom"),
    ("PYTHON=$(cat f); $PYTHON x", "the text says that it is something else"),
    ("x=$RANDOM; $x", "set while it runs"),
    ("$(pyenv which bash) -c ls", "a shell, by its place"),
    ("$(cabal list-bin bash -v0) -c ls", "the same with options"),
    ("$(cabal list-bin app --builddir=`x`) a", "an option that somebody chose"),
    ("$(cabal list-bin app --builddir=x; echo rm) a", "more than that is printed"),
    ("PATH=/tmp/x:$PATH; $(cabal list-bin app) -rf /", "another program may print it"),
    ("git clone ssh://h/y y && $(cabal list-bin app --builddir=y/d) x", "it may lie in what was fetched"),
    ("git clone ssh://h/y y; A=$(cabal list-bin --project-dir y app); $A x", "the same by a variable"),
]


@pytest.mark.parametrize("command", rows(RIDDLES))
def test_a_riddle_stays_one(command):
    assert any(e.kind is Kind.OPAQUE and "name" in e.how for e in effects_of(command))


TEXTS = ("rm -rf /\n", "a:b:c\nd:e\n", "b\na\na\n", "x  y\tz\n", "", "no newline", "3\n11\n2\n", "a.b/c\n\nlast\n")
FILTERS = (
    *("rev", "cut -d: -f2", "cut -c2-3", "cut -d: -f2-", "cut -c-2"),
    *("cut -b1", "head -n1", "head -2", "head -c3", "tail -n1"),
    *("tail -c2", "tr a-c x", "tr -d a", "tr a-z A-Z"),
    *("tr [:lower:] [:upper:]", "tr : ' '", "sed s/a/b/", "sed s/a//g"),
    *("sed -e s,/,-,g", "base64", "base64 -w0", "base32", "uniq", "tac"),
    *("wc -l", "wc -c", "wc -w", "sort", "sort -r", "sort -n"),
    *("sort -u", "awk {print$1}", "awk {print$2$1}", "awk {print$NF}", "awk -F: {print$2}", "cat", "cat -", "xxd -p"),
)  # fmt: skip
PRINTERS = (
    *(
        "seq 3",
        "seq 2 5",
        "seq 9 -3 1",
        "seq -s , 4",
        "seq 5 1",
        "basename /a/b.c .c",
        "basename a/",
        "dirname /a/b",
        "dirname a",
    ),
    *(
        "dirname /",
        "basename /",
        "expr 3 + 4",
        "expr substr hello 2 3",
        "expr length abc",
        "printf %s-%s\\n a b c",
        "printf %5s| a",
    ),
    *(
        "printf %-5s| a b",
        "printf %05d 42",
        "printf %x 255",
        "printf %o 8",
        "printf %%",
        "printf %b a\\tb",
        "printf %.2s abc",
    ),
    *(
        "printf a\\x41\\101\\n",
        "printf %d 0x1f",
        "printf %d 010",
        "printf %c abc",
        "echo -n a",
        "echo a\\tb",
        "printf %s",
    ),
    *(
        "dirname a//b",
        "basename a.c.c .c",
        "printf %+d 5",
        "printf %i 7",
        "printf %s\\n",
        "printf \\1021",
        "echo",
        "seq 1 0",
    ),
)


def run(argv: list[str], text: str) -> str:
    program = shutil.which(argv[0], path="/usr/bin:/bin")
    if program is None:
        pytest.skip(f"no {argv[0]} here")
    environ = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    said = subprocess.run([program, *argv[1:]], input=text, capture_output=True, text=True, check=True, env=environ)
    return said.stdout


@pytest.mark.parametrize("command", FILTERS)
def test_a_filter_gives_what_the_real_one_gives(command):
    argv = command.split(" ") if "' '" not in command else ["tr", ":", " "]
    for text in TEXTS:
        ours = constant_output.output(tuple(argv), text, ProgramContext(WORLD, "/repo"))
        assert ours is None or ours == run(argv, text), text


@pytest.mark.parametrize("command", PRINTERS)
def test_a_printer_prints_what_the_real_one_prints(command):
    argv = command.split(" ")
    ours = constant_output.output(tuple(argv), "", ProgramContext(WORLD, "/repo"))
    assert ours == run(argv, "")


def test_random_substitutions_of_sed_and_tr_agree():
    chance = random.Random(3)
    for _ in range(60):
        text = "".join(chance.choice("ab./-x\n") for _ in range(12)) + "\n"
        argv = chance.choice((
            ["sed", f"s/{chance.choice('abx')}/{chance.choice('yz')}/{chance.choice(['', 'g'])}"],
            ["tr", chance.choice(("a-b", "ab", "./")), chance.choice(("x", "xy", "x-z"))],
            ["tr", "-d", chance.choice(("a", "a-x", "\\n"))],
        ))  # fmt: skip
        ours = constant_output.output(tuple(argv), text, ProgramContext(WORLD, "/repo"))
        assert ours is None or ours == run(argv, text), (argv, text)
