"""The hooks of husky, lefthook, pre-commit, simple-git-hooks, overcommit, and of folders that core.hooksPath names: the
layouts are made by hand after what the tools do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from sentinel_guard.host.githooks import install_hooks
from tests.support.installed_hooks import SAYS, Hooked, git, state

OURS = ["ours pre-commit", "ours commit-msg .git/COMMIT_EDITMSG"]
TREE = ("objects", "logs", "refs", "COMMIT_EDITMSG", "index")
BY_NAME = '#!/bin/sh\n{sign}\n. "$(dirname "$0")/runner"\n'
"""A hook that is told who it is by the name of its file, and reads one beside it."""
RUNNER = 'name=$(basename "$0")\n[ ! -f "{scripts}/$name" ] || exec sh "{scripts}/$name" "$@"\n'


def call(repo: Hooked, *command: str, **environ: str) -> None:
    subprocess.run(command, cwd=repo.root, check=True, capture_output=True, env={**os.environ, **environ})


def scripts(repo: Hooked, folder: str) -> None:
    repo.put(f"{folder}/pre-commit", SAYS % (repo.log, "theirs"), 0o644)


def by_name(repo: Hooked, folder: str, sign: str, where: str) -> None:
    for name in ("pre-commit", "commit-msg", "post-merge"):
        there = repo.root / folder / name
        if not there.exists() or sign in there.read_text():  # a person's own hook is let be
            repo.put(f"{folder}/{name}", BY_NAME.format(sign=sign))
    repo.put(f"{folder}/runner", RUNNER.format(scripts=where), 0o644)


def husky9(repo: Hooked) -> None:
    git(repo.root, "config", "core.hooksPath", ".husky/_")
    repo.put(".husky/_/.gitignore", "*", 0o644)
    scripts(repo, ".husky")
    by_name(repo, ".husky/_", "", ".husky")


def husky8(repo: Hooked) -> None:
    git(repo.root, "config", "core.hooksPath", ".husky")
    repo.theirs(".husky/pre-commit")


def husky4(repo: Hooked) -> None:
    scripts(repo, "scripts")
    by_name(repo, ".git/hooks", "# husky", "scripts")


def tracked(repo: Hooked) -> None:
    git(repo.root, "config", "core.hooksPath", ".githooks")
    repo.theirs(".githooks/pre-commit")
    git(repo.root, "add", ".githooks")


def shared(repo: Hooked) -> None:
    git(repo.root, "config", "--global", "core.hooksPath", str(repo.folder / "shared"))
    hook = repo.folder / "shared/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(SAYS % (repo.log, "theirs"))
    hook.chmod(0o755)


def simple(repo: Hooked) -> None:
    for name in install_hooks.NAMES:
        (repo.root / ".git/hooks" / name).unlink(missing_ok=True)
    sign = "#!/bin/sh\n[ 0 = $SKIP_SIMPLE_GIT_HOOKS ]\n"
    repo.put(".git/hooks/pre-commit", sign + (SAYS % (repo.log, "theirs")).partition("\n")[2])


def pushed_aside(repo: Hooked, to: str, text: str) -> None:
    """What lefthook and overcommit do with a hook that they find."""
    folder = repo.root / git(repo.root, "rev-parse", "--git-path", "hooks").stdout.strip()
    hook = folder / "pre-commit"
    if hook.exists() and text not in hook.read_text():
        (folder / to).parent.mkdir(exist_ok=True)
        hook.rename(folder / to)
    hook.write_text(text)
    hook.chmod(0o755)


def lefthook(repo: Hooked) -> None:
    pushed_aside(repo, "pre-commit.old", SAYS % (repo.log, "theirs") + "call_lefthook() { :; }\n")


def overcommit(repo: Hooked) -> None:
    repo.put(".git/hooks/runner", RUNNER.format(scripts="scripts"), 0o644)
    scripts(repo, "scripts")
    pushed_aside(repo, "old-hooks/pre-commit", BY_NAME.format(sign="# OVERCOMMIT_DISABLE"))


def pre_commit(repo: Hooked) -> None:
    entry = f"sh -c 'echo theirs pre-commit >>{repo.log}'"
    hook = {"id": "a", "name": "a", "language": "system", "always_run": True, "pass_filenames": False, "entry": entry}
    repo.put(".pre-commit-config.yaml", json.dumps({"repos": [{"repo": "local", "hooks": [hook]}]}), 0o644)
    git(repo.root, "add", ".pre-commit-config.yaml")
    call(repo, sys.executable, "-m", "pre_commit", "install")


class Way(NamedTuple):
    name: str
    again: Callable[[Hooked], None]
    """What the tool does, the first time and each time after."""
    survives: bool = True
    """Whether ours still runs after the tool wrote its hooks anew; else it is told, and mended by install."""
    by: str = ""
    """What is told then."""


WAYS = (
    Way("husky 9", husky9),
    Way("husky 8", husky8),
    Way("husky 4", husky4),
    Way("a tracked folder", tracked),
    Way("a folder of several repositories", shared),
    Way("simple-git-hooks", simple),
    Way("pre-commit", pre_commit),
    Way("lefthook", lefthook, survives=False, by="by lefthook (it does so at: lefthook install)"),
    Way("overcommit", overcommit, survives=False, by="by overcommit (it does so at: overcommit --install)"),
)
ways = pytest.mark.parametrize("way", WAYS, ids=[w.name for w in WAYS])


def ran(repo: Hooked) -> list[str]:
    done = repo.commit()
    assert done.returncode == 0, done.stderr
    return sorted(line.strip() for line in repo.called())


def meta(repo: Hooked) -> dict[str, tuple[int, bytes]]:
    """All but what commits change."""
    names = tuple(f".git/{name}" for name in TREE)
    found = {k: v for k, v in state(repo.folder).items() if not k.startswith(("called", "my python"))}
    return {k: v for k, v in found.items() if not k.removeprefix("repo/").startswith(names)}
