"""The reader of a few folders: nothing is missed, whatever becomes of them. Real folders, real events."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from inotify_simple import Event, flags

from sentinel_guard.host.file_integrity import inotify_reader
from sentinel_guard.host.file_integrity.inotify_reader import Batch, Folders
from tests.support.time_limits import limit
from tests.support.wait_until import until


class Reader:
    """A reader of one folder, and all that it told."""

    def __init__(self, root: Path) -> None:
        self.root, self.files, self.gone, self.lost, self.overflow = root, [], [], threading.Event(), threading.Event()
        self.fails = False
        self.folders = Folders(lambda: [str(root)], self.heard)
        self.folders.start()

    def heard(self, batch: Batch) -> None:
        self.files += batch.files
        self.gone += batch.folders
        if batch.lost:
            self.lost.set()
        if batch.overflow:
            self.overflow.set()
        if self.fails:
            raise RuntimeError("from the test")


@pytest.fixture
def reader(tmp_path):
    (tmp_path / "root").mkdir()
    made = Reader(tmp_path / "root")
    yield made
    made.folders.stop()
    made.folders.stop()


def make(path):
    path.write_text("x")


def held(path):
    with path.open("w") as f:
        f.write("x")
        f.flush()
        time.sleep(0.05)


CHANGES = [
    (make, "written"),
    (held, "written by who keeps it open"),
    (lambda p: p.symlink_to("/etc/hostname"), "a link"),
    (lambda p: os.link(p.parents[1] / "other", p), "a hard link"),
    (lambda p: (p.parents[1] / "other").rename(p), "moved in"),
]


@pytest.mark.parametrize(("change", "why"), CHANGES, ids=[row[1] for row in CHANGES])
def test_a_change_is_told(reader, tmp_path, change, why):
    (tmp_path / "other").write_text("other")
    change(reader.root / "file")
    assert until(lambda: str(reader.root / "file") in reader.files)


def test_every_end_of_a_file_is_told(reader, tmp_path):
    for end in (lambda p: p.unlink(), lambda p: p.rename(tmp_path / "out"), lambda p: p.chmod(0o600)):
        (reader.root / "file").write_text("x")
        assert until(lambda: reader.files)
        time.sleep(0.02)
        reader.files.clear()
        end(reader.root / "file")
        assert until(lambda: str(reader.root / "file") in reader.files)


def test_what_was_put_into_a_new_folder_before_its_watch_is_told(reader):
    for n in range(50):
        deep = reader.root / f"n{n}/a/b/c"
        deep.mkdir(parents=True)
        (deep / ".env").write_text("x")
        (deep / "later").write_text("x")
    wanted = {str(reader.root / f"n{n}/a/b/c/{f}") for n in range(50) for f in (".env", "later")}
    assert until(lambda: wanted <= set(reader.files))


def test_generated_folders_are_left_alone(reader):
    (reader.root / "node_modules/x").mkdir(parents=True)
    (reader.root / "node_modules/x/.env").write_text("x")
    (reader.root / "end").write_text("x")
    assert until(lambda: str(reader.root / "end") in reader.files)
    time.sleep(0.02)
    assert not [f for f in reader.files if "node_modules" in f]


def test_a_renamed_folder_is_known_by_its_new_name(reader):
    (reader.root / "one").mkdir()
    assert until(lambda: str(reader.root / "one") in reader.folders._watch)
    (reader.root / "one").rename(reader.root / "two")
    (reader.root / "one").mkdir()
    assert until(lambda: {str(reader.root / n) for n in ("one", "two")} <= set(reader.folders._watch))
    assert str(reader.root / "one") in reader.gone
    for name in ("one", "two"):
        (reader.root / name / "file").write_text("x")
        assert until(lambda n=name: str(reader.root / n / "file") in reader.files)


def test_a_folder_that_goes_is_told_and_forgotten(reader):
    (reader.root / "one").mkdir()
    assert until(lambda: str(reader.root / "one") in reader.folders._watch)
    shutil.rmtree(reader.root / "one")
    assert until(lambda: str(reader.root / "one") in reader.gone and reader.lost.is_set())
    assert until(lambda: str(reader.root / "one") not in reader.folders._watch)


def test_the_watched_folder_itself_may_be_replaced(reader, tmp_path):
    reader.root.rename(tmp_path / "elsewhere")
    assert reader.lost.wait(limit(5))
    reader.root.mkdir()
    (reader.root / "before").write_text("x")
    reader.folders.arm()
    assert str(reader.root / "before") in reader.files, "it is listed when its watch stands"
    (reader.root / "after").write_text("x")
    assert until(lambda: str(reader.root / "after") in reader.files)


def test_an_overflow_is_told(reader):
    batch = Batch()
    reader.folders._take(Event(-1, flags.Q_OVERFLOW, 0, ""), batch)
    assert batch.overflow and not batch.lost


def test_a_burst_in_a_folder_is_told_whole(reader):
    for n in range(3000):
        (reader.root / str(n)).touch()
    assert until(lambda: reader.overflow.is_set() or len({*reader.files}) == 3000, seconds=20)


def test_a_failing_listener_does_not_end_it(reader, caplog):
    reader.fails = True
    (reader.root / "one").write_text("x")
    assert until(lambda: reader.files)
    (reader.root / "two").write_text("x")
    assert until(lambda: str(reader.root / "two") in reader.files)
    assert "from the test" in caplog.text


def test_too_many_new_folders_are_left_to_the_other_observer(reader, monkeypatch):
    monkeypatch.setattr(inotify_reader, "MAX_FOLDERS", 5)
    (reader.root / "/".join("abcdefgh")).mkdir(parents=True)
    (reader.root / "end").write_text("x")
    assert until(lambda: str(reader.root / "end") in reader.files)
    assert len(reader.folders._watch) <= 5
