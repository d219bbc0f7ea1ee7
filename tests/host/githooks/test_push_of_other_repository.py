"""What a push from a repository without our hooks may send, as it is told with real git (ADR 0053)."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
from sentinel_guard.host.githooks.push_of_other_repository import FILES, Bounds, Push, look
from sentinel_guard.host.githooks.remotes_before_session import Start
from sentinel_guard.host.machine.started_call import StartedCall
from tests.support.hook_judgement import POLICY
from tests.support.hook_repositories import TOKEN, committed, git, made, put
from tests.support.time_limits import limit

CLEAN, UNKNOWN = "", None
LEAKS, KEPT = "GitHub", "restricted"
OWN = "hunter2-of-the-person"
PUSH = ("origin", "HEAD")
ASIDE = "git checkout -qb f; echo $T > a; git add a; git commit -qm a; git checkout -q main"
NOW = [
    ("true", PUSH, CLEAN, "nothing at all"),
    ("echo a > a; mkdir d; echo b > d/b; echo c >> README.md", PUSH, CLEAN, "new and changed files"),
    ("git checkout -qb f; echo a > a; git add .; git commit -qm a", ("origin", "f"), CLEAN, "a commit"),
    ("echo a > a; git add .; git commit -qm a; git push -qu origin HEAD:f", PUSH, CLEAN, "once more"),
    ("true", (), CLEAN, "where its settings say"),
    ("true", ("origin", "later"), CLEAN, "a branch that the text makes"),
    ("rm README.md", PUSH, CLEAN, "a file that goes"),
    ("echo $T > ignored", PUSH, CLEAN, "an ignored file stays"),
    ("git checkout -qb f -t origin/main", PUSH, CLEAN, "settings of a branch"),
    ("echo $T > a", PUSH, LEAKS, "in a new file"),
    ("echo $T >> README.md", PUSH, LEAKS, "in a changed one"),
    ("echo $T > a; git add a; echo > a", PUSH, LEAKS, "staged, and gone from the work tree"),
    ("echo $T > a; git add a; rm a", PUSH, LEAKS, "staged, and the file gone"),
    ("echo $T > a; git add a; git commit -qm a", PUSH, LEAKS, "in a commit"),
    ("echo $T > a; git add a; git commit -qm a; git rm -q a; git commit -qm b", PUSH, LEAKS, "in one that is undone"),
    ("git commit -q --allow-empty -m $T", PUSH, LEAKS, "in a message"),
    ("git checkout -qb f; echo $T > a; git add a; git commit -qm a; git checkout -q main", ("origin", "f"), LEAKS, "f"),
    ("git checkout -qb f; echo $T > a; git add a; git commit -qm a; git checkout -q main", PUSH, CLEAN, "not sent"),
    ("echo $T > a; git add a; git commit -qm a; git update-ref refs/remotes/origin/x HEAD", PUSH, LEAKS, "forged"),
    (
        f"{ASIDE}; git branch ORIG_HEAD f; git rev-parse HEAD > .git/ORIG_HEAD",
        ("origin", "ORIG_HEAD"),
        LEAKS,
        "a branch by another's name",
    ),
    (f"{ASIDE}; git merge -q f; git reset -q --hard HEAD~1", ("origin", "HEAD@{2}:x"), UNKNOWN, "by a log that moves"),
    ("true", ("origin", "^x"), UNKNOWN, "all but one"),
    ("echo $T > .git/SQUASH_MSG", PUSH, LEAKS, "in a message that waits"),
    ("echo $T > .git/MERGE_MSG", PUSH, LEAKS, "in another"),
    ("echo a > .git/SQUASH_MSG", PUSH, CLEAN, "a message that holds nothing"),
    ("git update-index --assume-unchanged README.md; echo $T >> README.md", PUSH, LEAKS, "flagged as unchanged"),
    ("git update-index --skip-worktree README.md; echo a >> README.md", PUSH, CLEAN, "flagged, and harmless"),
    ("git config core.ignorecase true; printf '*.x\\n!K.x\\n' > .gitignore; echo $T > k.x", PUSH, LEAKS, "in any case"),
    ("git config core.ignorecase true; echo $T > ignored; echo a > a", PUSH, CLEAN, "ignored in that case"),
    ("git tag -am $T t", ("origin", "t"), LEAKS, "in what a tag says"),
    (f"echo {OWN} > a", PUSH, "the value of PASSWORD", "a value of the person's"),
    ("echo A=1 > .env", PUSH, KEPT, "a restricted file"),
    ("echo A=1 > .env; git add -f .env; git commit -qm a; git rm -q .env; git commit -qm b", PUSH, KEPT, "one undone"),
    ("ln -s .env a", PUSH, KEPT, "a link to one"),
    ("echo A > k.pem", PUSH, KEPT, "a key, by its name"),
    ("true", ("backup", "HEAD"), UNKNOWN, "no remote"),
    ("true", ("https://example.com/x.git", "HEAD"), UNKNOWN, "an address"),
    ("git remote add me ../evil.git", ("me", "HEAD"), UNKNOWN, "a new remote"),
    ("git remote set-url origin ../evil.git", PUSH, UNKNOWN, "set anew"),
    ("git remote set-url origin me.example:x@$(git config remote.origin.url)", PUSH, UNKNOWN, "an address as a login"),
    ("git remote set-url origin a@$(git config remote.origin.url)", PUSH, CLEAN, "a login"),
    ("git remote set-url --push origin ../evil.git", PUSH, UNKNOWN, "for pushes"),
    ("git config url.../evil.git.insteadOf $PWD/../remote.git", PUSH, UNKNOWN, "in its place"),
    ("git config include.path ../x", PUSH, UNKNOWN, "settings from elsewhere"),
    ("git config remote.origin.push refs/stash:refs/heads/x", PUSH, UNKNOWN, "more is pushed"),
    ("git config remote.origin.mirror true", PUSH, UNKNOWN, "all is pushed"),
    ("git config core.sshCommand ./x", PUSH, UNKNOWN, "by another program"),
    ("git config branch.main.pushRemote ../evil.git", (), UNKNOWN, "a branch's own"),
    ("git config filter.x.clean ./x", PUSH, UNKNOWN, "what is added passes a program"),
    ("git config user.name x", PUSH, UNKNOWN, "whose name comes along"),
    ("git config diff.external ./x", PUSH, UNKNOWN, "what is looked at passes a program"),
    ("git config core.fsmonitor ./x", PUSH, UNKNOWN, "a program that is asked"),
    ("echo exit > .git/hooks/pre-commit", PUSH, UNKNOWN, "a new hook"),
    ("echo x > .git/MERGE_HEAD", PUSH, UNKNOWN, "a merge"),
    ("true", ("origin", "+HEAD"), UNKNOWN, "forced"),
    ("true", ("origin", ":main"), UNKNOWN, "deleted"),
    ("true", ("origin", "refs/heads/*"), UNKNOWN, "many"),
    ("true", ("origin", "HEAD:refs/remotes/x/y"), UNKNOWN, "where a repository keeps what is its own"),
    ("git init -q sub; git -C sub commit -q --allow-empty -m a", PUSH, UNKNOWN, "a repository in it"),
    (f"i=0; while [ $i -le {FILES} ]; do : > f$i; i=$((i+1)); done", PUSH, UNKNOWN, "many files"),
    ("head -c 12000000 /dev/zero > a", PUSH, UNKNOWN, "a large one"),
    ("mkfifo a", PUSH, CLEAN, "a named pipe, which git does not add"),
    (": > .git/index.lock", PUSH, CLEAN, "git is at work there"),
]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of before the session, of a remote that has a secret already."""
    source = made(tmp_path / "source")
    git(source, "branch", "-M", "main")
    put(source, ".gitignore", "ignored\n")
    put(source, "old", f"{TOKEN}\n")
    committed(source)
    git(tmp_path, "clone", "-q", "--bare", "source", "remote.git")
    git(tmp_path, "clone", "-q", "remote.git", "clone")
    git(tmp_path, "init", "-q", "--bare", "evil.git")
    time.sleep(0.02)
    return tmp_path / "clone"


def seen(
    folder: Path, way: tuple[str, ...], since: float, said: str = "", seconds: float = 60.0, **more: str
) -> str | None:
    known = UserSecrets({OWN: "the value of PASSWORD in .env"})
    push = Push(str(folder), way[0] if way else "", way[1:], said)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    bounds = Bounds(folder.parent / "looks", time.monotonic() + seconds)
    begun = environ | {name: value for name, value in more.items() if name == "GIT_CONFIG_GLOBAL"}
    found = look(push, Start(environ | more, begun, since), bounds, lambda _: POLICY, lambda _root, _policy: known)
    assert not bounds.folder.exists() or not [*bounds.folder.iterdir()], "nothing stays"
    return found


def run(folder: Path, text: str) -> None:
    environ = {**os.environ, "T": TOKEN}
    subprocess.run(["sh", "-c", text], cwd=folder, check=True, env=environ, capture_output=True)


@pytest.mark.parametrize(("text", "way", "found", "why"), NOW, ids=[row[-1] for row in NOW])
def test_what_it_would_send(clone: Path, *, text: str, way: tuple[str, ...], found: str | None, why: str) -> None:
    since = time.time()
    time.sleep(0.02)
    run(clone, text)
    before = git(clone, "count-objects", "-v").stdout
    told = seen(clone, way, since)
    assert told is found if not found else found in (told or ""), (why, told)
    assert TOKEN not in (told or "")
    assert git(clone, "count-objects", "-v").stdout == before, "nothing is written there"


PIPES = (".git/MERGE_MSG", ".git/HEAD", ".git/index", ".git/commondir", ".gitattributes", ".gitignore")


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_that_nobody_writes_to_holds_it_up_for_a_while_at_most(clone: Path, name: str) -> None:
    since = time.time()
    time.sleep(0.02)
    run(clone, f"rm -f {name}; mkfifo {name}")
    call = StartedCall(lambda: seen(clone, PUSH, since, seconds=1.0), holds=False)
    assert call.ends_within(limit(5))
    assert call.result() is UNKNOWN


def test_what_takes_longer_is_not_known(clone: Path) -> None:
    assert seen(clone, PUSH, time.time()) == CLEAN
    assert seen(clone, PUSH, time.time(), seconds=0.0) is UNKNOWN


def test_variables_of_the_guards_own_lead_it_nowhere(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, "/no/such/place")
    assert seen(clone, PUSH, time.time()) == CLEAN


def test_what_settings_ignore_that_are_not_in_force_is_sent(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = clone.parent / "home"
    put(home, ".gitconfig", f"[core]\n\texcludesFile = {home}/ignored\n")
    put(home, "ignored", "*.x\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    since = time.time() + 0.02
    time.sleep(0.04)
    put(clone, "a.x", f"{TOKEN}\n")
    assert seen(clone, PUSH, since) == CLEAN
    assert LEAKS in (seen(clone, PUSH, since, GIT_CONFIG_GLOBAL=os.devnull) or "")


def test_of_a_repository_of_the_session_nothing_is_known(clone: Path) -> None:
    assert seen(clone, PUSH, time.time() - 60) is None


BROUGHT = [
    ("mv source/dot work/.git", "moved"),
    ("ln -s ../source/dot work/.git", "linked"),
    ("echo gitdir: ../source/dot > work/.git", "named"),
]


@pytest.mark.parametrize(("text", "why"), BROUGHT)
def test_a_repository_that_a_checkout_brought_along_is_nobodys(clone: Path, *, text: str, why: str) -> None:
    top = clone.parent
    run(
        top,
        "cp -r clone/.git source/dot; mkdir work",
    )
    run(top, "find source/dot/logs -type f -exec sed -i 's/> [0-9]* /> 1700000000 /' {} +")
    since = time.time() + 0.02
    time.sleep(0.04)
    run(top, text)
    assert seen(top / "work", PUSH, since) is UNKNOWN, why


@pytest.mark.parametrize("text", ["ln -s $PWD/source/git $HOME/.config/git", "mv source/git $HOME/.config/git"])
def test_settings_that_a_checkout_brought_along_are_not_the_persons(
    clone: Path, monkeypatch: pytest.MonkeyPatch, *, text: str
) -> None:
    top = clone.parent
    monkeypatch.setenv("HOME", str(top / "home"))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    put(top, "source/git/config", '[url "me.example:x"]\n\tinsteadOf = /\n')
    (top / "home/.config").mkdir(parents=True)
    since = time.time() + 0.02
    time.sleep(0.04)
    assert seen(clone, PUSH, since) == CLEAN
    run(top, text)
    assert seen(clone, PUSH, since) is UNKNOWN


def test_what_the_commands_say_is_sent_too(clone: Path) -> None:
    since = time.time()
    assert LEAKS in (seen(clone, PUSH, since, f"commit\n-m\n{TOKEN}") or "")
    assert seen(clone, PUSH, since, "commit\n-m\nwords") == CLEAN


LED = [
    ("GIT_DIR", "x"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_SSH_COMMAND", "x"),
    ("HOME", "/x"),
    ("GIT_WORK_TREE", "x"),
    ("GIT_AUTHOR_NAME", "x"),
    ("LD_PRELOAD", "x"),
    ("VISUAL", "x"),
    ("https_proxy", "http://me.example"),
]


@pytest.mark.parametrize(("name", "value"), LED)
def test_variables_may_lead_it_elsewhere(clone: Path, *, name: str, value: str) -> None:
    assert seen(clone, PUSH, time.time(), **{name: value}) is None


def test_the_program_that_reaches_a_remote_is_as_before(clone: Path) -> None:
    places = os.environ["PATH"]
    assert seen(clone, PUSH, time.time(), PATH=f"{clone}:{places}", VIRTUAL_ENV="x") == CLEAN
    put(clone.parent, "bin/ssh").chmod(0o755)
    assert seen(clone, PUSH, time.time(), PATH=f"{clone.parent}/bin:{places}") is UNKNOWN


def test_a_linked_work_tree_and_a_folder_below(clone: Path) -> None:
    git(clone, "worktree", "add", "-q", "-b", "w", "../tree")
    (clone / "sub").mkdir()
    since = time.time() + 0.02
    put(clone.parent / "tree", "a", f"{TOKEN}\n")
    assert LEAKS in (seen(clone.parent / "tree", PUSH, since) or "")
    assert seen(clone / "sub", PUSH, since) == CLEAN


def test_references_that_are_moved_there_tell_nothing(clone: Path) -> None:
    run(clone, "git checkout -qb w/f; echo $T > a; git add a; git commit -qm a; git checkout -q main")
    since = time.time() + 0.02
    time.sleep(0.04)
    run(clone, "mv .git/refs/heads/w .git/refs/remotes/origin/w; git branch f origin/w/f")
    assert LEAKS in (seen(clone, ("origin", "f"), since) or "")


@pytest.mark.parametrize(("name", "found"), [(".husky/_/x", UNKNOWN), (".husky/pre-commit", UNKNOWN), ("a", CLEAN)])
def test_hooks_stand_where_the_settings_say(clone: Path, *, name: str, found: str | None) -> None:
    git(clone, "config", "core.hooksPath", ".husky/_")
    put(clone, ".husky/_/h")
    since = time.time() + 0.02
    time.sleep(0.04)
    put(clone, name, "echo\n")
    assert seen(clone, PUSH, since) is found
