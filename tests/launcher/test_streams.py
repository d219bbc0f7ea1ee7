"""What a supervised program writes and reads (docs/protocol.md, "Supervise")."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.support.launcher_guard import link, real, started, value, values
from tests.support.time_limits import limit
from tests.support.wait_until import until

TAIL = 64 * 1024

LARGE = 100 << 20


def test_large_output_on_both_streams(guard):
    """200 MB in all, error first: whoever reads one stream to its end before the other must not be blocked by us."""
    g = guard()
    script = f"head -c {LARGE} /dev/zero >&2 & head -c {LARGE} /dev/zero; wait"
    with started(g, "bash", "-c", script) as p:
        counts = {}

        def count(name, stream):
            counts[name] = sum(len(block) for block in iter(lambda: os.read(stream.fileno(), 1 << 20), b""))

        readers = [threading.Thread(target=count, args=row) for row in (("out", p.stdout), ("err", p.stderr))]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert p.wait(limit(10)) == 0
    assert counts == {"out": LARGE, "err": LARGE}
    assert value(g.outcomes[0], "1") == value(g.outcomes[0], "2") == bytes(TAIL)


def test_a_slow_reader_loses_nothing(guard):
    g = guard()
    with started(g, "bash", "-c", "seq 100000") as p:
        read = b""
        while block := os.read(p.stdout.fileno(), 30000):
            read += block
            time.sleep(0.002)
        assert p.wait(limit(10)) == 0
    assert read.split() == [str(n).encode() for n in range(1, 100001)]


CLOSED_READERS = [
    ("pipe", "a pipe"),
    ("socket", "a socket, as Node gives its children"),
]


@pytest.mark.parametrize(("kind", "why"), CLOSED_READERS, ids=[row[-1] for row in CLOSED_READERS])
def test_a_reader_that_goes_away_ends_the_program_by_sigpipe(guard, kind, why):
    g = guard()
    if kind == "pipe":
        reader, writer = os.pipe()
    else:
        one, other = socket.socketpair()
        reader, writer = one.detach(), other.detach()
    p = subprocess.Popen([g.shim("yes")], stdout=writer)
    os.close(writer)
    assert os.read(reader, 2) == b"y\n"
    os.close(reader)
    assert p.wait(limit(10)) == -signal.SIGPIPE


def test_a_program_learns_at_its_first_write_that_nobody_reads(guard):
    g = guard()
    reader, writer = os.pipe()
    p = subprocess.Popen([g.shim("bash"), "-c", "read x; echo lost; exit 3"], stdin=subprocess.PIPE, stdout=writer)
    os.close(writer)
    os.close(reader)
    time.sleep(0.1)
    p.stdin.write(b"go\n")
    p.stdin.close()
    assert p.wait(limit(10)) == -signal.SIGPIPE


def test_an_early_end_of_output_is_seen_early(guard):
    g = guard()
    with started(g, "bash", "-c", "echo all; exec >&-; read x; exit 3", stdin=subprocess.PIPE) as p:
        assert p.stdout.read() == b"all\n"
        assert p.poll() is None
        p.stdin.close()
        assert p.wait(limit(10)) == 3


def test_a_background_job_outlives_the_program_and_loses_nothing(guard):
    g = guard()
    script = "(sleep 0.4; echo late; sleep 0.2; head -c 200000 /dev/zero; echo last >&2) & echo early"
    with started(g, "bash", "-c", script) as p:
        assert p.stdout.readline() == b"early\n"
        began = time.monotonic()
        assert p.wait(limit(10)) == 0
        assert time.monotonic() - began < limit(0.35)
        assert p.stdout.read() == b"late\n" + bytes(200_000)
        assert p.stderr.read() == b"last\n"


def test_a_background_job_with_its_own_output_keeps_nobody_waiting(guard):
    g = guard()
    began = time.monotonic()
    done = g.run("bash", "-c", "sleep 3 >/dev/null 2>&1 & echo early")
    assert (done.returncode, done.stdout) == (0, b"early\n")
    assert time.monotonic() - began < limit(2)


def test_a_full_pipe_that_nobody_reads_does_not_keep_the_launcher(guard):
    """An agent may wait for the end first and read then."""
    g = guard()
    script = "head -c 1000000 /dev/zero & until [ $(ls -l /proc/$!/fd 2>/dev/null | wc -l) -gt 1 ]; do :; done; exit 3"
    with started(g, "bash", "-c", script) as p:
        assert p.wait(limit(5)) == 3
        assert len(p.stdout.read()) == 1_000_000


def test_a_background_job_dies_by_sigpipe_when_the_reader_goes(guard, tmp_path):
    g = guard()
    # The word comes first: the job fills the pipe, and no shell writes into a full one.
    script = f"echo early; (trap '' HUP; {real('yes')}; echo $? > {tmp_path}/code) &"
    p = subprocess.Popen([g.shim("bash"), "-c", script], stdout=subprocess.PIPE)
    assert p.wait(limit(10)) == 0
    p.stdout.close()
    assert until(lambda: (tmp_path / "code").exists() and (tmp_path / "code").read_text() == "141\n")


def test_the_relay_of_a_background_job_holds_nothing_else(guard, tmp_path):
    """Standard input, other descriptors, the folder: whoever waits for those must not wait for the job."""
    g = guard()
    reader, writer = os.pipe()
    other_reader, other_writer = os.pipe()
    script = "sleep 1 <&- 7>&- & echo early"
    p = subprocess.Popen([g.shim("bash"), "-c", script], stdin=reader, stdout=subprocess.PIPE, pass_fds=[other_writer])
    os.close(reader)
    os.close(other_writer)
    p.stdout.readline()
    assert p.wait(limit(10)) == 0
    (relay,) = [p for p in Path("/proc").glob("[0-9]*") if link(p / "exe") == g.shim("bash")]
    assert until(lambda: len(held(relay)) == 2)
    assert [name.partition(":")[0] for name in held(relay)] == ["pipe", "pipe"]
    assert link(relay / "cwd") == "/"
    p.stdout.close()
    os.close(writer)
    os.close(other_reader)


def held(process):
    """What a process has open."""
    return [link(fd) for fd in (process / "fd").iterdir()]


ORDER = "for i in $(seq 300); do echo out$i; echo err$i >&2; done"


@pytest.mark.parametrize("kind", ["pipe", "socket", "file"])
def test_streams_that_are_one_keep_their_order(guard, tmp_path, kind):
    g = guard()
    expected = b"".join(b"out%d\nerr%d\n" % (i, i) for i in range(1, 301))
    if kind == "pipe":
        seen = g.run("bash", "-c", ORDER, capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    elif kind == "socket":
        one, other = socket.socketpair()
        with one, started(g, "bash", "-c", ORDER, stdout=other, stderr=other) as p:
            other.close()
            seen = b"".join(iter(lambda: one.recv(1 << 16), b""))
            assert p.wait(limit(10)) == 0
    else:
        with (tmp_path / "log").open("ab") as f:
            f.write(b"before")
            f.flush()
            g.run("bash", "-c", ORDER, capture_output=False, stdout=f, stderr=f)
        seen = (tmp_path / "log").read_bytes().removeprefix(b"before")
    assert seen == expected
    assert value(g.outcomes[0], "1") == value(g.outcomes[0], "2") == expected


UNTOUCHED = [
    ("file", "a file"),
    ("/dev/null", "/dev/null"),
    ("datagram", "a socket that keeps the borders of messages"),
    ("terminal", "a terminal"),
]


@pytest.mark.parametrize(("kind", "why"), UNTOUCHED, ids=[row[-1] for row in UNTOUCHED])
def test_what_is_no_stream_is_given_to_the_program_itself(guard, tmp_path, kind, why):
    g = guard()
    opened = []
    if kind == "datagram":
        opened = [s.detach() for s in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)]
    elif kind == "terminal":
        opened = list(os.openpty())
    else:
        opened = [os.open(tmp_path / "log" if kind == "file" else kind, os.O_RDWR | os.O_CREAT)]
    target = opened[-1]
    name = link(Path(f"/proc/self/fd/{target}"))
    script = f"readlink /proc/self/fd/1 > {tmp_path}/seen; echo said"
    done = g.run("bash", "-c", script.replace("/proc/self", "/proc/$$"), capture_output=False, stdout=target)
    for fd in opened:
        os.close(fd)
    assert done.returncode == 0
    assert (tmp_path / "seen").read_text() == name + "\n"
    assert values(g.outcomes[0], "1") == ([b"said\n"] if kind == "file" else [])


def test_what_was_written_to_a_file_is_read_back_from_where_it_began(guard, tmp_path):
    g = guard()
    with (tmp_path / "log").open("wb") as f:
        f.write(b"old\n" * 10)
        f.flush()
        g.run("bash", "-c", "echo new; echo failed >&2", capture_output=False, stdout=subprocess.DEVNULL, stderr=f)
    assert value(g.outcomes[0], "2") == b"failed\n"
    assert values(g.outcomes[0], "1") == []


def test_the_tail_is_the_last_64_kib(guard):
    g = guard()
    done = g.run("seq", "30000")
    assert len(done.stdout) > 2 * TAIL
    assert value(g.outcomes[0], "1") == done.stdout[-TAIL:]


def test_standard_input_is_interactive(guard):
    g = guard()
    with started(g, real("cat").rsplit("/", 1)[1], stdin=subprocess.PIPE) as p:
        for line in (b"one\n", b"two\n"):
            p.stdin.write(line)
            p.stdin.flush()
            assert p.stdout.readline() == line
        p.stdin.close()
        assert p.wait(limit(10)) == 0


def test_a_non_blocking_output_stays_as_it_is(guard):
    """Node's pipes are non-blocking; the mode belongs to everyone who shares the description."""
    g = guard()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    p = subprocess.Popen([g.shim("seq"), "50000"], stdout=writer)
    read = b""
    while len(read) < 100_000:
        time.sleep(0.001)
        read += os.read(reader, 1 << 16)
    assert os.get_blocking(writer) is False
    os.close(writer)
    while block := os.read(reader, 1 << 16):
        read += block
    os.close(reader)
    assert p.wait(limit(10)) == 0
    assert read.split()[-1] == b"50000"


def test_a_blocking_output_stays_as_it_is(guard):
    g = guard()
    reader, writer = os.pipe()
    p = subprocess.Popen([g.shim("bash"), "-c", "echo x; read y"], stdout=writer, stdin=subprocess.PIPE)
    os.read(reader, 10)
    assert os.get_blocking(writer) is True
    p.stdin.close()
    p.wait(limit(10))
    os.close(reader)
    os.close(writer)
