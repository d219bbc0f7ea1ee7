"""A held call's effects, and what the checks make of them."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.held_calls import CALLS
from sentinel_guard.core.checks.base import Case, GuardResources
from sentinel_guard.core.checks.registry import CHECKS
from sentinel_guard.core.judge import judge
from sentinel_guard.core.model import Action, Kind, Layer, Response
from sentinel_guard.core.policy.policy import Paths, Policy
from sentinel_guard.core.session.session import Session
from tests.support.fakes import FakeWorld

POLICY = Policy(Paths((".env", "secrets/")))
GUARD = GuardResources(("/state",), ("/home/u/sentinel.toml",))


def verdict(call, path):
    action = Action("a", "s", Layer.KERNEL, call, {"object": path}, "/repo", 1.0, "/repo", "session")
    return judge(Case(action, analyse(action, FakeWorld()), Session("s", root="/repo"), POLICY, guarded=GUARD), CHECKS)


FILES = sorted(CALLS - {"connect", "reach"})


@pytest.mark.parametrize("call", FILES)
def test_no_change_of_a_restricted_file_passes(call):
    assert verdict(call, "/repo/.env").response is Response.DENY
    assert verdict(call, "/repo/secrets/new").response is Response.DENY
    assert verdict(call, "/repo/a.txt").response is Response.ALLOW


STATE = (
    ("write", Response.DENY, "a program that only reads a database opens it for writing, too"),
    *((call, Response.KILL, "it is done to the guard's own files") for call in FILES if call != "write"),
)


@pytest.mark.parametrize(("call", "response", "why"), STATE)
def test_the_guards_own_files(call, response, why):
    assert verdict(call, "/state/audit.sqlite3").response is response, why
    assert verdict(call, "/home/u/sentinel.toml").response is Response.DENY, "its settings: the second try is fatal"


@pytest.mark.parametrize(
    ("path", "privilege"),
    [
        ("/run/docker.sock", "docker.sock"),
        ("/x/podman.sock", "docker.sock"),
        ("/tmp/tmux-0/default", "typing"),
        ("/run/user/1000/bus", "session bus"),
        ("/run/user/1000/systemd/private", "session bus"),
        ("/run/user/1000/keyring/ssh", "ssh agent"),
        ("/tmp/ssh-aB3/agent.71", "ssh agent"),
        ("/home/u/.ssh/agent/s.x", "ssh agent"),
    ],
)
def test_what_a_connection_gives(path, privilege):
    action = Action("a", "s", Layer.KERNEL, "connect", {"object": path}, "/repo", 1.0, "/repo", "session")
    assert [(e.kind, e.target, e.sure) for e in analyse(action, FakeWorld())] == [(Kind.PRIVILEGE, privilege, True)]
