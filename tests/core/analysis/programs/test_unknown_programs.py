"""What no table knows, and what a shell changes without a word of it: guesses, and values that are unknown."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Kind
from tests.core.analysis.test_step_budget import effects_of

STOPPED = [
    ("shopt -s nocasematch; case A in a) rm -rf /home;; esac", "arms fold case"),
    ("x=a; exec {x}>/dev/null; case $x in a);; *) rm -rf /home;; esac", "a descriptor's number"),
    ("x=a; coproc x { :; }; case $x in a);; *) rm -rf /home;; esac", "an array of descriptors"),
    ("x=a; sleep 1 & wait -p x; case $x in a);; *) rm -rf /home;; esac", "a process's number"),
    ("x=a; trap 'x=b' DEBUG; case $x in a);; *) rm -rf /home;; esac", "set before each command"),
    ("bash -in -c 'rm -rf ~'", "-n counts for nothing there"),
    ("perl -ce 'BEGIN{system(\"rm -rf ~\")}'", "BEGIN runs while it is checked"),
    ("ruby -v -e 'system(\"rm -rf ~\")'", "a version, and then the code"),
    ("echo 'system(\"rm -rf ~\")' | perl -l", "the text on standard input runs"),
    ("strace -p $(pgrep -f sentinel)", "the guard is not the developer's own"),
    ("git archive --remote=. --exec='rm -rf /home' HEAD", "the other end is here"),
    ("git remote-ext x 'rm -rf /home'", "a transport that is a command"),
    ("nu -c 'rm -rf .git'", "a shell that no table knows"),
    ("sbatch --wrap='rm -rf /home'", "a runner that no table knows"),
    ('echo \'require("fs").rmSync("/home")\' > x.js; node -r ./x.js --check y.js', "loaded before the check"),
    ('echo \'require("fs").rmSync("/home")\' > x.js; node --check --no-check x.js', "the check is taken back"),
    ("bash -n +n -c 'rm -rf ~'", "so of a shell"),
    ("bash -xn +o noexec -c 'rm -rf ~'", "by the option's name"),
    ("zsh -n -o exec -c 'rm -rf ~'", "by its contrary"),
    ("php -r 'system(\"rm -rf ~\");' -l", "a text runs, whatever is to be checked"),
    ("printf 'BEGIN{system(\"rm -rf ~\")}' > x.pl; perl -c x.pl", "BEGIN of a file"),
    ("echo '<?php system(\"rm -rf ~\");' | php -c php.ini", "a file of settings: no check"),
    ("PS4='$(rm -rf /home)' bash -xc :", "expanded for each line"),
    ("pandoc README.md -o.env", "right behind the letter"),
    ("echo 'rm -rf /home' > x.sh; yarn -s ./x.sh", "a script behind an option without a value"),
    ("echo 'rm -rf /home' > x.sh; yarn --odd jest ./x.sh", "behind an option that may have one"),
    ("yarn -s rimraf /home", "what is run behind it"),
]
PASSES = [
    ("exec {fd}>/tmp/log; echo hi >&$fd", "a descriptor is used"),
    ("strace -p $(pgrep myapp)", "the developer's own"),
    ("ag -e 'rm -rf /home' src", "a pattern"),
    ("env-cmd -f .env npm start", "settings are loaded"),
    ("ls -o .env", "a list without groups: no file is written"),
    ("stat -c 'rm -rf /home' .env", "a format: no command"),
    ("perl -c x.pl", "a check"),
    ("printf 'system(\"rm -rf ~\")' > x.pl; perl -c x.pl", "of a file"),
    ("bash +x -n -c 'rm -rf ~'", "another option is taken back"),
    ("echo 'rm -rf /home' > x.tsx; yarn -s jest x.tsx", "the option has no value: a test of JavaScript"),
    ("echo 'rm -rf /home' > x.tsx; pnpm --silent jest ./x.tsx", "pnpm's, as a word"),
    ("echo '<?php system(\"rm -rf ~\");' | php -l", "of what is read"),
    ('echo \'require("fs").rmSync("/home")\' > x.js; node --check x.js', "one of JavaScript"),
]


def _harms(command):
    kinds = (Kind.DELETE, Kind.PRIVILEGE)
    return any(e.kind in kinds or (e.kind is Kind.WRITE and e.target.endswith(".env")) for e in effects_of(command))


@pytest.mark.parametrize("command", [r[0] for r in STOPPED], ids=[r[1] for r in STOPPED])
def test_it_is_stopped(command):
    assert _harms(command)


@pytest.mark.parametrize("command", [r[0] for r in PASSES], ids=[r[1] for r in PASSES])
def test_it_passes(command):
    assert not _harms(command)


UNTOLD = [
    ("sh -c \"echo 'true #\\nrm -rf ~' | sh\"", True, "dash fills in the line's end"),
    ("bash -c \"echo 'true #\\nrm -rf ~' | sh\"", False, "bash does not"),
    ("sh -c \"echo 'a\\nb' | grep b\"", False, "printed alone"),
]


@pytest.mark.parametrize(("command", "asked"), [r[:2] for r in UNTOLD], ids=[r[2] for r in UNTOLD])
def test_what_shells_print_differently_is_not_known(command, asked):
    assert any(e.kind is Kind.OPAQUE and "code" in e.how for e in effects_of(command)) is asked


LOST = [
    ("acmectl db destroy", True, "a program that nobody knows, and its verb"),
    ("meson setup build --wipe", False, "a folder of build output"),
    ("molecule destroy", False, "machines for tests"),
    ("cover -delete", False, "what Devel::Cover has counted"),
    ("coverctl -delete", True, "another program of such a name"),
]


@pytest.mark.parametrize(("command", "lost"), [r[:2] for r in LOST], ids=[r[2] for r in LOST])
def test_what_words_say_is_lost(command, lost):
    assert any(e.kind is Kind.DEPLOY for e in effects_of(command)) is lost
