"""What git shows nobody comes back: files in idle submodules and in odd repositories, hooks and settings elsewhere.

The rollbacks run without root's rights over modes.
"""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.support.recovery.repository import IDLE, settle, shell
from tests.support.recovery.without_rights import rolled_back, taken

DEEP = (
    "d=.; for i in {1..5}; do d=$d/r$i; git init -q $d; echo $i > $d/f; git -C $d add f; git -C $d commit -qm i; done"
)
ODD = """mkdir -p .git/modules/idle/refs/heads/{tmp,incomplete}; cd .git/modules/idle/refs/heads
touch tmp/x incomplete/y; echo z > tmp_z"""


def all_below(folder: Path) -> set[Path]:
    return {*folder.rglob("*")}


BOTH = r"""mkdir own; cd own; printf 'a\r\nb\n' > mixed.dat; git add mixed.dat; git commit -qm mixed -- mixed.dat
echo '*.dat text=auto' > .gitattributes; echo .gitattributes >> ../.git/info/exclude; git status"""
STAGED = """git worktree add -q build/wt -b ignored; echo staged > build/wt/a.txt; git -C build/wt add a.txt
git -C build/wt reflog expire --expire=now --all"""
WITHIN = """mkdir -p node_modules/p; echo 1 > node_modules/p/i
git add -f node_modules; git commit -qm nm -- node_modules; cd node_modules/p
git init -q; git commit -q --allow-empty -m own; git gc -q"""
ASIDE = """mkdir ../named; echo own > ../named/commit-msg; git config core.hooksPath ../named; mkfifo ../named/pipe
echo own > ../later; git config includeIf.onbranch:none.path ../../later"""
LINKED = """for n in config info; do mv .git/$n ../$n; ln -s ../../$n .git/$n; done
echo own > ../rules; git config core.excludesFile ../rules"""
HELD = (
    (DEEP, "rm -rf r1/r2/r3/r4/r5", "r1/r2/r3/r4/r5/f", "a repository that is too deep for a baseline of its own"),
    (
        IDLE,
        "rm -rf sub",
        "sub/own",
        "a file in the folder of a submodule that is not checked out",
    ),
    ("mkdir build/sdk; echo elf > build/sdk/v.so", "echo x > build/sdk/v.so", "build/sdk/v.so", "an ignored library"),
    ("mkdir v; echo 'gitdir: /nowhere' > v/.git; echo own > v/own", "rm -rf v", "v/.git", "a .git file to nowhere"),
    ("mkdir -p w/.git; echo own > w/.git/own", "rm -rf w", "w/.git/own", "a .git folder that is no repository"),
    ("mkdir -p .git/svn/t; echo map > .git/svn/t/.rev_map.x", "rm -rf .git/svn", ".git/svn/t/.rev_map.x", "git-svn"),
    (
        ODD,
        "rm -rf .git/modules",
        ".git/modules/idle/refs/heads/tmp_z",
        "branches with odd names in an idle submodule",
    ),
    (
        "mkdir -p .git/annex/objects/K; echo x > .git/annex/objects/K/WORM-s2-m1--poetry.lock",
        "rm -rf .git/annex",
        ".git/annex/objects/K/WORM-s2-m1--poetry.lock",
        "an annexed file that is called like a lock",
    ),
    ("echo own > .git/hooks/poetry.lock", "rm .git/hooks/*", ".git/hooks/poetry.lock", "another one, of a hook"),
    (
        "git config core.ignoreCase true; echo own > A.TXT; mkdir SRC; echo own > SRC/y.py",
        "rm -rf A.TXT SRC",
        "SRC/y.py",
        "names that are those of tracked files in another case, where git was told not to tell them apart",
    ),
    (
        "git init -q src; git -C src add y.py; git -C src commit -qm own; git -C src gc -q",
        "rm -rf src/.git; git init -q src/deep",
        "src/.git/HEAD",
        "a repository among tracked files; the agent's own one goes",
    ),
    (
        "git init -q build/r; git -C build/r commit -qm own --allow-empty; git -C build/r gc -q",
        "rm -rf build/r",
        "build/r/.git/HEAD",
        "an ignored repository that has only packed refs",
    ),
    (BOTH, "rm own/mixed.dat own/.gitattributes", "own/mixed.dat", "a file that rules convert which git ignores"),
    (
        "true",
        "m=.git/modules/sub; mkdir -p $m/{hooks,info}; echo evil > $m/hooks/post-checkout; echo x > $m/info/attributes",
        ".git/modules/sub/info/exclude",
        "hooks that came into a submodule that is not checked out",
    ),
    (STAGED, "git -C build/wt reset -q --hard", ".git/worktrees/wt/index", "the index of an ignored worktree"),
    (
        WITHIN,
        "rm -rf node_modules/p/.git; git init -q node_modules/q",
        "node_modules/p/.git/HEAD",
        "a repository among tracked files in a folder of generated ones",
    ),
    (ASIDE, "echo evil > ../named/commit-msg; echo evil > ../named/pre-push", "../named/commit-msg", "hooks elsewhere"),
    ("true", "echo evil > ../later", "../later", "settings that are included on a condition"),
    (
        LINKED,
        "git config user.name evil; echo '*' > ../rules; rm ../info/*; echo '*.py text' > ../info/attributes",
        "../config",
        "settings and rules that lie elsewhere",
    ),
)


@pytest.mark.parametrize("hours", [0, 1])
def test_what_git_does_not_show_comes_back(repo, hours):
    """All at once: they do not touch each other. ``hours``: by which the clock was set back before the session."""
    for before, _, _, _ in HELD:
        shell(repo, f"({before})")
    settle()
    data = {path: (repo.root / path).read_bytes() for _, _, path, _ in HELD}
    names = {path: all_below((repo.root / path).parent) for path in data if not path.startswith("..")}
    baseline = taken(repo, hours)
    for _, harm, _, _ in HELD:
        shell(repo, f"({harm})")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert {why: (repo.root / path).read_bytes() == data[path] for _, _, path, why in HELD if path in data} == {
        why: True for _, _, _, why in HELD
    }
    assert {path: all_below((repo.root / path).parent) for path in names} == names
    added = ("../named/pre-push", "../info/attributes", "node_modules/q", ".git/modules/sub/hooks/post-checkout")
    assert [path for path in added if (repo.root / path).exists()] == []
    assert (repo.root / "../named/pipe").is_fifo(), "the person's, among the hooks"


def test_empty_folders_of_the_git_directory_and_the_persons_own_files_in_it_come_back(repo):
    shell(repo, "git pack-refs --all; mkdir -m 700 .git/own; echo own > .git/own.lock; touch .git/HEAD.lock")
    baseline = taken(repo)
    shell(repo, "rm -rf .git")
    assert rolled_back(baseline)["ok"]
    modes = [stat.S_IMODE((repo.root / ".git" / name).stat().st_mode) for name in ("own", "refs/heads", "refs/tags")]
    assert modes == [0o700, 0o755, 0o755]
    assert (repo.root / ".git/own.lock").read_text() == "own\n"
    assert not (repo.root / ".git/HEAD.lock").exists(), "that is git's own"
