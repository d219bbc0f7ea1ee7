"""What a script surely does not come to is not run: behind an ``exit``, and in one of bash what a test on what is known
leaves out. Bash itself says so of each row.
"""

from __future__ import annotations

import subprocess

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.fakes import FakeWorld

CALL, EXITS = "D=1 bash s.sh a", "D=/ ./s.sh"
LEFT_OUT = [
    ('if [ "$D" = 1 ]; then q; else p; fi', "the other branch"),
    ("D=${D:-0}\nif [[ $D == 1 ]]; then q; else p; fi", "behind a default"),
    ('if [ "$D" != 1 ]; then p; fi; q', "a branch without another"),
    ('if [ "$D" = 2 ]; then p; elif [ "$D" -eq 1 ]; then q; else p; fi', "one of several"),
    ('[ "$D" = 1 ] || p', "a list"),
    ('[ "$D" = 2 ] && p', "the other way round"),
    ('[ "$D" = 2 ] && p && p; [ "$D" = 1 ] || p && q', "all of it"),
    ('[ "$D" = 2 ] && p || q', "and what stands instead"),
    ('run() { if [ "$D" = 1 ]; then echo "+ $*"; else "$@"; fi; }\nrun p', "a function that hands on"),
    ('DRY=\nfor x in "$@"; do [ "$x" = a ] && DRY=1; done\n[ -n "$DRY" ] || p', "a loop over its arguments"),
    ("if [[ ${1:-} != a ]]; then p; fi", "an argument"),
    ("D=true; if $D; then q; else p; fi", "a variable that is run"),
    ('D=false; "$D" && p; ${D} || q', "in a list"),
    ('while [ $# -gt 0 ]; do case "$1" in a) D=3 ;; *) p ;; esac; shift; done; [ "$D" = 3 ] || p', "its arguments"),
    ('while [[ -n "${1:-}" ]]; do [ "$1" = a ] || p; shift; done', "in another form"),
    ('X=2; [ "$X" = 2 ] && X=3; [ "$X" = 3 ] || p', "what a branch sets"),
    ('f() { if [ "$D" = 1 ]; then return 0; fi; p; }\nf', "behind a return"),
    ('f() { [ "$D" = 1 ] && return; p; }; f; q', "of a list"),
    ('f() { case "$D" in 1) q; return ;; esac; p; }; f', "of an arm"),
    ("f() { { [[ $D == 1 ]] && return 3; }; p; }; f || q", "of a group"),
    ('f() { [ "$1" = x ] && return; p; }; g() { f x; q; return; p; }; g', "of a function in another"),
    ("((D)) || p", "a number"),
    ("if ((D == 1)); then q; else p; fi", "an expression"),
    ("N=0; ((N)) && p; ((D > 0 && D < 2)) || p", "several"),
    ("if (( ! D )); then p; fi", "what is none"),
]
SEEN = [
    ('if [ "$D" = 1 ]; then p; else q; fi', CALL, "the branch that is taken"),
    ('if [ "$D" = 1 ]; then q; else p; fi', "D=0 bash s.sh", "another value"),
    ('if [ "$D" = 1 ]; then q; else p; fi', "bash s.sh", "a variable that nobody sets here"),
    ('if [ "$D" = 1 ]; then q; else p; fi', "D=$(cat f) bash s.sh", "what nobody knows"),
    ('if [ "$D" == 1 ]; then q; else p; fi', "D=1 sh s.sh", "an error to another shell"),
    ('if [ "$D" = 1 -o x = y ]; then q; else p; fi', "D=1 dash s.sh", "a form that shells read differently"),
    ('if [ "$D" = {1,2} ]; then p; else q; fi', "D=1 sh s.sh", "words that only bash makes"),
    ('if [ "$D" = 1 ]; then q; else p; fi', "D=1 tcsh s.sh", "a shell of another kind"),
    ("[[ $D == 1 ]] || p", "D=1 sh s.sh", "which knows no such test"),
    ("#!/bin/sh\n[[ $D == 1 ]] || p", "D=1 ./s.sh", "the same, as it says itself"),
    ('eval "$1"\n[ "$D" = 1 ] || p', "D=1 bash s.sh D=2", "code that may set it"),
    ('. ./f\n[ "$D" = 1 ] || p', CALL, "a file that may"),
    ('export "$1"\n[ "$D" = 1 ] || p', CALL, "a name that is a value"),
    ('export $(cat f)\n[ "$D" = 1 ] || p', CALL, "names of a file"),
    ('printf -v "$1" 2\n[ "$D" = 1 ] || p', CALL, "printed into it"),
    ('read -r D < f\n[ "$D" = 1 ] || p', CALL, "read into it"),
    ('declare -n R=D\nR=2\n[ "$D" = 1 ] || p', CALL, "by another name"),
    ("trap 'D=2' USR1; kill -USR1 $$\n[ \"$D\" = 1 ] || p", CALL, "by a signal"),
    ("trap 'D=2' DEBUG\n[ \"$D\" = 1 ] || p", CALL, "before each command"),
    ('SECONDS=0; sleep 1; [ "$SECONDS" = 0 ] || p', CALL, "what runs on by itself"),
    ('RANDOM=1; [ "$RANDOM" = 1 ] || p', CALL, "by chance"),
    ('[() { false; }\n[ "$D" = 1 ] || p', CALL, "another test"),
    ('i=0; while c; do [ "$i" = 0 ] || p; i=1; done', CALL, "a later round"),
    ("a=0 b=0 c=0 d=0; while x; do [ $d = 0 ] || p; d=$c; c=$b; b=$a; a=1; done", CALL, "one that comes late"),
    ('for i in 1 2 3; do [ "$D" = 1 ] || p; D=2; done', CALL, "a later round of a known number"),
    ('f() { [ "$D" = 1 ] || p; [ "$D" = 3 ] && return; D=3; f; }; f', CALL, "a function that calls itself"),
    ('f() { [ "$D" = 1 ] || p; }; D=2; f', CALL, "called with another value"),
    ('x | while read -r D; do [ "$D" = 1 ] || p; done', CALL, "lines of a program"),
    ('c && D=2; [ "$D" = 1 ] || p', CALL, "what may be set"),
    ('if c; then D=2; fi; [ "$D" = 1 ] || p', CALL, "in a branch"),
    ("D=true; true() { false; }; $D || p", CALL, "another command of that name"),
    ("D=$(c); $D || p", CALL, "what a program says"),
    ('while [ $# -gt 0 ]; do [ "$1" = a ] || p; shift; done', 'bash s.sh a "$(c)"', "an argument that nobody knows"),
    ('while [ $# -gt 0 ]; do [ "$1" = a ] || p; shift; done', "bash s.sh a b", "the second one"),
    ('while [ $# -gt 0 ]; do [ "$1" = a ] && break; p; shift; done', "bash s.sh b", "a loop that is left"),
    ('[ "$D" = 1 ] && c || p', CALL, "what may fail behind it"),
    ("if [[ $D -ne 8 ]]; then exit 0; fi; p", "D=010 bash s.sh", "a number of base 8"),
    ('trap \'[ "$D" = 1 ] || p\' EXIT; D=2; c || exit; D=1', CALL, "a trap that may come before"),
    ('set -e; trap \'[ "$D" = 1 ] || p\' EXIT; D=2; c; D=1', CALL, "the same, where what fails ends it"),
    ('f() { [ "$D" = 2 ] && return; p; }; f', CALL, "a return that does not come"),
    ("f() { c && return; p; }; f", CALL, "one that may not"),
    ("f() { (return); p; }; f", CALL, "of a subshell"),
    ("f() { return | q; p; }; f", CALL, "of a pipe"),
    ("f() { return & p; }; f", CALL, "in the background"),
    ("f() { return; }; f; p", CALL, "it ends the function alone"),
    ("f() { while c; do return; done; p; }; f", CALL, "a loop may have no round"),
    ("f() { return > /none/x; p; }; f", CALL, "a redirection that fails: bash runs no return"),
    ("f() { > /none/x return; p; }; f", CALL, "in front of it, too"),
    ("f() { { return; } 2> /none/x; p; }; f", CALL, "a group"),
    ("return() { :; }\nf() { return; p; }; f", CALL, "another return"),
    ('f() { [ "$D" = 1 ] && return; p; }; D=2; f', CALL, "called with another value"),
    ('f() { [ "$1" = 1 ] && return; p; }; f 1; f 2', CALL, "called again"),
    ('f() { [ "$D" = 1 ] && return; p; }; trap f EXIT; D=2', CALL, "called at the end"),
    ('f() { if [ "$D" = 2 ]; then p; fi; }; trap f EXIT; D=2', CALL, "a branch that is taken then"),
    ("trap '[ \"$D\" = 2 ] && p' EXIT; D=2; exit", CALL, "in the trap's own text"),
    ("f() { $X; }; trap f EXIT; X=p", CALL, "a variable that is set by then"),
    ('f() { if [ "$D" = 1 ]; then D=2; return; fi; }; f; [ "$D" = 1 ] || p', CALL, "what is set before a return"),
    ("f() { if [ $D = 1 ]; then g() { p; }; return; fi; }; g() { q; }; f; g", CALL, "a function, too"),
    ('f() { if [ "$D" = 1 ]; then D=2; exit; fi; }; trap \'[ "$D" = 1 ] || p\' EXIT; f', CALL, "before an exit"),
    ("f() { case $D in 1) D=2; return ;; esac; D=1; }; f; [ $D = 1 ] || p", CALL, "in an arm"),
    ("f() { [ $D = 1 ] && { D=2; return; }; D=1; }; f; [ $D = 1 ] || p", CALL, "in a group of a list"),
    ("((D++)) && p", CALL, "an expression that changes it"),
    ("((D = 0)) || p", CALL, "the same"),
    ("N=D; D=0; ((N)) || p", CALL, "a value that is an expression"),
    ("((X)) || p", CALL, "a variable that nobody sets"),
    ('[ "$V" = 1 ] || p\nV=2', "V=1; D=1 bash s.sh", "a variable that is not exported"),
    ('c && V=1\n[ "$V" = 1 ] || p', "V=1; D=1 bash s.sh", "which the script may set"),
    ('if c; then\nV=1\nfi\n[ "$V" = 1 ] || p', "V=1; D=1 bash s.sh", "in a branch"),
    ('while [ $# -gt 0 ]; do case "$1" in b) p ;; esac; shift; done; let x=1', "bash s.sh a b", "its second argument"),
    ('while true; do case "$1" in a) ;; b) p ;; *) break ;; esac; shift; done; let x=1', "bash s.sh a b", "the same"),
    ("", 'set -- a b; while [ $# -gt 0 ]; do case "$1" in b) p ;; esac; shift; done', "of a text"),
    ('echo "${X:D=2:1}"; [ "$D" = 1 ] || p', CALL, "an expression that sets it"),
    ('[[ D=2 -eq 2 ]]; [ "$D" = 1 ] || p', CALL, "in a test"),
    ('[ -v "A[D=2]" ]; [ "$D" = 1 ] || p', CALL, "in an index"),
    ('local D=2; [ "$D" = 2 ] || p', CALL, "a name that is local to nothing"),
    ('N=D; : "${!N:=1}"; [ -z "$D" ] || p', "D= bash s.sh", "what is empty, by another name"),
    ("", 'D=1; [ "$D" = 1 ] || p', "a line that is typed"),
    ("", "D=1 bash -c '[ \"$D\" = 1 ] || p'", "a text"),
]  # fmt: skip
NO_ROUND = [
    ('while [ $# -gt 0 ]; do case "$1" in b) p ;; esac; shift; done; let x=1', "bash s.sh a c", "another argument"),
    ('while true; do case "$1" in a) ;; b) p ;; esac; shift; done; let x=1', "bash s.sh a a", "the same"),
]
ENDED = [
    ('case "$D" in /*) exit 2 ;; esac\np', "an arm that is taken"),
    ('D=${D:-out}\ncase "$D" in /*|.|*..*) echo no >&2; exit 2 ;; esac\np', "behind a default that is not taken"),
    ('if [ "$D" = / ]; then exit 2; fi\np', "a test that holds"),
    ('[ "$D" = / ] && exit 2\np', "a list"),
    ('[[ "$D" == / ]] && { echo no; exit 2; }\np', "a group in it"),
    ('[ "$D" != / ] || exit 2\np', "what fails, too"),
    ('test "$D" != / || { echo no; exit 2; }; p', "in any form"),
    ("exit\np", "on its own"),
    ("{ exit; p; }; p", "in a group"),
    ('(case "$D" in /) exit;; esac; p); q', "of a subshell only it ends"),
    ('case "$D" in /) exit;; *) p;; esac; p', "the other arm is not taken either"),
    ('trap "q" EXIT\nexit\np', "its trap runs"),
]
GOES_ON = [
    ('case "$D" in /x) exit 2 ;; esac\np', EXITS, "an arm that is not taken"),
    ('case "$D" in /) exit 2 ;; esac\np', "D=. ./s.sh", "another value"),
    ('case "$1" in a) exit ;; esac\np', './s.sh "$(cat f)"', "what nobody knows"),
    ('case "$D" in /) c && exit ;; esac\np', EXITS, "that may not happen"),
    ('case "$D" in /) exit 1 2 ;; esac\np', EXITS, "bash refuses two arguments, and goes on"),
    ('exit() { :; }\ncase "$D" in /) exit ;; esac\np', EXITS, "another exit"),
    ("enable -n exit\nexit\np", EXITS, "switched off"),
    ('eval "$1"\ncase "$D" in /) exit ;; esac\np', f"{CALL} D=.", "behind code that may set it"),
    ("exit > /none/x\np", EXITS, "a redirection that fails: bash runs no exit"),
    ("> /none/x exit\np", EXITS, "in front of it, too"),
    ('case "$D" in /) exit ;; esac < /none\np', EXITS, "nor what is redirected"),
    ("{ exit; } 2> /none/x\np", EXITS, "a group"),
    ("if true; then exit; fi < /none\np", EXITS, "an if"),
    ('{ D=2; } < /none; [ "$D" = 2 ] || p', CALL, "a value that it does not get"),
    ('[ "$D" = / ] && exit\np', "D=/ sudo ./s.sh", "a wrapper that takes variables away"),
    ('[ "$D" = / ] && exit\np', "D=/ env -u D bash s.sh", "and another"),
    ('[ "$D" = / ] && exit\np', "D=/; bash s.sh", "a variable that is not exported"),
    ("[[ -n x ]] && exit\np", "sh s.sh", "a test that sh does not know"),
    ("((1)) && exit\np", "dash s.sh", "another one"),
    ("declare X=0\n[ $X = 0 ] && exit\np", "sh s.sh", "a command that it does not know"),
    ('[ "$D" ] && [ "$D" = 1 ] || [[ a == a && b == b ]] || p', "D=1 sh s.sh", "a test that it takes apart"),
    ("#!/bin/sh\n[[ -n x ]] && exit\np", EXITS, "the same, as the script says"),
    *((f'[ "${name}" = x ] && exit\np', f"{name}=x bash s.sh", "the shell has another one")
      for name in ("EUID", "PPID", "SHLVL", "PWD", "OLDPWD", "IFS", "BASH_VERSION", "OPTIND")),
    ('[ "$MAKELEVEL" = x ] && exit\np', "MAKELEVEL=x make go", "make has"),
    ('if [ "${!X}" = a ]; then q; else exit; fi\np', EXITS, "a name of nothing: bash goes on behind the command"),
    ("exit & p", EXITS, "in the background"),
    ("exit | cat; p", EXITS, "of a pipe"),
    ("(exit); p", EXITS, "of a subshell"),
    ("x=$(exit); p", EXITS, "of a substitution"),
    ("f() { exit; }; p; f", EXITS, "not called yet"),
    ("while c; do exit; done; p", EXITS, "a loop may have no round"),
    ("shopt -s extdebug; trap false DEBUG; exit; p", EXITS, "a trap that leaves out the next command"),
    ("exit\np", "bash -i s.sh", "a shell of a person stays where jobs stand still"),
    ("#!/bin/bash -i\nexit\np", EXITS, "the same, as the script says"),
    ("", "exit; p", "what may be a line of a terminal"),
    ("exit", ". ./s.sh; p", "of a terminal, by a file"),
]  # fmt: skip

TEST = '[ "$D" = 1 ] || p'
FILES = {
    "Makefile": "go:\n\t./s.sh\n",
    "own.mk": "D := 2\ngo:\n\t./s.sh\n",
    "else.mk": "D ?= 2\ngo:\n\tD=$(D) ./s.sh\n",
    "line.mk": "go:\n\tD=1 ./s.sh\n",
    "less.mk": "unexport D\ngo:\n\t./s.sh\n",
    "test.mk": 'D ?= 0\ngo:\n\t@if [ "$(D)" = 1 ]; then sh s.sh; else p; fi\n',
    "justfile": "go:\n    ./s.sh\n",
    "own.just": 'export D := "2"\ngo:\n    ./s.sh\n',
    "package.json": '{"scripts": {"go": "bash s.sh", "test": "bash s.sh", "dry": "D=1 bash s.sh", '
    '"cross": "cross-env D=1 bash s.sh"}}',
    "aim.mk": "go: D = 2\ngo:\n\t./s.sh\n",
    "aim2.mk": "go x: export D := 2\ngo:\n\t./s.sh\n",
    "define.mk": "define D\n2\nendef\nexport D\ngo:\n\t./s.sh\n",
    "eval.mk": "$(eval D := 2)\nexport D\ngo:\n\t./s.sh\n",
    "lines.mk": ".ONESHELL:\ngo:\n\tD=2\n\texport D\n\t./s.sh\n",
    "shell.mk": "SHELL := ./other\ngo:\n\t./s.sh\n",
    "bash.mk": "SHELL := /bin/bash\ngo:\n\t./s.sh\n",
    "flags.mk": "MAKEFLAGS += D=2\ngo:\n\t./s.sh\n",
    "env.mk": "go:\n\tset -a; . ./.env; ./s.sh\n",
    "env.sh": "#!/bin/bash\nset -a\nsource .env\nset +a\n./s.sh\n",
    ".env": "D=2\n",
    "all.sh": "#!/bin/bash\n./s.sh\n",
    "all2.sh": "#!/bin/bash\nexport D=1\n./s.sh\n",
}
REACHED = [
    ("D=1 make go", "make hands on its environment"),
    ("make go D=1", "and its command line"),
    ("export D=1; make go", "what is exported"),
    ("D=1 make -f bash.mk go", "with a shell that is known"),
    ("make -f line.mk go", "a recipe's own"),
    ("make -f else.mk go D=1", "a default that does not count"),
    ("D=1 npm run go", "npm does"),
    ("npm run dry", "a script's own"),
    ("npm run cross", "by cross-env"),
    ("D=1 just go", "just does"),
    ("env D=1 bash s.sh", "env sets it"),
    ("D=1 timeout 9 bash s.sh", "a limit of time"),
    ("D=1 timeout 9 env X=2 nice bash s.sh", "several"),
    ("export D=1 && bash s.sh", "an export"),
    ("D=1 bash all.sh", "a script does"),
    ("./all2.sh", "it exports it"),
    ("export D=1; . ./f; ./s.sh", "a file that sets nothing"),
    (". ./none; D=1 ./s.sh", "what is set behind a file that nobody knows"),
    (". .venv/bin/activate; export D=1; ./s.sh", "behind one that sets up a tool"),
    ("export D=1; . .venv/bin/activate; ./s.sh", "before it"),
    ("MAKEFLAGS=-j8 D=1 make go", "options that set nothing"),
]
TAKEN_AWAY = [
    ("D=1; make go", "not exported"),
    ("export D=1; export -n D; make go", "no longer"),
    ("D=1 make -f own.mk go", "the makefile sets another"),
    ("D=1 make -f less.mk go", "the makefile takes it away"),
    ("make -f else.mk go", "a default that counts"),
    ("D=1 just -f own.just go", "the justfile sets another"),
    ("D=1 sudo bash s.sh", "sudo may take it away"),
    ("D=1 env -u D bash s.sh", "env does"),
    ("D=1 env -i bash s.sh", "all of them"),
    ("D=1 ssh h bash s.sh", "another machine"),
    ("D=1 docker run -v /repo:/repo -w /repo x bash s.sh", "a container"),
    ("make go D=$X", "a value that nobody knows"),
    ("D=1 make -f aim.mk go", "the makefile sets another for this target"),
    ("D=1 make -f aim2.mk go", "and exports it"),
    ("D=1 make -f define.mk go", "the makefile sets another in lines of its own"),
    ("D=1 make -f eval.mk go", "by a function"),
    ("D=1 make -f lines.mk go", "a line before, in the same shell"),
    ("D=1 make -f shell.mk go", "a shell that may"),
    ("D=1 make -f flags.mk go", "options that the makefile gives itself"),
    ("MAKEFLAGS=D=2 D=1 make go", "options from the environment"),
    ("export GNUMAKEFLAGS=D=2; D=1 make go", "those of GNU"),
    ("MAKEFLAGS=$(c) D=1 make go", "options that nobody knows"),
    ("export D=1; . ./none; ./s.sh", "a file that is not there yet"),
    ("D=1 ./env.sh", "one that a script takes in, and nobody may read"),
    ("D=1 make -f env.mk go", "a recipe"),
    ('export D=1; . "$(c)"; ./s.sh', "any file"),
    ("export D=1; . <(c); ./s.sh", "what a program prints"),
    ('export D=1; eval "$(c)"; ./s.sh', "the same, evaluated"),
    ("export D=1; export $(grep -v '^#' .env | xargs); ./s.sh", "names of a file"),
    ('export D=1; while read -r l; do export "$l"; done < .env; ./s.sh', "names of its lines"),
    ('export D=1; while read -r l; do declare -x "$l"; done < .env; ./s.sh', "in another form"),
]
ARGUMENTS = [
    ("npm run go -- --yes", True, "npm hands on what stands behind --"),
    ("npm run go --yes", False, "and keeps any other option"),
    ("npm run go -- --no", False, "another one"),
    ("yarn go --yes", True, "yarn hands on all"),
    ("yarn run go --yes", True, "behind its verb, too"),
    ("yarn --silent go --yes", True, "behind an option of its own"),
    ("pnpm go --yes", True, "pnpm does"),
    ("pnpm run go --yes x", True, "with a word"),
    ("pnpm run go -- --yes", True, "behind --, too"),
    ("pnpm --yes run go", False, "not what stands before it"),
    ("bun run go --yes", True, "bun does"),
    ("yarn test --yes", True, "a verb with a name of its own"),
    ("npm test --yes", False, "npm keeps it"),
]


@pytest.mark.parametrize(("call", "why"), REACHED)
def test_a_variable_that_surely_reaches_a_script_decides(call, why):
    assert not runs(f"#!/bin/bash\n{TEST}", call), why
    assert runs("#!/bin/bash\np", call), why


@pytest.mark.parametrize("call", ["D=1 sh s.sh", "D=1 dash s.sh", "D=1 make -f test.mk go", "make -f test.mk go D=1"])
@pytest.mark.parametrize("script", [TEST, 'if [ -n "$D" ]; then q; else p; fi', 'test "$D" -eq 1 || p', "exit\np"])
def test_tests_that_mean_the_same_in_every_shell_decide_in_each(call, script):
    assert not runs(script, call)
    assert runs("p", call)
    assert runs('[ "$D" = 2 ] || p', call)


@pytest.mark.parametrize(("call", "why"), TAKEN_AWAY)
def test_one_that_may_not_decides_nothing(call, why):
    assert runs(f"#!/bin/bash\n{TEST}", call), why


@pytest.mark.parametrize(
    "first", ["env -S -i bash", "env -S D=2 bash", "env -S bash -i", "env -u D bash", "env - bash"]
)
def test_a_first_line_may_change_the_variables_of_its_script(first):
    assert runs(f"#!/usr/bin/{first}\n{TEST}", "D=1 ./s.sh")


@pytest.mark.parametrize(("call", "given", "why"), ARGUMENTS)
def test_a_package_manager_hands_on_the_arguments_of_its_script(call, given, why):
    assert runs('#!/bin/bash\nif [ "$1" != --yes ]; then exit 0; fi\np', call) is given, why


@pytest.mark.parametrize("script", ['V=$1\n[ "$D" = 1 ] || p', 'set -e\nV="${1:-x}"\n[ "$V" = a ] || p'])
def test_what_a_script_sets_before_all_else_is_its_own(script):
    assert not runs(script, "V=2; D=1 bash s.sh a")


def runs(script: str, call: str) -> bool:
    """Whether the program ``p`` is among what may be started."""
    held = {"/repo/.git/HEAD": "", "/repo/s.sh": script, "/repo/f": ""} | {f"/repo/{k}": v for k, v in FILES.items()}
    world = FakeWorld(held, environ={"PATH": "/usr/bin:/bin"})
    effects = analyse(Action("1", "s", Layer.SHELL, "shell", {"command": call}, "/repo", 0.0, root="/repo"), world)
    return any(e.kind is Kind.EXECUTE and e.command is not None and e.command.program == "p" for e in effects)


@pytest.mark.parametrize(
    ("call", "value", "script", "why"),
    [*((CALL, "1", *row) for row in LEFT_OUT), *((EXITS, "/", *row) for row in ENDED)],
)
def test_what_a_script_does_not_come_to_is_not_run(call, value, script, why, tmp_path):
    assert not runs(script, call), why
    (tmp_path / "s.sh").write_text(f"p() {{ echo ran; }}; q() {{ :; }}\n{script}")
    words = ["bash", "s.sh", "a"]
    done = subprocess.run(words, cwd=tmp_path, env={"D": value}, capture_output=True, text=True, check=False)
    assert "ran" not in done.stdout


@pytest.mark.parametrize(("script", "call", "why"), NO_ROUND)
def test_each_round_of_a_loop_has_its_own_argument(script, call, why):
    assert not runs(script, call), why


@pytest.mark.parametrize(("script", "call", "why"), [*SEEN, *GOES_ON])
def test_where_it_is_not_sure_it_is_seen(script, call, why):
    assert runs(script, call), why
