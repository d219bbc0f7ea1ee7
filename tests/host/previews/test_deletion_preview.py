"""What a deletion would take: files, sizes, and what could not be seen; links are not followed."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from sentinel_guard.core.model import Effect, Kind
from sentinel_guard.host.previews import deletion_preview as module
from sentinel_guard.host.previews.deletion_preview import deletion_preview
from sentinel_guard.host.previews.preview import age, cut, size
from tests.support.recovery.without_rights import AS_A_USER, MISSING


def said(*paths, kind=Kind.DELETE, root=""):
    return deletion_preview([Effect(kind, str(path)) for path in paths], root, time.time())


@pytest.fixture
def tree(tmp_path):
    for n in range(3):
        (tmp_path / "build" / f"d{n}").mkdir(parents=True)
        (tmp_path / "build" / f"d{n}" / "x.o").write_bytes(b"1" * 1000 * (n + 1))
    (tmp_path / "one.txt").write_text("hello")
    (tmp_path / "link").symlink_to(tmp_path / "build")
    (tmp_path / "build" / "out").symlink_to("/usr")
    return tmp_path


ROWS = [
    ("build", "deletes build/: 3 files, 6.0 kB", "a folder: what lies below, no link followed"),
    ("one.txt", "deletes one.txt: 5 B, changed ", "a file"),
    ("link", "a link to ", "a link goes, not what it leads to"),
    ("none", "deletes none: nothing is there now", "nothing"),
]


@pytest.mark.parametrize(("name", "seen"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_one_target(tree, name, seen):
    [line] = said(tree / name, root=str(tree)).lines
    assert seen in line


def test_details_list_the_largest_first(tree):
    rows = said(tree / "build", root=str(tree)).details.splitlines()
    assert [row.split()[-1] for row in rows] == ["build/d2/x.o", "build/d1/x.o", "build/d0/x.o"]


def test_many_targets_are_counted(tree):
    for n in range(9):
        (tree / f"f{n}").write_text("xx")
    found = said(*(tree / f"f{n}" for n in range(9)), root=str(tree))
    assert len(found.lines) == module.TARGETS + 1 and found.lines[-1] == "in all 9 targets: 9 files, 18 B"


def test_a_huge_tree_is_given_up_and_told(tree, monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    [line] = said(tree / "build").lines
    assert "more than" in line, "a link counts as an entry, so it may be one file or two"


PROGRAM = """
import sys
from sentinel_guard.core.model import Effect, Kind
from sentinel_guard.host.previews.deletion_preview import deletion_preview
print(*deletion_preview([Effect(Kind.DELETE, sys.argv[1])], "", 0.0).lines)
"""


@pytest.mark.skipif(MISSING, reason="without setpriv root reads everything")
def test_a_folder_that_cannot_be_read_is_told(tree):
    (tree / "build" / "d0").chmod(0)
    try:
        command = [*AS_A_USER, sys.executable, "-c", PROGRAM, str(tree / "build")]
        line = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    finally:
        (tree / "build" / "d0").chmod(0o755)
    assert "1 folder could not be read" in line


def test_writing_over_says_so(tree):
    [line] = said(tree / "one.txt", kind=Kind.WRITE).lines
    assert line.startswith("writes over ")


WORDS = [
    (size(999), "999 B"), (size(1000), "1.0 kB"), (size(56_700_000), "56.7 MB"), (size(5 * 10**15), "5000.0 TB"),
    (age(5), "5 s"), (age(61), "1 min"), (age(7200), "2 h"), (age(10**6), "11 d"), (age(-3), "0 s"),
    (cut("a\nb\nc\n", 4), "a\nb\n… 2 more lines"), (cut("short"), "short"),
]  # fmt: skip


@pytest.mark.parametrize(("got", "words"), WORDS, ids=[row[1].splitlines()[0] for row in WORDS])
def test_numbers_as_a_person_reads_them(got, words):
    assert got == words
