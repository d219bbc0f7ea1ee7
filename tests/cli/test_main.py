"""The command line: words in, exit codes out; no message of ours shows a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from sentinel_guard import __version__
from sentinel_guard.cli import lazy_import, main, sessions
from sentinel_guard.cli.main import guarded_main
from sentinel_guard.errors import ConfigError, HostError
from tests.support.time_limits import limit


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(group, click.Group):
        for name, below in group.commands.items():
            yield from commands(below, (*path, name))


EVERY = list(commands(main.cli))


def run(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["sentinel-guard", *arguments])
    return guarded_main()


@pytest.mark.parametrize("path", EVERY, ids=lambda p: " ".join(p) or "sentinel-guard")
def test_every_command_explains_itself(monkeypatch, capsys, path):
    for option in ("--help", "-h"):
        assert run(monkeypatch, *path, option) == 0
        said = capsys.readouterr().out
        assert said.startswith(f"Usage: sentinel-guard {' '.join(path)}".rstrip())
        assert len(said.splitlines()) > 3, "it has a word of explanation"


ACTS = (
    *("run", "shell-init", "console", "install", "uninstall", "demo", "hook", "help-me", "mcp", "usage report"),
    "log archive",
    *(
        "pause",
        "resume",
        "kill",
        "revoke",
        "approve",
        "deny",
        "daemon start",
        "daemon stop",
        "daemon run",
        "policy add",
    ),
    *("totp setup", "totp remove", "incidents fill", "incidents sign-off", "secrets baseline", "snapshots restore"),
    *("snapshots drop", "snapshots diff"),
)
"""Commands that do something, take over the screen, or print what is a format already (a patch)."""


def test_every_command_that_only_tells_does_so_for_programs():
    tells = {}
    for path in EVERY:
        command = main.cli
        for name in path:
            command = command.commands[name]
        if not isinstance(command, click.Group):
            tells[" ".join(path)] = any("--json" in option.opts for option in command.params)
    assert sorted(name for name, has in tells.items() if not has) == sorted(ACTS)


GROUPS = [path for path in EVERY if not path or path[-1] in ("daemon", "incidents", "log", "policy", "usage")]


@pytest.mark.parametrize("path", GROUPS, ids=lambda p: " ".join(p) or "sentinel-guard")
def test_every_summary_is_whole_in_80_columns(monkeypatch, capsys, path):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(monkeypatch, *path, "--help") == 0
    lines = [ln for ln in capsys.readouterr().out.splitlines() if not ln.startswith("Usage: ")]
    assert [line for line in lines if len(line) > 80 or "\\b" in line or line.endswith(("...", "…"))] == []


def test_the_version(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert __version__ in capsys.readouterr().out


def raising(error: BaseException):
    def command(*_, **__):
        raise error

    return type("Command", (), {"status": staticmethod(command)})


ENDS = (
    (ConfigError("No key 'x'.", "Did you mean 'y'?"), 1, "sentinel-guard: No key 'x'.\n  Did you mean 'y'?\n"),
    (HostError("No file a\x9b2J\udc9b\x1b."), 1, "sentinel-guard: No file a\\x9b2J\\x9b\\x1b.\n"),
    (HostError("No room."), 1, "sentinel-guard: No room.\n"),
    (KeyboardInterrupt(), 130, ""),
    (click.exceptions.Abort(), 130, ""),
    (click.UsageError("Give a command."), 2, "Error: Give a command.\n"),
    (ZeroDivisionError("secret detail"), 3, "sentinel-guard: this is a fault of ours. The details are in "),
    (RecursionError(), 3, "sentinel-guard: this is a fault of ours. The details are in "),
)


@pytest.mark.parametrize("end", ENDS, ids=[type(e[0]).__name__ for e in ENDS])
def test_every_end_has_its_code_and_its_words(monkeypatch, tmp_path, capsys, end):
    error, code, words = end
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path))
    monkeypatch.setattr(lazy_import, "command_module", lambda _: raising(error))
    assert run(monkeypatch, "status") == code
    out, err = capsys.readouterr()
    assert out == "" and words in err
    assert "Traceback" not in err and "secret detail" not in err
    assert (tmp_path / "state" / "crash.log").exists() is (code == 3)


def test_a_fault_of_ours_leaves_its_details_for_us(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path))
    monkeypatch.setattr(lazy_import, "command_module", lambda _: raising(ZeroDivisionError("secret detail")))
    run(monkeypatch, "status")
    log = tmp_path / "state" / "crash.log"
    assert str(log) in capsys.readouterr().err
    assert "Traceback" in log.read_text() and "secret detail" in log.read_text()


NO_PLACE = ({"SENTINEL_HOME": "{tmp}/file"}, {})


@pytest.mark.parametrize("environ", NO_PLACE, ids=["a file in the way", "no home"])
def test_a_fault_that_cannot_be_written_down_is_still_told(monkeypatch, tmp_path, capsys, environ):
    (tmp_path / "file").write_text("")
    for name in ("HOME", "SENTINEL_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    monkeypatch.setattr(lazy_import, "command_module", lambda _: raising(ZeroDivisionError()))
    monkeypatch.setattr(sessions, "places", lambda: None)
    assert run(monkeypatch, "status") == 3
    assert "could not be written anywhere" in capsys.readouterr().err


def test_the_code_of_a_command_is_the_code_of_the_program(monkeypatch):
    monkeypatch.setattr(
        lazy_import, "command_module", lambda _: type("C", (), {"status": staticmethod(lambda *_, **__: 41)})
    )
    assert run(monkeypatch, "status") == 41


WRONG = (
    (("no-such-command",), "No such command", "an unknown command"),
    (("status", "--no-such-option"), "No such option", "an unknown option"),
    (("run",), "Missing argument", "no agent"),
    (("check",), "Give a command", "nothing to check"),
    (("log", "--last", "many"), "not a valid", "a number that is none"),
    (("hook",), "Missing argument", "no hook is named"),
    (("usage", "report", "--tokens", "-1"), "range", "less than nothing"),
)


@pytest.mark.parametrize(("arguments", "words"), [w[:2] for w in WRONG], ids=[w[2] for w in WRONG])
def test_what_was_typed_wrong_is_told_with_code_2(monkeypatch, capsys, arguments, words):
    assert run(monkeypatch, *arguments) == 2
    err = capsys.readouterr().err
    assert words in err and "Traceback" not in err


def test_an_agents_own_options_are_not_ours(monkeypatch):
    def keep(_places, command):
        seen.append(command)
        return 0

    seen: list[tuple[str, ...]] = []
    monkeypatch.setattr(lazy_import, "command_module", lambda _: type("C", (), {"run": staticmethod(keep)}))
    assert run(monkeypatch, "run", "--", "agent", "--help", "-x", "--", "y") == 0
    assert run(monkeypatch, "run", "agent", "--help") == 0
    assert seen == [("agent", "--help", "-x", "--", "y"), ("agent", "--help")]


def program(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "sentinel_guard", *arguments], capture_output=True, text=True, check=False,
        timeout=limit(30), **options,
    )  # fmt: skip


def test_the_program_itself(tmp_path):
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SENTINEL_HOME": str(tmp_path / "g")}
    done = program("rollback", "../x", env=environ, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("sentinel-guard: There is no session '../x'")
    done = program("status", env={"PATH": os.environ["PATH"]}, cwd=tmp_path)
    assert done.returncode == 1 and "HOME is not set" in done.stderr


@pytest.mark.parametrize("option", ["-u", "-B"], ids=["while it writes", "when it ends"])
def test_a_reader_that_has_had_enough_is_no_error(tmp_path, option):
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SENTINEL_HOME": str(tmp_path / "g")}
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, option, "-m", "sentinel_guard", "status"], stdout=theirs, stderr=subprocess.PIPE, env=environ,
        check=False, text=True, timeout=limit(30),
    )  # fmt: skip
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_output_is_no_error(tmp_path):
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SENTINEL_HOME": str(tmp_path / "g")}
    shell = 'exec "$0" -m sentinel_guard status >&-'
    command = ["/bin/sh", "-c", shell, sys.executable]
    done = subprocess.run(command, env=environ, stderr=subprocess.PIPE, text=True, check=False, timeout=limit(30))
    assert (done.returncode, done.stderr) == (0, "")
