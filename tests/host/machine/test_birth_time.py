"""Times of birth: what was made after a moment, and what only looks so."""

from __future__ import annotations

import os
import time

import pytest

from sentinel_guard.host.machine import birth_time


@pytest.fixture
def moment(tmp_path):
    """After ``old`` and the folder of ``old``, before all that a test makes."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old").write_text("old\n")
    if not birth_time.born(str(tmp_path)):
        pytest.skip("this file system does not tell when files were made")
    time.sleep(0.02)  # the clock of a file system ticks
    return time.time() - 0.01


def test_a_file_is_as_old_as_its_inode_whatever_is_done_to_it(tmp_path, moment):
    old, new = tmp_path / "folder/old", tmp_path / "folder/new"
    old.write_text("written again\n")
    os.utime(old)
    old.chmod(0o600)
    new.write_text("new\n")
    os.utime(new, (0, 0))
    assert not birth_time.is_younger(str(old), moment)
    assert birth_time.is_younger(str(new), moment)
    old.rename(tmp_path / "moved")
    (tmp_path / "hard").hardlink_to(tmp_path / "moved")
    assert not birth_time.is_younger(str(tmp_path / "moved"), moment)
    assert not birth_time.is_younger(str(tmp_path / "hard"), moment)


def test_nothing_is_younger_and_gone(tmp_path, moment):
    for path in (tmp_path / "none", tmp_path / "folder/old/below"):
        assert birth_time.is_younger(str(path), moment) and birth_time.is_gone(str(path))
    (tmp_path / "link").symlink_to("nowhere")
    assert not birth_time.is_gone(str(tmp_path / "link"))
    assert birth_time.is_younger(str(tmp_path / "link"), moment)


def test_a_folder_is_as_old_as_the_oldest_in_it(tmp_path, moment, monkeypatch):
    made = tmp_path / "made"
    (made / "deep").mkdir(parents=True)
    (made / "deep" / "x").write_text("x\n")
    assert birth_time.is_younger(str(made), moment)
    (tmp_path / "folder/old").rename(made / "deep/old")
    assert not birth_time.is_younger(str(made), moment)
    (made / "deep/old").unlink()
    monkeypatch.setattr(birth_time, "MOST", 1)
    assert not birth_time.is_younger(str(made), moment), "too many to look at"
