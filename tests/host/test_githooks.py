"""Git hooks: ours beside theirs, and gone without a trace. Real git, real files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host import githooks

THEIRS = b"#!/bin/sh\n# theirs \xff\necho theirs ran >> ran\n"


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "repo")
    return tmp_path / "repo"


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    found = [p for p in sorted(folder.rglob("*")) if p.is_file() or p.is_symlink()]
    return {str(p.relative_to(folder)): (p.lstat().st_mode, p.read_bytes() if p.exists() else b"") for p in found}


def test_hooks_are_put_in_place_and_taken_away(root: Path) -> None:
    before = state(root)
    said = githooks.install(root, "/opt/my python/bin/python")
    hook = root / ".git/hooks/pre-commit"
    assert len(said) == 2
    assert githooks.installed(root) == (hook, root / ".git/hooks/pre-push")
    assert "python='/opt/my python/bin/python'" in hook.read_text()
    assert hook.stat().st_mode & 0o777 == 0o755
    assert len(githooks.uninstall(root)) == 2
    assert state(root) == before
    assert githooks.uninstall(root) == []


def test_install_twice_is_install_once(root: Path) -> None:
    githooks.install(root)
    once = state(root)
    assert githooks.install(root) == []
    assert state(root) == once


def test_another_interpreter_renews_the_hook(root: Path) -> None:
    githooks.install(root, "/old/python")
    assert "Renewed" in githooks.install(root, "/new/python")[0]
    assert "/old/python" not in (root / ".git/hooks/pre-commit").read_text()


FOREIGN = [(0o755, "a hook that runs"), (0o644, "a hook that git passes by"), (0o700, "a private one")]


@pytest.mark.parametrize("mode", [f[0] for f in FOREIGN], ids=[f[1] for f in FOREIGN])
def test_a_foreign_hook_comes_back_with_bytes_and_mode(root: Path, mode: int) -> None:
    hook = root / ".git/hooks/pre-commit"
    hook.write_bytes(THEIRS)
    hook.chmod(mode)
    before = state(root)
    assert "Yours is kept as pre-commit.before-sentinel" in githooks.install(root)[0]
    githooks.install(root)
    assert "Yours is back" in githooks.uninstall(root)[0]
    assert state(root) == before


def test_a_foreign_link_comes_back_as_a_link(root: Path) -> None:
    hook = root / ".git/hooks/pre-push"
    hook.symlink_to("../../tools/push-hook")
    githooks.install(root)
    githooks.uninstall(root)
    assert str(hook.readlink()) == "../../tools/push-hook"


def test_a_hook_that_took_the_place_of_ours_is_left_alone(root: Path) -> None:
    hook = root / ".git/hooks/pre-commit"
    hook.write_bytes(THEIRS)
    githooks.install(root)
    hook.write_text("#!/bin/sh\n# another\n")
    with pytest.raises(HostError, match="Both"):
        githooks.install(root)
    assert any("Left" in said for said in githooks.uninstall(root))
    assert hook.read_text() == "#!/bin/sh\n# another\n"


def test_core_hookspath_inside_the_repository_is_followed(root: Path) -> None:
    git(root, "config", "core.hooksPath", ".githooks")
    githooks.install(root)
    assert (root / ".githooks/pre-commit").exists()
    assert not (root / ".git/hooks/pre-commit").exists()


def test_hooks_that_other_repositories_share_are_left_alone(root: Path, tmp_path: Path) -> None:
    git(root, "config", "core.hooksPath", str(tmp_path / "shared"))
    with pytest.raises(HostError, match="other repositories share") as caught:
        githooks.install(root)
    assert "git config core.hooksPath" in caught.value.hint
    assert not (tmp_path / "shared").exists()


def test_huskys_hooks_are_left_alone(root: Path) -> None:
    git(root, "config", "core.hooksPath", ".husky/_")
    with pytest.raises(HostError, match="husky"):
        githooks.install(root)


def test_a_linked_work_tree_shares_its_repositorys_hooks(root: Path, tmp_path: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    githooks.install(tmp_path / "linked")
    assert (root / ".git/hooks/pre-commit").exists()


def test_a_template_without_hooks_folder_is_no_obstacle(root: Path) -> None:
    for sample in (root / ".git/hooks").iterdir():
        sample.unlink()
    (root / ".git/hooks").rmdir()
    githooks.install(root)
    assert githooks.installed(root)


def test_a_place_that_cannot_be_written_is_said(root: Path) -> None:
    for sample in (root / ".git/hooks").iterdir():
        sample.unlink()
    (root / ".git/hooks").rmdir()
    (root / ".git/hooks").write_text("a file in its place")
    with pytest.raises(HostError, match="Cannot put hooks"):
        githooks.install(root)
