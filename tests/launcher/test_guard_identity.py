"""Which guard the launcher believes: its settings, the owner of the socket, the secret of the session."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sentinel_guard.core.wire_framing import encode
from sentinel_guard.host import session_proof
from tests.support.launcher_guard import answers, executes, exit_code, says, value, values
from tests.support.time_limits import limit

SECRET = "5" * 64


def proving(secret, sent=None):
    """Answers with exit code 5 and the proof of a secret, or of another request."""

    def handler(connection):
        request = connection.read()
        proof = session_proof.prove(secret.encode(), sent or encode(request))
        connection.send((b"K", proof), (b"P", b"1said\n"), exit_code(5))

    return handler


IMPOSTORS = [
    (answers([exit_code(5)]), "no proof"),
    (answers([(b"K", bytes(32)), exit_code(5)]), "a proof that is none"),
    (answers([(b"K", b"short"), exit_code(5)]), "no digest"),
    (proving("6" * 64), "another secret"),
    (proving(SECRET, sent=b"another request"), "of another request"),
    (answers([(b"H", bytes(4))], [exit_code(5)]), "a hold without proof"),
    (executes, "what would run the program"),
]


@pytest.mark.parametrize(("handler", "why"), IMPOSTORS, ids=[row[-1] for row in IMPOSTORS])
def test_who_does_not_know_the_sessions_secret_is_not_obeyed(guard, handler, why):
    g = guard(handler)
    g.settings(secret=SECRET)
    done = g.run("echo", "it ran")
    assert (done.returncode, done.stdout) == (126, b"")
    assert b"403 SENTINEL BLOCKED: echo was not run: " in done.stderr


def test_who_knows_the_secret_is_obeyed_whatever_the_length_of_the_request(guard):
    g = guard(proving(SECRET))
    g.settings(secret=SECRET)
    for length in (*range(66), 100_000):
        done = g.run("git", "x" * length)
        assert (done.returncode, done.stdout) == (5, b"said\n"), length
    nonces = {value(request, "N") for request in g.requests}
    assert len(nonces) == 67 and {nonce[16:] for nonce in nonces} == {b"s"}


def test_a_refusal_needs_no_proof(guard):
    g = guard(answers([(b"P", b"2no\n"), exit_code(126)]))
    g.settings(secret=SECRET)
    done = g.run("git")
    assert (done.returncode, done.stderr) == (126, b"no\n")


UNKNOWN = [
    (None, "no settings"),
    ("", "empty settings"),
    ("python=/bin/false\n", "no socket"),
    ("socket=\n", "an empty socket"),
    ("socket=/" + "x" * 108 + "\n", "a socket path that is too long"),
    ("Xsocket=/tmp/x\n", "another name"),
    ("socket=/tmp/x\n" + "x=y\n" * 20_000, "more than a session's settings ever are"),
    ("python=/bin/false\0\nsocket=/tmp/x\n", "a zero byte"),
]


@pytest.mark.parametrize(("text", "why"), UNKNOWN, ids=[row[-1] for row in UNKNOWN])
def test_without_settings_nothing_runs(guard, text, why):
    g = guard(executes)
    settings = g.shims / ".sentinel"
    settings.unlink()
    if text is not None:
        settings.write_text(text)
    done = g.run("true")
    assert done.returncode == 126
    assert done.stderr.startswith(b"403 SENTINEL BLOCKED: true was not run: ")
    assert b"sentinel-guard run" in done.stderr
    assert g.requests == []


def test_settings_that_are_no_file_are_not_waited_for(guard):
    g = guard(executes)
    (g.shims / ".sentinel").unlink()
    os.mkfifo(g.shims / ".sentinel")
    done = g.run("true", timeout=limit(5))
    assert done.returncode == 126 and b".sentinel is no file" in done.stderr
    (g.shims / ".sentinel").unlink()
    (g.shims / ".sentinel").mkdir()
    assert b".sentinel is no file" in g.run("true").stderr


NAMES = [
    ("caf\u00e9-\u65e5\u672c-\U0001f600".encode(), "caf\u00e9-\u65e5\u672c-\U0001f600".encode(), "letters stay"),
    (b"a\x1b[2Jb", b"a?[2Jb", "C0"),
    ("a\u009b2Jb".encode(), b"a??2Jb", "C1 in UTF-8 (CSI)"),
    (b"a\x9b2Jb", b"a?2Jb", "C1 as a byte"),
    (b"a\xc3", b"a?", "half a character"),
    (b"a\xe0\x82\x9bb", b"a???b", "C1 in an overlong form"),
    (b"a\xed\xa0\x80b", b"a???b", "a surrogate"),
    (b"a\xf5\x80\x80\x80b", b"a????b", "beyond Unicode"),
]


@pytest.mark.parametrize(("name", "shown", "why"), NAMES, ids=[row[-1] for row in NAMES])
def test_no_control_character_of_a_name_reaches_the_terminal(guard, name, shown, why):
    done = guard(says(b"nonsense")).run(os.fsdecode(name))
    assert done.stderr.startswith(b"403 SENTINEL BLOCKED: " + shown + b" was not run: ")


def test_settings_are_not_followed_through_a_link(guard, tmp_path):
    g = guard(executes)
    other = tmp_path / "other"
    (g.shims / ".sentinel").rename(other)
    (g.shims / ".sentinel").symlink_to(other)
    assert g.run("true").returncode == 126


def test_the_environment_cannot_name_another_guard(guard):
    mine, evil = guard(answers([exit_code(5)])), guard(executes)
    env = {"SENTINEL_HOME": str(evil.folder), "XDG_RUNTIME_DIR": str(evil.folder), "PATH": str(evil.shims)}
    assert mine.run("true", env=env).returncode == 5
    assert evil.requests == []


@pytest.mark.skipif(os.getuid() != 0, reason="giving a file away needs root")
def test_a_guard_of_another_user_is_not_believed(guard):
    g = guard(executes)
    os.chown(g.shims / ".sentinel", 65534, 65534)
    done = g.run("true")
    assert done.returncode == 126
    assert b"another user" in done.stderr


def test_a_symbolic_link_finds_the_guard_of_its_target(guard, tmp_path):
    g = guard(answers([exit_code(5)]))
    link = tmp_path / "git"
    link.symlink_to(g.shim("sentinel-launcher"))
    assert subprocess.run([link, "status"], check=False).returncode == 5
    assert values(g.requests[0], "A") == [os.fsencode(link), b"status"]


def test_a_launcher_whose_file_was_deleted_says_so(guard, tmp_path):
    g = guard(executes)
    copy = Path(g.shim("git"))
    held = os.open(copy, os.O_RDONLY)
    copy.unlink()
    (g.shims / ".sentinel").unlink()
    done = subprocess.run(
        ["git"], executable=f"/proc/self/fd/{held}", pass_fds=[held], capture_output=True, check=False
    )
    os.close(held)
    assert done.returncode == 126
