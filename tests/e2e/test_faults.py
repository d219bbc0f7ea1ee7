"""When the guard falls, the disk is full, or the other side lies: nothing lost, nothing free, nothing hangs."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import pexpect
import pytest

from sentinel_guard.core.wire_framing import encode
from sentinel_guard.daemon import assembly
from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit
from tests.support.wait_until import settled, until


@pytest.fixture
def stage(alone):
    return alone


def daemon_pid(stage) -> int:
    return json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"]


def test_kill_9_of_the_daemon_frees_nobody_and_loses_nothing(stage):
    stage.commit()
    stage.policy("[breaker]\nseconds = 8\n")
    step = "ls no-such-file"
    tasks = stage.tasks(step, step, step, 3, "echo free?", ".env", "echo x > .env")
    agent = subprocess.Popen(
        [str(BIN / "sentinel-guard"), "run", "--", *tasks],
        cwd=stage.repo, env=stage.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    seen = stage.folder / "seen.json"
    deadline = time.monotonic() + limit(20)
    while time.monotonic() < deadline and not (seen.exists() and len(json.loads(seen.read_text() or "[]")) == 3):
        time.sleep(0.05)
    os.kill(daemon_pid(stage), signal.SIGKILL)
    agent.communicate(timeout=limit(40))
    told = stage.seen()
    assert "SYSTEM INTERVENTION" in told[2]["err"]
    assert told[3]["code"] == 126 and "SYSTEM INTERVENTION" in told[3]["err"], "the breaker outlived the daemon"
    assert (stage.repo / ".env").read_text() == "MODE=debug\n"
    assert stage.sentinel("log", "verify").returncode == 0
    assert len({e["session"] for e in stage.log(kind="session")}) == 1


def test_a_daemon_that_is_killed_in_mid_question_asks_again(stage):
    stage.commit()
    stage.policy('[confirm]\ndeploy = ["deploy"]\n')
    person = stage.on_terminal("deploy production")
    person.expect_exact("Confirm? (Y/N):")
    os.kill(daemon_pid(stage), signal.SIGKILL)
    person.expect_exact("Confirm? (Y/N):")
    settled()
    person.send("n")
    person.expect(pexpect.EOF)
    assert stage.seen()[0]["code"] == 126
    assert [e["data"]["yes"] for e in stage.log(kind="human")] == [False]


@contextlib.contextmanager
def impostor(stage):
    """A program that kills the daemon and takes its place: its locks, and its socket, where it lets all run."""
    run, pid = stage.guard / "run", daemon_pid(stage)
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as held:
        # The lock of those who start one first: nobody else takes the place meanwhile.
        for name in ("start.lock", "daemon.lock"):
            lock = held.enter_context((run / name).open("a"))
            if name == "daemon.lock":
                os.kill(pid, signal.SIGKILL)
            fcntl.flock(lock, fcntl.LOCK_EX)
        (run / "agent.sock").unlink(missing_ok=True)
        listener.bind(str(run / "agent.sock"))
        listener.listen()

        def let_run():
            with contextlib.suppress(OSError):
                while True:
                    peer = held.enter_context(listener.accept()[0])
                    peer.sendall(encode([(b"X", b"/bin/bash")]))

        threading.Thread(target=let_run, daemon=True).start()
        yield
        listener.shutdown(socket.SHUT_RDWR)


def test_who_takes_the_daemons_place_lets_nothing_run(stage):
    stage.commit()
    tasks = stage.tasks("true", 4, "touch free")
    agent = subprocess.Popen(
        [str(BIN / "sentinel-guard"), "run", "--", *tasks],
        cwd=stage.repo, env=stage.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    seen = stage.folder / "seen.json"
    assert until(lambda: seen.exists() and seen.read_text().strip("[]"), seconds=20)
    with impostor(stage):
        assert until(lambda: len(json.loads(seen.read_text() or "[]")) >= 2, seconds=30)
        told = json.loads(seen.read_text())[-1]
    agent.communicate(timeout=limit(60))
    assert told["code"] == 126 and "it does not know the secret beside the launcher" in told["err"]
    assert not (stage.repo / "free").exists()


def test_without_a_daemon_that_can_start_every_command_is_refused(stage):
    stage.commit()
    run = stage.guard / "run"
    # A folder where the socket should be: no daemon can listen.
    block = f"import os, shutil; shutil.rmtree({str(run)!r}); open({str(run)!r}, 'w').close()"
    agent = f"""
import json, subprocess, sys, time
{block}
done = subprocess.run(["bash", "-c", "echo free"], capture_output=True, text=True)
json.dump([done.returncode, done.stdout, done.stderr], open({str(stage.folder / "told.json")!r}, "w"))
"""
    stage.sentinel("run", "--", sys.executable, "-c", agent)
    code, out, err = json.loads((stage.folder / "told.json").read_text())
    assert (code, out) == (126, "")
    assert err.startswith("403 SENTINEL BLOCKED: ")
    run.unlink()


REFUSALS = (
    ("not a repository", lambda s: shutil.rmtree(s.repo / ".git"), "not in a git work tree"),
    ("no place for the state", lambda s: (s.guard / "state").write_text(""), "state"),
    (
        "a socket path that is too long",
        lambda s: s.environ.update(SENTINEL_HOME=str(s.folder / ("x" * 100))),
        "too long",
    ),
    ("no home at all", lambda s: [s.environ.pop("HOME"), s.environ.pop("SENTINEL_HOME")], "HOME is not set"),
    ("a folder that is gone", lambda s: None, "cannot be read"),
)


@pytest.mark.parametrize(("why", "spoil", "words"), REFUSALS, ids=[r[0] for r in REFUSALS])
def test_what_cannot_be_guarded_does_not_run_and_says_why(stage, why, spoil, words):
    stage.commit()
    home = dict(stage.environ)
    spoil(stage)
    if why == "a folder that is gone":
        gone = f"mkdir {stage.folder}/gone && cd {stage.folder}/gone && /bin/rmdir ../gone"
        run = f"{gone} && exec {BIN}/sentinel-guard run -- touch ran"
        done = subprocess.run(["/bin/bash", "-c", run], env=stage.environ, capture_output=True, text=True, check=False)
    else:
        done = stage.sentinel("run", "--", "touch", "ran")
    stage.environ = home
    assert done.returncode == 1, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (stage.repo / "ran").exists()


def test_a_repository_without_a_commit_is_guarded_too(stage):
    stage.git("init", "-q", "-b", "main")
    stage.write("mine.txt", "mine\n")
    done, _ = stage.agent("echo evil > mine.txt; git add -A; git commit -qm evil", "rm -rf /")
    assert done.returncode == 137
    assert (stage.repo / "mine.txt").read_text() == "mine\n"
    assert (
        subprocess.run(["git", "rev-parse", "HEAD"], cwd=stage.repo, capture_output=True, check=False).returncode != 0
    )


GARBAGE = (
    (b"GET / HTTP/1.1\r\n\r\n", "another protocol"),
    (b"\xff" * 64, "noise"),
    (b"V" + struct.pack("<I", 0xFFFFFFFF), "a chunk of 4 GiB"),
    (b"V" + struct.pack("<I", 100) + b"half", "half a frame, then nothing"),
    (b"." + struct.pack("<I", 0), "an empty message"),
    (b"V" + struct.pack("<I", 1) + b"1" + b"." + struct.pack("<I", 0), "a request without anything"),
)


def test_garbage_is_answered_or_dropped_and_the_daemon_lives(stage):
    stage.commit()
    stage.sentinel("daemon", "start")
    pid = daemon_pid(stage)
    for name in ("agent.sock", "operator.sock"):
        for data, why in GARBAGE:
            with socket.socket(socket.AF_UNIX) as peer:
                peer.settimeout(15)
                peer.connect(str(stage.guard / "run" / name))
                peer.sendall(data)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65536):
                    pass
                assert daemon_pid(stage) == pid, why


# Processes that connect and say nothing, more than a daemon had files for; then the agent goes on with its work.
HOLDS = """
import os, pathlib, socket, subprocess, sys, time
for _ in range(100):
    if not os.fork():
        held = []
        for name in ("agent.sock", "operator.sock") * 20:
            peer = socket.socket(socket.AF_UNIX)
            peer.settimeout(5)
            try:
                peer.connect(sys.argv[1] + name)
            except OSError:
                continue
            held.append(peer)
        time.sleep(8)
        os._exit(0)
time.sleep(1)
pathlib.Path("held").touch()
pathlib.Path(".env").write_text("evil")
began = time.monotonic()
while pathlib.Path(".env").read_text() != "MODE=debug\\n" and time.monotonic() < began + 20:
    time.sleep(0.01)
print("put back after", time.monotonic() - began)
print(subprocess.run(["bash", "-c", "echo works"], capture_output=True, text=True))
"""


def test_connections_that_say_nothing_hold_nobody_up(stage):
    stage.commit()
    stage.write("holds.py", HOLDS)
    stage.git("add", "holds.py")
    stage.git("commit", "-qm", "holds")
    run = [str(BIN / "sentinel-guard"), "run", "--", sys.executable, "holds.py", str(stage.guard / "run") + "/"]
    with subprocess.Popen(run, cwd=stage.repo, env=stage.environ, stdout=subprocess.PIPE, text=True) as agent:
        assert until((stage.repo / "held").exists, seconds=20)
        status = stage.sentinel("status")
        out, _ = agent.communicate(timeout=limit(60))
    assert status.returncode == 0, "the person's own commands get through"
    assert float(out.split("put back after ")[1].split()[0]) < 5, out
    assert "stdout='works\\n'" in out
    log = (stage.guard / "state" / "daemon.log").read_text()
    assert "Traceback" not in log and "out of system resource" not in log


def test_two_starts_race_to_one_daemon(stage):
    starts = [
        subprocess.Popen([str(BIN / "sentinel-guard"), "daemon", "start"], env=stage.environ, cwd=stage.repo)
        for _ in range(4)
    ]
    assert [p.wait(timeout=limit(30)) for p in starts] == [0] * 4
    pid = daemon_pid(stage)
    os.kill(pid, signal.SIGKILL)
    # Stale sockets and a stale lock file lie there now.
    assert stage.sentinel("daemon", "start").returncode == 0
    assert daemon_pid(stage) != pid


def test_odd_names_folders_and_long_commands(stage):
    stage.commit()
    long = "echo " + "x" * 100_000 + " | wc -c"
    _, seen = stage.agent(
        "touch $'bad-\\xff-name' && ls | wc -l", "mkdir -p gone && cd gone && rmdir ../gone && git --version", long
    )
    assert [s["code"] for s in seen[:2]] == [0, 0], seen
    assert seen[2]["code"] == 126 or seen[2]["out"].strip() == "100001"


@pytest.mark.skipif(os.geteuid() != 0, reason="a tmpfs needs root; RLIMIT_FSIZE covers it in tests/audit for others")
def test_a_full_disk_refuses_and_loses_nothing(stage):
    stage.commit()
    mounted = stage.guard / "state"
    mounted.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(mounted)], check=False).returncode:
        pytest.skip("this machine does not let root mount a tmpfs")
    try:
        fill = f"head -c 50000000 /dev/zero > {mounted}/../fill; cat {mounted}/../fill > {mounted}/fill"
        agent = (
            "import subprocess,json,os;"
            f"os.system({fill!r});"
            "r=[subprocess.run(['bash','-c',f'echo {i}'],capture_output=True,text=True) for i in range(400)];"
            f"json.dump([[x.returncode,x.stderr] for x in r],open({str(stage.folder / 'told.json')!r},'w'))"
        )
        stage.sentinel("run", "--", sys.executable, "-c", agent)
        told = json.loads((stage.folder / "told.json").read_text())
        refused = [words for code, words in told if code == 126]
        assert refused and all(w.startswith("403 SENTINEL BLOCKED: ") for w in refused)
        (mounted / "fill").unlink()
        assert stage.sentinel("log", "verify").returncode == 0
    finally:
        stage.sentinel("daemon", "stop", "--force")
        subprocess.run(["umount", "-l", str(mounted)], check=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="a read-only mount needs root, and root writes everywhere else")
def test_a_repository_that_cannot_be_written_is_refused_with_words(stage):
    stage.commit()
    bound = ["mount", "--bind", str(stage.repo), str(stage.repo)]
    if subprocess.run(bound, check=False).returncode:
        pytest.skip("this machine does not let root mount")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(stage.repo)], check=True)
        done = stage.sentinel("run", "--", "true")
        assert done.returncode == 1
        assert "cannot be written" in done.stderr
    finally:
        subprocess.run(["umount", "-l", str(stage.repo)], check=False)


def test_a_witness_is_told_when_the_daemon_ends(stage):
    stage.commit()
    heads = stage.folder / "heads"
    stage.policy(f'[audit]\nwitness = ["file:{heads}"]\n')
    stage.sentinel("run", "--", "bash", "-c", "echo one")
    stage.sentinel("daemon", "stop", "--force")
    newest = stage.log()[-1]
    assert heads.read_text().splitlines()[-1].split()[1:] == [str(newest["seq"]), newest["hash"]]
    assert stage.sentinel("log", "verify").returncode == 0
    heads.write_text(heads.read_text().replace(newest["hash"], "0" * 64))
    verified = stage.sentinel("log", "verify")
    assert verified.returncode == 1 and "which is another one here" in verified.stdout


def test_a_clock_that_is_set_back_frees_nobody(monkeypatch):
    now = assembly._steady_clock()
    before = now()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert now() >= before
