"""Variables behind branches: a command is seen with every value that they may hold, and with no other."""

from __future__ import annotations

import os
import shutil

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.bash.argv_oracle import Cage, Snippet, fits
from tests.support.bash.branch_generator import Branches
from tests.support.fakes import FakeWorld

TEXTS = 150
WORLD = FakeWorld({"/repo/.git/HEAD": "", "/repo/.env": ""}, environ={"PATH": "/usr/bin:/bin", "SET": "s"})


def effects_of(text: str, world: FakeWorld = WORLD):
    return analyse(Action("1", "s", Layer.SHELL, "shell", {"command": text}, "/repo", 0.0, root="/repo"), world)


def shown(text: str) -> set[str]:
    """What the command ``p`` is given, a line for each time that it may run."""
    started = [e.command for e in effects_of(text) if e.kind is Kind.EXECUTE and e.command]
    return {" ".join(c.argv[1:]) for c in started if c.program == "p"}


JOINED = [
    ("if c; then x=a; else x=b; fi; p $x", {"a", "b"}, "if and else"),
    ("if c; then x=a; elif d; then x=b; else x=c; fi; p $x", {"a", "b", "c"}, "elif"),
    ("x=a; if c; then x=b; fi; p $x", {"a", "b"}, "no else: it may stay as it was"),
    ("if c; then x=a; fi; p $x.", {"a.", "."}, "no value before: it may be empty"),
    ("if c; then SET=a; fi; p $SET", {"a", "s"}, "or inherited"),
    ("case $(c) in a) x=1;; b) x=2;; esac; p $x.", {"1.", "2.", "."}, "an arm, or none"),
    ("case $(c) in a) x=1;; *) x=2;; esac; p $x", {"1", "2"}, "one that takes all"),
    ("case $(c) in a) x=1;; *) exit;; esac; p $x", {"1"}, "an arm that ends the shell"),
    ("x=0; case $(c) in a) x=1;& b) x=${x}2;; *) x=3;; esac; p $x", {"12", "02", "3"}, "an arm that is fallen into"),
    ("x=0; case $(c) in a) x=1;;& b) x=${x}2;; *) x=${x}3;; esac; p $x", {"12", "02", "13", "03"}, "one looks on"),
    ("x=a; c && x=b; p $x", {"a", "b"}, "&&"),
    ("x=a; c || x=b; p $x", {"a", "b"}, "||"),
    ("c && x=a || x=b; p $x", {"a", "b"}, "one of two"),
    ("x=a; c && x=b && d && x=c; p $x", {"a", "b", "c"}, "a list may end anywhere"),
    ("x=a; c && x=b || d && x=c; p $x", {"a", "c"}, "mixed: what was not skipped goes on"),
    ("if c; then x=a y=1; else x=b y=2; fi; p $x $y", {"a 1", "a 2", "b 1", "b 2"}, "two: every pair counts"),
    ("if c; then x=a; else x=b; fi; y=$x.; p $y", {"a.", "b."}, "what is made of it"),
    ("if c; then x=a; else x=b; fi; p $(echo $x)", {"a", "b"}, "through a substitution"),
    ("if c; then x=a; else x=b; fi; p <<< $x; p $x", {"", "a", "b"}, "in a here-text"),
    ("if c; then x=a; else x=b; fi; f() { p $x; }; f", {"a", "b"}, "in a function"),
    ("if c; then x=a; else x=b; fi; f() { local x=$x; p $x; x=q; }; f; p $x.", {"a", "b", "a.", "b."}, "a local name"),
    ("if c; then x='a b'; else x=; fi; p $x", {"a b", ""}, "words"),
    ("for x in a b; do c && break; done; p $x", {"a", "b"}, "a loop that is left"),
    ("for i in a b; do if c; then x=$i; break; fi; done; p $x.", {"a.", "b.", "."}, "what it found, or nothing"),
    ("f() { x=a; c && return; x=b; d && return; x=c; }; f; p $x", {"a", "b", "c"}, "a function that is left"),
    ("x=a; while x=b; c; do x=c; done; p $x", {"b"}, "the condition is the last that ran"),
    ("while true; do x=a; break; done; p $x.", {"a.", "."}, "left at once"),
    ("v=no; for i in $(c); do case $i in -v) v=yes;; esac; done; p $v", {"no", "yes"}, "a flag"),
    ("v=no; while [ $(c) ]; do p $v; v=yes; done", {"no", "yes"}, "as the second round sees it"),
    ("n=0; while c; do n=$((n+1)); done; p $n", {"$n"}, "a counter"),
    ("l=; while c; do l=$l.; done; p $l", {"$l"}, "a value that grows"),
    ("a=x b=y; while c; do a=$b; b=z; done; p $a", {"$a"}, "one that follows another"),
    ("if c; then x=a; else x=b; fi; x=c; p $x", {"c"}, "assigned anew"),
    ("if c; then x=a; else x=b; fi; if d; then read x; else read x; fi; p $x", {"$x"}, "then unknown"),
    ("if c; then x=a; else x=$(d); fi; p $x", {"$x"}, "one value is unknown"),
    ("if c; then x=a; else x=b; fi; unset x; p $x.", {"."}, "not set any more"),
    ("f() { p a; }; c && f() { p b; }; f", {"a", "b"}, "a function that may be defined anew"),
    ("if c; then f() { p a; }; else f() { p b; }; fi; f", {"a", "b"}, "one of two functions"),
    ("f() { p a; }; for i in 1 2; do c && f() { p b; }; d && f() { p c; }; done; f", {"a", "b", "c"}, "of three"),
    ("f() { p a; }; g() { f() { p b; }; }; c && g; f", {"a", "b"}, "defined by another one"),
    ("f() { p a; }; f() { p b; }; f", {"b"}, "a function that is defined anew"),
    ("x=$(test -e q && echo a); case $x in a) p 1;; *) p 2;; esac", {"1", "2"}, "what may not be printed"),
    ("case $(false && echo a) in a) p 1;; *) p 2;; esac", {"1", "2"}, "nor that"),
    ("x=$(cd a && echo b); p $x", {"b"}, "what is printed in a folder"),
]  # fmt: skip
TESTED = [
    ('x=; c && x=a; if [ -n "$x" ]; then p $x; fi', {"a"}, "where it is not empty"),
    ("x=; c && x=a; if [ -z $x ]; then exit; fi; p $x", {"a"}, "behind a branch that ends the shell"),
    ('x=; c && x=a; [ -n "$x" ] && p $x', {"a"}, "in a list"),
    ('x=; c && x=a; [ -n "$x" ] || exit 1; p $x', {"a"}, "behind one that ends the shell"),
    ("x=; c && x=a; [[ -z $x ]] && { echo no; exit; }; p $x", {"a"}, "the same in a group"),
    ('f() { [ "$x" ] || return; p $x; }; x=; c && x=a; f', {"a"}, "or the function"),
    ("x=a; c && x=b; if [ $x = b ]; then p $x; else p not $x; fi", {"b", "not a"}, "equal"),
    ("x=a; c && x=b; if [ $x != b ] && [ $x != c ]; then p $x; fi", {"a"}, "two tests"),
    ("x=a; c && x=b; if ! test $x = b; then p $x; fi", {"a"}, "negated"),
    ("x=1; c && x=5; [ $x -gt 3 ] && p $x", {"5"}, "a number"),
    ('x=; c && x=a; [ -n "$x" ] || x=b; p $x', {"a", "b"}, "a default"),
    ('x=; c && x=a; [ -n "$x" ] && x=b && p $x; p $x.', {"b", "b.", "."}, "assigned on the way"),
    ('x=; c && x=a; [ -n "$x" ] || d || p $x.', {"."}, "the first of three"),
    ('x=; c && x=a; d && [ -n "$x" ] || p $x.', {".", "a."}, "what failed is not known"),
    ('x=; c && x=a; if d && [ -n "$x" ]; then p $x.; fi', {".", "a."}, "a condition that may change it"),
    ('x=; c && x=a; [ -n "$x" ] && d && exit; p $x.', {".", "a."}, "it need not have ended"),
    ('[() { true; }; x=; c && x=a; [ -n "$x" ] && p $x.', {".", "a."}, "a test of the text's own"),
    ('alias test=true; x=; c && x=a; test -n "$x" && p $x.', {".", "a."}, "an alias"),
    ('exit() { :; }; x=; c && x=a; [ -n "$x" ] || exit; p $x.', {".", "a."}, "an exit of the text's own"),
    ('enable -n exit; x=; c && x=a; [ -n "$x" ] || exit; p $x.', {".", "a."}, "an exit that is none"),
    ("trap 'p $x.' EXIT; x=; c && x=/ && exit; x=a", {"a.", "/.", "."}, "a trap sees where the shell ended"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), [row[:2] for row in JOINED + TESTED], ids=[r[2] for r in JOINED + TESTED]
)
def test_every_value_and_no_other(text: str, expected: set[str]) -> None:
    assert shown(text) == expected


WORST = [
    ("if c; then f=--force; fi; git push $f origin main", "publish origin force", "an option"),
    ("o=log; [ -w . ] || o=.env; echo x > $o", "write /repo/.env truncate", "a redirection"),
    ("o=log; [ -w . ] || o=.env; { echo x; } > $o", "write /repo/.env truncate", "of a group"),
    ("i=a; [ -f .env ] && i=.env; while read l; do echo $l; done < $i", "read /repo/.env shown", "of a loop"),
    ("if c; then t=$(cat .env); fi; echo $t", "read /repo/.env shown", "what was read in a branch"),
    ("x=ls; for i in $(c); do $x -rf /; x=rm; done", "delete / force recursive", "the second round of a loop"),
    ("d=/; f() { local d=$d; rm -rf $d; }; f", "delete / force recursive", "a local name sees the old value"),
    ("true && x=rm && c && x=ls; $x -rf /", "delete / force recursive", "the program itself"),
    ('t="rm -rf /"; c && t=ls; eval "$t"', "delete / force recursive", "a text"),
    ("a=rm; c && a=ls; sudo $a -rf /", "delete / force recursive", "behind a wrapper"),
]


@pytest.mark.parametrize(("text", "expected"), [row[:2] for row in WORST], ids=[row[2] for row in WORST])
def test_the_worst_of_the_values_is_found(text: str, expected: str) -> None:
    assert expected in {" ".join([e.kind.value, e.target, *sorted(e.how)]) for e in effects_of(text)}


def test_one_of_several_values_is_a_guess() -> None:
    found = [e for e in effects_of("if c; then d=a; else d=/; fi; rm -rf $d") if e.kind is Kind.DELETE]
    assert {e.target for e in found} == {"/", "/repo/a"} and not any(e.sure for e in found)


def test_beyond_the_limit_it_is_unknown() -> None:
    many = "; ".join(f"c && x={n}" for n in range(20))
    assert shown(f"x=a; {many}; p $x") == {"$x"}


ABSENT = [
    ("[ -f .env ] || cp a .env", False, "only where there is none"),
    ("test -e .env || echo a > .env", False, "by another test"),
    ("[ ! -f .env ] && cp a .env", False, "said the other way"),
    ("if [[ ! -f .env ]]; then cp a .env; fi", False, "in a branch"),
    ("[ -f .env ] && cp a .env", True, "only where there is one"),
    ("if [ ! -f .env ]; then :; else cp a .env; fi", True, "in the other branch"),
    ("[ -f .other ] || cp a .env", True, "another file is asked about"),
    ("[ -s .env ] || cp a .env", True, "an empty one is there, too"),
    ("test -f .env && echo x || cp a .env", False, "behind what is only said"),
    ("test -f .env && echo x && echo y || cp a .env", False, "twice"),
    ("test -f .env && grep -q A .env || cp a .env", True, "what is asked between may fail"),
    ("test -f .env && echo x > /dev/full || cp a .env", True, "so may what is said to a file"),
    ("test -f .env && echo $((1 / 0)) || cp a .env", True, "words that cannot be made"),
    ("test -f .env && false && echo y || cp a .env", True, "one of two"),
    ("test -f .env || echo x || cp a .env", False, "the other joint"),
    ("echo() { false; }; test -f .env && echo x || cp a .env", True, "a function that fails"),
    ("test -f .env && echo x && rm q || cp a .env", True, "something else behind it"),
    ("true && test -f .env && echo x || cp a .env", True, "not the first"),
    ("test() { false; }; test -f .env || cp a .env", True, "a test of the text's own"),
    ("[ -f .env ] || :; cp a .env", True, "behind the list"),
]


@pytest.mark.parametrize(("text", "written"), [row[:2] for row in ABSENT], ids=[row[2] for row in ABSENT])
def test_what_runs_only_where_a_file_is_missing_overwrites_none(text: str, written: bool) -> None:
    assert any(e.kind is Kind.WRITE and e.target == "/repo/.env" for e in effects_of(text)) is written


def test_a_file_that_is_missing_is_made() -> None:
    found = effects_of("[ -f .env ] || cp a .env", FakeWorld({"/repo/.git/HEAD": ""}))
    assert any(e.kind is Kind.WRITE and e.target == "/repo/.env" for e in found)


@pytest.mark.skipif(not shutil.which("cc"), reason="the stub is compiled")
@pytest.mark.skipif(os.geteuid() != 0 and not shutil.which("unshare"), reason="nobody may build a cage here")
def test_whatever_way_bash_takes_is_foreseen() -> None:
    with Cage() as cage:
        where = str(cage.base / "work")
        texts = [(seed, Snippet(seed, text, where)) for seed in range(TEXTS) for text in Branches(seed).texts()]
        # A text is foreseen once: what its stubs end with is all that its ways differ in.
        foreseen = {seed: cage.foresee(snippet)[0] for seed, snippet in dict(texts).items()}
        ran = [argvs for at in range(0, len(texts), 250) for argvs in cage.run([s for _, s in texts[at : at + 250]])]
    rows = [
        (s.text, argv, foreseen[seed])
        for (seed, s), argvs in zip(texts, ran, strict=True)
        for argv in argvs or ()
        if argv[0] == "r-2"
    ]
    fitting = [(text, argv, [f for f in ours if fits(argv, f)]) for text, argv, ours in rows]
    assert None not in ran
    assert not [(text, argv) for text, argv, found in fitting if not found]
    known = [argv for _, argv, found in fitting if any(all(field.known for field in fields) for fields in found)]
    assert len(known) > len(rows) * 0.6
