"""The watcher with the guardian behind it, on real files: tampering is put back while it runs."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import threading
import time

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.file_integrity.file_watcher import Watcher
from sentinel_guard.host.file_integrity.restore_restricted_files import RestrictedFileRestorer
from sentinel_guard.host.machine.content_addressed_store import ContentAddressedStore
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from tests.support.wait_until import until

PATIENCE = 5.0


def restricts(path):
    return path.rpartition("/")[2].startswith(".env")


class Guarded:
    """A folder with a restricted file, watched and guarded."""

    def __init__(self, top, every, *, near=True):
        self.root = top / "root"
        (self.root / "conf/deep").mkdir(parents=True)
        (self.root / "node_modules").mkdir()
        self.env = self.root / "conf/deep/.env"
        self.env.write_text("KEY=1\n")
        self.env.chmod(0o640)
        vault, tree = ContentAddressedStore(top / "vault"), SymlinkSafeFolder(str(self.root), top / "attic")
        kept = {"conf/deep/.env": vault.keep(tree, "conf/deep/.env")}
        self.guardian = RestrictedFileRestorer(str(self.root), vault, kept, top / "session")
        self.found, self.changes, self.overflows = [], [], threading.Event()
        self.watcher = Watcher(
            str(self.root),
            restricts,
            self.changed,
            self.overflow,
            on_gone=self.gone,
            near=self.guardian.folders if near else None,
            known=self.guardian.knows,
            tick=self.sweep,
            every=every,
        )

    def changed(self, change):
        self.changes.append(change)
        self.found += filter(None, [self.guardian.check(change.path)])

    def gone(self, folder):
        self.found += self.guardian.check_below(folder)

    def overflow(self):
        self.sweep()
        self.overflows.set()

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
    """Events alone: no sweep comes."""
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


@pytest.fixture
def plain(tmp_path):
    """Without the reader of its own: watchdog and the sweep, as on other systems."""
    made = Guarded(tmp_path, every=0.05, near=False)
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
    env.with_name("x").mkdir()
    env.rename(env.with_name("y"))
    with contextlib.suppress(OSError):  # it may be back already
        env.with_name("x").rename(env)


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
    assert until(lambda: guarded.found and guarded.good())
    assert guarded.found[0].path == str(guarded.env)


GONE = [
    (lambda env: env.rename(env.parents[3] / "out"), "moved out of the tree"),
    (lambda env: env.parents[1].rename(env.parents[2] / "elsewhere"), "a folder above it renamed"),
    (lambda env: env.parents[1].rename(env.parents[3] / "elsewhere"), "a folder above it moved out of the tree"),
    (lambda env: os.truncate(env, 0), "truncated"),
]


@pytest.mark.parametrize(("tamper", "why"), GONE, ids=[row[1] for row in GONE])
def test_what_goes_is_put_back_by_events_alone(guarded, tamper, why):
    tamper(guarded.env)
    assert until(lambda: guarded.found and guarded.good())
    tamper(guarded.env) if why == "truncated" else guarded.env.unlink()
    assert until(guarded.good)


def test_what_goes_from_a_new_folder_before_its_watch_stands_is_put_back(guarded, monkeypatch):
    arm, late = guarded.watcher._quick.arm, [guarded.env.unlink]
    monkeypatch.setattr(guarded.watcher._quick, "arm", lambda: (late and late.pop()(), arm())[1])
    guarded.env.parents[1].rename(guarded.root / "elsewhere")
    assert until(lambda: not late and guarded.good())


@pytest.mark.parametrize(("tamper", "why"), [*TAMPERINGS, *GONE], ids=[row[1] for row in (*TAMPERINGS, *GONE)])
def test_without_a_reader_of_its_own_it_is_put_back_too(plain, tamper, why):
    tamper(plain.env)
    assert until(lambda: plain.found and plain.good())


def test_a_held_open_writer_goes_on_into_what_was_moved_away(guarded):
    with guarded.env.open("r+") as writer:
        writer.write("EVIL")
        writer.flush()
        assert until(lambda: guarded.found and guarded.good())
        writer.write("MORE")
        writer.flush()
        time.sleep(0.05)
        assert guarded.good() and len(guarded.found) == 1


def test_a_root_that_was_replaced_is_watched_again(swept):
    swept.root.rename(swept.root.with_name("elsewhere"))
    time.sleep(0.15)
    (swept.root / "new/deep").mkdir(parents=True)
    assert until(swept.good)
    (swept.root / "new/deep/.env.local").write_text("new")
    assert until(lambda: not (swept.root / "new/deep/.env.local").exists())
    swept.found.clear()
    swept.env.write_text("evil")
    assert until(lambda: swept.found and swept.good())


def test_after_an_overflow_the_whole_tree_is_searched(swept, monkeypatch):
    # As if it had been made while events were lost.
    handle = swept.watcher._handle
    monkeypatch.setattr(swept.watcher, "_handle", lambda event: event.kind == "overflow" and handle(event))
    (swept.root / "conf/.env.lost").write_text("new")
    time.sleep(0.1)
    assert (swept.root / "conf/.env.lost").exists()
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; filesystem events were lost")
    assert until(lambda: not (swept.root / "conf/.env.lost").exists())


def test_our_own_writing_is_no_storm(guarded):
    guarded.env.write_text("evil")
    assert until(lambda: guarded.found and guarded.good())
    time.sleep(0.1)
    seen = len(guarded.changes)
    time.sleep(0.2)
    assert len(guarded.changes) == seen < 30 and len(guarded.found) == 1


def test_a_write_through_a_hard_link_outside_is_swept(swept, tmp_path):
    os.link(swept.env, tmp_path / "outside")
    time.sleep(0.1)
    (tmp_path / "outside").write_text("evil")
    assert until(lambda: swept.found and swept.good())


def test_a_new_folder_at_the_top_is_watched_at_once(guarded):
    (guarded.root / "new/deep").mkdir(parents=True)
    (guarded.root / "new/deep/.env.local").write_text("new")
    assert until(lambda: any(f.kind == "created" for f in guarded.found))
    assert not (guarded.root / "new/deep/.env.local").exists()
    shutil.rmtree(guarded.root / "new")
    (guarded.root / "new").mkdir()
    (guarded.root / "new/.env").write_text("again")
    assert until(lambda: any(f.path == str(guarded.root / "new/.env") for f in guarded.found))


def test_heavy_folders_are_not_watched_and_others_are_counted(guarded):
    (guarded.root / "node_modules/.env").write_text("a package's")
    (guarded.root / "conf/x.py").write_text("x")
    assert until(lambda: guarded.watcher.others > 0)
    assert not [change for change in guarded.changes if "node_modules" in change.path]


def test_what_packages_bring_is_left_alone_wherever_they_are(guarded):
    folder = guarded.root / "apps/web/node_modules/pkg"
    folder.mkdir(parents=True)
    (folder / ".env").write_text("a package's")
    (guarded.root / "apps/web/.env").write_text("not theirs")
    assert until(lambda: any(f.path.endswith("web/.env") for f in guarded.found))
    assert (folder / ".env").exists()
    assert not [f for f in guarded.found if "node_modules" in f.path]


def test_a_burst_loses_no_restricted_change(swept):
    for n in range(3000):
        (swept.root / f"conf/{n}").touch()
        if n % 500 == 0:
            swept.env.write_text(f"evil {n}")
            (swept.root / f"conf/.env.{n}").write_text("new")
            assert until(swept.good)
    assert until(lambda: not list((swept.root / "conf").glob(".env.*")), seconds=20)
    assert {f.path for f in swept.found} >= {str(swept.root / f"conf/.env.{n}") for n in range(0, 3000, 500)}


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
        assert until(lambda: calls)
        (tmp_path / "root/.env.two").write_text("2")
        assert until(lambda: {c.path for c in calls} >= {str(tmp_path / "root/.env"), str(tmp_path / "root/.env.two")})
    finally:
        watcher.stop()
        watcher.stop()
    assert "from the test" in caplog.text


def test_what_cannot_be_watched_is_said(tmp_path):
    watcher = Watcher(str(tmp_path / "nothing"), restricts, print, print)
    with pytest.raises(HostError, match="cannot be watched"):
        watcher.start()


@pytest.fixture
def paced(tmp_path):
    """A watcher of an empty tree, when its ticks came, and what they answer."""
    ticks, answers = [], [False]

    def tick():
        ticks.append(time.monotonic())
        return answers[-1]

    watcher = Watcher(str(tmp_path), restricts, lambda _: None, lambda: None, tick=tick, every=0.01)
    watcher.start()
    yield watcher, ticks, answers
    watcher.stop()


def pauses(ticks, last):
    return [later - earlier for earlier, later in zip(ticks[-last - 1 :], ticks[-last:], strict=False)]


def test_where_nothing_happens_the_ticks_come_ever_slower(paced):
    watcher, ticks, answers = paced
    assert until(lambda: len(ticks) > 14, PATIENCE)
    assert min(pauses(ticks, 2)) > 4 * 0.01
    answers.append(True)
    watcher.hurry()
    at = len(ticks)
    assert until(lambda: len(ticks) > at + 20, PATIENCE)
    assert sorted(pauses(ticks, 15))[7] < 4 * 0.01, "while something happens they keep their pace"


def test_what_hurries_during_a_long_tick_is_not_forgotten(tmp_path):
    """A twentieth of the time is for ticks: after one of 0.2 s the next would come in 4 s."""
    ticks = []

    def tick():
        ticks.append(time.monotonic())
        if len(ticks) == 1:
            time.sleep(0.2)
            watcher.hurry()
        return False

    watcher = Watcher(str(tmp_path), restricts, lambda _: None, lambda: None, tick=tick, every=0.01)
    watcher.start()
    assert until(lambda: len(ticks) > 1, PATIENCE)
    watcher.stop()
    assert ticks[1] - ticks[0] < 2


def test_a_change_in_the_tree_brings_the_pace_back(paced, tmp_path):
    _, ticks, _ = paced
    assert until(lambda: len(ticks) > 14, PATIENCE)
    at = len(ticks)
    (tmp_path / "new").write_text("")
    assert until(lambda: len(ticks) > at + 3, PATIENCE)
    assert min(pauses(ticks, 3)) < 4 * 0.01
