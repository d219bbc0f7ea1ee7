"""What a connecting process is taken for."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time

import pytest

from sentinel_guard.daemon.held_calls.connections_after_reads import connecting
from tests.support.wait_until import until

WAIT = "import sys, time; print(flush=True); time.sleep(60)"
SHELL_WAIT = "echo; read x"
ROWS = (
    ([sys.executable, "-c", WAIT], "", "code in its arguments"),
    (["bash", "-c", SHELL_WAIT], "", "a shell"),
    ([sys.executable, "old.py"], "old.py", "a script of before the session"),
    ([sys.executable, "-B", "old.py"], "old.py", "after a flag"),
    ([sys.executable, "new.py"], "", "a script of the session's"),
    ([sys.executable, "npm-cli.js"], "", "one that is called like a package manager"),
    ([sys.executable, "env/bin/pip"], "pip", "pip in a virtual environment of the session's"),
    ([sys.executable, "-m", "pip"], "", "a module that lies in the current folder"),
    ([sys.executable, "-m", "other"], "other", "a module of the interpreter's"),
    (["./cat"], "", "a program that was made in the session"),
    (["cat"], "cat", "a program of the system's"),
)


@pytest.mark.parametrize(("words", "name"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_the_program_of_a_process(tmp_path, words, name):
    def write(*names):
        for made in names:
            (tmp_path / made).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / made).write_text(WAIT)

    write("old.py")
    time.sleep(0.05)
    began = time.time() - 0.02  # a file's time is that of the clock's last tick
    write("new.py", "npm-cli.js", "env/bin/pip", "pip.py")
    (tmp_path / "env/pyvenv.cfg").write_text("home = /usr/bin\n")
    shutil.copy("/bin/cat", tmp_path / "cat")
    site = {"PYTHONPATH": str(tmp_path / "lib"), "PATH": "/usr/bin:/bin"}
    write("lib/other.py")
    with subprocess.Popen(words, cwd=tmp_path, env=site, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        if words[0] != "cat" and words[0] != "./cat":
            assert process.stdout.readline() == b"\n"
        assert until(lambda: connecting(process.pid, began).name == name), connecting(process.pid, began)
        process.kill()
