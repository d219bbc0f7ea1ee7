"""What counts as a fetch of what others have published: by its words, and by where git says that it leads."""

from __future__ import annotations

import os

import pytest

from sentinel_guard.host.git.detect_fetch import ALL, is_elsewhere, programs, remote_of
from tests.support.hook_repositories import git, made

COMMANDS = [
    ("git fetch", "", "the settings say from where"),
    ("git fetch origin", "origin", "a remote"),
    ("git -C . -c color.ui=never --no-pager fetch -qp --depth=3 --jobs 4 up main:x", "up", "options before and behind"),
    ("/usr/lib/git-core/git fetch --update-head-ok -q origin", "origin", "as git pull starts it"),
    ("git fetch --append --no-auto-gc --no-write-commit-graph -v origin", "origin", "as remote update starts it"),
    ("git fetch --multiple --all", ALL, "all of one"),
    ("git fetch -j8 -- origin", "origin", "behind the options"),
    ("git fetch --upload-pack x origin", None, "a program of one's choice"),
    ("git fetch --negotiate-only origin .", None, "an option that is not known"),
    ("git fetch --dep 3 origin", None, "one that is cut short"),
    ("git update-ref refs/remotes/origin/x HEAD", None, "no fetch"),
    ("git -c alias.fetch=x push fetch", None, "a word of another command"),
    ("git", None, "nothing"),
]


@pytest.mark.parametrize(("command", "remote", "why"), COMMANDS, ids=[row[-1] for row in COMMANDS])
def test_the_remote_that_a_fetch_names(command, remote, why):
    assert remote_of(command.split()) == remote


START = frozenset({("remote.origin.url", "../remote.git"), ("core.sshcommand", "ssh -i key")})
PLACES = [
    ("https://example.com/x.git", {}, True, "another machine"),
    ("me@example.com:x.git", {}, True, "by ssh"),
    ("ssh://example.com/x.git", {}, True, "by ssh, written out"),
    ("../remote.git", {}, True, "a folder that was the remote at the start"),
    (".", {}, False, "the repository itself"),
    ("../clone", {}, False, "another folder"),
    ("file:///tmp/clone", {}, False, "a folder as an address"),
    ("ssh://localhost/tmp/clone", {}, False, "this machine"),
    (f"{os.uname().nodename}:/tmp/clone", {}, False, "this machine by its name"),
    ("git://127.0.0.1/clone", {}, False, "a server of one's own"),
    ("ext::sh -c x", {}, False, "a command"),
    ("https://example.com/x.git", {"core.sshCommand": "ssh -i key"}, True, "a way that was there at the start"),
    ("https://example.com/x.git", {"core.sshCommand": "x"}, False, "another way"),
    ("https://example.com/x.git", {"remote.origin.uploadpack": "x"}, False, "another program at the other end"),
    (
        "https://example.com/x.git",
        {"url../clone.insteadOf": "https://example.com/x.git"},
        False,
        "another in its place",
    ),
]


@pytest.mark.parametrize(("url", "settings", "away", "why"), PLACES, ids=[row[-1] for row in PLACES])
def test_where_a_fetch_leads(tmp_path, url, settings, away, why):
    root = made(tmp_path / "repo")
    git(root, "config", "remote.origin.url", url)
    for key, value in settings.items():
        git(root, "config", key, value)
    for remote in ("origin", "", ALL):
        assert is_elsewhere(remote, root, dict(os.environ), START) is away


INSTEAD = "url.../.insteadOf"
STEERED = [
    ({"GIT_SSH_COMMAND": "x"}, "ssh is another program"),
    ({"GIT_EXEC_PATH": "/tmp"}, "git's programs are others"),
    ({"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": INSTEAD, "GIT_CONFIG_VALUE_0": "https://"}, "another address"),
    ({"GIT_CONFIG_PARAMETERS": f"'{INSTEAD}'='https://'"}, "the same, as git hands it on"),
    ({"GIT_DIR": "/nowhere"}, "git gives no answer"),
]


@pytest.mark.parametrize(("environ", "why"), STEERED, ids=[row[-1] for row in STEERED])
def test_an_environment_that_leads_elsewhere(tmp_path, environ, why):
    root = made(tmp_path / "repo")
    git(root, "remote", "add", "origin", "https://example.com/x.git")
    assert is_elsewhere("origin", root, dict(os.environ), START)
    assert not is_elsewhere("origin", root, {**os.environ, **environ}, START)


def test_git_itself_is_known_by_its_files():
    assert all(os.access(path, os.X_OK) for path in programs())
