"""Who writes the files that changed: real processes that write, and files that somebody changed once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from sentinel_guard.host.file_integrity import background_writes
from sentinel_guard.host.file_integrity.background_writes import PERIOD, are_background_writes


@contextmanager
def python(code, folder):
    process = subprocess.Popen([sys.executable, "-c", f"import os, time\n{code}"], cwd=folder, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"begun\n"
        yield
    finally:
        process.kill()
        process.communicate()


BEGUN = "print('begun', flush=True)"
EACH = f"n = 0\nwhile True:\n    n += 1\n    {{}}\n    n == 1 and {BEGUN}\n    time.sleep({{}})"
WRITERS = (
    (f"log = open('x', 'w', buffering=1)\n{EACH.format('log.write(str(n))', 60)}", True, "a log that is kept open"),
    (EACH.format("open('x', 'a').write('more')", 0.2), True, "a log that is opened for each line"),
    (EACH.format("open('x', 'w').write(str(n))", 1), True, "what is written anew each second"),
    (EACH.format("open('y', 'w').write(str(n)); os.rename('y', 'x')", 0.5), True, "what is replaced"),
    (
        EACH.format("open('x', 'w').write('the same')", 0.1),
        False,
        "what is written anew as it was: not what changed it",
    ),
    (EACH.format("os.utime('x')", 0.1), False, "what is only touched"),
    (EACH.format("os.chmod('x', 0o600 | n % 2)", 0.1), False, "whose rights change"),
    (EACH.format("open('y', 'w').write(str(n))", 0.1), False, "another file is written"),
    (BEGUN, False, "nobody writes"),
    (EACH.format("open('x', 'w').close(); time.sleep(0.05); open('x', 'w').write('the same')", 0.1), False, "slowly"),
)


@pytest.mark.parametrize(("code", "theirs", "why"), WRITERS, ids=[row[2] for row in WRITERS])
def test_what_a_background_process_writes(tmp_path, code, theirs, why):
    (tmp_path / "x").write_text("edited\n")
    with python(code, tmp_path):
        began = time.monotonic()
        assert are_background_writes(str(tmp_path), ["x"]) is theirs, why
        assert time.monotonic() - began < PERIOD + 0.5


def test_all_of_them_must_be_written(tmp_path):
    (tmp_path / "a.py").write_text("edited\n")
    with python(EACH.format("open('x', 'w').write(str(n)); open('z', 'w').write(str(n))", 0.1), tmp_path):
        assert are_background_writes(str(tmp_path), ["x", "z"])
        assert not are_background_writes(str(tmp_path), ["x", "z", "a.py"])


def at_rest(path):
    path.write_text("edited\n")
    time.sleep(PERIOD + 0.1)


NO_FILES = (
    (lambda _: None, "gone"),
    (lambda path: path.mkdir(), "a folder"),
    (lambda path: path.symlink_to("/dev/zero"), "a link"),
    (lambda path: os.mkfifo(path) or None, "a pipe that nobody writes to"),
    (at_rest, "a file that has rested"),
)


@pytest.mark.parametrize(("make", "why"), NO_FILES, ids=[row[1] for row in NO_FILES])
def test_nothing_is_waited_for_where_nobody_writes(tmp_path, make, why):
    make(tmp_path / "x")
    began = time.monotonic()
    assert not are_background_writes(str(tmp_path), ["x"]), why
    assert time.monotonic() - began < PERIOD / 2


def test_so_many_files_are_no_question(tmp_path, monkeypatch):
    monkeypatch.setattr(background_writes, "MOST", 1)
    with python(EACH.format("open('x', 'w').write(str(n)); open('z', 'w').write(str(n))", 0.1), tmp_path):
        assert are_background_writes(str(tmp_path), ["x"])
        assert not are_background_writes(str(tmp_path), ["x", "z"])
    assert not are_background_writes(str(tmp_path), [])
