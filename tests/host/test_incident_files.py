"""Incident reports on disk: found, read, and no way to another file."""

from __future__ import annotations

import os

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host import incident_files
from sentinel_guard.host.machine.state_paths import places

NAME = "INCIDENT-2026-11-21T101112Z-ab12"
TEXT = "# I\n\n| | |\n|---|---|\n| Session | s1 |\n| Repository | {root} |\n\nwords | Session | s9 |\n"


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


@pytest.fixture
def root(tmp_path):
    (tmp_path / "r" / incident_files.FOLDER).mkdir(parents=True)
    return tmp_path / "r"


def put(folder, name, root):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(TEXT.format(root=root))


def test_reports_are_found_in_the_repository_and_beside_the_state_oldest_first(where, root):
    later, other = NAME.replace("-21T", "-22T"), NAME.replace("-21T", "-20T")
    put(root / incident_files.FOLDER, later, root)
    put(root / incident_files.FOLDER, f"{later}-2", root)
    put(where.session("s1") / "incidents", NAME, root)
    put(where.session("s2") / "incidents", other, "/another/repository")
    (root / incident_files.FOLDER / "README.md").write_text("no report")
    assert [p.stem for p in incident_files.found(where, str(root))] == [NAME, later, f"{later}-2"]


TIMES = (
    (NAME, 1_795_255_872.0, "a name of ours"),
    (f"{NAME}-2", 1_795_255_872.0, "the second within a second"),
    ("INCIDENT-2026-99-99T999999Z-x", 0.0, "no time at all"),
    ("INCIDENT-x", 0.0, "no time"),
    ("README", 0.0, "no report"),
)


@pytest.mark.parametrize(("name", "at"), [r[:2] for r in TIMES], ids=[r[2] for r in TIMES])
def test_a_reports_name_tells_its_time(root, name, at):
    assert incident_files.when(root / f"{name}.md") == at


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_report_says_what_it_is_about(ends):
    text = TEXT.format(root="/a \\| b").replace("\n", ends)
    assert (incident_files.session(text), incident_files.repository(text)) == ("s1", "/a | b")
    assert incident_files.session("no table") == ""


UNREADABLE = (
    (lambda p: p.symlink_to("/etc/passwd"), "a link to elsewhere"),
    (lambda p: p.mkdir(), "a folder"),
    (os.mkfifo, "a pipe that would block"),
    (lambda p: p.write_bytes(b"x" * (incident_files.MAX_REPORT + 1)), "too large"),
    (lambda p: None, "nothing there"),
)


@pytest.mark.parametrize("make", [r[0] for r in UNREADABLE], ids=[r[1] for r in UNREADABLE])
def test_what_is_no_plain_file_is_not_read(root, make):
    report = root / incident_files.FOLDER / f"{NAME}.md"
    make(report)
    with pytest.raises(HostError, match=NAME):
        incident_files.read(report)


def test_what_was_written_is_read_again_bytes_that_are_no_text_too(root):
    report = root / incident_files.FOLDER / f"{NAME}.md"
    incident_files.write(report, "a\udcff\r\n")
    assert incident_files.read(report) == "a\udcff\r\n"
    assert not list(report.parent.glob(".INCIDENT*")), "nothing half-done is left"
