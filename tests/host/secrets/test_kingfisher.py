"""Kingfisher beside our own rules: what it is told, what it gives, how it fails; and the real one, where it is.

Install the extra (``pip install 'sentinel-guard[secrets]'``) to run the last test; it needs no network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.core.secrets.model import Grade, Piece
from sentinel_guard.host.secrets import kingfisher
from tests.support.hook_repositories import TOKEN, token

PIECE = Piece(f"# h\xe9\nkey = '{TOKEN}'\n", "src/a b.py", 40, "abc")


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a program called kingfisher beside the interpreter."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kingfisher.installed.cache_clear()

    def put(text: str) -> Path:
        program = tmp_path / "kingfisher"
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
        return program

    yield put
    kingfisher.installed.cache_clear()


ENVIRON = {**os.environ, "KINGFISHER_ALERT_REPORT_URL": "x"}


def search(*pieces: Piece, seen=(), allow=()) -> tuple[list, tuple[str, ...]]:
    return kingfisher.search(pieces or (PIECE,), seen, allow, ENVIRON, lambda piece, leak: True)


def row(name: str, line: int, value: str, confidence: str = "high") -> str:
    finding = {"snippet": value, "line": line, "column_start": 1, "confidence": confidence, "path": f"/x/{name}"}
    return json.dumps({"rule": {"name": "github-pat"}, "finding": finding})


def says(*rows: str, code: int = 200) -> str:
    return "".join(f"echo '{r}'\n" for r in (*rows, '{"audit": 1}')) + f"exit {code}"


def test_it_is_told_to_ask_nobody_and_sees_the_added_text_alone(beside, tmp_path: Path) -> None:
    acts = ("pwd", 'echo "$@"', "env", "ls", "stat -c %a .", "cat 0.py")
    beside(f"{{ {'; '.join(acts)}; }} > {tmp_path}/seen")
    assert search() == ([], ())
    seen = (tmp_path / "seen").read_text()
    assert "scan --no-validate --no-update-check" in seen
    assert "KINGFISHER" not in seen
    assert seen.endswith(f"0.py\n700\n{PIECE.text}")
    assert not Path(seen.splitlines()[0]).exists(), "its folder is gone"


def test_a_find_stands_in_its_place_and_is_masked(beside) -> None:
    beside(says(row("0.py", 2, TOKEN), row("1.txt", 1, "no such text", "medium")))
    hits, notes = search(PIECE, Piece("one\n", "b.x y"))
    assert notes == ()
    assert [(h.path, h.line, h.column, h.commit, h.leak.grade) for h in hits] == [
        ("src/a b.py", 41, 8, "abc", Grade.BLOCK),
        ("b.x y", 1, 1, "", Grade.WARN),
    ]
    assert all(TOKEN not in h.excerpt and TOKEN not in repr(h) for h in hits)


def test_what_we_found_ourselves_is_told_once_and_what_is_let_pass_is(beside) -> None:
    beside(says(row("0.py", 2, TOKEN)))
    (hit,), _ = search()
    assert search(seen=[hit]) == ([], ())
    assert search(allow=("src/",)) == ([], ())
    (allowed,), _ = search(Piece(f"\nx = '{TOKEN}'  # sentinel: allow\n", "a.py"))
    assert allowed.allowed == "comment"
    piece = Piece(f"\nx = '{TOKEN}'  # sentinel: allow\n", "a.py")
    (agents,), _ = kingfisher.search([piece], (), (), ENVIRON, lambda piece, leak: True, comments=False)
    assert agents.allowed == ""


FAILURES = [
    ("exit 2", "exit code 2", "an error of its own"),
    ("exec sleep 5", "no end after 0 s", "it hangs"),
    ("echo '{'; exit 0", "its report cannot be read", "no JSON"),
    (says('{"finding": 1, "rule": 2}'), "its report cannot be read", "another form of report"),
    (says(row("7.py", 1, "x")), "its report cannot be read", "a file that was not there"),
]


@pytest.mark.parametrize(("text", "words"), [f[:2] for f in FAILURES], ids=[f[2] for f in FAILURES])
def test_a_failure_is_a_word(beside, monkeypatch: pytest.MonkeyPatch, text: str, words: str) -> None:
    monkeypatch.setattr(kingfisher, "SECONDS", 0.3 if "sleep" in text else 5.0)
    beside(text)
    assert search() == ([], (f"kingfisher failed ({words}): only our own rules were used",))


def test_its_absence_is_silent(beside) -> None:
    assert search() == ([], ())


@pytest.mark.skipif(not kingfisher.installed(), reason="the extra `secrets` is not installed")
def test_the_real_one_finds_and_connects_to_nobody(tmp_path: Path) -> None:
    hits, notes = search(PIECE, Piece(f"t = '{token(2)}'\n", "b.py"))
    assert (len(hits), notes) == (2, ())
    if shutil.which("strace"):
        code = "import os; from tests.host.secrets.test_kingfisher import search; print(len(search()[0]))"
        log = tmp_path / "log"
        traced = [
            "strace",
            "-f",
            "-qq",
            "-e",
            "trace=connect,sendto,sendmsg",
            "-o",
            str(log),
            sys.executable,
            "-c",
            code,
        ]
        subprocess.run(traced, check=True, capture_output=True)
        assert "AF_INET" not in log.read_text()
