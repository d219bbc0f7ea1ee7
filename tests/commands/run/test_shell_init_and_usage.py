"""Small commands around a session: shell-init, usage; how a command is found."""

from __future__ import annotations

import os
import subprocess

import pytest

from sentinel_guard.commands.for_agents.report_token_usage import report
from sentinel_guard.commands.run import run as run_module
from sentinel_guard.commands.run.shell_init import code, shell_init
from sentinel_guard.errors import ConfigError


def test_shell_init_prints_what_a_shell_evaluates(daemon, capsys):
    daemon.replies["start"] = {"session": "s1", "environ": {"PATH": "/shims:/usr/bin", "X": "it's $HOME"}, "notes": []}
    assert shell_init(daemon.places, "/bin/bash", pid=77) == 0
    text = capsys.readouterr().out
    said = subprocess.run(["sh", "-c", f'{text}\nprintf "%s|%s" "$PATH" "$X"'], check=True, capture_output=True)
    assert said.stdout == b"/shims:/usr/bin|it's $HOME"
    started = daemon.wait("start")
    assert (started["kind"], started["pid"], started["interactive"]) == ("shell", 77, False)


def test_the_owner_of_a_shells_session_is_that_shell(daemon):
    shell_init(daemon.places, "sh")
    assert daemon.wait("start")["pid"] == os.getppid()
    assert code({}) == "hash -r"


def test_an_unknown_shell_is_said(daemon):
    with pytest.raises(ConfigError, match="no shell code for fish"):
        shell_init(daemon.places, "fish")


USAGE = [
    ({}, "no count", "nothing"),
    ({"tokens": -1}, "not negative", "below nothing"),
    ({"tokens": 5, "input": 5}, "not both", "a total and kinds"),
]


@pytest.mark.parametrize(("counts", "words"), [row[:2] for row in USAGE], ids=[row[2] for row in USAGE])
def test_counts_that_cannot_be_are_said(daemon, counts, words):
    with pytest.raises(ConfigError, match=words):
        report(daemon.places, **counts)


FOUND = [
    ("tool", "{bin}/tool", 0, "on PATH"),
    ("{bin}/tool", "{bin}/tool", 0, "by its path"),
    ("data", "", 126, "on PATH without its bit"),
    ("other", "", 127, "nowhere"),
]


@pytest.mark.parametrize(("name", "program", "expected"), [row[:3] for row in FOUND], ids=[row[3] for row in FOUND])
def test_a_command_is_found_as_a_shell_finds_it(tmp_path, name, program, expected):
    (tmp_path / "tool").write_text("")
    (tmp_path / "tool").chmod(0o755)
    (tmp_path / "data").write_text("")
    found, exit_code, _ = run_module.find(name.format(bin=tmp_path), str(tmp_path))
    assert (found, exit_code) == (program.format(bin=tmp_path), expected)
