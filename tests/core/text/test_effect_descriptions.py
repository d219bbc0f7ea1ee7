"""Effects in plain words: every kind and every word of ``how`` is told."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Effect, Kind
from sentinel_guard.core.text.effect_descriptions import PathContext, describe, near

HERE = PathContext("/home/u/repo", "/home/u")

WORDS = (
    (Kind.DELETE, "/", "recursive force", "deletes / and all below", "a tree"),
    (Kind.DELETE, "/home/u/repo/build", "contents recursive", "deletes all that is in build", "a glob"),
    (Kind.DELETE, "/etc", "move recursive", "moves /etc away and all below", "mv"),
    (Kind.DELETE, "/home/u/x", "truncate", "overwrites the data of ~/x", "shred"),
    (Kind.WRITE, "/home/u/repo/a", "append", "appends to a", ">>"),
    (Kind.WRITE, "/home/u/repo/a", "truncate", "writes a", ">"),
    (Kind.WRITE, "/home/u/repo/a", "inplace", "edits a", "sed -i"),
    (Kind.WRITE, "/home/u/a", "truncate over", "overwrites ~/a", "a file that was there"),
    (Kind.READ, "/home/u/repo/a", "stage", "stages a", "git add"),
    (Kind.READ, "/home/u/repo/a", "shown", "shows a", "cat"),
    (Kind.WRITE, "/home/u/repo", "mode recursive", "changes the rights of this folder and all below", "chmod -R"),
    (Kind.WRITE, "/home/u/repo/a", "mode shut", "takes the rights to a away", "chmod 000"),
    (Kind.WRITE, "/home/u/repo/a", "owner", "changes the owner of a", "chown"),
    (Kind.WRITE, "/home/u/repo/a", "link", "makes the link a", "ln"),
    (Kind.WRITE, "/home/u/repo/a", "move", "moves a file to a", "mv"),
    (Kind.WRITE, "/dev/sda", "raw", "writes to the device /dev/sda under its file system", "dd"),
    (Kind.WRITE, "/dev/sda", "mkfs", "makes a new file system on /dev/sda", "mkfs"),
    (Kind.READ, "/home/u/.netrc", "", "reads ~/.netrc", "cat"),
    (Kind.READ, "/home/u/repo/a", "link", "makes another name of a", "ln"),
    (Kind.GIT_REWRITE, "worktree", "", "throws uncommitted changes away", "reset --hard"),
    (Kind.GIT_REWRITE, "worktree", "move", "puts uncommitted changes aside", "stash"),
    (Kind.GIT_REWRITE, "worktree", "elsewhere", "throws uncommitted changes away of another repository", "git -C"),
    (Kind.GIT_REWRITE, "branch main", "force", "deletes the git branch main", "branch -D"),
    (Kind.GIT_REWRITE, "branch main", "move", "moves the git branch main", "branch -m"),
    (Kind.GIT_REWRITE, "config core.hookspath", "inplace", "sets the git setting core.hookspath", "config"),
    (Kind.PUBLISH, "origin", "force", "overwrites at origin", "push -f"),
    (Kind.PUBLISH, "origin", "delete", "deletes at origin", "push -d"),
    (Kind.PUBLISH, "npm", "", "publishes to npm", "npm publish"),
    (Kind.DATABASE, "DROP TABLE x", "delete", "deletes in a database: DROP TABLE x", "psql -c"),
    (Kind.DATABASE, "TRUNCATE x", "truncate", "empties in a database: TRUNCATE x", "psql -c"),
    (Kind.DEPLOY, "prod", "delete", "destroys prod", "terraform destroy"),
    (Kind.DEPLOY, "prod", "", "deploys to prod", "terraform apply"),
    (Kind.PRIVILEGE, "sudo", "", "runs as another user (sudo)", "sudo"),
    (Kind.PRIVILEGE, "environment PATH", "", "sets PATH in the environment", "PATH="),
    (Kind.PRIVILEGE, "kernel module", "", "gains rights: kernel module", "modprobe"),
    (Kind.NETWORK, "x.example", "data", "sends data to x.example", "curl -d"),
    (Kind.NETWORK, "x.example", "delete", "deletes at x.example", "curl -X DELETE"),
    (Kind.NETWORK, "x.example", "", "connects to x.example", "curl"),
    (Kind.SIGNAL, "1", "force", "kills 1", "kill -9"),
    (Kind.SIGNAL, "%1", "", "signals %1", "kill"),
    (Kind.EXECUTE, "ls", "", "", "that it runs is no news"),
    (Kind.EXECUTE, "f", "forkbomb", "starts itself without end", "a fork bomb"),
)


@pytest.mark.parametrize("row", WORDS, ids=[f"{r[4]}: {r[3]}" for r in WORDS])
def test_an_effect_is_told(row):
    kind, target, how, words, _ = row
    assert describe(Effect(kind, target, how=frozenset(how.split())), HERE) == words


OPAQUE = (
    ("name", "$X", "runs a command that is not known: $X"),
    ("code", "…", "runs code that is not known"),
    ("delete", "$X", "deletes what is not known: $X"),
    ("write", "$X", "writes to what is not known: $X"),
    ("parse", "unexpected )", "cannot be read to its end: unexpected )"),
    ("error", "KeyError", "the analysis failed: KeyError"),
    ("data", "$X", ""),
)


@pytest.mark.parametrize("row", OPAQUE, ids=[r[0] for r in OPAQUE])
def test_what_is_not_known_is_told_where_it_decides(row):
    how, target, words = row
    assert describe(Effect(Kind.OPAQUE, target, sure=False, how=frozenset((how,))), HERE) == words


def test_a_guess_is_called_one():
    assert describe(Effect(Kind.DELETE, "/x", sure=False), HERE) == "deletes /x (not sure)"


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_words(kind):
    how = frozenset(("forkbomb",)) if kind is Kind.EXECUTE else frozenset(("name",)) if kind is Kind.OPAQUE else None
    assert describe(Effect(kind, "x", how=how or frozenset()), HERE)


NEAR = (
    ("/home/u/repo", "this folder", "where one is"),
    ("/home/u/repo/a/b", "a/b", "below it"),
    ("/home/u/repository", "~/repository", "a folder that only begins so"),
    ("/home/u", "~", "the home"),
    ("/etc/hosts", "/etc/hosts", "elsewhere"),
)


@pytest.mark.parametrize("row", NEAR, ids=[r[2] for r in NEAR])
def test_a_path_is_told_from_where_one_is(row):
    assert near(row[0], HERE) == row[1]


def test_the_root_of_the_system_is_no_home():
    assert near("/etc", PathContext("/", "/")) == "/etc"
