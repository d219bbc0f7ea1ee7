"""Where git runs both hooks of a commit at once, commit-msg judges for both; everywhere else each judges for itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.installed_hooks import Hooked, git

ONE = ["ours commit .git/COMMIT_EDITMSG"]
EACH = ["ours pre-commit", "ours commit-msg .git/COMMIT_EDITMSG"]
COMMIT = ("commit", "-q", "--allow-empty", "-m", "x")
EARLIER = '#!/bin/sh\n# sentinel-guard-hook-8d1f6c2e: put here by an earlier version\necho earlier >>"%s"\n'


@pytest.fixture
def repo(tmp_path: Path) -> Hooked:
    if not Path("/proc/self/comm").exists():
        pytest.skip("only /proc tells a hook who runs it")
    made = Hooked(tmp_path)
    made.commit()
    made.install()
    return made


def hooks_path(repo: Hooked, *names: str) -> None:
    for name in names:
        repo.theirs(f".githooks/{name}")
    git(repo.root, "config", "core.hooksPath", ".githooks")
    repo.install()


def nothing(_repo: Hooked) -> None: ...


WAYS: list[tuple[Callable[[Hooked], object], tuple[str, ...], list[str], str]] = [
    (nothing, COMMIT, ONE, "a message by -m"),
    (nothing, ("commit", "-q", "--amend", "--no-edit", "--allow-empty"), ONE, "the one that was there"),
    (nothing, (*COMMIT, "-e"), EACH, "an editor: in the meantime the index may change"),
    (lambda r: r.theirs(".git/hooks/prepare-commit-msg"), COMMIT, EACH, "a hook of theirs that runs in between"),
    (lambda r: r.put(".git/hooks/commit-msg.before-sentinel", "#!/bin/sh\n"), COMMIT, EACH, "another one"),
    (lambda r: r.theirs(".git/hooks/commit-msg"), COMMIT, EACH[:1], "a tool took the place of our commit-msg"),
    (lambda r: r.put(".git/hooks/commit-msg", EARLIER % r.log), COMMIT, [*EACH[:1], "earlier"], "an earlier one"),
    (lambda r: (r.root / ".git/hooks/commit-msg").chmod(0o644), COMMIT, EACH[:1], "one that git passes by"),
    (lambda r: (r.root / ".git/hooks/commit-msg").unlink(), COMMIT, EACH[:1], "none"),
    (lambda r: hooks_path(r, "pre-commit"), COMMIT, ONE, "hooks of a tracked folder"),
    (lambda r: hooks_path(r, "commit-msg"), COMMIT, EACH, "that holds one which runs in between"),
    (nothing, ("hook", "run", "pre-commit"), EACH[:1], "by hand there is no commit-msg"),
]


@pytest.mark.parametrize(("prepare", "command", "called"), [w[:-1] for w in WAYS], ids=[w[-1] for w in WAYS])
def test_who_judges(repo: Hooked, prepare, command, called) -> None:
    prepare(repo)
    repo.called()
    git(repo.root, *command, GIT_EDITOR="true" if "-e" in command else ":")
    assert [line for line in repo.called() if not line.startswith("theirs")] == called


@pytest.mark.parametrize("name", ["pre-commit", "pre-merge-commit", "pre-applypatch", "commit-msg"])
def test_another_program_may_run_one_alone(repo: Hooked, name: str) -> None:
    """With all that git tells a hook: it is no git that does so."""
    repo.called()
    hook = repo.root / ".git/hooks" / name
    environ = {"GIT_EDITOR": ":", "GIT_INDEX_FILE": ".git/index"}
    code = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True)"
    subprocess.run([sys.executable, "-c", code, str(hook)], cwd=repo.root, env=environ, check=True)
    assert repo.called() == [f"ours {name}"]


def test_a_patch_is_judged_before_it_is_applied(repo: Hooked) -> None:
    """``git am`` runs no commit-msg, whatever the environment says."""
    repo.put("a", "1\n")
    git(repo.root, "add", "a")
    repo.commit()
    git(repo.root, "format-patch", "-1", "-o", "..")
    git(repo.root, "reset", "-q", "--hard", "HEAD~1")
    repo.called()
    index = str(repo.root / ".git/index")
    git(repo.root, "am", "-q", *map(str, repo.folder.glob("*.patch")), GIT_EDITOR=":", GIT_INDEX_FILE=index)
    assert repo.called() == ["ours pre-applypatch"]


def test_a_refusal_of_either_is_a_commit_that_is_not(repo: Hooked) -> None:
    repo.refuse()
    assert repo.commit().returncode == 1
    assert git(repo.root, *COMMIT, check=False).returncode == 1
    assert git(repo.root, "rev-list", "--count", "HEAD").stdout == "1\n"
    repo.python.unlink()
    gone = git(repo.root, *COMMIT, check=False)
    assert gone.returncode == 1 and "nothing checks this commit" in gone.stderr
