"""Our hooks with those of a tool: both run, also after it wrote its own anew, and nothing is left when ours go."""

from __future__ import annotations

import sys

import pytest

from sentinel_guard.host.githooks import install_hooks
from tests.support.hook_tools import OURS, WAYS, Way, call, husky4, lefthook, meta, overcommit, pre_commit, ran, ways
from tests.support.installed_hooks import SAYS, Hooked, git


@ways
def test_both_run_and_nothing_of_theirs_changes(repo: Hooked, way: Way) -> None:
    way.again(repo)
    assert ran(repo) == ["theirs pre-commit"]
    before, tree = meta(repo), git(repo.root, "status", "--porcelain").stdout
    repo.install()
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]
    assert repo.install() == [] and install_hooks.complaint(install_hooks.find(repo.root)) == ""
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
    assert way.by in install_hooks.complaint(install_hooks.find(repo.root)) and bool(way.by) == bool(
        install_hooks.complaint(install_hooks.find(repo.root))
    )
    repo.install()
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]
    assert install_hooks.complaint(install_hooks.find(repo.root)) == ""
    way.again(repo)
    repo.uninstall()
    assert meta(repo) == before
    assert ran(repo) == ["theirs pre-commit"]


@pytest.mark.parametrize("way", [w for w in WAYS if w.again is not husky4], ids=lambda w: w.name)
def test_a_tool_that_comes_after_us_is_told_of_or_joined(repo: Hooked, way: Way) -> None:
    repo.install()
    way.again(repo)
    if "ours pre-commit" not in ran(repo):
        assert install_hooks.complaint(install_hooks.find(repo.root))
        repo.install()
    assert install_hooks.complaint(install_hooks.find(repo.root)) == ""
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
    assert "pre-commit was replaced by pre-commit" in install_hooks.complaint(install_hooks.find(repo.root))
    repo.install()
    assert install_hooks.complaint(install_hooks.find(repo.root)) == ""
