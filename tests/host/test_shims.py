"""A session's shims: links to the launcher, first on PATH, for programs that are there. Real launcher, real bash."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from sentinel_guard import __version__
from sentinel_guard.errors import HostError
from sentinel_guard.host import bash_line_reader, shims
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.start_daemon import daemon_environ

PATH = "/usr/bin:/bin"
ODD = 'it\'s a $HOME "q" `x` \\'
"""A folder's name that a careless script would choke on."""


@pytest.fixture(params=["plain", ODD])
def where(request):
    # Short, because a Unix socket path holds 107 bytes.
    with tempfile.TemporaryDirectory(prefix="sg-") as folder:
        base = Path(folder) / request.param
        yield StatePaths(base / "state", base / "run", base / "config", str(base))


@pytest.fixture
def made(where):
    where.make()
    return where, shims.make(where, "s1", ("git", "rm", "no-such-program", "./scripts/deploy", "git"), PATH)


def test_there_is_a_shim_for_every_program_that_is_there_and_for_no_other(made):
    where, _ = made
    found = {p.name for p in where.shims("s1").iterdir() if not p.name.startswith(".")}
    assert {"git", "rm", "bash", "sh", shims.HOOK} <= found
    assert not {"no-such-program", "deploy"} & found
    programs = found - {shims.HOOK, shims.OWN, bash_line_reader.LINE}
    assert all(Path(f"/usr/bin/{n}").exists() or Path(f"/bin/{n}").exists() for n in programs)


def test_the_shims_of_a_session_are_one_file_and_no_other_sessions(made):
    where, _ = made
    shims.make(where, "s2", ("git",), PATH)
    links = [where.shims("s1") / "git", where.shims("s1") / shims.HOOK, where.shims("s2") / "bash"]
    assert links[0].samefile(links[1]) and not links[0].samefile(links[2])
    assert all(not p.samefile(shims.place_hooks(where, {}).with_name(shims.GITHOOK)) for p in links)
    assert stat.S_IMODE(links[0].stat().st_mode) == 0o500
    assert links[0].read_bytes() == shims.LAUNCHER.read_bytes()


def test_the_environment_to_set(made):
    where, environ = made
    folder = where.shims("s1")
    assert environ["PATH"] == f"{folder}:{PATH}"
    assert Path(environ["SHELL"]).parent == folder and Path(environ["SHELL"]).exists()
    assert environ["SENTINEL_SESSION"] == "s1"
    assert environ["BASH_ENV"].endswith("/.bash_env")


def test_the_launcher_is_told_where_the_guard_is(made):
    where, _ = made
    said = dict(line.split("=", 1) for line in (where.shims("s1") / ".sentinel").read_text().splitlines())
    assert said["socket"] == str(where.agent_socket)
    assert (said["version"], said["session"]) == (__version__, "s1")
    assert re.fullmatch("[0-9a-f]{64}", said["secret"])
    assert stat.S_IMODE((where.shims("s1") / ".sentinel").stat().st_mode) == 0o600
    told = {name.removeprefix("environ."): value for name, value in said.items() if name.startswith("environ.")}
    assert told == daemon_environ(where) | {"SENTINEL_HOME": where.home}, "for a daemon that a launcher starts"
    assert "HOME" in told and str(where.state) not in told["PATH"]
    assert os.access(said["python"], os.X_OK)


def test_making_twice_is_making_once(made):
    where, environ = made
    before = {p: p.stat().st_ino for p in where.shims("s1").iterdir()}
    assert shims.make(where, "s1", ("git", "rm"), PATH) == environ
    assert {p.name for p in before} == {p.name for p in where.shims("s1").iterdir()}
    assert {i for p, i in before.items() if p.name == "git"} == {(where.shims("s1") / "git").stat().st_ino}


def test_our_own_program_is_found_where_a_login_shell_has_lost_its_path(made):
    _, environ = made
    assert "Usage:" in bash(environ, "-c", "sentinel-guard --help")


def bash(environ, *arguments: str) -> str:
    # The real bash, by its path, as a login shell or a script of the agent's would start it; SENTINEL_CALL says that
    # its text has been judged.
    env = {"BASH_ENV": environ["BASH_ENV"], "PATH": PATH, "SENTINEL_CALL": "a1"}
    done = subprocess.run(["/bin/bash", *arguments], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


RESETS = (
    (("-c", 'echo "$PATH"'), "a PATH without shims"),
    (("-euc", 'echo "$PATH"'), "a strict shell"),
    (("-c", "/bin/bash -c 'echo \"$PATH\"'"), "a shell below it does not add them twice"),
)


@pytest.mark.parametrize("arguments", [r[0] for r in RESETS], ids=[r[1] for r in RESETS])
def test_a_bash_that_lost_the_shims_gets_them_back(made, arguments):
    where, environ = made
    assert bash(environ, *arguments).strip() == f"{where.shims('s1')}:{PATH}"


def test_the_users_own_bash_env_is_still_read(where, tmp_path, monkeypatch):
    own = tmp_path / "own env"
    own.write_text("MINE=1\n")
    monkeypatch.setenv("BASH_ENV", str(own))
    where.make()
    assert bash(shims.make(where, "s1", (), PATH), "-c", 'echo "${MINE-none}"') == "1\n"
    own.unlink()
    assert bash(shims.make(where, "s1", (), PATH), "-c", 'echo "${MINE-none}"') == "none\n"


WITHOUT = (
    ("{s1}:/usr/bin:{s2}:/bin", "/usr/bin:/bin", "every session's shims"),
    ("/usr/bin", "/usr/bin", "none there"),
    ("", "", "an empty PATH"),
    (":/usr/bin", ":/usr/bin", "the current folder stays the user's affair"),
    ("{s1}", "", "nothing else"),
    ("{state}/launcher:/bin", "{state}/launcher:/bin", "another folder of the state"),
)


@pytest.mark.parametrize(("path", "left"), [w[:2] for w in WITHOUT], ids=[w[2] for w in WITHOUT])
def test_a_path_without_shims(where, path, left):
    names = {"s1": where.shims("s1"), "s2": where.shims("s2"), "state": where.state}
    assert shims.without(path.format(**names), f"{where.sessions}/") == left.format(**names)


def test_without_a_launcher_it_says_how_to_get_one(where, monkeypatch, tmp_path):
    where.make()
    monkeypatch.setattr(shims, "LAUNCHER", tmp_path / "missing")
    with pytest.raises(HostError, match="C compiler"):
        shims.make(where, "s1", (), PATH)


def test_a_state_that_cannot_be_written_says_so(where, tmp_path):
    where.make()
    (where.state / "sessions").write_text("in the way")
    with pytest.raises(HostError, match="Cannot make the shims"):
        shims.make(where, "s1", (), PATH)
