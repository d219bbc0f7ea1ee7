"""What stands behind an ``exit`` that a script surely comes to is not run; bash itself says so of each row."""

from __future__ import annotations

import subprocess

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.fakes import FakeWorld

CALL = "D=/ ./s.sh"
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
    ('case "$D" in /x) exit 2 ;; esac\np', CALL, "an arm that is not taken"),
    ('case "$D" in /) exit 2 ;; esac\np', "D=. ./s.sh", "another value"),
    ('case "$1" in a) exit ;; esac\np', './s.sh "$(cat f)"', "what nobody knows"),
    ('case "$D" in /) c && exit ;; esac\np', CALL, "that may not happen"),
    ('case "$D" in /) exit 1 2 ;; esac\np', CALL, "bash refuses two arguments, and goes on"),
    ('exit() { :; }\ncase "$D" in /) exit ;; esac\np', CALL, "another exit"),
    ("enable -n exit\nexit\np", CALL, "switched off"),
    ('eval "$1"\ncase "$D" in /) exit ;; esac\np', f"{CALL} D=.", "behind code that may set it"),
    ("exit & p", CALL, "in the background"),
    ("exit | cat; p", CALL, "of a pipe"),
    ("(exit); p", CALL, "of a subshell"),
    ("x=$(exit); p", CALL, "of a substitution"),
    ("f() { exit; }; p; f", CALL, "not called yet"),
    ("while c; do exit; done; p", CALL, "a loop may have no round"),
    ("shopt -s extdebug; trap false DEBUG; exit; p", CALL, "a trap that leaves out the next command"),
    ("exit\np", "bash -i s.sh", "a shell of a person stays where jobs stand still"),
    ("#!/bin/bash -i\nexit\np", CALL, "the same, as the script says"),
    ("", "exit; p", "what may be a line of a terminal"),
    ("exit", ". ./s.sh; p", "of a terminal, by a file"),
]  # fmt: skip


def runs(script: str, call: str) -> bool:
    """Whether the program ``p`` is among what may be started."""
    world = FakeWorld({"/repo/.git/HEAD": "", "/repo/s.sh": script, "/repo/f": ""}, environ={"PATH": "/usr/bin:/bin"})
    effects = analyse(Action("1", "s", Layer.SHELL, "shell", {"command": call}, "/repo", 0.0, root="/repo"), world)
    return any(e.kind is Kind.EXECUTE and e.command is not None and e.command.program == "p" for e in effects)


@pytest.mark.parametrize(("script", "why"), ENDED)
def test_behind_a_sure_exit_nothing_is_run(script, why, tmp_path):
    assert not runs(script, CALL), why
    (tmp_path / "s.sh").write_text(f"p() {{ echo ran; }}; q() {{ :; }}\n{script}")
    done = subprocess.run(["bash", "s.sh"], cwd=tmp_path, env={"D": "/"}, capture_output=True, text=True, check=False)
    assert "ran" not in done.stdout


@pytest.mark.parametrize(("script", "call", "why"), GOES_ON)
def test_where_it_is_not_sure_it_is_seen(script, call, why):
    assert runs(script, call), why
