"""Several restorers as one: whose a path is, and windows for trees that lie in one another."""

from __future__ import annotations

import time

import pytest

from sentinel_guard.host.file_integrity.file_change import ChangeDecision
from sentinel_guard.host.file_integrity.restore_restricted_files import RestrictedFileRestorer
from sentinel_guard.host.file_integrity.restorer_group import RestorerGroup
from sentinel_guard.host.machine.content_addressed_store import ContentAddressedStore
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder


@pytest.fixture
def group(tmp_path):
    """A tree, and what lies outside of it; each with one file."""
    members = []
    for name, root, file in (("in", str(tmp_path / "repo"), "repo/a"), ("out", "/", "home/b")):
        path = tmp_path / file
        path.parent.mkdir()
        path.write_text("good\n")
        vault = ContentAddressedStore(tmp_path / name / "vault")
        relative = str(path)[len(root.rstrip("/")) + 1 :]
        kept = {relative: vault.keep(SymlinkSafeFolder(root, tmp_path / name), relative)}
        restorer = RestrictedFileRestorer(root, vault, kept, tmp_path / name, judge=lambda *_: ChangeDecision.ASK)
        members.append((lambda p, mine=str(path): p == mine, restorer))
    return RestorerGroup(members)


def test_each_path_is_looked_at_settled_and_compared_by_its_own(group, tmp_path):
    for file in ("repo/a", "home/b"):
        path = str(tmp_path / file)
        assert group.knows(path)
        (tmp_path / file).write_text("evil\n")
        found = group.check(path)
        assert found.word is ChangeDecision.ASK and group.in_question == (path,)
        assert group.versions(found) == (b"good\n", b"evil\n")
        assert group.settle(path, yes=False).word is ChangeDecision.PUT_BACK and not group.in_question


def test_a_path_of_nobodys_is_left_alone(group, tmp_path):
    path = str(tmp_path / "home/c")
    assert group.check(path) is None and group.settle(path, yes=True) is None and not group.knows(path)


def test_a_sweep_and_a_folder_that_went_look_at_all(group, tmp_path):
    for file in ("repo/a", "home/b"):
        (tmp_path / file).unlink()
    assert len(group.sweep()) == 2
    assert len(group.sweep()) == len(group.check_below(str(tmp_path))) == 0, "each is in question already"


def test_a_window_is_opened_and_closed_where_the_path_is(group, tmp_path):
    path = str(tmp_path / "home/b")
    group.announce(path, time.time() + 9)
    assert [*group.windows()] == [path]
    assert group.close(path) and not group.windows() and not group.close(path)
