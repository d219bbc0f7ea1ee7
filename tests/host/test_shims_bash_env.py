"""What a real bash does with the environment that a session's shims set."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sentinel_guard.host import shims
from sentinel_guard.host.machine.state_paths import places

BASH = shutil.which("bash") or "/bin/bash"
RECORDER = f'#!{BASH} -p\nprintf "%s\\n" shim "$@" "${{BASH_EXECUTION_STRING[@]}}"\n'
"""Stands where the bash shim would be; -p reads no BASH_ENV. The real one asks the guard, which no unit test does."""


@pytest.fixture
def made(tmp_path: Path, monkeypatch):
    """The environment of a new session whose bash shim only tells what it was called with."""
    monkeypatch.delenv("BASH_ENV", raising=False)
    monkeypatch.setenv("SHELL", BASH)
    place = places({"SENTINEL_HOME": str(tmp_path / "it's")})
    place.make()
    environ = shims.make(place, "s1", (), os.environ["PATH"])
    shim = place.shims("s1") / "bash"
    shim.unlink()
    shim.write_text(RECORDER)
    shim.chmod(0o755)
    return environ


def made_bash(made: dict[str, str]) -> Path:
    return Path(made["PATH"].split(":")[0]) / "bash"


def run(made: dict[str, str], *argv: str, **environ: str) -> tuple[list[str], str]:
    """What a program prints under a session's environment, as lines, and its standard error."""
    everything = {k: v for k, v in {**os.environ, **made, **environ}.items() if v != "-"}
    done = subprocess.run(argv, env=everything, capture_output=True, text=True, check=False)
    return done.stdout.splitlines(), done.stderr


SEEN = (
    (["-c", "echo a"], "by its absolute path"),
    (["-lc", "echo a"], "a login shell, whose profile resets PATH"),
    (["--norc", "--noprofile", "-c", "echo a"], "with startup files switched off"),
    (["-c", "echo a # " + "x" * 60_000], "a text that is too long for a variable, or nearly"),
    (["-c", "echo a", "name"], "with a name of its own"),
    (["-euo", "pipefail", "-c", 'echo "$1"', "name", "", "two  words", "new\nline"], "arguments stay as they are"),
)


@pytest.mark.parametrize(("argv", "why"), SEEN, ids=[row[1] for row in SEEN])
def test_a_bash_that_did_not_come_through_its_shim_goes_there(made, argv, why):
    out, err = run(made, BASH, *argv)
    assert "\n".join(out) == "\n".join(["shim", *argv]), why
    assert err == ""


UNSEEN = (
    (["-c", "echo a"], {"SENTINEL_CALL": "1-1"}, ["a"], "below a call its text was judged already"),
    (["-euc", "echo a"], {"SENTINEL_CALL": "1-1"}, ["a"], "the file holds under set -eu"),
    (["-c", "echo a"], {"BASH_ENV": "-"}, ["a"], "an environment without ours is an ordinary one"),
    (["-c", "echo ${SENTINEL_SHELL-a}"], {"SENTINEL_CALL": "1-1", "SENTINEL_SHELL": "1"}, ["a"], "it leaves nothing"),
)


@pytest.mark.parametrize(("argv", "environ", "wanted", "why"), UNSEEN, ids=[row[3] for row in UNSEEN])
def test_a_bash_goes_on_by_itself(made, argv, environ, wanted, why):
    assert run(made, BASH, *argv, **environ) == (wanted, ""), why


def test_the_second_round_of_a_bash_that_its_shim_let_go_on_ends(made):
    made_bash(made).write_text(f'#!{BASH} -p\necho shim\nexec {BASH} "$@" "$BASH_EXECUTION_STRING"\n')
    assert run(made, BASH, "-c", 'echo "${SENTINEL_SHELL-none}"') == (["shim", "none"], "")


def test_a_script_is_no_text_of_the_agents(made, tmp_path):
    script = tmp_path / "script"
    script.write_text("echo a\n")
    assert run(made, BASH, str(script)) == (["a"], "")


def test_the_persons_own_command_is_left_alone(made, tmp_path):
    runner = tmp_path / "sentinel-guard"
    runner.write_text(f'#!{BASH} -p\nshift 2\n"$@"\n:\n')
    runner.chmod(0o755)
    assert run(made, str(runner), "run", "--", BASH, "-c", "echo a; true") == (["a"], "")


def test_where_the_shim_cannot_be_started_the_text_does_not_run(made):
    """``execfail`` lets a bash go on after an exec that failed: one whose environment is too large, say."""
    text = "echo ran # " + "\N{GRINNING FACE}" * 32_760
    for environ in ({}, {"BASHOPTS": "execfail"}):
        assert run(made, BASH, "-c", text, LC_ALL="C.UTF-8", **environ)[0] == []


def test_shims_that_are_gone_stop_no_shell(made):
    made_bash(made).unlink()
    assert run(made, BASH, "-c", "echo a") == (["a"], "")


def test_the_users_own_bash_env_is_read_after_ours(tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.write_text("OWN=yes\n")
    monkeypatch.setenv("BASH_ENV", str(own))
    place = places({"SENTINEL_HOME": str(tmp_path / "s")})
    place.make()
    environ = shims.make(place, "s1", (), os.environ["PATH"])
    assert run(environ, BASH, "-c", 'echo "$OWN"', SENTINEL_CALL="1-1") == (["yes"], "")


SHELLS = (
    ("/bin/bash", "bash", "its own choice is ours too"),
    ("/usr/bin/fish", "bash", "it would not take a fish, and find /bin/bash by itself"),
    ("/bin/sh", "bash", "nor a plain sh"),
)


@pytest.mark.parametrize(("shell", "name", "why"), SHELLS, ids=[row[2] for row in SHELLS])
def test_claude_code_is_told_a_shell_that_it_takes(tmp_path, monkeypatch, shell, name, why):
    monkeypatch.setenv("SHELL", shell)
    place = places({"SENTINEL_HOME": str(tmp_path / "s")})
    place.make()
    environ = shims.make(place, "s1", (), os.environ["PATH"])
    assert environ["CLAUDE_CODE_SHELL"] == str(place.shims("s1") / name), why
