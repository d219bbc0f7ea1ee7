"""What becomes of an incident, below a real daemon, without the cage: what is harmed is the stage's own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bench.published_incidents import LOST, STOPPED, UNDONE, outcome
from bench.transparency import cage

TREE = Path(__file__).parents[2]
PYTHON = os.path.realpath(sys.executable)
FILES = {"a.txt": "one\n"}
LEFT = {"a.txt": "two\n", "notes.txt": "three\n", "~/mine.txt": "four\n"}
INCIDENTS = [  # the step that did the harm, what ran, what became of it
    ("rm ~/mine.txt", (), STOPPED),  # no snapshot has it
    ("git checkout -- . && rm notes.txt", (), UNDONE),  # the rollback has what was not committed
    ("kill $(pgrep -f 'other-program serve')", ("other-program serve",), LOST),  # whose folder is a temporary one
]


@pytest.mark.parametrize(("step", "running", "came"), INCIDENTS)
def test_what_becomes_of_an_incident(step: str, running: tuple[str, ...], came: str):
    incident = {"files": FILES, "left": LEFT, "running": running, "steps": [{"run": step, "harm": True}]}
    assert outcome(incident, None)[0] == came


@pytest.mark.parametrize("module", ["bench.published_incidents", "bench.honest_sessions"])
def test_outside_of_the_cage_nothing_is_run(tmp_path: Path, module: str):
    (tmp_path / "none.jsonl").write_text("")
    words = [sys.executable, "-m", module, "caged", str(tmp_path / "none.jsonl")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Nothing was run" in done.stderr and not done.stdout


needs_a_cage = pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")


def printed(*words: str) -> str:
    return subprocess.run(words, cwd=TREE, capture_output=True, text=True, check=False).stdout.strip()


@needs_a_cage
def test_the_cage_is_known():
    code = (PYTHON, "-c", "from bench.transparency import is_caged; print(is_caged())")
    here = ("--ro-bind", str(TREE), str(TREE))  # it may lie in a temporary folder
    assert (printed(*code), printed(*cage(), *here, *code)) == ("False", "True")


@needs_a_cage
def test_no_engine_of_the_machine_is_reached_from_there():
    """What an incident does to containers, it would do to the real ones of whoever runs it."""
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder, socket.socket(socket.AF_UNIX) as engine:
        engine.bind(path := f"{folder}/x.sock")
        engine.listen()
        code = f"import socket; print(socket.socket(socket.AF_UNIX).connect_ex({path!r}))"
        assert printed(PYTHON, "-c", code) == "0"
        assert printed(*cage(), PYTHON, "-c", code) not in ("", "0")
