"""The vault, the folder that is never left, and the guardian of restricted files."""

from __future__ import annotations

import os
import shutil
import stat
import time
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.file_integrity.file_change import ChangeDecision
from sentinel_guard.host.file_integrity.restore_restricted_files import WHOLE, RestrictedFileRestorer
from sentinel_guard.host.machine import content_addressed_store as vault_module
from sentinel_guard.host.machine.content_addressed_store import ABSENT, UNKEPT, ContentAddressedStore, Kept, difference
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    (root / "conf").mkdir(parents=True)
    (root / "conf/.env").write_bytes(b"KEY=1\r\n\xff")
    (root / "conf/.env").chmod(0o640)
    os.utime(root / "conf/.env", ns=(10**18, 10**18 + 7))
    (root / "link").symlink_to("conf/.env")
    return SymlinkSafeFolder(str(root), tmp_path / "attic")


@pytest.fixture
def vault(tmp_path):
    return ContentAddressedStore(tmp_path / "vault")


def test_what_is_kept_comes_back_whole(tree, vault):
    path = f"{tree.root}/conf/.env"
    kept = vault.keep(tree, "conf/.env")
    shutil.rmtree(f"{tree.root}/conf")
    vault.put_back(tree, "conf/.env", kept)
    seen = os.lstat(path)
    assert Path(path).read_bytes() == b"KEY=1\r\n\xff"
    assert (stat.S_IMODE(seen.st_mode), seen.st_mtime_ns) == (0o640, 10**18 + 7)
    assert difference(tree, "conf/.env", kept) == ""


def test_the_vault_is_private_and_holds_equal_content_once(tree, vault):
    shutil.copyfile(f"{tree.root}/conf/.env", f"{tree.root}/copy")
    assert vault.keep(tree, "copy").content == vault.keep(tree, "conf/.env").content
    stored = [p for p in vault.folder.rglob("*") if p.is_file()]
    assert [oct(p.stat().st_mode & 0o777) for p in stored] == ["0o600"]
    assert stat.S_IMODE(vault.folder.stat().st_mode) == 0o700


def test_a_damaged_copy_is_not_put_back(tree, vault):
    kept = vault.keep(tree, "conf/.env")
    next(p for p in vault.folder.rglob("*") if p.is_file()).write_bytes(b"other")
    with pytest.raises(HostError, match="damaged"):
        vault.put_back(tree, "conf/.env", kept)
    with pytest.raises(HostError, match="missing from the vault"):
        vault.data("0" * 64)


def test_what_can_not_be_kept_is_told_apart(tree, vault, monkeypatch):
    os.mkfifo(f"{tree.root}/pipe")
    assert vault.keep(tree, "pipe") is None
    assert vault.keep(tree, "conf") is None
    assert vault.keep(tree, "nothing") == Kept(ABSENT)
    monkeypatch.setattr(vault_module, "MAX_FILE", 3)
    large = vault.keep(tree, "conf/.env")
    assert large.kind == UNKEPT
    assert difference(tree, "conf/.env", large) == ""
    with pytest.raises(HostError, match="was not kept"):
        vault.put_back(tree, "conf/.env", large)


def test_a_row_is_a_kept_again(tree, vault):
    kept = vault.keep(tree, "conf/.env")
    assert Kept(*kept.row()) == kept


BAD = [
    ("../out", "upwards"),
    ("a/../../out", "upwards in the middle"),
    ("/etc/passwd", "absolute"),
    ("", "empty"),
    ("a//b", "an empty part"),
    ("./a", "a dot"),
]


@pytest.mark.parametrize(("name", "why"), BAD, ids=[row[1] for row in BAD])
def test_a_name_that_leaves_the_folder_is_refused(tree, name, why):
    with pytest.raises(HostError, match="does not name something inside"):
        tree.write(name, b"x", 0o600, 0)


def test_a_linked_parent_is_not_followed_but_moved_away(tree, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "root/sub").symlink_to(outside)
    assert tree.lstat("sub/file") is None
    tree.write("sub/file", b"inside", 0o600, 0)
    assert list(outside.iterdir()) == []
    assert (tmp_path / "root/sub/file").read_bytes() == b"inside"
    assert (tmp_path / "attic/sub").readlink() == outside


def test_nothing_in_the_way_is_lost(tree, tmp_path):
    attic, conf = tmp_path / "attic", tmp_path / "root/conf"
    first = tree.write("conf/.env", b"two", 0o600, 0)
    second = tree.write("conf/.env", b"three", 0o600, 0)
    assert Path(first).read_bytes() == b"KEY=1\r\n\xff"
    assert Path(second).read_bytes() == b"two"
    assert tree.write("conf", b"now a file", 0o600, 0).startswith(str(attic))
    tree.write("conf/.env", b"four", 0o600, 0)
    assert (conf / ".env").read_bytes() == b"four"
    kept = [p.read_bytes() for p in attic.rglob("*") if p.is_file()]
    assert sorted(kept) == [b"KEY=1\r\n\xff", b"now a file", b"three", b"two"]


def test_empty_parents_are_pruned_up_to_what_is_kept(tree, tmp_path):
    (tmp_path / "root/a/b/c").mkdir(parents=True)
    (tmp_path / "root/a/b/c/x").write_bytes(b"")
    tree.away("a/b/c/x")
    tree.prune("a/b/c/x", frozenset({"a"}))
    assert (tmp_path / "root/a").is_dir()
    assert not (tmp_path / "root/a/b").exists()


def test_a_held_open_writer_writes_into_the_kept_version(tree, vault, tmp_path):
    kept = vault.keep(tree, "conf/.env")
    with Path(tree.root, "conf/.env").open("r+b") as writer:
        writer.write(b"EVIL")
        writer.flush()
        there = vault.put_back(tree, "conf/.env", kept)
        writer.write(b"MORE")
    assert difference(tree, "conf/.env", kept) == ""
    assert Path(there).read_bytes() == b"EVILMORE"


# The guardian.


def write(path):
    path.write_bytes(b"evil")


def same_size(path):
    path.write_bytes(b"KEY=2\r\n\xff")


def link(path):
    path.unlink()
    path.symlink_to("/etc/hostname")


def folder(path):
    path.unlink()
    path.mkdir()
    (path / "inside").write_bytes(b"i")


def over(path):
    path.with_name("x").write_bytes(b"over")
    path.with_name("x").rename(path)


def link_parent(path):
    path.parent.rename(path.parent.with_name("moved"))
    path.parent.symlink_to("moved")


TAMPERINGS = [
    (write, "changed", "written over"),
    (same_size, "changed", "written over with as many bytes"),
    (over, "changed", "renamed over"),
    (lambda p: p.unlink(), "deleted", "deleted"),
    (lambda p: shutil.rmtree(p.parent), "deleted", "its folder deleted"),
    (lambda p: p.chmod(0o644), "mode", "mode changed"),
    (link, "replaced by link", "a link put in its place"),
    (folder, "replaced by folder", "a folder put in its place"),
    (link_parent, "deleted", "its folder moved, a link left"),
]


def taken(guardian, path):
    """What is told of a change that is taken: once it has stood for a moment."""
    assert guardian.check(str(path)) is None, "it may be half written"
    time.sleep(WHOLE)
    return guardian.check(str(path))


def guard(tree, vault, tmp_path):
    return RestrictedFileRestorer(tree.root, vault, {"conf/.env": vault.keep(tree, "conf/.env")}, tmp_path / "session")


@pytest.mark.parametrize(("tamper", "kind", "why"), TAMPERINGS, ids=[row[2] for row in TAMPERINGS])
def test_tampering_is_put_back_and_kept(tree, tmp_path, tamper, kind, why):
    vault = ContentAddressedStore(tmp_path / "vault")
    guardian = guard(tree, vault, tmp_path)
    path = tmp_path / "root/conf/.env"
    original = vault.keep(tree, "conf/.env")
    tamper(path)
    found = guardian.check(str(path))
    assert (found.path, found.kind, found.problem) == (str(path), kind, "")
    assert bool(found.kept) is (kind != "deleted")
    assert not found.kept or os.path.lexists(found.kept)
    assert difference(tree, "conf/.env", original) == ""
    assert not path.parent.is_symlink()
    assert guardian.check(str(path)) is None
    assert guardian.sweep() == []


def test_what_is_no_tampering(tree, vault, tmp_path):
    guardian = guard(tree, vault, tmp_path)
    os.utime(tmp_path / "root/conf/.env")
    assert guardian.check(f"{tree.root}/conf/.env") is None
    assert guardian.check(f"{tree.root}/conf") is None
    assert guardian.check(f"{tree.root}/nothing") is None
    assert guardian.check(str(tmp_path / "elsewhere")) is None


def test_a_new_restricted_file_is_moved_away(tree, vault, tmp_path):
    guardian = guard(tree, vault, tmp_path)
    (tmp_path / "root/.env.local").write_bytes(b"new")
    found = guardian.check(f"{tree.root}/.env.local")
    assert found.kind == "created"
    assert Path(found.kept).read_bytes() == b"new"
    assert not (tmp_path / "root/.env.local").exists()


def test_an_announced_change_becomes_the_original_over_a_restart(tree, vault, tmp_path):
    path = tmp_path / "root/conf/.env"
    guardian = guard(tree, vault, tmp_path)
    first = vault.keep(tree, "conf/.env")
    guardian.announce(str(path.parent), time.time() + 60)
    path.write_bytes(b"allowed")
    assert taken(guardian, path).word is ChangeDecision.TAKE
    again = RestrictedFileRestorer(tree.root, vault, {"conf/.env": first}, tmp_path / "session")
    assert again.sweep() == []
    path.write_bytes(b"evil")
    assert again.check(str(path)).kind == "changed"
    assert path.read_bytes() == b"allowed"


def test_an_announced_deletion_is_accepted_and_recreation_is_not(tree, vault, tmp_path):
    path = tmp_path / "root/conf/.env"
    guardian = guard(tree, vault, tmp_path)
    guardian.announce(str(path), time.time() + 0.05)
    path.unlink()
    assert taken(guardian, path).word is ChangeDecision.TAKE
    time.sleep(0.06)
    path.write_bytes(b"back")
    assert guardian.check(str(path)).kind == "created"


def test_a_change_in_a_window_is_accepted_though_seen_after_it(tree, vault, tmp_path):
    path = tmp_path / "root/conf/.env"
    guardian = guard(tree, vault, tmp_path)
    guardian.announce(str(path), time.time() + 0.03)
    time.sleep(0.01)
    path.write_bytes(b"allowed")
    time.sleep(0.04)
    assert taken(guardian, path).word is ChangeDecision.TAKE
    path.write_bytes(b"too late")
    assert guardian.check(str(path)).kind == "changed"


def test_a_window_is_for_its_path_only(tree, vault, tmp_path):
    guardian = guard(tree, vault, tmp_path)
    guardian.announce(f"{tree.root}/conf/.env.other", time.time() + 60)
    (tmp_path / "root/conf/.env").write_bytes(b"evil")
    assert guardian.check(f"{tree.root}/conf/.env").kind == "changed"


def test_what_cannot_be_put_back_is_said(tree, vault, tmp_path):
    guardian = guard(tree, vault, tmp_path)
    shutil.rmtree(vault.folder)
    (tmp_path / "root/conf/.env").write_bytes(b"evil")
    assert "missing from the vault" in guardian.check(f"{tree.root}/conf/.env").problem
    assert guardian.sweep() == [], "told once"
    (tmp_path / "root/conf/.env").write_bytes(b"evil again")
    assert guardian.sweep()[0].problem, "and again when it changes"


def test_a_damaged_memory_is_said(tree, vault, tmp_path):
    (tmp_path / "session").mkdir()
    (tmp_path / "session/accepted.json").write_text("{")
    with pytest.raises(HostError, match="is damaged"):
        guard(tree, vault, tmp_path)
