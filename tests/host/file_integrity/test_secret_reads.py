"""Files of secrets that other programs open are known before the open returns, by the real kernel, as a user."""

from __future__ import annotations

import subprocess
import time

import pytest

from sentinel_guard.host.file_integrity.secret_reads import SecretReads


@pytest.fixture
def env(tmp_path):
    path = tmp_path / ".env"
    path.write_text("A=1\n")
    return path


@pytest.fixture
def reads(tmp_path, env):
    try:
        made = SecretReads(lambda: map(str, (env, tmp_path / ".env.local")))
    except OSError as e:
        pytest.skip(f"fanotify: {e}")
    yield made
    made.close()


WAYS = (
    ("cat .env", True, "by its name"),
    ("ln .env b; cat b", True, "by another name"),
    ("ln -s .env b; cat b", True, "by a link"),
    ("sh -c 'exec 3< .env'", True, "opened and not read"),
    ("ls -l .env; test -f .env; stat .env", False, "only looked at"),
    ("cp /dev/null other; mv other b", False, "another file"),
)


@pytest.mark.parametrize(("script", "seen"), [row[:2] for row in WAYS], ids=[row[2] for row in WAYS])
def test_what_counts_as_read(reads, env, script, seen):
    subprocess.run(["sh", "-c", script], cwd=env.parent, check=True, capture_output=True)
    assert reads.look() == ([str(env)] if seen else [])
    assert reads.look() == [], "it is told once"


def test_this_process_does_not_count(reads, env):
    env.read_text()
    assert reads.look() == []


def test_what_is_announced_does_not_count_for_its_time(reads, env):
    reads.announce([str(env)], 0.5)
    subprocess.run(["cat", env], check=True, capture_output=True)
    assert reads.look() == []
    time.sleep(0.6)
    subprocess.run(["cat", env], check=True, capture_output=True)
    assert reads.look() == [str(env)]


def test_what_was_read_before_an_announcement_counts(reads, env):
    subprocess.run(["cat", env], check=True, capture_output=True)
    reads.announce([str(env)], 60)
    assert [*reads.seen] == [str(env)]


def test_files_that_are_replaced_or_come_later(reads, env):
    for path in (env, env.with_name(".env.local")):
        (env.parent / "fresh").write_text("B=2\n")
        (env.parent / "fresh").replace(path)
        assert reads.look() == []
        subprocess.run(["cat", path], check=True, capture_output=True)
        assert reads.look() == [str(path)]


def test_after_its_end_nothing_is_told(reads, env):
    reads.close()
    subprocess.run(["cat", env], check=True, capture_output=True)
    assert reads.look() == []
    reads.close()
