"""The installed git hooks with a real daemon: what the agent and the person may commit, push, rename; who says so."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pexpect
import pytest

from sentinel_guard.host.githooks.session_hook import SessionHook
from tests.support.time_limits import limit
from tests.support.wait_until import settled

TOKEN = "ghp_" + "x1Y2z3A4b5C6d7E8" + "f9G0h1I2j3K4l5M6n7O8"
TOOL = """#!/usr/bin/env python3
import json, subprocess, sys
with open(sys.argv[1]) as f:
    words = json.load(f)
sys.exit(subprocess.call(words))
"""
ENV_REFUSED = "403 SENTINEL BLOCKED: this commit adds .env, which is restricted (pattern .env)."


@pytest.fixture
def repo(stage):
    """A repository with our hooks, and a remote that has its first commit."""
    stage.commit(a__txt="a\n")
    remote = stage.folder / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    stage.git("remote", "add", "origin", str(remote))
    stage.git("push", "-q", "origin", "main")
    done = stage.sentinel("install")
    assert done.returncode == 0, done.stderr
    stage.git("add", "-A")
    stage.git("commit", "-qm", "the policy")
    return stage


def git(stage, *arguments, **environ):
    """As the person, outside of any session."""
    return subprocess.run(
        ["git", *arguments], cwd=stage.repo, env={**stage.environ, **environ}, capture_output=True, text=True,
        check=False, timeout=limit(30),
    )  # fmt: skip


def daemon_pid(stage) -> int:
    return json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"]


def hidden(stage, *words: str) -> str:
    """A command that no reading of the text finds: git by its path, from a program of which nothing is known."""
    tool = stage.folder / "bin" / "tool"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    said = stage.folder / f"{len(list(stage.folder.iterdir()))}.json"
    said.write_text(json.dumps(words))
    return f"tool {said}"


def steps(stage, **wanted):
    data = [e["data"] | {"level": e["level"]} for e in stage.log(kind="verdict")]
    return [d for d in data if d["layer"] == "git" and all(d.get(k) == v for k, v in wanted.items())]


# Inside of a session


def test_r2_what_an_agent_stages_is_a_step_of_its_call_and_refused_on_record(repo):
    _, [fine, env, secret] = repo.agent(
        "echo b > b.txt; git add b.txt; git commit -qm b",
        hidden(repo, "/usr/bin/git", "add", "-f", ".env") + "; git commit -qm env; git rev-list --count HEAD",
        f"git restore --staged .env; printf 't = %s\\n' \"'{TOKEN[:9]}\" > c.py; printf %s \"{TOKEN[9:]}'\" >> c.py; "
        "tr -d '\\n' < c.py > d.py; git add d.py; git commit -qm d; git rev-list --count HEAD",
    )
    assert (fine["code"], fine["err"]) == (0, "")
    assert env["err"].startswith(ENV_REFUSED) and env["out"] == "3\n"
    assert "this commit adds a GitHub personal access token in d.py:1:6" in secret["err"] and secret["out"] == "3\n"
    assert TOKEN not in repo.sentinel("log", "--json", "--last", "0").stdout
    calls = {e["data"]["id"] for e in repo.log(kind="verdict") if e["data"].get("call")}
    assert len(calls) == 3, "a hook is no call of its own"
    [passed] = [s for s in steps(repo, response="allow") if s["arguments"] == {"hook": "commit"}]
    refused = steps(repo, response="deny")
    assert [s["level"] for s in refused] == ["L2", "L2"]
    assert {s["parent"] for s in (passed, *refused)} == calls


def test_r3_a_push_of_a_secret_opens_the_breaker(repo):
    repo.write("c.py", f"t = '{TOKEN}'\n")
    assert git(repo, "add", "c.py").returncode == 0
    assert git(repo, "commit", "-qm", "c", "--no-verify").returncode == 0
    done, [push, after] = repo.agent("git push -q origin main", "echo on")
    assert done.returncode == 0
    assert push["code"] != 0 and "SYSTEM INTERVENTION:" in push["err"] and TOKEN not in push["err"]
    assert after["code"] == 126 and "SYSTEM INTERVENTION" in after["err"], "the session is paused"
    [step] = steps(repo, level="L3")
    assert step["arguments"] == {"hook": "pre-push"}
    [opened] = [e for e in repo.log(kind="state") if e["data"]["event"] == "break"]
    assert opened["data"]["operations"], "the same push trips again"
    assert list((repo.repo / "docs" / "incidents").glob("*.md"))
    assert repo.git("ls-remote", "origin", "main").split()[0] != repo.git("rev-parse", "main").strip()


AROUND = [
    (("commit", "-qnm", "x"), "git.hooks-skipped", "--no-verify by another path"),
    (("commit", "-qm", "x", "--no-verify", "--allow-empty"), "git.hooks-skipped", "the long word"),
    (("update-ref", "-d", "refs/tags/v1"), "", "an ordinary tag may go"),
    (("update-ref", "-d", "refs/heads/main"), "git.protected", "a protected one may not"),
    (("branch", "-D", "main"), "git.protected", "by the ordinary command, too"),
]


@pytest.mark.parametrize(("words", "rule", "why"), AROUND, ids=[row[-1] for row in AROUND])
def test_ways_around_the_shims_end_at_the_transaction(repo, words, rule, why):
    repo.git("checkout", "-q", "-b", "other")
    repo.git("tag", "v1")
    before = repo.git("for-each-ref", "refs/heads/main")
    _, [told] = repo.agent(f"echo x > x; git add x; {hidden(repo, '/usr/bin/git', *words)}")
    assert repo.git("for-each-ref", "refs/heads/main") == before
    assert (told["code"] != 0) is bool(rule), told
    rules = {f["rule"] for s in steps(repo, response="deny") for f in s["findings"] if f["response"] == "deny"}
    assert rules == ({rule} if rule else set())


def test_plumbing_is_looked_at_like_a_commit(repo):
    """commit-tree makes no ref: that the branch comes to hold it is seen."""
    script = (
        "id=$(printf 't = %s\\n' \"'$A$B'\" | git hash-object -w --stdin); "
        "tree=$(printf '100644 blob %s\\tp.py\\n' $id | git mktree); c=$(git commit-tree -m x -p HEAD $tree); "
        "git update-ref refs/heads/side $c"
    )
    _, [told] = repo.agent(f"A={TOKEN[:9]}; B={TOKEN[9:]}; {script}")
    assert "a GitHub personal access token in p.py:1:6" in told["err"]
    assert git(repo, "rev-parse", "--verify", "-q", "side").returncode == 1


def test_r7_a_yes_is_not_asked_for_twice(repo):
    repo.git("checkout", "-q", "-b", "side")
    person = repo.on_terminal("git branch -D main; git branch --list main")
    person.expect_exact("Action: DELETE_BRANCH")
    settled()
    person.send("y")
    person.expect(pexpect.EOF)
    [told] = repo.seen()
    assert "Deleted branch main" in told["out"], told
    assert len(repo.log(kind="human")) == 1


WORK = [
    ("git commit -q --amend -m better", "amend"),
    ("git branch -m main trunk; git branch -m trunk main", "rename"),
    ("echo 2 > a.txt; git stash -q; git stash pop -q; git checkout -q a.txt", "stash"),
    (
        "git worktree add -q -b w ../w side && cd ../w && echo w > w && git add w && git commit -qm w",
        "a linked work tree",
    ),
    ("git checkout -q side && git rebase -q main", "rebase"),
    ("git merge -q --no-edit side", "merge"),
    ("echo 3 > a.txt; git commit -qam all", "a private index: -a"),
    ("echo 4 > a.txt; echo 5 > n; git add n; git commit -qm only a.txt", "a private index: one path"),
    ("git fetch -q origin; git pull -q --rebase origin main", "fetch and pull"),
    ("git reset -q --hard HEAD~1", "reset"),
    ("git clone -q . sub && cd sub && git config user.name a && echo c > c && git add c && git commit -qm c", "clone"),
    ("git gc -q; git pack-refs --all; git branch more; git branch -D more", "gc and packed refs"),
    ("git cherry-pick side; git revert --no-edit HEAD; git tag v1; git tag -d v1", "cherry-pick, revert, tags"),
    ("git push -q origin main side; git push -q origin --force-with-lease side", "push"),
]


def test_ordinary_work_is_not_in_the_way(repo):
    repo.git("checkout", "-q", "-b", "side")
    repo.write("s.txt", "s\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "side")
    repo.git("checkout", "-q", "main")
    start = repo.git("rev-parse", "HEAD").strip()
    back = "git checkout -q -f main && git reset -q --hard " + start
    _, seen = repo.agent(*[f"set -e; {back}; {command}" for command, _ in WORK])
    failed = {why: told["err"] for (_, why), told in zip(WORK, seen, strict=True) if told["code"]}
    assert not failed
    assert not steps(repo, response="deny") and not steps(repo, response="ask")


# Outside of a session


def test_the_person_is_answered_by_the_daemon_and_a_refusal_is_on_record(repo):
    repo.sentinel("daemon", "start")
    git(repo, "add", "-f", ".env")
    done = git(repo, "commit", "-qm", "env")
    assert done.returncode == 1 and done.stderr.startswith(ENV_REFUSED)
    [entry] = repo.log(kind="watch")
    assert (entry["session"], entry["level"]) == ("", "L2")
    assert entry["data"]["path"] == str(repo.repo) and ".env" in entry["data"]["what"]
    assert SessionHook().begin("another's", str(repo.repo)) == ""
    assert git(repo, "commit", "-qm", "env", "--no-verify").returncode == 0, "their own choice"
    assert repo.log(kind="watch")[1]["data"]["what"] == "`git commit` passed the hooks by (--no-verify)"
    repo.write("n.txt", "n\n")
    git(repo, "add", "n.txt")
    assert git(repo, "commit", "-qnam", "short").returncode == 0
    assert git(repo, "commit", "-q", "--amend", "-m", "-n is a word here").returncode == 0
    assert git(repo, "branch", "other").returncode == 0
    assert len(repo.log(kind="watch")) == 3


def test_a_commit_never_fails_because_the_daemon_does(repo):
    """Dead, stopped, or replaced by something that talks nonsense: python judges, with the same words."""
    repo.sentinel("daemon", "start")
    pid = daemon_pid(repo)
    repo.write("n.txt", "n\n")
    git(repo, "add", "n.txt")
    os.kill(pid, signal.SIGSTOP)
    try:
        assert git(repo, "commit", "-qm", "n").returncode == 0, "after 2 s"
    finally:
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGKILL)
    git(repo, "add", "-f", ".env")
    done = git(repo, "commit", "-qm", "env")
    assert done.returncode == 1 and done.stderr.startswith(ENV_REFUSED)
    assert git(repo, "rm", "-q", "--cached", ".env").returncode == 0
    assert git(repo, "commit", "-q", "--allow-empty", "-m", "empty").returncode == 0
    assert git(repo, "branch", "other").returncode == 0
    assert repo.sentinel("daemon", "status").stdout.startswith("No guard daemon runs."), "and none was started"


def test_a_session_without_its_daemon_commits_nothing(repo):
    """The launcher's own word: with SENTINEL_SESSION set there is no way out."""
    repo.sentinel("daemon", "stop", "--force")
    repo.write("n.txt", "n\n")
    git(repo, "add", "n.txt")
    done = git(repo, "commit", "-qm", "n", SENTINEL_SESSION="of-a-git-hook")
    assert done.returncode == 1
    assert "403 SENTINEL BLOCKED: git does not go on: the guard daemon does not answer" in done.stderr


def test_what_the_daemon_cannot_judge_is_left_to_python(repo):
    repo.sentinel("daemon", "start")
    asked = subprocess.run(
        [str(repo.guard / "state" / "hooks" / "sentinel-githook"), "no-such-hook"],
        cwd=repo.repo, env=repo.environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert asked.returncode == 1
    assert "There is no hook 'no-such-hook'" in asked.stderr
