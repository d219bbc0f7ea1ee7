"""Ways round the git hooks inside of a session, with a real daemon and real git: forged references, other repositories.

And what looks like them and is ordinary work: what others have published is fetched, merged and pushed on.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.e2e.test_git_hooks import TOKEN, git, hidden, repo, steps  # noqa: F401 - a fixture among them

HALVES = f"A={TOKEN[:9]}; B={TOKEN[9:]}; "
PLUMBED = HALVES + (
    "b=$(printf 't = %s\\n' \"'$A$B'\" | git hash-object -w --stdin); "
    "t=$({ git ls-tree HEAD; printf '100644 blob %s\\tp.py\\n' $b; } | git mktree); "
    "c=$(git commit-tree -m x -p HEAD $t); "
)
"""$c: a commit with a secret, which no branch holds."""
PUSH = "git push -q origin $c:refs/heads/x"
OTHER = (
    "git clone -q . ../cl && cd ../cl && git config user.name a && git config user.email a@localhost && "
    "git commit -q --allow-empty -m y && git update-ref refs/heads/fake $c; cd ../repo; "
)
"""A clone beside the repository, whose branch ``fake`` holds the secret: no hook stands there."""


ELSEWHERE_RULE = "git.push-elsewhere"


def published(stage) -> str:
    """All that the remote holds, as text."""
    log = ["git", "log", "--all", "-p", "--format=%H"]
    return subprocess.run(log, cwd=stage.folder / "remote.git", capture_output=True, text=True, check=True).stdout


AS = "+refs/tags/t:refs/remotes/origin/fake"
ME = "git remote add me $PWD; git config branch.main.remote me"
FORGED = [
    ("git update-ref refs/remotes/origin/fake $c", "update-ref (14)"),
    (f"git tag t $c; git fetch -q . {AS}", "a fetch of itself (14)"),
    ("git tag t $c; git -c remote.origin.fetch=+refs/tags/*:refs/remotes/origin/* fetch -q .", "by a setting (14)"),
    ("git update-ref --stdin <<< 'create refs/remotes/origin/fake '$c", "a transaction of its own"),
    (f"git tag t $c; git remote set-url origin .; git fetch -q origin {AS}; git remote set-url origin $R", "set-url"),
    (f"git tag t $c; git -c url.$PWD.insteadOf=$R fetch -q origin {AS}", "an address in place of another"),
    (f"git tag t $c; git remote add me $PWD; git fetch -q me {AS}", "a new remote"),
    (f"git tag t $c; {ME}; git config remote.me.fetch {AS}; git fetch -q", "a remote that settings name"),
    (f"git tag t $c; git fetch -q --upload-pack='git-upload-pack '$PWD' #' origin {AS}", "another program there"),
    (OTHER + "git fetch -q ../cl fake:refs/remotes/origin/fake", "a clone of one's own"),
    ("git pack-refs --all; echo $c refs/remotes/origin/fake >> .git/packed-refs", "by hand"),
]


@pytest.mark.parametrize(("forge", "why"), FORGED, ids=[row[-1] for row in FORGED])
def test_r3_a_forged_reference_tells_nobody_what_is_out(repo, forge, why):  # noqa: F811 - the fixture
    _, [told] = repo.agent(f"R=$(git remote get-url origin); {PLUMBED}{forge}; {PUSH}")
    assert "SYSTEM INTERVENTION:" in told["err"] or "BLOCKED" in told["err"], told
    assert TOKEN not in published(repo)
    assert TOKEN not in json.dumps(repo.log())


UNSEEN = [
    ("git tag t $c && git update-ref refs/heads/x $c", "a tag first (18)"),
    ("git checkout -q --detach $c; git branch x", "HEAD first (21)"),
    ("git update-ref refs/remotes/origin/fake $c; git branch x origin/fake", "a remote's reference first"),
    ("git update-ref refs/notes/n $c; git branch x $c", "a note first"),
    ("git update-ref refs/stash $c; git branch x refs/stash", "a stash first"),
    ("git fetch -q . $c:refs/heads/x", "fetched from itself"),
    ("git tag t $c; git worktree add -q -b x ../w t", "a linked work tree"),
    ("git checkout -q -b x; git merge -q --no-commit --no-ff $c; git commit -qm m", "a merge (20)"),
    ("git checkout -q -b x; echo a > n; git add n; echo $c > .git/MERGE_HEAD; git commit -qm m", "a planted one (20)"),
    ("git checkout -q -b x; git merge -q --ff-only $c", "a merge that only moves"),
    ("git checkout -q -b x; echo a > n; git add n; echo $c > .git/refs/heads/x; git reset -q $c; git commit -qm m",
     "a branch written by hand"),
]  # fmt: skip


@pytest.mark.parametrize(("way", "why"), UNSEEN, ids=[row[-1] for row in UNSEEN])
def test_no_name_makes_a_commit_one_that_was_there(repo, way, why):  # noqa: F811 - the fixture
    _, [told] = repo.agent(f"{PLUMBED}{way}")
    assert "BLOCKED" in told["err"], told
    assert TOKEN not in repo.git("log", "-p", "--branches")


ELSEWHERE = [
    ("git send-pack $(git remote get-url origin) $c:refs/heads/x", "git.push-unwatched", "send-pack (15)"),
    (OTHER + "cd ../cl; git push -q $R fake:x", "git.push-elsewhere", "a clone (16)"),
    ("git init -q ../n; cd ../n; git fetch -q ../repo; git push -q $R HEAD:x", "git.push-elsewhere", "a new one (16)"),
    ("cp -r .git ../gd; GIT_DIR=../gd git push -q $R $c:refs/heads/x", "git.push-elsewhere", "a copy (22)"),
    ("cp -r .git ../gd; export GIT_DIR=../gd; git push -q $R $c:refs/heads/x", "git.push-elsewhere", "exported (22)"),
    ("cp -r .git ../gd; export GIT_COMMON_DIR=$PWD/../gd GIT_DIR=.git; git push -q $R $c:refs/heads/x",
     "git.push-elsewhere", "only its common part (22)"),
    ("git clone -q --bare . ../b.git; cd ../b.git; git push -q $R main:x", "git.push-elsewhere", "a bare clone"),
    ("git clone -q --bare . b.git; cd b.git; git push -q $R main:x", "git.push-elsewhere", "one below the top"),
    ("git clone -q . ../cl; mv ../cl/.git/objects ../o; git --git-dir=../cl/.git --work-tree=. push -q $R main:x",
     "git.push-elsewhere", "another git directory for this work tree"),
]  # fmt: skip


@pytest.mark.parametrize(("way", "rule", "why"), ELSEWHERE, ids=[row[-1] for row in ELSEWHERE])
def test_a_push_without_our_hooks_is_a_question_or_refused(repo, way, rule, why):  # noqa: F811 - the fixture
    _, [told] = repo.agent(f"R=$(git remote get-url origin); {PLUMBED}{way}")
    rules = {f["rule"] for e in repo.log(kind="verdict") for f in e["data"].get("findings", ())}
    assert rule in rules, told
    assert TOKEN not in published(repo)


def colleague(stage, name: str, text: str, branch: str = "main") -> None:
    """Somebody else, who has no guard, publishes a file."""
    folder = stage.folder / "theirs"
    environ = {**stage.environ, "GIT_AUTHOR_NAME": "b", "GIT_COMMITTER_NAME": "b"}
    run = lambda *words, cwd=folder: subprocess.run(["git", *words], cwd=cwd, env=environ, check=True)  # noqa: E731
    if not folder.exists():
        run("clone", "-q", str(stage.folder / "remote.git"), str(folder), cwd=stage.folder)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    run("add", "-f", name)
    run("commit", "-q", "--no-verify", "-m", "theirs")
    run("push", "-q", "origin", f"HEAD:{branch}")


FETCHED = [
    ("git fetch -q; git merge -q --no-edit origin/main", "fetch and merge"),
    ("git fetch -q origin main && git merge -q --no-edit FETCH_HEAD", "by FETCH_HEAD"),
    ("git pull -q --no-rebase --no-edit origin main", "pull"),
    ("git pull -q --rebase origin main", "pull and rebase"),
    ("git remote update; git merge -q --no-commit origin/main && git commit -q --no-edit", "remote update"),
    ("git fetch -q --all --prune -j2; git checkout -q -b y origin/main", "a branch of theirs"),
    ("git fetch -q origin main:y; git merge -q --no-edit y", "a fetch into a branch"),
    (
        "git -C . -c color.ui=never fetch --quiet --tags --depth=50 origin; git merge -q --no-edit origin/main",
        "options",
    ),
]


@pytest.mark.parametrize(("way", "why"), FETCHED, ids=[row[-1] for row in FETCHED])
def test_what_others_published_is_not_the_sessions_leak(repo, way, why):  # noqa: F811 - the fixture
    repo.git("push", "-q", "origin", "main")
    colleague(repo, "p.py", f"t = '{TOKEN}'\n")
    colleague(repo, "sub/.env", "THEIRS=1\n")
    script = "set -e; echo m > m; git add m; git commit -qm mine; " + way
    done = "; echo more > m; git add m; git commit -qm more; git push -q origin HEAD:refs/heads/on"
    _, [told] = repo.agent(script + done)
    assert not steps(repo, response="deny") and not steps(repo, response="break") and not told["code"], told
    assert git(repo, "ls-remote", "origin", "on").stdout


@pytest.mark.parametrize("leaks", [False, True], ids=["a clean one", "a secret"])
def test_a_push_from_a_repository_of_before_is_looked_into(repo, leaks):  # noqa: F811 - the fixture
    """ADR 0053: where nothing is found nobody is asked."""
    other = repo.folder / "other"
    subprocess.run(["git", "clone", "-q", str(repo.folder / "remote.git"), str(other)], check=True)
    (other / "a.py").write_text(f"t = '{TOKEN}'\n" if leaks else "t = 1\n")
    make = "cd ../other && git add -A && git commit -q -m x && git push -q -u origin HEAD:feat && git log --oneline -1"
    _, [told, *_] = repo.agent(make, "cd ../other && git commit -q --allow-empty -m y && git push -q origin HEAD:feat")
    asked = [f for e in repo.log(kind="verdict") for f in e["data"].get("findings", ()) if f["rule"] == ELSEWHERE_RULE]
    assert bool(asked) is leaks, told
    assert all("commit to come adds a GitHub personal access token in a.py:1:6" in f["why"] for f in asked)
    assert (told["code"] == 0) is not leaks, told
    assert TOKEN not in published(repo) and TOKEN not in json.dumps(repo.log())


def test_a_look_that_gets_no_answer_ends_in_the_question(repo):  # noqa: F811 - the fixture
    """Git waits at a named pipe for ever; the launcher would refuse after 10 s, with words that help nobody."""
    other = repo.folder / "other"
    subprocess.run(["git", "clone", "-q", str(repo.folder / "remote.git"), str(other)], check=True)
    os.mkfifo(other / ".gitattributes")
    _, [told] = repo.agent("cd ../other && git add -A && git commit -q -m x && git push -q -u origin HEAD:feat")
    asked = {f["rule"] for e in repo.log(kind="verdict") for f in e["data"].get("findings", ())}
    assert ELSEWHERE_RULE in asked and told["code"] == 126, (asked, told)
    assert "it needs a person's yes" in told["err"], told
    assert not [*(repo.guard / "state/looks").iterdir()]
