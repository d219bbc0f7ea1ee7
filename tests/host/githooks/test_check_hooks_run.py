"""Whether git would run our hooks for one command: real git, with the options and the environment of the command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.githooks import check_hooks_run, install_hooks
from sentinel_guard.host.githooks.check_hooks_run import ActiveHooks
from tests.support.installed_hooks import Hooked


@pytest.fixture
def repo(tmp_path: Path) -> Hooked:
    made = Hooked(tmp_path)
    install_hooks.install(made.root)
    (made.root / "sub").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text("[core]\n\thooksPath = /nowhere\n")
    (tmp_path / "parts").write_text("[core]\n\thooksPath = /nowhere\n")
    (tmp_path / "other").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "other")], check=True)
    return made


def stood(repo: Hooked) -> ActiveHooks:
    found = check_hooks_run.active_hooks(install_hooks.find(repo.root))
    assert found is not None and found.names == install_hooks.NAMES
    return found


def given(**settings: str) -> dict[str, str]:
    """Settings as an environment gives them: ``core__hooksPath`` is core.hooksPath."""
    count = {"GIT_CONFIG_COUNT": str(len(settings))}
    keys = {f"GIT_CONFIG_KEY_{n}": key.replace("__", ".") for n, key in enumerate(settings)}
    return count | keys | {f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(settings.values())}


NOTHING: dict[str, str] = {}
COMMANDS = [
    ((), NOTHING, ".", "", "as it stands"),
    (("-c", "color.ui=always"), NOTHING, "sub", "", "a setting for this command alone, from below"),
    (("-C", "sub"), NOTHING, ".", "", "in a folder"),
    (("-C", "..", "-C", "repo"), NOTHING, ".", "", "and back"),
    (("--git-dir=.git", "--work-tree=."), NOTHING, ".", "", "named"),
    ((), given(safe__directory="*", user__name="a", commit__gpgsign="false"), ".", "", "what an IDE gives"),
    ((), {"GIT_CONFIG_PARAMETERS": "'color.ui'='always'"}, ".", "", "below `git -c color.ui=always`"),
    (("-C", "../other"), NOTHING, ".", "", "another repository: its own rule tells"),
    (("-C", "gone"), NOTHING, ".", "", "a folder that is not there: git says so itself"),
    ((), NOTHING, "..", "", "no repository at all"),
    ((), given(core__hooksPath="/dev/null"), ".", "hooks in /dev/null", "GIT_CONFIG_COUNT (31)"),
    ((), {"GIT_CONFIG_PARAMETERS": "'core.hooksPath'='/x'"}, ".", "hooks in /x", "GIT_CONFIG_PARAMETERS (31)"),
    ((), {"GIT_CONFIG_GLOBAL": "../parts"}, ".", "hooks in /nowhere", "GIT_CONFIG_GLOBAL (31)"),
    ((), {"HOME": "../home"}, ".", "hooks in /nowhere", "another HOME (31)"),
    ((), given(include__path="{here}/parts"), ".", "hooks in /nowhere", "an include"),
    (("-c", "core.hooksPath=sub"), NOTHING, "sub", "pre-commit is not there", "an option, from below"),
    (("--config-env", "core.hooksPath=P"), {"P": "/x"}, ".", "hooks in /x", "by a variable"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "environ", "folder", "words"), [row[:4] for row in COMMANDS], ids=[row[4] for row in COMMANDS]
)
def test_git_itself_is_asked(
    repo: Hooked, options: tuple[str, ...], environ: dict[str, str], folder: str, words: str
) -> None:
    here = {name: value.format(here=repo.root.parent) for name, value in environ.items()}
    told = check_hooks_run.missing(stood(repo), options, str(repo.root / folder), {**os.environ, **here})
    assert words in told and bool(told) is bool(words)


def test_modes_are_put_back(repo: Hooked) -> None:
    ours, hooks = stood(repo), repo.root / ".git/hooks"
    for name in install_hooks.NAMES:
        (hooks / name).chmod(0o644)
    assert check_hooks_run.missing(ours, (), str(repo.root), os.environ) == ""
    assert install_hooks.complaint(install_hooks.find(repo.root)) == ""
    (hooks / "commit-msg").chmod(0o600)
    assert check_hooks_run.mend(ours) == ["commit-msg"]
    assert check_hooks_run.mend(ours) == []


def test_what_is_not_ours_is_left_and_told(repo: Hooked) -> None:
    ours, hook = stood(repo), repo.root / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o644)
    assert check_hooks_run.missing(ours, (), str(repo.root), os.environ) == "pre-push is not ours there"
    assert hook.stat().st_mode & 0o111 == 0
    hook.unlink()
    assert check_hooks_run.missing(ours, (), str(repo.root), os.environ) == "pre-push is not there"


def test_where_ours_never_stood_nothing_is_asked(tmp_path: Path) -> None:
    made = Hooked(tmp_path)
    assert check_hooks_run.active_hooks(install_hooks.find(made.root)) is None
    assert check_hooks_run.locate(str(tmp_path), os.environ) is None


def test_git_that_does_not_answer_is_an_error(repo: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_hooks_run, "PATIENCE", 0.1)
    os.mkfifo(repo.root / "never")
    with pytest.raises(HostError, match="does not say"):
        check_hooks_run.missing(stood(repo), ("-c", "include.path=never"), str(repo.root), os.environ)
    with pytest.raises(HostError, match="does not say"):
        check_hooks_run.missing(stood(repo), (), str(repo.root), {**os.environ, "GIT_CONFIG_COUNT": "x"})


def test_git_writes_no_traces_for_us(repo: Hooked) -> None:
    trace = repo.root / "trace"
    (repo.root.parent / "home/.gitconfig").write_text(f"[trace2]\n\tnormalTarget = {trace}\n\teventTarget = {trace}\n")
    environ = {**os.environ, "HOME": str(repo.root.parent / "home"), "GIT_TRACE": str(trace)}
    assert check_hooks_run.missing(stood(repo), (), str(repo.root), environ) == ""
    assert not trace.exists()


PUT_RIGHT = [
    (given(core__hooksPath="", core__pager="cat"), {"core.pager": "cat"}, "an empty one, as Gemini CLI gives it"),
    (given(core__editor="x", CORE__HOOKSPATH="/dev/null"), {"core.editor": "x"}, "another one, in capitals"),
    (given(core__hooksPath="/a", core__hookspath="/b"), {}, "two of them, and nothing else"),
    (given(core__hooksPath="{here}/repo/.git/hooks", core__pager="cat"), None, "the folder of our hooks"),
    (given(core__pager="cat"), None, "none of them"),
    ({"GIT_CONFIG_COUNT": "no number", "GIT_CONFIG_KEY_0": "core.hooksPath"}, None, "a count that git refuses"),
    ({}, None, "nothing at all"),
]


@pytest.mark.parametrize(("environ", "kept", "why"), PUT_RIGHT, ids=[row[2] for row in PUT_RIGHT])
def test_an_environment_that_leads_away_from_our_hooks_is_put_right(repo, environ, kept, why):
    ours = stood(repo)
    environ = {name: value.format(here=repo.root.parent) for name, value in environ.items()}
    changed = check_hooks_run.without_other_hooks(ours, str(repo.root), environ)
    assert bool(changed) is (kept is not None)
    if kept is not None:
        whole = {**os.environ, **environ, **changed}
        assert check_hooks_run.missing(ours, (), str(repo.root), whole) == "", why
        for name, value in kept.items():
            said = subprocess.run(
                ["git", "config", name], cwd=repo.root, env=whole, capture_output=True, text=True, check=True
            )
            assert said.stdout.strip() == value, "what else it sets stays"
