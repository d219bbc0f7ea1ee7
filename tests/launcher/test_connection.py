"""Finding the guard, starting it, and what happens where there is none."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.support.launcher_guard import AT_REST, BUSY, answers, exit_code, says
from tests.support.time_limits import limit
from tests.support.wait_until import until


def test_nobody_listens_is_a_refusal_after_2_s(guard):
    g = guard(listen=False, python="/bin/false")
    began = time.monotonic()
    done = g.run("git", "status")
    assert 1.5 < time.monotonic() - began < limit(4)
    assert done.returncode == 126
    assert done.stderr == (
        b"403 SENTINEL BLOCKED: git was not run: the guard daemon does not answer. "
        b"Start it with 'sentinel-guard daemon start'.\n"
    )


def test_the_hook_refuses_with_the_code_that_agents_obey(guard):
    g = guard(says(b"nonsense"))
    done = g.run("sentinel-hook", "x", input=b"{}")
    assert done.returncode == 2
    assert done.stderr.startswith(b"403 SENTINEL BLOCKED: the agent's call was not run: ")


CLOSES = [
    (b"", "before a byte of the answer"),
    (b"X", "within a head"),
    (b"P\x05\x00\x00\x001yes", "within a chunk"),
    (b"P\x05\x00\x00\x001yes!" + b"X\x09\x00\x00\x00/bin/true", "before the end chunk"),
]


@pytest.mark.parametrize(("raw", "why"), CLOSES, ids=[row[-1] for row in CLOSES])
def test_it_asks_again_when_the_guard_hangs_up(guard, raw, why):
    def handler(connection):
        if connection.index < 3:
            says(raw)(connection)
        else:
            answers([exit_code(5)])(connection)

    g = guard(handler)
    done = g.run("git", "status")
    assert (done.returncode, done.stdout, done.stderr) == (5, b"", b"")
    assert len(g.requests) == 4
    assert all(r == g.requests[0] for r in g.requests)


def test_it_asks_again_when_the_guard_hangs_up_during_a_hold(guard):
    def handler(connection):
        connection.read()
        if connection.index == 0:
            connection.send((b"H", bytes(4)))
        else:
            connection.send(exit_code(5))

    assert guard(handler).run("git").returncode == 5


def test_a_guard_that_always_hangs_up_is_a_refusal(guard):
    began = time.monotonic()
    done = guard(says(b"")).run("git")
    assert done.returncode == 126
    assert b"does not answer" in done.stderr
    assert time.monotonic() - began < limit(5)


def test_a_guard_that_refuses_before_it_has_read_all(guard):
    """The daemon answers an oversized request while it is still being sent."""

    def handler(connection):
        connection.sock.recv(10)
        connection.send((b"P", b"2too long"), exit_code(126))

    done = guard(handler).run("git", *["x" * 100_000] * 15)
    assert (done.returncode, done.stderr) == (126, b"too long")


def test_a_guard_that_starts_to_listen_late(guard):
    g = guard(answers([exit_code(5)]), listen=False)
    later = threading.Timer(0.3, g.listen)
    later.start()
    assert g.run("git").returncode == 5
    later.join()


STARTER = """#!{python} -I
import json, os, socket, sys, signal
fds = sorted(int(n) for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{{n}}"))
seen = {{"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "fds": fds, "sid": os.getsid(0) != {sid},
    "null": [os.readlink(f"/proc/self/fd/{{n}}") for n in range(3)],
    "lock": os.readlink("/proc/self/fd/3"),
    "ignored": [l for l in open("/proc/self/status") if l.startswith(("SigIgn", "SigBlk"))]}}
with open({record!r}, "a") as f:
    f.write(json.dumps(seen) + "\\n")
s = socket.socket(socket.AF_UNIX); s.bind({socket!r}); s.listen()
c, _ = s.accept()
c.recv(100000)
c.sendall(b"Z\\4\\0\\0\\0\\5\\0\\0\\0.\\0\\0\\0\\0")
c.recv(1)
"""


TOLD = [
    ({}, "no variable"),
    ({"HOME": "/some/home", "XDG_STATE_HOME": "", "PATH": "/a b:/c=d"}, "what the session was begun with"),
]


@pytest.mark.parametrize(("told", "why"), TOLD, ids=[row[-1] for row in TOLD])
def test_it_starts_the_guard_once_and_clean(guard, tmp_path, told, why):
    """Nothing of the agent's reaches the daemon: no variable, descriptor, signal or folder."""
    g = guard(listen=False)
    starter, record = tmp_path / "python", tmp_path / "record"
    starter.write_text(
        STARTER.format(python=sys.executable, sid=os.getsid(0), record=str(record), socket=str(g.socket))
    )
    starter.chmod(0o755)
    g.settings(python=str(starter), **{f"environ.{name}": value for name, value in told.items()})
    g.shim("git")
    env = {
        "PATH": "/evil",
        "HOME": "/h",
        "XDG_RUNTIME_DIR": "/x",
        "XDG_STATE_HOME": "/x",
        "TMPDIR": "/evil",
        "USER": "evil",
        "LANG": "evil",
        "LD_PRELOAD_": "no",
        "SENTINEL_HOME": "/evil",
        "PYTHONPATH": "/evil",
    }
    extra = os.open("/dev/null", os.O_RDONLY)
    done = g.run(
        "git", env=env, pass_fds=[extra], cwd=tmp_path, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
    )
    os.close(extra)
    assert done.returncode == 5
    (seen,) = [json.loads(line) for line in record.read_text().splitlines()]
    assert seen["argv"] == ["-I", "-m", "sentinel_guard", "daemon", "start"]
    assert {k: v for k, v in seen["env"].items() if k != "LC_CTYPE"} == told, "python sets LC_CTYPE itself"
    assert (seen["cwd"], seen["fds"], seen["sid"]) == ("/", [0, 1, 2, 3], True)
    assert seen["lock"] == str(g.folder / "start.lock"), "held until the start has ended"
    assert seen["null"] == ["/dev/null"] * 3
    masks = {line.split()[0]: int(line.split()[1], 16) for line in seen["ignored"]}
    assert masks["SigBlk:"] == 0
    assert not masks["SigIgn:"] & (1 << (signal.SIGINT - 1))


@pytest.fixture
def start_lock(guard):
    """A guard that does not listen yet, and the lock that its starter holds."""
    g = guard(answers([exit_code(5)]), listen=False, python="/bin/false")
    lock = os.open(g.folder / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield g, lock
    os.close(lock)


def test_a_guard_that_somebody_starts_is_waited_for(start_lock):
    g, lock = start_lock
    later = threading.Timer(3.5, lambda: (g.listen(), fcntl.flock(lock, fcntl.LOCK_UN)))
    later.start()
    assert g.run("git").returncode == 5, "a loaded machine needs more than 2 s"
    later.join()


def test_a_start_that_failed_is_a_refusal_2_s_later(start_lock):
    g, lock = start_lock
    later = threading.Timer(1.0, lambda: fcntl.flock(lock, fcntl.LOCK_UN))
    began = time.monotonic()
    later.start()
    done = g.run("git")
    later.join()
    assert done.returncode == 126 and b"does not answer" in done.stderr
    assert 2.5 < time.monotonic() - began < limit(6)


LOADS = (
    (AT_REST, False, "the machine is at rest: a daemon that is silent is stuck"),
    (BUSY, True, "it has no turn for the daemon"),
)


@pytest.mark.parametrize(("load", "patient"), [row[:2] for row in LOADS], ids=[row[2] for row in LOADS])
def test_an_answer_is_awaited_longer_on_a_busy_machine(guard, quick, load, patient):
    program, told = quick
    told.write_text(load)

    def handler(connection):
        late.wait(1.0)
        answers([exit_code(5)])(connection)

    late = threading.Event()
    try:
        done = guard(handler, program=program).run("git")
    finally:
        late.set()
    assert done.returncode == (5 if patient else 126), done.stderr
    assert patient or b"gave no answer within 2" in done.stderr


def test_starts_that_never_end_are_waited_for_no_longer_than_a_start_takes(guard, quick):
    g = guard(answers([exit_code(5)]), program=quick[0], listen=False, python="/bin/false")
    lock = os.open(g.folder / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    began = time.monotonic()
    try:
        done = g.run("git")
    finally:
        os.close(lock)
    assert done.returncode == 126 and b"does not answer" in done.stderr
    assert 2.5 < time.monotonic() - began < limit(8)


MANY_STARTER = """#!{python} -I
import os, socket, sys, time
with open({record!r}, "a") as f:
    f.write("started\\n")
time.sleep(2.5)
s = socket.socket(socket.AF_UNIX); s.bind({socket!r}); s.listen(64)
for _ in range(20):
    c, _ = s.accept()
    c.recv(100000)
    c.sendall(b"Z\\4\\0\\0\\0\\5\\0\\0\\0.\\0\\0\\0\\0")
"""


def test_many_launchers_start_one_guard(guard, tmp_path):
    g, starter, record = guard(listen=False), tmp_path / "python", tmp_path / "record"
    starter.write_text(MANY_STARTER.format(python=sys.executable, record=str(record), socket=str(g.socket)))
    starter.chmod(0o755)
    g.settings(python=str(starter))
    started = [subprocess.Popen([g.shim("git")]) for _ in range(20)]
    assert [p.wait(limit(20)) for p in started] == [5] * 20
    assert record.read_text() == "started\n"


STOPPED = [((), "a short request"), (("x" * 100_000,) * 15, "one that fills the socket")]


@pytest.mark.parametrize(("arguments", "why"), STOPPED, ids=[row[-1] for row in STOPPED])
def test_a_stopped_guard_is_said_after_2_s(guard, arguments, why):
    g = guard(listen=False)
    serve = (  # it is there under its name when it listens
        "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1] + '.new'); s.listen()\n"
        "os.rename(sys.argv[1] + '.new', sys.argv[1]); input()"
    )
    with subprocess.Popen([sys.executable, "-c", serve, str(g.socket)], stdin=subprocess.PIPE) as daemon:
        assert until(g.socket.exists)
        daemon.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        done = g.run("git", *arguments)
        took = time.monotonic() - began
        daemon.kill()
    assert done.returncode == 126
    assert f"(process {daemon.pid}) is stopped. The user continues it with".encode() in done.stderr
    assert took < limit(4)


def test_a_slow_guard_gets_its_time(guard):
    def slow(connection):
        connection.read()
        time.sleep(4.5)
        connection.send(exit_code(5))

    assert guard(slow).run("git").returncode == 5


def test_a_busy_guard_is_waited_for(guard):
    """Ten launchers at once, one after another served."""
    lock = threading.Lock()

    def handler(connection):
        connection.read()
        with lock:
            time.sleep(0.02)
        connection.send(exit_code(5))

    g = guard(handler)
    started = [subprocess.Popen([g.shim("git")]) for _ in range(10)]
    assert [p.wait(limit(10)) for p in started] == [5] * 10
