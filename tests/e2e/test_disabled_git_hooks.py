"""Our hooks switched off inside of a session, where no text tells: with a real daemon, a real launcher and real git."""

from __future__ import annotations

import json

import pytest

from tests.e2e.test_git_hook_bypasses import published
from tests.e2e.test_git_hooks import TOKEN, repo  # noqa: F401 - a fixture

PARENT = """#!/usr/bin/env python3
import json, os, subprocess, sys
with open(sys.argv[1]) as f:
    environ, modes, commands = json.load(f)
os.environ.update(environ)
for name in modes:
    os.chmod(".git/hooks/" + name, 0o644)
sys.exit(max(subprocess.call(words) for words in commands))
"""
COMMIT = ["git", "commit", "-qm", "x"]
PUSH = ["git", "push", "-q", "origin", "HEAD:refs/heads/x"]
HOOKS = ["pre-commit", "pre-merge-commit", "pre-applypatch", "commit-msg", "pre-push", "reference-transaction"]


def below(stage, environ, modes, *commands) -> str:
    """A command that runs git by its name, below a program of which nothing is known."""
    tool = stage.folder / "bin" / "parent"
    tool.write_text(PARENT)
    tool.chmod(0o755)
    said = stage.folder / f"{len(list(stage.folder.iterdir()))}.json"
    said.write_text(json.dumps([environ, modes, commands]))
    return f"parent {said}"


def counted(key: str, value: str) -> dict[str, str]:
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": key, "GIT_CONFIG_VALUE_0": value}


OFF = [
    (counted("core.hooksPath", "/dev/null"), "GIT_CONFIG_COUNT"),
    ({"GIT_CONFIG_PARAMETERS": "'core.hooksPath'='/dev/null'"}, "GIT_CONFIG_PARAMETERS"),
    ({"GIT_CONFIG_GLOBAL": "{here}/evil/.gitconfig"}, "GIT_CONFIG_GLOBAL"),
    ({"HOME": "{here}/evil"}, "HOME"),
]


@pytest.mark.parametrize("environ", [row[0] for row in OFF], ids=[row[1] for row in OFF])
def test_r3_what_a_parent_sets_switches_no_hook_off(repo, environ):  # noqa: F811 - the fixture
    evil = repo.folder / "evil"
    evil.mkdir()
    (evil / ".gitconfig").write_text("[core]\n\thooksPath = /dev/null\n[user]\n\tname = a\n\temail = a@localhost\n")
    repo.write("leak.py", f"t = '{TOKEN}'\n")
    given = {name: value.format(here=repo.folder) for name, value in environ.items()}
    head = repo.git("rev-parse", "HEAD")
    _, [told] = repo.agent(f"git add leak.py; {below(repo, given, [], COMMIT, PUSH)}")
    assert "would run without the guard's hooks" in told["err"], told
    assert repo.git("rev-parse", "HEAD") == head and TOKEN not in published(repo)
    refused = [e for e in repo.log(kind="verdict") if "git.hooks-off" in json.dumps(e["data"])]
    assert {e["level"] for e in refused} == {"L2"}


def test_r3_an_alias_that_a_parent_sets_is_read(repo):  # noqa: F811 - the fixture
    given = counted("alias.zz", "!git -c core.hooksPath=/dev/null commit --allow-empty -m x")
    head = repo.git("rev-parse", "HEAD")
    _, [told] = repo.agent(below(repo, given, [], ["git", "zz"]))
    assert "BLOCKED" in told["err"] and repo.git("rev-parse", "HEAD") == head


def test_r3_modes_that_were_taken_are_put_back(repo):  # noqa: F811 - the fixture
    repo.write("leak.py", f"t = '{TOKEN}'\n")
    head = repo.git("rev-parse", "HEAD")
    _, [told] = repo.agent(f"git add leak.py; {below(repo, {}, HOOKS, COMMIT, PUSH)}; {below(repo, {}, HOOKS)}")
    assert "leak.py:1" in told["err"], told
    assert repo.git("rev-parse", "HEAD") == head and TOKEN not in published(repo)
    assert "not executable" not in repo.sentinel("doctor").stdout, "after the session, too"
    assert all((repo.repo / ".git/hooks" / name).stat().st_mode & 0o100 for name in HOOKS if "ref" not in name)
    assert not (repo.repo / ".git/hooks/reference-transaction").exists(), "it stands there in sessions alone"


def test_what_agents_set_for_honest_reasons_passes(repo):  # noqa: F811 - the fixture
    given = counted("commit.gpgsign", "false")
    honest = below(repo, given, [], ["git", "-c", "color.ui=always", "commit", "-q", "--allow-empty", "-m", "x"], PUSH)
    _, [told] = repo.agent(honest)
    assert (told["code"], told["err"]) == (0, ""), told
    assert repo.git("rev-parse", "HEAD").strip() in repo.git("ls-remote", "origin", "x")


def test_without_our_hooks_nothing_changes(stage):
    stage.commit(a__txt="a\n")
    given = counted("core.hooksPath", "/dev/null")
    _, [told] = stage.agent(below(stage, given, [], ["git", "commit", "-q", "--allow-empty", "-m", "x"]))
    assert (told["code"], told["err"]) == (0, ""), told
