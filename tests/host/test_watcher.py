"""The watcher with the guardian behind it, on real files: tampering is put back while it runs."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.guardian import Guardian
from sentinel_guard.host.rooted import Rooted
from sentinel_guard.host.vault import Vault
from sentinel_guard.host.watcher import Watcher

PATIENCE = 5.0


def until(true, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.001)


def restricts(path):
    return path.rpartition("/")[2].startswith(".env")


class Guarded:
    """A folder with a restricted file, watched and guarded."""

    def __init__(self, top, every):
        self.root = top / "root"
        (self.root / "conf/deep").mkdir(parents=True)
        (self.root / "node_modules").mkdir()
        self.env = self.root / "conf/deep/.env"
        self.env.write_text("KEY=1\n")
        self.env.chmod(0o640)
        vault, tree = Vault(top / "vault"), Rooted(str(self.root), top / "attic")
        kept = {"conf/deep/.env": vault.keep(tree, "conf/deep/.env")}
        self.guardian = Guardian(str(self.root), vault, kept, top / "session")
        self.found, self.changes, self.overflows = [], [], threading.Event()
        self.watcher = Watcher(
            str(self.root), restricts, self.changed, self.overflows.set, tick=self.sweep, every=every
        )

    def changed(self, change):
        self.changes.append(change)
        self.found += filter(None, [self.guardian.check(change.path)])

    def sweep(self):
        self.found += self.guardian.sweep()

    def good(self):
        try:
            seen = self.env.lstat()
            return not self.env.is_symlink() and self.env.read_text() == "KEY=1\n" and seen.st_mode & 0o777 == 0o640
        except OSError:
            return False


@pytest.fixture
def guarded(tmp_path):
    made = Guarded(tmp_path, every=3600)
    made.watcher.start()
    yield made
    made.watcher.stop()


@pytest.fixture
def swept(tmp_path):
    made = Guarded(tmp_path, every=0.05)
    made.watcher.start()
    yield made
    made.watcher.stop()


def append(env):
    with env.open("a") as f:
        f.write("EVIL=1\n")


def over(env):
    env.with_name("x").write_text("over")
    env.with_name("x").rename(env)


def link(env):
    env.with_name("x").symlink_to("/etc/hostname")
    env.with_name("x").rename(env)


def folder(env):
    env.unlink()
    env.mkdir()


TAMPERINGS = [
    (lambda env: env.write_text("evil"), "written"),
    (append, "appended to"),
    (lambda env: env.unlink(), "deleted"),
    (over, "renamed over"),
    (lambda env: env.chmod(0o666), "chmod"),
    (link, "a link swapped in"),
    (folder, "a folder in its place"),
    (lambda env: shutil.rmtree(env.parent, ignore_errors=True), "its folder deleted"),
]


@pytest.mark.parametrize(("tamper", "why"), TAMPERINGS, ids=[row[1] for row in TAMPERINGS])
def test_tampering_is_put_back_by_events_alone(guarded, tamper, why):
    tamper(guarded.env)
    until(lambda: guarded.found and guarded.good())
    assert guarded.found[0].path == str(guarded.env)


SWEPT = [
    (lambda env: env.rename(env.parents[3] / "out"), "moved out of the tree"),
    (lambda env: env.parents[1].rename(env.parents[2] / "elsewhere"), "a folder above it renamed"),
]


@pytest.mark.parametrize(("tamper", "why"), SWEPT, ids=[row[1] for row in SWEPT])
def test_what_events_tell_late_the_sweep_puts_back(swept, tamper, why):
    tamper(swept.env)
    until(lambda: swept.found and swept.good())


def test_a_write_through_a_hard_link_outside_is_swept(swept, tmp_path):
    os.link(swept.env, tmp_path / "outside")
    time.sleep(0.1)
    (tmp_path / "outside").write_text("evil")
    until(lambda: swept.found and swept.good())


def test_a_new_folder_at_the_top_is_watched_at_once(guarded):
    (guarded.root / "new/deep").mkdir(parents=True)
    (guarded.root / "new/deep/.env.local").write_text("new")
    until(lambda: any(f.kind == "created" for f in guarded.found))
    assert not (guarded.root / "new/deep/.env.local").exists()
    shutil.rmtree(guarded.root / "new")
    (guarded.root / "new").mkdir()
    (guarded.root / "new/.env").write_text("again")
    until(lambda: any(f.path == str(guarded.root / "new/.env") for f in guarded.found))


def test_heavy_folders_are_not_watched_and_others_are_counted(guarded):
    (guarded.root / "node_modules/.env").write_text("a package's")
    (guarded.root / "conf/x.py").write_text("x")
    until(lambda: guarded.watcher.others > 0)
    assert guarded.changes == []


def test_a_burst_loses_no_restricted_change(swept):
    for n in range(3000):
        (swept.root / f"conf/{n}").touch()
        if n == 1500:
            swept.env.write_text("evil")
    until(lambda: swept.found and swept.good())


def test_an_overflow_is_told(guarded):
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; filesystem events were lost")
    assert guarded.overflows.wait(PATIENCE)


def test_a_failing_callback_does_not_blind_the_watcher(tmp_path, caplog):
    (tmp_path / "root").mkdir()
    calls = []

    def fail(change):
        calls.append(change)
        raise RuntimeError("from the test")

    watcher = Watcher(str(tmp_path / "root"), restricts, fail, lambda: None)
    watcher.start()
    try:
        (tmp_path / "root/.env").write_text("1")
        until(lambda: calls)
        (tmp_path / "root/.env.two").write_text("2")
        until(lambda: {c.path for c in calls} >= {str(tmp_path / "root/.env"), str(tmp_path / "root/.env.two")})
    finally:
        watcher.stop()
        watcher.stop()
    assert "from the test" in caplog.text


def test_what_cannot_be_watched_is_said(tmp_path):
    watcher = Watcher(str(tmp_path / "nothing"), restricts, print, print)
    with pytest.raises(HostError, match="cannot be watched"):
        watcher.start()
