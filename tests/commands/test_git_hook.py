"""What may not be committed, with real git, and the ways out that work. Pushes: test_hook_push.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.commands import git_hook as command
from sentinel_guard.commands import install
from sentinel_guard.errors import SentinelError
from tests.support.hook_repositories import TOKEN, git, made, put


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    monkeypatch.chdir(made(tmp_path / "repo"))
    return tmp_path / "repo"


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


def stage_whole_link(root: Path) -> None:
    (root / "here").symlink_to(root / ".env")
    git(root, "add", "here")


def stage_submodule(root: Path) -> None:
    made(root / "secrets")
    git(root, "add", "secrets")


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
    (stage_whole_link, ("adds here, a link to /", "(pattern .env)", WAY + "here"), "a link to its whole path"),
    (stage_submodule, ("adds secrets, a submodule,", "(pattern secrets/)", WAY + "secrets"), "a submodule there"),
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
    for way in re.findall(r"Take it out: (.*)", capfd.readouterr().err):
        subprocess.run(["bash", "-c", way], cwd=root, check=True)
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


def test_a_broken_policy_refuses_and_the_built_in_one_stays(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(root, "sentinel.toml", "[pats]\n")
    stage_new(root)
    assert command.hook("pre-commit") == 1
    said = capfd.readouterr().err
    assert said.count("403 SENTINEL BLOCKED") == 2
    assert "did you mean paths?" in said


ALLOWED = (
    (("tests/keys/a.pem",), '"!/tests/keys/a.pem"', "tests/keys/b.pem", "one file: by its name"),
    (("tests/keys/a.pem", "tests/keys/b.pem"), '"!tests/keys/*.pem"', "b.pem", "several of a kind: in this folder"),
    (("a.pem", "b.pem"), '"!/*.pem"', "", "the same at the top"),
    ((".env.ci", ".env.test"), '"!/.env.ci", "!/.env.test"', ".env.production", "names that are no kind"),
    (("secrets/a/b.txt",), '"!', "", "a file below a restricted folder"),
)


@pytest.mark.parametrize(("names", "pattern", "other"), [a[:3] for a in ALLOWED], ids=[a[3] for a in ALLOWED])
def test_the_way_to_let_it_pass_works(root: Path, capfd: pytest.CaptureFixture[str], names, pattern, other) -> None:
    for name in names:
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
        "import sys; from sentinel_guard.commands.git_hook import hook; assert hook('pre-commit') == 0; "
        "print([m for m in sys.modules if m in ('click', 'rich', 'sentinel_guard.core.analysis.analyse')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=root)
    assert done.stdout == "[]\n"


MESSAGES = [
    (stage_new, "fine\n", ("adds .env,",), "what is staged"),
    (lambda r: None, f"{TOKEN}\n", ("the message of this commit holds",), "the message, where nothing is staged"),
    (stage_new, f"{TOKEN}\n", ("adds .env,", "the message of this commit holds", "Write the message again"), "both"),
    (
        lambda r: (put(r, "a.py", TOKEN), git(r, "add", ".")),
        f"{TOKEN}\n",
        ("this commit adds", "this commit holds"),
        "the same",
    ),
    (lambda r: (put(r, "a.txt"), git(r, "add", ".")), "fine\n", (), "neither"),
]


@pytest.mark.parametrize(("stage", "message", "words"), [m[:3] for m in MESSAGES], ids=[m[3] for m in MESSAGES])
def test_a_commit_and_its_message_are_judged_together(root: Path, capfd, stage, message: str, words) -> None:
    stage(root)
    said = put(root, ".git/COMMIT_EDITMSG", message)
    assert command.hook("commit", (str(said),)) == bool(words)
    told = capfd.readouterr().err
    assert [w for w in words if w not in told] == [] and told.count("403") == len(words[:2])
    assert "all of them at once" not in told, "no baseline holds a message"


PROCESSES = [
    (lambda r: None, 0, "nothing is staged"),
    (lambda r: git(r, "rm", "-q", "README.md"), 0, "a deletion"),
    (lambda r: git(r, "mv", "README.md", "b.md"), 0, "a file that moves"),
    (lambda r: (put(r, "a.py"), put(r, "README.md", "hi\n"), git(r, "add", ".")), 0, "texts that were just added"),
    (lambda r: (git(r, "gc", "-q"), put(r, "a.py"), git(r, "add", ".")), 1, "where HEAD is in a pack"),
]


@pytest.mark.parametrize(("act", "count"), [p[:2] for p in PROCESSES], ids=[p[2] for p in PROCESSES])
def test_a_commit_waits_for_one_git_process_at_most(root: Path, monkeypatch, act, count: int) -> None:
    act(root)
    git(root, "write-tree")  # as git commit does before the hook: the index then names its tree
    real, called = subprocess.Popen, []
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: called.append(a) or real(*a, **k))
    assert command.hook("pre-commit") == 0
    assert len(called) == count


def test_many_paths_of_a_pattern_are_one_refusal_with_ways_out_that_work(root: Path, capfd) -> None:
    tracked(root, *(f"a b[1]/{n}.pem" for n in range(7)))
    git(root, "mv", "a b[1]", "moved")
    for name in ("0.pem", "a b1/0.pem"):
        put(root, name)
    git(root, "add", ".")
    assert command.hook("pre-commit") == 1
    said = capfd.readouterr().err
    assert said.count("403 SENTINEL BLOCKED") == 1
    assert "adds and deletes 16 files" in said or "deletes and adds 16 files" in said
    assert "and 12 more), which are restricted (pattern *.pem)." in said
    (way,) = re.findall(r"Take them out: (.*)", said)
    subprocess.run(["bash", "-c", way], cwd=root, check=True)
    assert git(root, "diff", "--cached", "--name-only").stdout == ""


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
