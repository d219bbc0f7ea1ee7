"""The key that finds are hashed with: made once, private, the same for everybody who asks."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.secrets.fingerprint_key import SIZE, key
from tests.support.time_limits import limit


@pytest.fixture
def home(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path)})


def test_it_is_made_once_and_private(home):
    made = key(home)
    path = home.state / "leaks.key"
    assert len(made) == SIZE and key(home) == made and path.stat().st_mode & 0o777 == 0o600
    assert home.state.stat().st_mode & 0o777 == 0o700
    assert list(home.state.iterdir()) == [path]


def test_others_are_kept_out_again(home):
    made = key(home)
    (home.state / "leaks.key").chmod(0o644)
    assert key(home) == made and (home.state / "leaks.key").stat().st_mode & 0o777 == 0o600


def test_those_who_ask_at_the_same_time_get_the_same(tmp_path):
    program = (
        "from sentinel_guard.host.machine.state_paths import places; "
        "from sentinel_guard.host.secrets.fingerprint_key import key; print(key(places()).hex())"
    )
    environ = os.environ | {"SENTINEL_HOME": str(tmp_path)}
    asking = [subprocess.Popen([sys.executable, "-c", program], env=environ, stdout=subprocess.PIPE) for _ in range(4)]
    assert len({process.communicate(timeout=limit(60))[0] for process in asking}) == 1


def test_it_is_not_made_twice_within_a_process_either(tmp_path):
    for turn in range(10):
        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(key, [places({"SENTINEL_HOME": str(tmp_path / str(turn))})] * 8))) == 1


@pytest.mark.parametrize("left", [b"half of it", b"", b"x" * (SIZE + 1)], ids=["cut off", "empty", "too long"])
def test_a_damaged_one_is_made_anew_with_words(home, left, caplog):
    before = key(home)
    (home.state / "leaks.key").write_bytes(left)
    with caplog.at_level(logging.WARNING):
        made = key(home)
    assert len(made) == SIZE and made != before and key(home) == made
    assert ("made anew" in caplog.text) == bool(left)
    assert made.hex() not in caplog.text and repr(left) not in caplog.text


PLANTED = [
    (lambda path: path.symlink_to("/dev/zero"), "a link"),
    (os.mkfifo, "a pipe"),
    (Path.mkdir, "a folder"),
]


@pytest.mark.parametrize(("plant", "why"), PLANTED, ids=[row[1] for row in PLANTED])
def test_what_was_planted_there_is_refused(home, plant, why):
    home.state.mkdir(parents=True)
    plant(home.state / "leaks.key")
    with pytest.raises(HostError, match=r"leaks\.key"):
        key(home)


NOWHERE = [
    (lambda home: home.write_text("a file"), "a file stands where the folder is to be"),
    (lambda home: home.symlink_to("/proc/self"), "nothing can be made there"),
]


@pytest.mark.parametrize(("make", "why"), NOWHERE, ids=[row[1] for row in NOWHERE])
def test_no_state_folder_is_said_with_words(tmp_path, make, why):
    make(tmp_path / "home")
    with pytest.raises(HostError, match="SENTINEL_HOME"):
        key(places({"SENTINEL_HOME": str(tmp_path / "home")}))


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said_with_words(home):
    home.state.mkdir(parents=True, mode=0o500)
    with pytest.raises(HostError, match="Cannot write"):
        key(home)
