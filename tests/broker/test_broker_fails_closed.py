"""Whatever fails: nothing restricted changes, nothing hangs, and a program that cannot be held does not run."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.kernel_session import BROKER, KernelSession
from tests.support.wait_until import until
from tests.vectors.wire_vectors import message

USER = 65534 if os.getuid() == 0 else 0


RULES = [tuple(map(os.fsdecode, body.split(b"\0"))) for _, body in message("the rules of a session")]


@pytest.mark.parametrize("rules", [[("nonsense", "ask", "x")], RULES], ids=["not understood", "one of each kind"])
def test_without_rules_nothing_runs(broker, repo, rules):
    session = KernelSession(rules, broker=broker)
    done = session.run("echo", "ran", cwd=repo, user=USER)
    session.close()
    understood = rules == RULES
    assert (done.returncode, done.stdout) == ((0, b"ran\n") if understood else (126, b""))
    assert understood or b"no rules" in done.stderr


@pytest.mark.parametrize("fails", [ConnectionError, OSError])
def test_a_daemon_that_hangs_up_is_a_no(session, repo, fails):
    def hang_up(_):
        raise fails

    session.answer = hang_up
    done = session.in_repo("bash", "-c", "echo EVIL > .env; echo b >> a.txt")
    assert done.returncode == 0, "ordinary work goes on"
    assert (repo / ".env").read_text() == "GOOD=1\n" and (repo / "a.txt").read_text() == "plain\nb\n"


def test_a_killed_broker_leaves_nobody_free(session, repo):
    """Whoever wears the filter then has no such system call any more: it neither writes nor starts anything."""
    script = """
import os, pathlib, signal, time
me = os.getpid()
print(pathlib.Path('/proc/self/status').read_text().split('PPid:')[1].split()[0], flush=True)
time.sleep(1)
for change in (lambda: open('.env', 'w'), lambda: open('a.txt', 'w'), lambda: os.execv('/bin/echo', ['echo', 'ran'])):
    try:
        change()
    except OSError as e:
        print(e.errno, flush=True)
"""
    killed = {}

    def kill(line: str) -> None:
        killed["pid"] = int(line)
        os.kill(int(line), signal.SIGKILL)

    done = session.in_repo("python3", "-c", script, first_line=kill)
    assert done.stdout.split() == [b"%d" % killed["pid"], b"38", b"38", b"38"], "ENOSYS"
    assert (repo / ".env").read_text() == "GOOD=1\n" and (repo / "a.txt").read_text() == "plain\n"


HELD = """
import pathlib
print(pathlib.Path('/proc/self/status').read_text().split('PPid:')[1].split()[0], flush=True)
for change in (lambda: open('.env', 'w'), lambda: open('a.txt', 'w')):
    try:
        change()
    except OSError as e:
        print(e.errno, flush=True)
"""


def test_a_broker_that_is_killed_while_it_holds_a_call_lets_nothing_happen(session, repo):
    """The answer, a yes, comes when nobody is there to hear it."""
    broker = []

    def kill(_):
        until(lambda: broker)
        os.kill(broker[0], signal.SIGKILL)
        return True

    session.answer = kill
    done = session.in_repo("python3", "-c", HELD, first_line=lambda line: broker.append(int(line)))
    assert done.stdout.split()[1:] == [b"38", b"38"], "ENOSYS"
    assert len(session.asked) == 1
    assert (repo / ".env").read_text() == "GOOD=1\n" and (repo / "a.txt").read_text() == "plain\n"


def test_a_restricted_file_that_was_open_for_writing_before_begins_no_session(session, repo):
    with (repo / ".env").open("r+b") as before:
        done = session.in_repo("sh", "-c", f"echo EVIL >&{before.fileno()}", inherited=(before.fileno(),))
    assert done.returncode == 126 and b"open for writing on a restricted file" in done.stderr
    assert (repo / ".env").read_text() == "GOOD=1\n"


def test_the_broker_has_dropped_its_own_rights_in_all_its_threads(session):
    seen = []

    def look(broker: str) -> None:
        threads = Path(f"/proc/{broker}/task").iterdir()
        seen.extend(re.findall(r"(?:NoNewPrivs|Seccomp):\s*(\d)", (t / "status").read_text()) for t in threads)

    session.in_repo("sh", "-c", "echo $PPID; sleep 1", first_line=look)
    assert len(seen) > 2 and {*map(tuple, seen)} == {("1", "2")}


FILTERLESS = """
import ctypes, os, platform, struct, sys
number = {"x86_64": 317, "aarch64": 277}[platform.machine()]
code = struct.pack("HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, number, 6, 0, 0, 0x50026, 6, 0, 0, 0x7FFF0000)
kept = ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(kept)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
assert not prctl(38, 1, 0, 0, 0) and not prctl(22, 2, program)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""A kernel that has no seccomp(2): ENOSYS."""


def test_where_the_kernel_takes_no_filter_nothing_runs(session):
    done = session.in_repo("echo", "ran", prefix=(sys.executable, "-c", FILTERLESS))
    assert (done.returncode, done.stdout) == (126, b"") and b"403 SENTINEL BLOCKED" in done.stderr, done


@pytest.mark.parametrize("megabytes", [40, 300], ids=["for few threads", "for as many as wait"])
def test_a_broker_without_memory_frees_nobody(session, repo, megabytes):
    """Each call that waits has a thread: when there is no memory for more, the others wait.

    The broker that is installed: the sanitizers' needs more than any limit.
    """
    session.broker = repo / "broker"
    shutil.copy2(BROKER, session.broker)

    def think(_):
        time.sleep(0.5)
        return False

    session.answer = think
    script = (
        "for i in $(seq 60); do (echo x > .env.$i) & done; sleep 0.3; echo y > during; wait; echo y > after; cat after"
    )
    done = session.in_repo("bash", "-c", script, prefix=("prlimit", f"--as={megabytes}000000"))
    assert done.stdout == b"y\n" and (repo / "during").read_text() == "y\n", "it has got over it"
    assert [*repo.glob(".env.*")] == [] and (repo / ".env").read_text() == "GOOD=1\n"


STARTS_BY_THREADS = """
import os, pathlib, threading
pathlib.Path('empty').touch(mode=0o755)
said, over = [], threading.Event()
def error_of(call, *arguments):
    try:
        call(*arguments)
    except OSError as e:
        return e.errno
def start_nothing():
    said.append(error_of(os.execv, 'empty', ['empty']))
    over.wait()
threads = [threading.Thread(target=start_nothing) for _ in range(60)]
for t in threads: t.start()
while len(said) < 60: pass
print(*sorted({*said}), error_of(open, '.env', 'w'))
over.set()
for t in threads: t.join()
print(error_of(open, '.env', 'w'), error_of(open, '.env', 'w'), error_of(open, 'after', 'w'), flush=True)
threading.Thread(target=os.execv, args=('/bin/echo', ['echo', 'ran'])).start()
"""


def test_a_broker_without_descriptors_frees_nobody_and_recovers(session, repo):
    """Threads start a program in vain (ENOEXEC), and live on: until its end each may still become one. Then EAGAIN is
    said, or EMFILE.
    """
    done = session.in_repo("python3", "-c", STARTS_BY_THREADS, prefix=("prlimit", "--nofile=40"))
    *starts, refused = (first := done.stdout.decode().splitlines())[0].split()
    assert {"8"} < {*starts} <= {"8", "11", "24"} and refused in {"13", "24"}, done
    assert first[1:] in (["13 13 None", "ran"], ["24 13 None", "ran"]), done
    assert (repo / "after").exists() and (repo / ".env").read_text() == "GOOD=1\n"


CODES = (("exit 7", 7), ("kill -TERM $$", -signal.SIGTERM), ("exec no-such-program-at-all", 127))


@pytest.mark.parametrize(("script", "code"), CODES)
def test_the_exit_code_is_the_programs(session, script, code):
    assert session.in_repo("bash", "-c", script).returncode == code


def test_what_is_left_running_keeps_no_stream_open_and_stays_held(session, repo):
    session.in_repo("bash", "-c", "(sleep 0.3; echo EVIL > .env; touch tried) >/dev/null 2>&1 & exit 0")
    assert session.seconds < 5
    for _ in range(100):
        if (repo / "tried").exists():
            break
        subprocess.run(["sleep", "0.05"], check=True)
    assert (repo / "tried").exists() and (repo / ".env").read_text() == "GOOD=1\n"
