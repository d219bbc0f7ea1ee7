"""Git hooks, with real git: what may not be committed or pushed, and the way out that works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.commands import hook as command
from sentinel_guard.commands import install
from sentinel_guard.errors import SentinelError
from sentinel_guard.host import githooks

PROJECT = Path(__file__).resolve().parents[2]


def git(folder: Path, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *args], cwd=folder, check=check, capture_output=True, text=True, errors="replace")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repo"
    git(tmp_path, "init", "-q", str(folder))
    (folder / "README.md").write_text("hello\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    monkeypatch.chdir(folder)
    return folder


def put(root: Path, name: str, text: str = "x\n") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def tracked(root: Path, *names: str) -> None:
    """Restricted files that are in the repository already, from before the guard."""
    for name in names:
        put(root, name)
    git(root, "add", "-f", ".")
    git(root, "commit", "-q", "-m", "before")


def test_ordinary_changes_pass(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(root, "src/main.py")
    put(root, ".env.example")
    git(root, "add", ".")
    git(root, "mv", "README.md", "READ.md")
    assert command.hook("pre-commit") == 0
    assert capfd.readouterr().err == ""


def stage_new(root: Path) -> None:
    put(root, ".env")
    git(root, "add", "-f", ".env")


def stage_change(root: Path) -> None:
    tracked(root, ".env")
    put(root, ".env", "changed\n")
    git(root, "add", ".env")


def stage_deletion(root: Path) -> None:
    tracked(root, ".env")
    git(root, "rm", "-q", ".env")


def stage_rename_out(root: Path) -> None:
    tracked(root, ".env")
    git(root, "mv", ".env", "harmless.txt")


def stage_rename_into(root: Path) -> None:
    git(root, "mv", "README.md", "key.pem")


def stage_mode(root: Path) -> None:
    tracked(root, "key.pem")
    git(root, "update-index", "--chmod=+x", "key.pem")


def stage_link(root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs/link").symlink_to("../.env")
    git(root, "add", "docs/link")


def stage_below(root: Path) -> None:
    put(root, "secrets/deep/a b.txt")
    git(root, "add", ".")


def stage_bytes(root: Path) -> None:
    name = os.fsdecode(b"caf\xe9 'x'.pem")
    put(root, name)
    git(root, "add", ".")


WAY = "git restore --staged "
STAGED = [
    (stage_new, ("adds .env,", "(pattern .env)", WAY + ".env"), "a new file"),
    (stage_change, ("changes .env,", "(pattern .env)", WAY + ".env"), "a change"),
    (stage_deletion, ("deletes .env,", "(pattern .env)", WAY + ".env"), "a deletion"),
    (stage_rename_out, ("deletes .env,", "(pattern .env)", WAY + ".env"), "a rename out of it"),
    (stage_rename_into, ("adds key.pem,", "(pattern *.pem)", WAY + "key.pem"), "a rename into it"),
    (stage_mode, ("changes key.pem,", "(pattern *.pem)", WAY + "key.pem"), "a change of mode alone"),
    (stage_link, ("adds docs/link, a link to ../.env,", "(pattern .env)", WAY + "docs/link"), "a link to it"),
    (stage_below, ("adds 'secrets/deep/a b.txt'", "(pattern secrets/)", WAY + "'secrets/deep/"), "below a folder"),
    (stage_bytes, ("adds $'caf\\xe9 \\x27x\\x27.pem'", WAY + "$'caf\\xe9 "), "a name that is not UTF-8"),
]


@pytest.mark.parametrize(("stage", "words"), [r[:2] for r in STAGED], ids=[r[2] for r in STAGED])
def test_a_restricted_path_is_not_committed(root: Path, capfd: pytest.CaptureFixture[str], stage, words) -> None:
    stage(root)
    assert command.hook("pre-commit") == 1
    said = capfd.readouterr().err
    assert said.startswith("403 SENTINEL BLOCKED: this commit ")
    assert [w for w in words if w not in said] == []


@pytest.mark.parametrize("stage", [r[0] for r in STAGED], ids=[r[2] for r in STAGED])
def test_the_way_out_works(root: Path, capfd: pytest.CaptureFixture[str], stage) -> None:
    stage(root)
    command.hook("pre-commit")
    for line in capfd.readouterr().err.splitlines():
        subprocess.run(["bash", "-c", line.rpartition("Take it out: ")[2]], cwd=root, check=True)
    assert command.hook("restricted-paths") == 0


def test_the_first_commit_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    put(tmp_path, ".env")
    put(tmp_path, "a.txt")
    git(tmp_path, "add", "-f", ".")
    assert command.hook("pre-commit") == 1
    said = capfd.readouterr().err
    assert "git rm --cached .env" in said
    assert "a.txt" not in said


def test_committing_the_policy_itself_is_ordinary_and_deleting_it_is_not(root: Path) -> None:
    put(root, "sentinel.toml", "version = 1\n")
    git(root, "add", ".")
    assert command.hook("pre-commit") == 0
    git(root, "commit", "-q", "-m", "policy")
    git(root, "rm", "-q", "sentinel.toml")
    assert command.hook("pre-commit") == 1


def test_the_projects_own_patterns_count(root: Path) -> None:
    put(root, "sentinel.toml", "[paths]\nrestricted = ['*.key']\n")
    put(root, "a.key")
    git(root, "add", ".")
    assert command.hook("pre-commit") == 1


def test_a_broken_policy_is_loud_and_the_built_in_one_stays(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(root, "sentinel.toml", "[pats]\n")
    stage_new(root)
    assert command.hook("pre-commit") == 1
    said = capfd.readouterr().err
    assert "SENTINEL WARNING" in said
    assert "did you mean paths?" in said


ALLOWED = (
    ("tests/keys/a.pem", '"!tests/keys/*.pem"', "b.pem", "a pattern of names: in this folder"),
    ("a.pem", '"!/*.pem"', "", "the same at the top"),
    ("secrets/a/b.txt", '"!', "", "a file below a restricted folder"),
)


@pytest.mark.parametrize(("name", "pattern", "other"), [a[:3] for a in ALLOWED], ids=[a[3] for a in ALLOWED])
def test_the_way_to_let_it_pass_works(root: Path, capfd: pytest.CaptureFixture[str], name, pattern, other) -> None:
    put(root, name)
    git(root, "add", "-f", ".")
    assert command.hook("pre-commit") == 1
    said = capfd.readouterr().err
    mine = root.parent / "s/config/sentinel.toml"
    found = re.search(r'add ("!.*") to \[paths\] restricted in (\S+)\.', said)
    assert found and found[1].startswith(pattern) and found[2] == str(mine)
    mine.parent.mkdir(parents=True)
    mine.write_text(f"[paths]\nrestricted = [{found[1]}]\n")
    assert command.hook("pre-commit") == 0
    if other:
        put(root, other)
        git(root, "add", "-f", ".")
        assert command.hook("pre-commit") == 1


def test_what_the_project_restricts_itself_it_may_take_back(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(root, "sentinel.toml", "[paths]\nrestricted = ['*.key']\n")
    put(root, "a.key")
    git(root, "add", ".")
    assert command.hook("pre-commit") == 1
    assert f"take the pattern out of {root}/sentinel.toml" in capfd.readouterr().err


def test_a_commit_does_not_wait_for_the_analysis_of_commands(root: Path) -> None:
    put(root, "sentinel.toml", install.TEMPLATE)
    git(root, "add", ".")
    code = (
        "import sys; from sentinel_guard.commands.hook import hook; assert hook('pre-commit') == 0; "
        "print([m for m in sys.modules if m in ('click', 'rich', 'sentinel_guard.core.analysis.effects')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=root)
    assert done.stdout == "[]\n"


def test_many_refusals_are_cut_short(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for n in range(25):
        put(root, f"{n}.pem")
    git(root, "add", ".")
    assert command.hook("pre-commit") == 1
    assert "and 5 more" in capfd.readouterr().err


def test_what_cannot_be_judged_is_an_error(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SentinelError, match="no hook"):
        command.hook("pre-comit")
    with pytest.raises(SentinelError, match="no ref to push"):
        command.hook("pre-push", ("origin",), lambda: b"nonsense\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SentinelError, match="not in a git work tree"):
        command.hook("pre-commit")


def test_a_push_with_nothing_to_push_passes(root: Path) -> None:
    assert command.hook("pre-push", ("origin",), lambda: b"\n") == 0


# Pushes, and whole commits through the installed hooks


@pytest.fixture
def hooked(root: Path, tmp_path: Path) -> Path:
    """The repository with a bare remote and our hooks, which run this checkout's code."""
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(root, "push", "-q", "origin", "main", "main:feature")
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nexec {sys.executable} -I -c \'import sys; sys.path.insert(0, "{PROJECT}")\n'
        "from sentinel_guard.commands.hook import hook\n"
        'sys.exit(hook(sys.argv[6], tuple(sys.argv[7:]), sys.stdin.buffer.read))\' "$0" "$@"\n'
    )
    python.chmod(0o755)
    githooks.install(root, str(python))
    return root


def commit(root: Path, name: str, text: str = "x\n", *more: str) -> subprocess.CompletedProcess[str]:
    put(root, name, text)
    git(root, "add", "-f", name)
    return git(root, "commit", "-q", "-m", name, *more, check=False)


def test_git_commit_is_stopped_and_goes_on(hooked: Path) -> None:
    done = commit(hooked, ".env")
    assert done.returncode == 1
    assert "403 SENTINEL BLOCKED: this commit adds .env" in done.stderr
    git(hooked, "restore", "--staged", ".env")
    assert commit(hooked, "fine.txt").returncode == 0
    assert git(hooked, "log", "--format=%s").stdout.split() == ["fine.txt", "first"]


def test_a_commit_of_named_files_is_judged_by_its_private_index(hooked: Path) -> None:
    tracked_key = git(hooked, "commit", "-q", "--allow-empty", "-m", "x")
    assert tracked_key.returncode == 0
    commit(hooked, "key.pem", "x\n", "--no-verify")
    put(hooked, "key.pem", "y\n")
    put(hooked, "README.md", "y\n")
    assert git(hooked, "commit", "-q", "-m", "x", "README.md", check=False).returncode == 0
    assert git(hooked, "commit", "-q", "-m", "x", "key.pem", check=False).returncode == 1
    assert git(hooked, "commit", "-q", "-am", "x", check=False).returncode == 1


def test_a_foreign_hook_runs_first_and_decides_first(hooked: Path) -> None:
    githooks.uninstall(hooked)
    theirs = hooked / ".git/hooks/pre-commit"
    theirs.write_text("#!/bin/sh\necho theirs ran >&2\ntest ! -e stop\n")
    theirs.chmod(0o755)
    githooks.install(hooked, str(hooked.parent / "python"))
    assert "theirs ran" in commit(hooked, "a.txt").stderr
    (hooked / "stop").touch()
    refused = commit(hooked, ".env")
    assert refused.returncode == 1
    assert "403" not in refused.stderr


def test_a_guard_that_is_gone_stops_the_commit_with_words(hooked: Path) -> None:
    (hooked.parent / "python").unlink()
    done = commit(hooked, "a.txt")
    assert done.returncode == 1
    assert "sentinel-guard install" in done.stderr


def push(root: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return git(root, "push", "-q", "origin", *args, check=False)


def test_ordinary_pushes_pass(hooked: Path) -> None:
    commit(hooked, "a.txt")
    assert push(hooked, "main").returncode == 0
    assert push(hooked, "HEAD:new-branch").returncode == 0
    git(hooked, "commit", "-q", "--amend", "-m", "other")
    assert push(hooked, "--force", "HEAD:new-branch").returncode == 0
    assert push(hooked, "--delete", "feature").returncode == 0
    git(hooked, "tag", "v1")
    assert push(hooked, "--tags").returncode == 0


def test_a_protected_branch_is_neither_deleted_nor_rewritten(hooked: Path) -> None:
    done = push(hooked, "--delete", "main")
    assert (done.returncode, "deletes refs/heads/main" in done.stderr) == (1, True)
    git(hooked, "commit", "-q", "--amend", "-m", "rewritten")
    done = push(hooked, "--force", "main")
    assert (done.returncode, "rewrites refs/heads/main" in done.stderr) == (1, True)
    git(hooked, "checkout", "-q", "--orphan", "new")
    git(hooked, "commit", "-q", "-m", "unrelated")
    assert push(hooked, "--force", "new:main").returncode == 1


def test_a_push_over_commits_that_are_not_here_is_a_rewrite(hooked: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "remote.git", "other")
    commit(tmp_path / "other", "b.txt")
    git(tmp_path / "other", "push", "-q", "origin", "main")
    commit(hooked, "a.txt")
    done = push(hooked, "--force", "main")
    assert (done.returncode, "git pull --rebase origin main" in done.stderr) == (1, True)


def test_commits_that_carry_a_restricted_path_are_not_pushed(hooked: Path) -> None:
    commit(hooked, "a.txt")
    commit(hooked, ".env", "x\n", "--no-verify")
    git(hooked, "rm", "-q", ".env")
    git(hooked, "commit", "-q", "-m", "gone again", "--no-verify")
    done = push(hooked, "main")
    assert done.returncode == 1
    assert "adds .env" in done.stderr
    assert "git rebase -i" in done.stderr
    assert done.stderr.count("403") == 1
    git(hooked, "reset", "-q", "--hard", "HEAD~2")
    assert push(hooked, "main").returncode == 0


def test_a_merge_that_smuggles_a_restricted_path_in_is_not_pushed(hooked: Path) -> None:
    git(hooked, "checkout", "-q", "-b", "side")
    commit(hooked, "side.txt")
    git(hooked, "checkout", "-q", "main")
    commit(hooked, "main.txt")
    git(hooked, "merge", "-q", "--no-commit", "side")
    commit(hooked, ".env", "x\n", "--no-verify")
    assert "adds .env" in push(hooked, "main").stderr


# The pre-commit framework


def precommit(root: Path, *args: str) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).parent / "pre-commit"
    environ = {**os.environ, "PRE_COMMIT_HOME": str(root.parent / "pc"), "PRE_COMMIT_COLOR": "never"}
    return subprocess.run([str(tool), *args], cwd=root, check=False, capture_output=True, text=True, env=environ)


LOCAL = """
repos:
- repo: local
  hooks:
  - id: sentinel-restricted-paths
    name: restricted
    language: system
    entry: {python} -I -m sentinel_guard hook restricted-paths
    pass_filenames: false
    always_run: true
"""


def test_the_pre_commit_framework_runs_it_as_a_local_hook(hooked: Path) -> None:
    put(hooked, ".pre-commit-config.yaml", LOCAL.format(python=hooked.parent / "python"))
    git(hooked, "add", ".pre-commit-config.yaml")
    assert precommit(hooked, "run").returncode == 0
    stage_new(hooked)
    done = precommit(hooked, "run")
    assert done.returncode == 1
    assert "403 SENTINEL BLOCKED: this commit adds .env" in done.stdout


def test_the_pre_commit_framework_builds_and_runs_it_from_our_repository(root: Path, tmp_path: Path) -> None:
    """The slow one: pre-commit makes an environment from a clone of this tree and runs the hook in it."""
    clone = tmp_path / "clone"
    ignored = shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(PROJECT, clone, ignore=ignored)
    git(clone, "init", "-q")
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "tree")
    stage_new(root)
    done = precommit(root, "try-repo", str(clone), "sentinel-restricted-paths", "--verbose")
    assert "403 SENTINEL BLOCKED: this commit adds .env" in done.stdout, done.stdout + done.stderr
    git(root, "restore", "--staged", ".env")
    assert precommit(root, "try-repo", str(clone), "sentinel-restricted-paths").returncode == 0
