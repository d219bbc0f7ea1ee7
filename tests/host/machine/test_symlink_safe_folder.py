"""The attic: nothing that is put away leaves it, whatever lies there already."""

from __future__ import annotations

import pytest

from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder


@pytest.fixture
def tree(tmp_path):
    for name in ("root", "outside"):
        (tmp_path / name).mkdir()
    return SymlinkSafeFolder(str(tmp_path / "root"), tmp_path / "attic")


@pytest.mark.parametrize("name", ["folder/file", "folder/below/file"], ids=["right below it", "deeper"])
def test_nothing_is_put_away_through_a_link_that_was_put_away_before(tree, tmp_path, name):
    (tmp_path / "root/folder").symlink_to(tmp_path / "outside")
    tree.away("folder")
    tree.write(name, b"kept", 0o644, 1)
    kept = tree.away(name)
    assert list((tmp_path / "outside").iterdir()) == []
    assert (tmp_path / "attic").resolve() in (tmp_path / kept).resolve().parents


def test_a_second_version_of_a_name_does_not_cover_the_first(tree, tmp_path):
    versions = []
    for data in (b"one", b"two"):
        tree.write("a/b", data, 0o644, 1)
        versions.append(tree.away("a/b"))
    assert [(tmp_path / v).read_bytes() for v in versions] == [b"one", b"two"]
