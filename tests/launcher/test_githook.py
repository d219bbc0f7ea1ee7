"""The face of a git hook: what it sends, what is an answer, and who judges where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from tests.support.launcher_guard import AT_REST, answers, exit_code, says, started, value, values
from tests.support.time_limits import limit

HOOK = "sentinel-githook"
PASS = answers([exit_code(0)])
CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "/h"}
IN_SESSION = {**CLEAN, "SENTINEL_SESSION": "of-a-git-hook"}
ALONE = """#!{python} -I
import json, os, sys
with open({record!r}, "w") as f:
    json.dump([sys.argv[1:], sys.stdin.read(), os.environ.get("GIT_DIR", ""), os.getcwd()], f)
sys.exit({code})
"""


@pytest.fixture
def alone(tmp_path):
    """A python that keeps what it was told, and the way to read it."""
    record = tmp_path / "record.json"

    def make(code: int = 7) -> str:
        python = tmp_path / "python"
        python.write_text(ALONE.format(python=sys.executable, record=str(record), code=code))
        python.chmod(0o755)
        return str(python)

    make.told = lambda: json.loads(record.read_text()) if record.exists() else None
    return make


def test_who_does_not_know_the_secret_lets_no_git_hook_pass(guard, alone):
    g = guard(PASS)
    g.settings(secret="5" * 64, python=alone())
    done = g.run(HOOK, "pre-commit", env=IN_SESSION)
    assert done.returncode == 1 and b"does not know the secret" in done.stderr
    assert g.run(HOOK, "pre-commit", env=CLEAN).returncode == 7, "outside of a session it is judged without the daemon"


def test_what_a_hook_sends(guard, tmp_path):
    g = guard(PASS)
    sent = {
        "GIT_DIR": ".git",
        "GIT_WORK_TREE": "/w",
        "GIT_INDEX_FILE": ".git/next-index-1.lock",
        "GIT_OBJECT_DIRECTORY": "/o",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/a:/b",
        "GIT_QUARANTINE_PATH": "/q",
        "GIT_PREFIX": "sub/",
        "GIT_REFLOG_ACTION": "rebase",
        f"GITHEAD_{'a' * 40}": "side",
        "SENTINEL_CALL": "c1",
        "SENTINEL_SESSION": "of-a-git-hook",
    }
    done = g.run(HOOK, "pre-commit", env={"TOKEN": "no", **sent}, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (request,) = g.requests
    assert value(request, "F") == b"githook"
    assert values(request, "A") == [HOOK.encode(), b"pre-commit"]
    assert value(request, "D") == os.fsencode(tmp_path)
    assert sorted(values(request, "E")) == sorted(f"{k}={v}".encode() for k, v in sent.items())


LINES = b"a" * 40 + b" " + b"b" * 40 + b" refs/heads/main\n"
READS = [
    ("pre-commit", b"x", None, "nothing is sent to it"),
    ("commit-msg", b"x", None, "nor to this one"),
    ("pre-push", LINES, [LINES], "the refs that are pushed"),
    ("pre-push", b"", [b""], "everything is up to date"),
    ("post-rewrite", LINES, [LINES], "the commits that were rewritten"),
    ("pre-push", LINES * 60_000, None, "more than a chunk holds"),
]


@pytest.mark.parametrize(("hook", "sent", "told", "why"), READS, ids=[row[-1] for row in READS])
def test_standard_input(guard, hook, sent, told, why):
    g = guard(PASS)
    assert g.run(HOOK, hook, input=sent, env=CLEAN).returncode == 0
    parts = values(g.requests[0], "I")
    if len(sent) > 4 << 20:
        assert b"".join(parts) == sent and len(parts) == 2
    else:
        assert parts == (told or [])


def test_an_open_pipe_of_the_users_is_left_alone(guard):
    g = guard(PASS)
    outer, inner = os.pipe()
    os.write(inner, b"untouched")
    assert g.run(HOOK, "pre-commit", stdin=outer, env=CLEAN, timeout=limit(5)).returncode == 0
    assert os.read(outer, 100) == b"untouched"
    os.close(outer)
    os.close(inner)


def test_a_terminal_is_no_list_of_refs(guard):
    """By hand: git would have given it a pipe."""
    g = guard(PASS)
    outer, inner = os.openpty()
    assert g.run(HOOK, "pre-push", "origin", "url", stdin=inner, env=CLEAN, timeout=limit(5)).returncode == 0
    assert values(g.requests[0], "I") == []
    os.close(outer)
    os.close(inner)


UNASKED = [("committed", False), ("aborted", False), ("preparing", False), ("prepared", True)]


@pytest.mark.parametrize("environ", [CLEAN, IN_SESSION], ids=["outside", "session"])
@pytest.mark.parametrize(("state", "asked"), UNASKED, ids=[row[0] for row in UNASKED])
def test_only_a_prepared_transaction_is_asked_about(guard, state, asked, environ):
    g = guard(PASS)
    assert g.run(HOOK, "reference-transaction", state, input=LINES, env=environ).returncode == 0
    assert bool(g.requests) is asked


def test_a_refusal_has_the_code_that_git_reads(guard):
    g = guard(answers([(b"P", b"2words\n"), exit_code(1)]))
    done = g.run(HOOK, "pre-commit", env=CLEAN)
    assert (done.returncode, done.stderr) == (1, b"words\n")


def test_a_hold_is_waited_for(guard):
    g = guard(answers([(b"P", b"2wait\n"), (b"H", bytes(4))]))

    def handler(connection):
        connection.read()
        connection.send((b"H", bytes(4)))
        time.sleep(2.3)  # longer than it waits for a guard that says nothing
        connection.send(exit_code(1))

    g.handler = handler
    assert g.run(HOOK, "pre-commit", env=CLEAN).returncode == 1


NO_ANSWER = [
    (says(b""), "hangs up at once, again and again"),
    (says(b"nonsense"), "garbage"),
    (says(b"\xff" * 4096), "noise"),
    (says(b"Z\x04\x00\x00\x00\x00\x00"), "half an answer, then the end"),
    (says(b"", then_wait=True), "silence"),
    (answers([exit_code(126)]), "a daemon that does not know the face"),
    (answers([(b"P", b"2words"), exit_code(126)]), "a daemon that failed, in words"),
    (answers([exit_code(256 + 9)]), "a death by signal"),
    (answers([(b"X", b"/bin/true")]), "another program to run"),
    (answers([(b"S", b"/bin/true")]), "another program to watch"),
    (answers([(b"K", b"")]), "a verb of another version"),
    (answers([(b"P", b"2words")]), "nothing that ends"),
]


@pytest.fixture
def without_answer(guard, quick, alone):
    """A guard of this handler. On a busy machine silence is waited for longer: there it is one at rest."""
    program, load = quick
    load.write_text(AT_REST)
    return lambda handler, why: guard(handler, python=alone(), **({"program": program} if why == "silence" else {}))


@pytest.mark.parametrize(("handler", "why"), NO_ANSWER, ids=[row[-1] for row in NO_ANSWER])
def test_outside_of_a_session_no_answer_is_a_judgement_of_its_own(without_answer, alone, tmp_path, handler, why):
    g = without_answer(handler, why)
    done = g.run(HOOK, "pre-push", "origin", "the url", input=LINES, env={**CLEAN, "GIT_DIR": ".git"}, cwd=tmp_path)
    assert done.returncode == 7
    assert done.stderr == b""
    asked = ["-I", "-m", "sentinel_guard", "hook", "pre-push", "origin", "the url"]
    assert alone.told() == [asked, LINES.decode(), ".git", str(tmp_path)]


@pytest.mark.parametrize(("handler", "why"), NO_ANSWER, ids=[row[-1] for row in NO_ANSWER])
@pytest.mark.parametrize("hook", ["pre-commit", "reference-transaction"])
def test_inside_a_session_no_answer_is_a_refusal(without_answer, alone, handler, why, hook):
    g = without_answer(handler, why)
    done = g.run(HOOK, hook, "prepared", input=LINES, env=IN_SESSION)
    assert done.returncode == 1
    assert done.stderr.startswith(b"403 SENTINEL BLOCKED: git does not go on: ")
    assert done.stderr.count(b"\n") == 1
    assert alone.told() is None


def test_without_a_daemon_it_judges_by_itself_at_once_and_starts_none(guard, alone):
    g = guard(listen=False, python=alone())
    began = time.monotonic()
    assert g.run(HOOK, "pre-commit", env=CLEAN).returncode == 7
    assert time.monotonic() - began < limit(1.5)
    assert alone.told()[0] == ["-I", "-m", "sentinel_guard", "hook", "pre-commit"], "and not `daemon start`"


def test_without_a_daemon_a_session_is_refused_and_none_is_started(guard, alone):
    g = guard(listen=False, python=alone())
    done = g.run(HOOK, "pre-commit", env=IN_SESSION)
    assert done.returncode == 1
    assert b"the guard daemon does not answer" in done.stderr
    assert alone.told() is None


def test_a_session_waits_for_a_daemon_that_comes_back(guard):
    g = guard(PASS, listen=False)
    later = threading.Timer(0.3, g.listen)
    later.start()
    assert g.run(HOOK, "pre-commit", env=IN_SESSION).returncode == 0
    later.join()


def test_a_daemon_that_dies_in_the_middle(guard, alone):
    """It has asked, was told to wait, and then there is nobody any more."""
    g = guard(python=alone())

    def handler(connection):
        connection.read()
        connection.send((b"H", bytes(4)))
        g.stop_listening()

    g.handler = handler
    assert g.run(HOOK, "pre-push", input=LINES, env=CLEAN).returncode == 7
    assert alone.told()[1] == LINES.decode()
    g.listen()
    done = g.run(HOOK, "pre-push", input=LINES, env=IN_SESSION)
    assert done.returncode == 1 and b"does not answer" in done.stderr


def test_an_empty_session_is_none(guard, alone):
    g = guard(listen=False, python=alone())
    assert g.run(HOOK, "pre-commit", env={**CLEAN, "SENTINEL_SESSION": ""}).returncode == 7


def test_what_is_too_large_for_the_wire_is_handed_on_whole(guard, alone):
    g = guard(PASS, python=alone())
    sent = LINES * 100_000  # 9.8 MB
    assert g.run(HOOK, "pre-push", input=sent, env=CLEAN).returncode == 7
    assert alone.told()[1] == sent.decode()
    done = g.run(HOOK, "pre-push", input=sent, env=IN_SESSION)
    assert done.returncode == 1 and b"larger than the guard reads" in done.stderr


def test_a_transaction_outside_of_a_session_needs_nobody(guard, alone):
    g = guard(listen=False, python=alone())
    assert g.run(HOOK, "reference-transaction", "prepared", input=LINES, env=CLEAN).returncode == 0
    (g.shims / ".sentinel").unlink()
    assert g.run(HOOK, "reference-transaction", "prepared", input=LINES, env=CLEAN).returncode == 0
    assert alone.told() is None


UNSETTLED = [
    (lambda settings: settings.unlink(), "cannot be read"),
    (lambda settings: settings.write_text("socket=\n"), "names no socket"),
    (lambda settings: settings.write_text("socket=/none/there\npython=\n"), "does not answer"),
    (lambda settings: settings.write_text("socket=/none/there\npython=python3\n"), "does not answer"),
    (lambda settings: settings.write_text("socket=/none/there\npython=/no/such/python\n"), "does not answer"),
]


@pytest.mark.parametrize(("spoil", "words"), UNSETTLED, ids=["gone", "empty", "no python", "no path", "no program"])
def test_where_nobody_can_judge_it_is_refused_with_the_way_out(guard, spoil, words):
    g = guard(listen=False)
    spoil(g.shims / ".sentinel")
    done = g.run(HOOK, "pre-commit", env=CLEAN)
    assert done.returncode == 1
    assert words in done.stderr.decode()
    assert "sentinel-guard" in done.stderr.decode()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_socket_of_another_user_is_nobody(guard, alone):
    """In /tmp, anyone could have made the folder before us."""
    g = guard(PASS, python=alone())
    os.chown(g.shims / ".sentinel", 12345, 12345)
    assert g.run(HOOK, "pre-commit", env=CLEAN).returncode == 7
    done = g.run(HOOK, "pre-commit", env=IN_SESSION)
    assert done.returncode == 1 and b"served by another user" in done.stderr
    assert g.requests == []


def test_its_name_cannot_be_made_up(guard, alone):
    """A caller that is called like a hook gets no way around the guard."""
    g = guard(listen=False, python=alone())
    done = subprocess.run(
        [HOOK, "pre-commit"], executable=g.shim("git"), env=CLEAN, capture_output=True, check=False, timeout=limit(20)
    )
    assert done.returncode == 126
    assert alone.told()[0] == ["-I", "-m", "sentinel_guard", "daemon", "start"]


def test_without_a_hooks_name_it_is_asked_all_the_same(guard):
    g = guard(answers([exit_code(1)]))
    assert g.run(HOOK, env=CLEAN).returncode == 1


def test_signals_reach_the_judgement_of_its_own_as_they_came(guard, tmp_path):
    """SIGPIPE and SIGCHLD were changed meanwhile."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec /bin/grep -E '^Sig(Ign|Blk)' /proc/self/status\n")
    python.chmod(0o755)
    g = guard(listen=False, python=str(python))
    bare = subprocess.run(
        ["/bin/grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"], capture_output=True, check=True, env=CLEAN
    )
    with started(g, HOOK, "pre-commit", env=CLEAN) as process:
        assert process.communicate(timeout=limit(10))[0] == bare.stdout
