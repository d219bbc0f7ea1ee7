"""Our hooks with those of husky, lefthook, pre-commit, simple-git-hooks, overcommit, and of folders that core.hooksPath
names: both run, also after the tool wrote its own anew, and nothing is left when ours are taken away.

The layouts are made by hand after what the tools do. SENTINEL_REAL_TOOLS=1 runs the tools themselves (npm, network).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sentinel_guard.host import githooks
from tests.host.hooked import SAYS, Hooked, git, state

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
    for name in githooks.NAMES:
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


@pytest.fixture
def repo(tmp_path: Path):
    settings = Path(os.environ["HOME"], ".gitconfig")
    before = settings.read_bytes()
    yield Hooked(tmp_path)
    settings.write_bytes(before)


def ran(repo: Hooked) -> list[str]:
    done = repo.commit()
    assert done.returncode == 0, done.stderr
    return sorted(line.strip() for line in repo.called())


def meta(repo: Hooked) -> dict[str, tuple[int, bytes]]:
    """All but what commits change."""
    names = tuple(f".git/{name}" for name in TREE)
    found = {k: v for k, v in state(repo.folder).items() if not k.startswith(("called", "my python"))}
    return {k: v for k, v in found.items() if not k.removeprefix("repo/").startswith(names)}


@ways
def test_both_run_and_nothing_of_theirs_changes(repo: Hooked, way: Way) -> None:
    way.again(repo)
    assert ran(repo) == ["theirs pre-commit"]
    before, tree = meta(repo), git(repo.root, "status", "--porcelain").stdout
    repo.install()
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]
    assert repo.install() == [] and githooks.complaint(repo.root) == ""
    assert git(repo.root, "status", "--porcelain").stdout == tree
    outside = {k: v for k, v in meta(repo).items() if not k.startswith("repo/.git/")}
    assert outside.items() <= before.items(), "nothing that is tracked, shared or another's"
    repo.uninstall()
    assert meta(repo) == before
    assert ran(repo) == ["theirs pre-commit"]


@ways
def test_ours_refuses_and_so_does_theirs(repo: Hooked, way: Way) -> None:
    way.again(repo)
    repo.install()
    repo.refuse()
    assert repo.commit().returncode == 1
    assert "ours pre-commit" in repo.called()


@ways
def test_after_the_tool_wrote_its_hooks_anew(repo: Hooked, way: Way) -> None:
    way.again(repo)
    before = meta(repo)
    repo.install()
    way.again(repo)
    assert ("ours pre-commit" in ran(repo)) == way.survives
    assert way.by in githooks.complaint(repo.root) and bool(way.by) == bool(githooks.complaint(repo.root))
    repo.install()
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]
    assert githooks.complaint(repo.root) == ""
    way.again(repo)
    repo.uninstall()
    assert meta(repo) == before
    assert ran(repo) == ["theirs pre-commit"]


@pytest.mark.parametrize("way", [w for w in WAYS if w.again is not husky4], ids=lambda w: w.name)
def test_a_tool_that_comes_after_us_is_told_of_or_joined(repo: Hooked, way: Way) -> None:
    repo.install()
    way.again(repo)
    if "ours pre-commit" not in ran(repo):
        assert githooks.complaint(repo.root)
        repo.install()
    assert githooks.complaint(repo.root) == ""
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]
    repo.uninstall()
    assert ran(repo) == ["theirs pre-commit"]
    assert not any(p.name.endswith(".before-sentinel") for p in repo.root.rglob("*"))
    assert not (repo.root / ".git/sentinel-guard").exists()


def test_a_persons_hook_before_pre_commit_stays_first(repo: Hooked) -> None:
    repo.put(".git/hooks/pre-commit", SAYS % (repo.log, "mine"))
    pre_commit(repo)
    repo.install()
    repo.commit()
    assert [line.split()[0] for line in repo.called()][:3] == ["mine", "ours", "theirs"]
    repo.uninstall()
    assert (repo.root / ".git/hooks/pre-commit.legacy").read_text() == SAYS % (repo.log, "mine")


@pytest.mark.parametrize("way", [w for w in WAYS if w.again in (lefthook, overcommit)], ids=lambda w: w.name)
def test_a_persons_hook_goes_where_the_tool_would_have_put_it(repo: Hooked, way: Way) -> None:
    mine = SAYS % (repo.log, "mine")
    repo.put(".git/hooks/pre-commit", mine)
    repo.install()
    way.again(repo)
    repo.install()
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]
    repo.uninstall()
    assert mine in {p.read_text() for p in repo.root.glob(".git/hooks/**/pre-commit*")}
    assert ran(repo) == ["theirs pre-commit"]


def test_pre_commit_takes_us_over_and_gives_us_back(repo: Hooked) -> None:
    repo.install()
    pre_commit(repo)
    call(repo, sys.executable, "-m", "pre_commit", "uninstall")
    assert ran(repo) == sorted(OURS)
    pre_commit(repo)
    call(repo, sys.executable, "-m", "pre_commit", "install", "-f")
    assert "pre-commit was replaced by pre-commit" in githooks.complaint(repo.root)
    repo.install()
    assert githooks.complaint(repo.root) == ""


def test_hooks_that_come_to_theirs_later_run(repo: Hooked) -> None:
    tracked(repo)
    repo.install()
    repo.theirs(".githooks/post-commit")
    repo.theirs(".githooks/commit-msg")
    assert "theirs post-commit" in ran(repo)
    git(repo.root, "config", "core.hooksPath", ".other")
    repo.theirs(".other/pre-commit", "other")
    assert "other pre-commit" in ran(repo)
    git(repo.root, "config", "--unset", "core.hooksPath")
    repo.theirs(".git/hooks/pre-commit", "usual")
    assert ran(repo) == [*sorted(OURS), "usual pre-commit"]
    repo.install()
    assert ran(repo) == [*sorted(OURS), "usual pre-commit"]
    assert (repo.root / ".git/hooks/pre-commit.before-sentinel").exists(), "nobody owns the hooks any more"
    assert "sentinel" not in (repo.root / ".git/config").read_text()


def test_a_work_tree_with_settings_of_its_own(repo: Hooked) -> None:
    repo.commit()
    git(repo.root, "config", "extensions.worktreeConfig", "true")
    git(repo.root, "worktree", "add", "-q", "../linked")
    linked = repo.folder / "linked"
    git(linked, "config", "--worktree", "core.hooksPath", str(repo.folder / "theirs"))
    hook = repo.folder / "theirs/pre-commit"
    hook.parent.mkdir()
    hook.write_text(SAYS % (repo.log, "theirs"))
    hook.chmod(0o755)
    before = meta(repo)
    repo.install()
    assert "core.hooksPath is" in githooks.complaint(linked)
    repo.install(linked)
    for tree in (repo.root, linked):
        assert repo.install(tree) == [] and githooks.complaint(tree) == ""
    assert ran(repo) == sorted(OURS)
    repo.commit(linked)
    assert [line.split()[0] for line in repo.called()] == ["theirs", "ours", "ours"]
    repo.uninstall(linked)
    repo.uninstall()
    after = meta(repo)
    assert after.keys() - before.keys() <= {"repo/.git/worktrees/linked/COMMIT_EDITMSG"}
    assert all(after[name] == before[name] for name in before if "hooks" in name or "config" in name)


def test_a_repository_that_was_moved_or_copied_runs_theirs_and_is_told_of(repo: Hooked) -> None:
    tracked(repo)
    repo.install()
    shutil.copytree(repo.root, repo.folder / "copy", symlinks=True)
    repo.root.rename(repo.folder / "moved")
    for folder in (repo.folder / "copy", repo.folder / "moved"):
        repo.commit(folder)
        assert repo.called() == ["theirs pre-commit "]
        assert "passed by" in githooks.complaint(folder)
        repo.install(folder)
        repo.commit(folder)
        assert repo.called() == ["theirs pre-commit ", *OURS]


SETTINGS = (
    (b"", "an empty file"),
    (b"[core]\n\tbare = false", "no line end at its end"),
    (b"[include]\n\tpath = other\n[core]\n\tbare = false\n", "an include of theirs"),
    (b"[core]\r\n\tbare = false\r\n", "lines as on Windows"),
)


@pytest.mark.parametrize("row", SETTINGS, ids=[s[1] for s in SETTINGS])
def test_the_settings_come_back_byte_by_byte(repo: Hooked, row: tuple[bytes, str]) -> None:
    shared(repo)
    config = repo.root / ".git/config"
    config.write_bytes(row[0])
    config.chmod(0o640)
    repo.install()
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]
    git(repo.root, "config", "user.name", "New")
    git(repo.root, "config", "--unset", "user.name")
    mended = config.read_bytes()
    repo.uninstall()
    assert config.stat().st_mode & 0o777 == 0o640
    assert config.read_bytes() == row[0] or mended.startswith(config.read_bytes())


def test_what_somebody_added_to_our_lines_stays(repo: Hooked) -> None:
    tracked(repo)
    repo.install()
    git(repo.root, "config", "--add", "include.path", "mine")
    repo.put(".git/mine", "[user]\n\tname = Mine\n")
    repo.uninstall()
    assert git(repo.root, "config", "user.name").stdout == "Mine\n"
    assert "sentinel" not in (repo.root / ".git/config").read_text()


def test_a_setting_that_came_after_ours_is_told_and_mended(repo: Hooked) -> None:
    tracked(repo)
    repo.install()
    with (repo.root / ".git/config").open("a") as config:
        config.write("[core]\n\thooksPath = /nowhere\n")
    assert "core.hooksPath is /nowhere" in githooks.complaint(repo.root)
    repo.install()
    assert githooks.complaint(repo.root) == ""


def test_hooks_of_an_earlier_version_in_their_folder_move_out(repo: Hooked) -> None:
    tracked(repo)
    theirs = (repo.root / ".githooks/pre-commit").read_bytes()
    (repo.root / ".githooks/pre-commit").rename(repo.root / ".githooks/pre-commit.before-sentinel")
    repo.put(".githooks/pre-commit", f"#!/bin/sh\n# {githooks.MARK}\nexit 9\n")
    repo.install()
    assert (repo.root / ".githooks/pre-commit").read_bytes() == theirs
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]


# The tools themselves


def npm(package: str, *command: str, **settings: object) -> Callable[[Hooked], None]:
    def again(repo: Hooked) -> None:
        if not (repo.root / "node_modules").exists():
            (repo.root / "package.json").write_text(json.dumps({"name": "x", "private": True, **settings}))
            call(repo, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "-D", package)
            repo.put(".gitignore", "node_modules\n", 0o644)
        call(repo, *command, INIT_CWD=str(repo.root), npm_config_user_agent="npm/6.0.0 node/v12", CI="")

    return again


SAY = "sh scripts/pre-commit"


def real(*works: Callable[[Hooked], None]) -> Callable[[Hooked], None]:
    def again(repo: Hooked) -> None:
        scripts(repo, "scripts")
        for work in works:
            work(repo)

    return again


def _husky_script(repo: Hooked) -> None:
    repo.put(".husky/pre-commit", f"{SAY}\n")


def _lefthook_settings(repo: Hooked) -> None:
    repo.put("lefthook.yml", f"pre-commit:\n  commands:\n    a:\n      run: {SAY}\n", 0o644)


def staged(repo: Hooked) -> list[str]:
    """As ``ran``, with a file in the commit: lefthook passes by what holds none."""
    with (repo.root / "file").open("a") as file:
        file.write("x\n")
    git(repo.root, "add", "file")
    return ran(repo)


REAL = (
    Way("husky 9", real(npm("husky@9", "node", "node_modules/husky/bin.js"), _husky_script)),
    Way("husky 8", real(npm("husky@8", "node", "node_modules/husky/lib/bin.js", "install"), _husky_script)),
    Way(
        "husky 4",
        real(npm("husky@4", "node", "node_modules/husky/husky.js", "install", husky={"hooks": {"pre-commit": SAY}})),
    ),
    Way(
        "simple-git-hooks",
        real(
            npm(
                "simple-git-hooks@2",
                "node",
                "node_modules/simple-git-hooks/cli.js",
                **{"simple-git-hooks": {"pre-commit": SAY}},
            )
        ),
    ),
    Way(
        "lefthook",
        real(_lefthook_settings, npm("lefthook@2", "node_modules/.bin/lefthook", "install")),
        survives=False,
        by="lefthook install",
    ),
)


@pytest.mark.skipif(
    not os.environ.get("SENTINEL_REAL_TOOLS"), reason="needs npm and the network: SENTINEL_REAL_TOOLS=1"
)
@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", REAL, ids=[w.name for w in REAL])
def test_the_tool_itself(repo: Hooked, way: Way) -> None:
    way.again(repo)
    assert staged(repo)[-1] == "theirs pre-commit"
    hooks = {k for k in meta(repo) if ".git/" in k}
    repo.install()
    assert staged(repo) == [*sorted(OURS), "theirs pre-commit"]
    way.again(repo)
    assert ("ours pre-commit" in staged(repo)) == way.survives
    assert way.by in githooks.complaint(repo.root)
    repo.install()
    assert staged(repo) == [*sorted(OURS), "theirs pre-commit"]
    way.again(repo)
    repo.uninstall()
    assert staged(repo) == ["theirs pre-commit"]
    assert {k for k in meta(repo) if ".git/" in k} == hooks
