"""``run`` starts a known agent so that its tools run inside the session, or says why it does not."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agents import stand_ins
from tests.support.run_on_pty import plain
from tests.support.time_limits import limit


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Iterator[Path]:
    """Where a test puts its agent. A home of its own: only its servers are found."""
    monkeypatch.setenv("HOME", str(tmp_path))
    yield tmp_path / "bin"
    for pid in stand_ins.left(tmp_path / "bin"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def server(folder) -> Iterator[int]:
    """A server of Codex's that no session started."""
    process = stand_ins.server("app-server", "--listen", "unix://")
    yield process.pid
    process.kill()
    process.communicate()


def said(*command: str) -> tuple[int, str, str]:
    process = plain(*command)
    out, err = process.communicate(timeout=limit(20))
    return process.returncode, out.decode(), err.decode()


NOTE = "sentinel-guard: codex is started with --no-daemon, so that its tools run inside the session\n"


def test_an_option_is_added_told_once_and_on_record(daemon, folder):
    program = str(stand_ins.agent(folder, "codex"))
    daemon.replies["start"] = {"session": "s1", "environ": {}, "notes": ["another note"]}
    code, out, err = said(program, "fix it")
    assert (code, out) == (0, "started with --no-daemon fix it\n")
    assert err == f"{NOTE}sentinel-guard: another note\n"
    assert daemon.wait("start")["command"] == [program, "--no-daemon", "fix it"]
    assert stand_ins.left(folder) == []


def test_beside_a_server_it_works_by_itself(daemon, folder, server):
    code, out, err = said(str(stand_ins.agent(folder, "codex")))
    assert (code, out, err) == (0, "started with --no-daemon\n", NOTE)


def test_an_old_version_is_started_as_it_is(daemon, folder):
    code, out, err = said(str(stand_ins.agent(folder, "codex", stand_ins.OLD)), "fix it")
    assert (code, out, err) == (0, "started with fix it\n", "")


def test_an_old_version_beside_a_server_is_not_begun(daemon, folder, server):
    code, out, err = said(str(stand_ins.agent(folder, "codex", stand_ins.OLD)), "fix it")
    assert (code, out) == (1, "")
    assert "This codex has no --no-daemon" in err and f"kill {server}" in err and "update codex" in err
    assert daemon.heard == [], "no session was begun"


def test_an_old_version_that_needs_no_server_is_started_beside_one(daemon, folder, server):
    code, out, err = said(str(stand_ins.agent(folder, "codex", stand_ins.OLD)), "exec", "x", "--no-daemon")
    assert (code, out, err) == (0, "started with exec x --no-daemon\n", "")


def test_a_program_that_does_not_say_what_it_knows_gets_the_option(daemon, folder):
    program = stand_ins.agent(folder, "codex")
    program.write_text('#!/bin/sh\n[ "$1" = --help ] && exit 3\necho "$@"\n')
    assert said(str(program), "x")[:2] == (0, "--no-daemon x\n")


def test_a_program_is_asked_once_until_it_changes(daemon, folder):
    program, asked = stand_ins.agent(folder, "codex"), folder / "asked"
    for help_text, added, times in (("--no-daemon", "--no-daemon ", 1), ("nothing", "", 2)):
        program.unlink()
        program.write_text(
            f'#!/bin/sh\n[ "$1" = --help ] && {{ echo x >> {asked}; echo {help_text}; exit; }}\necho "$@"\n'
        )
        program.chmod(0o755)
        assert [said(str(program), "x")[1] for _ in range(2)] == [f"{added}x\n"] * 2
        assert asked.read_text() == "x\n" * times


def test_what_works_elsewhere_is_refused_before_a_session_begins(daemon, folder):
    code, out, err = said(str(stand_ins.agent(folder, "codex")), "--remote", "ws://h")
    assert (code, out) == (1, "")
    assert err == "'codex --remote' works outside of the session, where nobody guards it.\n  Start codex without it.\n"
    assert daemon.heard == []


def test_any_other_command_is_not_asked_anything(daemon, folder):
    code, out, err = said(str(stand_ins.agent(folder, "my-agent")), "--no-daemon", "x")
    assert (code, out, err) == (0, "started with --no-daemon x\n", "")
