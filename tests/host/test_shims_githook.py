"""The launcher that the installed git hooks ask: in place, told where the guard is, renewed after an upgrade."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from sentinel_guard import __version__
from sentinel_guard.errors import HostError
from sentinel_guard.host import shims
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.session_environ import ENVIRON


@pytest.fixture
def where(tmp_path):
    base = tmp_path / "it's a $HOME"
    return StatePaths(base / "state", base / "run", base / "config", str(base))


def settings(where) -> dict[str, str]:
    lines = (where.state / "hooks" / ".sentinel").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_it_is_the_launcher_and_belongs_to_no_session(where):
    path = shims.place_hooks(where, {}).with_name(shims.GITHOOK)
    assert path == where.state / "hooks" / "sentinel-githook"
    assert path.read_bytes() == shims.LAUNCHER.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o500
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    told = settings(where)
    assert len(told.pop("secret")) == 64
    environ = {name: told.pop(name) for name in [*told] if name.startswith(ENVIRON)}
    assert environ[f"{ENVIRON}SENTINEL_HOME"] == where.home, "where it starts a daemon"
    assert told == {
        "socket": str(where.agent_socket),
        "python": sys.executable,
        "version": __version__,
        "session": "",
    }


def test_it_runs_and_judges_without_a_daemon(where, tmp_path):
    path = shims.place_hooks(where, {}).with_name(shims.GITHOOK)
    done = subprocess.run([path, "no-such-hook"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "is not in a git work tree" in done.stderr


def test_twice_is_once(where):
    path = shims.place_hooks(where, {}).with_name(shims.GITHOOK)
    before = [(p.stat().st_ino, p.stat().st_mtime_ns) for p in (path, path.parent / ".sentinel")]
    assert shims.place_hooks(where, {}).with_name(shims.GITHOOK) == path
    assert [(p.stat().st_ino, p.stat().st_mtime_ns) for p in (path, path.parent / ".sentinel")] == before


def other(path):
    path.chmod(0o700)
    path.write_bytes(b"#!/bin/sh\nexit 0\n")


def one_byte(path):
    before = path.stat()
    path.chmod(0o700)
    with path.open("r+b") as file:
        file.seek(1000)
        file.write(b"x")
    path.chmod(0o500)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def link(path):
    path.unlink()
    path.symlink_to("/bin/true")


CHANGED = (
    (other, "another program"),
    (one_byte, "one byte, with the size and the time that it had"),
    (link, "a link to another program"),
    (lambda path: path.chmod(0o400), "it cannot be run"),
)


@pytest.mark.parametrize("change", [row[0] for row in CHANGED], ids=[row[1] for row in CHANGED])
def test_one_that_was_changed_is_made_anew(where, change):
    path = shims.place_hooks(where, {}).with_name(shims.GITHOOK)
    shims.place_hooks(where, {}).with_name(shims.GITHOOK)
    change(path)
    assert shims.place_hooks(where, {}).with_name(shims.GITHOOK).read_bytes() == shims.LAUNCHER.read_bytes()
    assert os.access(path, os.X_OK) and not path.is_symlink()


def test_an_upgrade_renews_it_under_a_running_hook(where, tmp_path, monkeypatch):
    path = shims.place_hooks(where, {}).with_name(shims.GITHOOK)
    old = path.stat().st_ino
    upgraded = tmp_path / "sentinel-launcher"
    upgraded.write_bytes(b"#!/bin/sh\nexit 5\n")
    monkeypatch.setattr(shims, "LAUNCHER", upgraded)
    with path.open("rb"):
        shims.place_hooks(where, {}).with_name(shims.GITHOOK)
    assert path.stat().st_ino != old and path.read_bytes() == upgraded.read_bytes()
    monkeypatch.setattr("sentinel_guard.__version__", "9.9.9")
    shims.place_hooks(where, {}).with_name(shims.GITHOOK)
    assert settings(where)["version"] == "9.9.9"
    assert [p.name for p in sorted(path.parent.iterdir())] == [".sentinel", "sentinel-githook", "sentinel-hook"]


def test_what_is_left_over_of_a_broken_renewal_is_no_hindrance(where, monkeypatch):
    path = shims.place_hooks(where, {}).with_name(shims.GITHOOK)
    path.unlink()
    path.with_suffix(f".{shims.os.getpid()}").write_bytes(b"half")
    assert shims.place_hooks(where, {}).with_name(shims.GITHOOK).read_bytes() == shims.LAUNCHER.read_bytes()
    path.unlink()
    path.mkdir()
    with pytest.raises(HostError, match="Cannot put the hooks' launcher"):
        shims.place_hooks(where, {}).with_name(shims.GITHOOK)


def test_without_a_launcher_it_says_what_to_do(where, tmp_path, monkeypatch):
    monkeypatch.setattr(shims, "LAUNCHER", tmp_path / "none")
    with pytest.raises(HostError, match="launcher was not built"):
        shims.place_hooks(where, {}).with_name(shims.GITHOOK)
