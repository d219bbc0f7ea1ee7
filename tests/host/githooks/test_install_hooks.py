"""Git hooks: ours with theirs, and gone without a trace. Real git, real files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.recovery.baseline import gitdir_backup
from tests.support.installed_hooks import Hooked, git, state

THEIRS = b"#!/bin/sh\n# theirs \xff\necho theirs ran >> ran\n"
OURS = ["ours pre-commit", "ours commit-msg .git/COMMIT_EDITMSG"]


@pytest.fixture
def repo(tmp_path: Path) -> Hooked:
    return Hooked(tmp_path)


@pytest.fixture
def root(repo: Hooked) -> Path:
    return repo.root


def test_hooks_are_put_in_place_and_taken_away(root: Path) -> None:
    before = state(root)
    said = install_hooks.install(root, "/opt/my python/bin/python")
    hook = root / ".git/hooks/pre-commit"
    assert said == [f"Put git hooks in {root}/.git/hooks: {', '.join(install_hooks.NAMES)}."]
    assert install_hooks.installed(root) == tuple(root / ".git/hooks" / name for name in install_hooks.NAMES)
    assert "python='/opt/my python/bin/python'" in hook.read_text()
    assert hook.stat().st_mode & 0o777 == 0o755
    assert install_hooks.uninstall(root) == [
        f"Took git hooks out of {root}/.git/hooks: {', '.join(install_hooks.NAMES)}."
    ]
    assert state(root) == before
    assert install_hooks.uninstall(root) == []


def test_install_twice_is_install_once(root: Path) -> None:
    install_hooks.install(root)
    once = state(root)
    assert install_hooks.install(root) == []
    assert state(root) == once


def test_another_interpreter_renews_the_hook(root: Path) -> None:
    install_hooks.install(root, "/old/python")
    assert "Renewed" in install_hooks.install(root, "/new/python")[0]
    assert "/old/python" not in (root / ".git/hooks/pre-commit").read_text()


FOREIGN = [(0o755, "a hook that runs"), (0o644, "a hook that git passes by"), (0o700, "a private one")]


@pytest.mark.parametrize("mode", [f[0] for f in FOREIGN], ids=[f[1] for f in FOREIGN])
def test_a_foreign_hook_comes_back_with_bytes_and_mode(repo: Hooked, mode: int) -> None:
    repo.put(".git/hooks/pre-commit", THEIRS, mode)
    before = state(repo.root)
    assert "Kept yours, which run first: pre-commit.before-sentinel." in repo.install()
    repo.install()
    repo.commit()
    assert (repo.root / "ran").exists() == bool(mode & 0o100)
    (repo.root / "ran").unlink(missing_ok=True)
    assert "Yours are back: pre-commit." in repo.uninstall()
    hooks = {name: seen for name, seen in state(repo.root).items() if name.startswith(".git/hooks")}
    assert hooks.items() <= before.items()


def test_a_foreign_link_comes_back_as_a_link(root: Path) -> None:
    hook = root / ".git/hooks/pre-push"
    hook.symlink_to("../../tools/push-hook")
    install_hooks.install(root)
    install_hooks.uninstall(root)
    assert str(hook.readlink()) == "../../tools/push-hook"


def test_a_hook_that_took_the_place_of_ours_is_left_alone(repo: Hooked) -> None:
    hook = repo.put(".git/hooks/pre-commit", THEIRS)
    repo.install()
    hook.write_text("#!/bin/sh\n# another\n")
    assert "pre-commit was replaced" in install_hooks.complaint(install_hooks.find(repo.root))
    with pytest.raises(HostError, match="Both"):
        repo.install()
    assert any("Left" in said for said in repo.uninstall())
    assert hook.read_text() == "#!/bin/sh\n# another\n"


KEPT = [
    ('#!/bin/sh\necho "$0 $(basename "$0") $*" >&2\n', ".git/sentinel-guard/pre-commit pre-commit", "its own name"),
    ('#!/bin/sh\n. "$(dirname "$0")/shared"\n', "shared was read", "a file beside it"),
    ('#!/bin/sh\ncat "$(dirname "$0")/../../tracked" >&2\n', "a tracked file", "a file of the work tree, from there"),
    (f"#!{sys.executable}\nimport sys; sys.exit(f'python {{__file__}}')\n", "/pre-commit", "another language"),
]


@pytest.mark.parametrize("row", KEPT, ids=[k[2] for k in KEPT])
@pytest.mark.parametrize("linked", [False, True], ids=["file", "link"])
def test_what_is_kept_still_finds(repo: Hooked, row: tuple[str, str, str], linked: bool) -> None:
    text, words, _ = row
    repo.put(".git/hooks/shared", "echo shared was read >&2\n", 0o644)
    repo.put("tracked", "a tracked file\n", 0o644)
    if linked:
        repo.put("tools/hook", text)
        (repo.root / ".git/hooks/pre-commit").symlink_to("../../tools/hook")
    else:
        repo.put(".git/hooks/pre-commit", text)
    plain = repo.commit().stderr
    repo.install()
    assert words in repo.commit().stderr.replace("/hooks/../", "/")
    assert (words in plain) or words.startswith(".git/sentinel")
    repo.uninstall()
    assert repo.commit().stderr == plain
    assert not (repo.root / ".git/sentinel-guard").exists()


def test_theirs_decides_first_and_reads_the_same(repo: Hooked) -> None:
    git(repo.folder, "init", "-q", "--bare", "remote")
    repo.commit()
    repo.theirs(".git/hooks/pre-push")
    push = ("push", "-q", str(repo.folder / "remote"), "HEAD:refs/heads/a", "HEAD:refs/heads/b")
    git(repo.root, *push, "--dry-run")
    told = repo.called()
    repo.install()
    git(repo.root, *push, "--dry-run")
    assert repo.called() == [*told, told[0].replace("theirs", "ours", 1), *told[1:]]
    repo.put(".git/hooks/pre-push.before-sentinel", "#!/bin/sh\nexit 7\n")
    assert git(repo.root, *push, check=False).returncode == 1
    assert repo.called() == [], "ours is not asked where theirs refuses"


def test_a_hook_that_reads_nothing_does_not_lose_the_input(repo: Hooked) -> None:
    git(repo.folder, "init", "-q", "--bare", "remote")
    repo.commit()
    repo.put(".git/hooks/pre-push", "#!/bin/sh\nexec <&-\n")
    many = [f"HEAD:refs/heads/{'x' * 200}{n}" for n in range(600)]
    repo.install()
    repo.called()
    git(repo.root, "push", "-q", "--dry-run", str(repo.folder / "remote"), *many)
    assert len(repo.called()) == 601


def test_the_launcher_is_asked_where_it_is(repo: Hooked) -> None:
    launcher = repo.put("launcher", f'#!/bin/sh\necho "launcher $*" >>"{repo.log}"\nexit $(cat code)\n')
    repo.put("code", "0")
    install_hooks.install(repo.root, str(repo.python), str(launcher))
    assert repo.commit().returncode == 0
    assert repo.called() == ["launcher pre-commit", "launcher commit-msg .git/COMMIT_EDITMSG"]
    repo.put("code", "1")
    assert repo.commit().returncode == 1
    assert repo.called() == ["launcher pre-commit"]
    launcher.unlink()
    assert repo.commit().returncode == 0
    assert repo.called() == OURS


def test_every_way_to_a_commit_asks(repo: Hooked) -> None:
    repo.put("a", "1\n")
    git(repo.root, "add", "a")
    repo.commit()
    git(repo.root, "checkout", "-qb", "side")
    repo.put("b", "1\n")
    git(repo.root, "add", "b")
    repo.commit()
    git(repo.root, "format-patch", "-1", "-o", "..")
    git(repo.root, "checkout", "-q", "-")
    repo.commit()
    repo.install()
    git(repo.root, "merge", "-q", "--no-edit", "side")
    assert repo.called() == ["ours commit .git/MERGE_MSG"], "one judgement for both of its hooks"
    git(repo.root, "reset", "-q", "--hard", "HEAD~1")
    git(repo.root, "am", "-q", *map(str, repo.folder.glob("*.patch")))
    assert repo.called() == ["ours pre-applypatch"]
    git(repo.root, "merge", "-q", "--no-ff", "--no-commit", "side")
    assert repo.called() == []


def test_a_linked_work_tree_shares_its_repositorys_hooks(repo: Hooked) -> None:
    repo.commit()
    git(repo.root, "worktree", "add", "-q", "../linked")
    repo.install(repo.folder / "linked")
    for tree in (repo.root, repo.folder / "linked"):
        repo.commit(tree)
        assert repo.called()[0] == "ours pre-commit"
    assert install_hooks.installed(repo.root) == install_hooks.installed(repo.folder / "linked")
    repo.uninstall()
    assert install_hooks.installed(repo.folder / "linked") == ()


def test_what_nobody_may_write_in_a_session(repo: Hooked) -> None:
    repo.commit()
    git(repo.root, "worktree", "add", "-q", "../linked")
    own = (f"{repo.root}/.git/hooks", f"{repo.root}/.git/sentinel-guard")
    assert install_hooks.hook_folders(str(repo.root)) == own
    assert install_hooks.hook_folders(str(repo.folder / "linked"))[2:] == own
    assert install_hooks.hook_folders("/nowhere") == ("/nowhere/.git/hooks", "/nowhere/.git/sentinel-guard")


@pytest.mark.parametrize("linked", [False, True], ids=["main", "linked"])
def test_a_rollback_knows_them(repo: Hooked, linked: bool) -> None:
    git(repo.root, "config", "core.hooksPath", ".githooks")
    repo.install()
    only = gitdir_backup.SHARED if linked else ()
    found = set(gitdir_backup.names(str(repo.root / ".git"), only))
    assert {"sentinel-guard/config", "sentinel-guard/hooks/pre-commit", "config"} <= found


def test_a_bare_repository_has_hooks_for_its_work_trees(tmp_path: Path) -> None:
    repo = Hooked(tmp_path, "--bare")
    before = state(repo.root)
    repo.install()
    tree = git(repo.root, "hash-object", "-wt", "tree", "/dev/null").stdout.strip()
    git(repo.root, "update-ref", "refs/heads/main", git(repo.root, "commit-tree", "-m", "x", tree).stdout.strip())
    git(repo.root, "worktree", "add", "-q", "../linked", "main")
    assert repo.install(repo.folder / "linked") == []
    assert repo.commit(repo.folder / "linked").returncode == 0
    assert repo.called()[0] == "ours pre-commit"
    repo.uninstall(repo.folder / "linked")
    assert state(repo.root / "hooks") == {k.removeprefix("hooks/"): v for k, v in before.items() if k[:6] == "hooks/"}


def test_a_submodule_has_hooks_of_its_own(repo: Hooked) -> None:
    other = Hooked(repo.folder / "other")
    other.commit()
    git(repo.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    repo.install()
    assert install_hooks.installed(repo.root / "sub") == ()
    repo.install(repo.root / "sub")
    assert (repo.root / ".git/modules/sub/hooks/pre-commit").exists()
    repo.commit(repo.root / "sub")
    assert repo.called()[0] == "ours pre-commit"


def test_a_git_directory_that_the_environment_names(repo: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "repo/.git")
    monkeypatch.chdir(repo.folder)
    repo.install(Path())
    monkeypatch.delenv("GIT_DIR")
    assert len(install_hooks.installed(repo.root)) == len(install_hooks.NAMES)


def test_a_repository_made_from_a_template_has_the_hooks_from_its_birth(tmp_path: Path) -> None:
    repo = Hooked(tmp_path / "a")
    template = tmp_path / "template"
    (template / "hooks").mkdir(parents=True)
    (template / "hooks/pre-commit").write_bytes(THEIRS)
    (template / "hooks/pre-commit").chmod(0o755)
    before = state(template)
    assert len(install_hooks.install_template(template, str(repo.python))) == 2, "what was put there, and what was kept"
    assert install_hooks.install_template(template, str(repo.python)) == []
    git(tmp_path, "init", "-q", f"--template={template}", "born")
    assert len(install_hooks.installed(tmp_path / "born")) == len(install_hooks.NAMES)
    repo.commit(tmp_path / "born")
    assert repo.called() == OURS and (tmp_path / "born/ran").exists()
    assert repo.install(tmp_path / "born") == []
    repo.uninstall(tmp_path / "born")
    assert (tmp_path / "born/.git/hooks/pre-commit").read_bytes() == THEIRS
    assert "Yours are back: pre-commit." in install_hooks.uninstall_template(template)
    assert state(template) == before


@pytest.mark.parametrize("name", ["a b", "l\n'\"$x`", "\udcff\udc80", "[x]*\\"], ids=ascii)
@pytest.mark.parametrize("path", ["", ".githooks"], ids=["usual", "hookspath"])
def test_whatever_the_repository_is_called(tmp_path: Path, name: str, path: str) -> None:
    repo = Hooked(tmp_path, name=name)
    if path:
        git(repo.root, "config", "core.hooksPath", path)
    repo.theirs(f"{path or '.git/hooks'}/pre-commit")
    before = state(repo.root)
    repo.install()
    assert install_hooks.complaint(install_hooks.find(repo.root)) == ""
    repo.commit()
    assert repo.called() == ["theirs pre-commit ", *OURS]
    repo.uninstall()
    after = state(repo.root)
    assert {k: after[k] for k in before} == before


def test_a_template_without_hooks_folder_is_no_obstacle(root: Path) -> None:
    for sample in (root / ".git/hooks").iterdir():
        sample.unlink()
    (root / ".git/hooks").rmdir()
    install_hooks.install(root)
    assert install_hooks.installed(root)


def test_a_place_that_cannot_be_written_is_said(root: Path) -> None:
    for sample in (root / ".git/hooks").iterdir():
        sample.unlink()
    (root / ".git/hooks").rmdir()
    (root / ".git/hooks").write_text("a file in its place")
    with pytest.raises(HostError, match="Cannot put hooks"):
        install_hooks.install(root)


def test_a_repository_of_another_owner_is_said(root: Path) -> None:
    os.chown(root / ".git", 4711, 4711)
    if (root / ".git").stat().st_uid == os.getuid():
        pytest.skip("only root can give files away")
    with pytest.raises(HostError, match="belongs to another user") as caught:
        install_hooks.install(root)
    assert "safe.directory" in caught.value.hint


CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.chmod")


def _stopped(work: object, at: int) -> bool:
    """Do it in a process that is killed at its ``at``-th change of a file. Returns whether it was."""
    child = os.fork()
    if not child:
        left = [at]

        def count(event: str, args: tuple[object, ...]) -> None:
            if event in CHANGES or (event == "open" and isinstance(args[2], int) and args[2] & 3):
                left[0] -= 1
                if not left[0]:
                    os._exit(9)

        sys.addaudithook(count)
        try:
            work()  # type: ignore[operator] - a method of the repository
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.parametrize("path", ["", ".githooks"], ids=["usual", "hookspath"])
@pytest.mark.parametrize("way", ["install", "uninstall"])
def test_one_that_was_stopped_can_be_run_again(tmp_path: Path, path: str, way: str) -> None:
    repo = Hooked(tmp_path)
    if path:
        git(repo.root, "config", "core.hooksPath", path)
    for name in ("pre-commit", "reference-transaction"):
        repo.theirs(f"{path or '.git/hooks'}/{name}")
    before, at = state(repo.root), 0
    repo.install()
    there = state(repo.root)
    while True:
        (repo.uninstall if way == "install" else repo.install)()
        at += 4 if path else 1  # there are many files there, all written alike
        if not _stopped(repo.install if way == "install" else repo.uninstall, at):
            break
        kept = [p for p in repo.root.rglob("*") if p.is_file() and b'"theirs pre-commit' not in p.read_bytes()]
        assert kept, "theirs is somewhere at every moment"
        for lock in repo.root.glob(".git/*.lock"):
            lock.unlink()  # which is what the words of the next one ask for
        _clean(repo.root)
        if at % 2:
            repo.install()
            _clean(repo.root)
            assert state(repo.root) == there
        repo.uninstall()
        assert state(repo.root) == before
    assert at > 5


def _clean(root: Path) -> None:
    """What is written aside and was not renamed is nobody's."""
    for aside in [*root.rglob(".git/**/.*")]:
        aside.unlink()


def test_bash_reads_the_hooks_as_dash_does(repo: Hooked) -> None:
    repo.theirs(".git/hooks/pre-push")
    repo.install()
    for name in install_hooks.NAMES:
        hook = repo.root / ".git/hooks" / name
        text = hook.read_text()
        assert subprocess.run(["bash", "--posix", "-n", hook], check=False).returncode == 0
        hook.write_text(text.replace("#!/bin/sh", "#!/bin/bash"))
    lines = f"refs/heads/a {'1' * 40} refs/heads/a {'0' * 40}\n" * 3
    subprocess.run([repo.root / ".git/hooks/pre-push", "o", "u"], input=lines, text=True, check=True)
    assert repo.called() == ["theirs pre-push o u", *lines.split("\n")[:3], "ours pre-push o u", *lines.split("\n")[:3]]
