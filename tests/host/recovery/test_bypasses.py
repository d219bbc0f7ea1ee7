"""What an agent tried against snapshots, reports and restricted files: refs, pipes, links, maps, forged indexes."""

from __future__ import annotations

import mmap
import os
import time

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host import incident_files
from sentinel_guard.host.file_integrity import restore_restricted_files as module
from sentinel_guard.host.file_integrity.restore_restricted_files import RestrictedFileRestorer
from sentinel_guard.host.machine.content_addressed_store import ContentAddressedStore
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.snapshots.blocking_fifos import find_fifos
from sentinel_guard.host.recovery.snapshots.snapshot_store import list_snapshots
from sentinel_guard.host.recovery.snapshots.take_snapshot import take_snapshot
from tests.support.recovery.repository import template


@pytest.fixture
def repo(tmp_path):
    return template(tmp_path / "repo")


def take(repo):
    return take_snapshot(str(repo.root), repo.root.parent / "session", "x")


def test_refs_that_name_nothing_hide_no_snapshot(repo):
    made = take(repo)
    folder = repo.root / ".git/refs/sentinel/rescue"
    (folder / "broken").write_text("1" * 40 + "\n")
    (folder / "junk").write_text("junk")
    assert [s.commit for s in list_snapshots(str(repo.root))] == [made.commit]


@pytest.mark.parametrize("name", ["refs/sentinel", "refs/sentinel/rescue"])
def test_a_ref_in_the_way_keeps_no_snapshot_from_being_taken(repo, name):
    tip = repo.git("commit-tree", "HEAD^{tree}", "-m", "in the way").strip()
    repo.git("update-ref", name, tip)
    made = take(repo)
    assert tip in repo.git("rev-list", made.commit).split(), "and what it held is not lost"


def test_names_that_fill_more_than_an_argument_keep_no_snapshot_from_being_taken(repo):
    tip = repo.git("rev-parse", "HEAD").strip()
    names = "".join(f"{tip} refs/heads/{'n' * 200}/{i:03}\n" for i in range(700))
    (repo.root / ".git/packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted\n{names}")
    take(repo)
    assert len(list_snapshots(str(repo.root))[0].tips) > 700


def test_tracked_files_that_became_pipes_are_left_out_at_once(repo):
    (repo.root / "a.txt").unlink()
    os.mkfifo(repo.root / "a.txt")
    assert take(repo).left_out == ("a.txt",)


def test_a_pipe_in_the_place_of_gits_rules_is_said_and_not_waited_for(repo):
    (repo.root / "deep/er").mkdir(parents=True)
    (repo.root / "deep/.gitignore").symlink_to("er")
    os.mkfifo(repo.root / "deep/er/.gitattributes")
    assert find_fifos(str(repo.root)) == ["deep/er/.gitattributes"]
    with pytest.raises(HostError, match=r"deep/er/\.gitattributes is a named pipe"):
        take(repo)


LINKS = (("docs/incidents", "the folder"), ("docs", "the folder above it"))


@pytest.mark.parametrize("link", [row[0] for row in LINKS], ids=[row[1] for row in LINKS])
def test_no_report_is_written_into_a_folder_that_leads_elsewhere(tmp_path, link):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "incidents").mkdir(parents=True)
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(elsewhere)
    with pytest.raises(HostError, match="cannot be written"):
        incident_files.write(tmp_path / incident_files.FOLDER / "INCIDENT-x.md", "text")
    assert [p.name for p in elsewhere.rglob("*")] == ["incidents"]


def test_a_link_in_a_reports_place_is_replaced_and_not_followed(tmp_path):
    report, mine = tmp_path / incident_files.FOLDER / "INCIDENT-x.patch", tmp_path / "bashrc"
    mine.write_text("mine")
    report.parent.mkdir(parents=True)
    report.symlink_to(mine)
    incident_files.write(report, "text")
    assert (mine.read_text(), report.read_text(), report.is_symlink()) == ("mine", "text", False)


def watched(repo):
    tree, vault = (
        SymlinkSafeFolder(str(repo.root), repo.root.parent / "s"),
        ContentAddressedStore(repo.root.parent / "vault"),
    )
    return RestrictedFileRestorer(str(repo.root), vault, {".env": vault.keep(tree, ".env")}, repo.root.parent / "s")


def test_what_a_map_changes_without_an_event_or_a_time_is_put_back(repo, monkeypatch):
    monkeypatch.setattr(module, "BY_CONTENT", 0.3)
    monkeypatch.setattr(module, "SHARE", 0)
    repo.write(".env", "MODE=debug\n")
    time.sleep(0.06)
    guardian = watched(repo)
    with (repo.root / ".env").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:1] = mapped[0:1]
        time.sleep(0.06)
        assert guardian.sweep() == []
        mapped[0:4] = b"EVIL"
        if (repo.root / ".env").stat().st_ctime > time.time() - 0.03:
            pytest.skip("this file system tells of the second write")
        assert guardian.sweep() == [], "nothing tells of it"
        time.sleep(0.3)
        [found] = guardian.sweep()
    assert (found.kind, (repo.root / ".env").read_text()) == ("changed", "MODE=debug\n")


def test_before_the_end_every_file_is_read(repo):
    repo.write(".env", "MODE=debug\n")
    time.sleep(0.06)
    guardian = watched(repo)
    assert guardian.sweep() == []
    guardian._read[".env"] = 0.0, time.time() + 60
    with (repo.root / ".env").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:4] = b"EVIL"
        [found] = guardian.sweep(by_content=True)
    assert found.kind == "changed"


def test_an_index_that_was_made_to_name_what_is_there_is_no_checkout(repo):
    repo.write(".env", "MODE=debug\n")
    guardian = watched(repo)
    guardian.expect_git(time.time() + 5)
    repo.write(".env", "MODE=evil\n")
    repo.git("add", "-f", ".env")
    assert guardian.check(str(repo.root / ".env")).kind == "changed"
    assert (repo.root / ".env").read_text() == "MODE=debug\n"
