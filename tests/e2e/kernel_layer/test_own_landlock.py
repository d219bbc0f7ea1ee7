"""The ways round a held call that are left; what gets through is put back (docs/kernel-layer.md, "What is left").

A program confines itself, then exchanges the path under the call: its own ruleset must judge its calls, so the kernel
goes on with them, and reads the path a second time. And a program outside of the session hands over what it has open.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading

import pytest

from tests.e2e.test_kernel_layer import program
from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit
from tests.support.wait_until import until

WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] if os.geteuid() == 0 else []
GIVEN = """
import ctypes, socket, struct, threading
near = socket.socket(socket.AF_UNIX)
near.connect("handed-over")
fd = socket.recv_fds(near, 1, 1)[1][0]
os.write(fd, b"EVIL")
os.close(fd)
print("given", flush=True)
while "EVIL" in open(name).read():
    time.sleep(0.01)
print("put back", flush=True)
"""
FLIPS = """
libc = ctypes.CDLL(None, use_errno=True)
rules = libc.syscall(444, struct.pack("Q", 1 << 11), 8, 0)  # of nothing but devices that it makes
libc.prctl(38, 1, 0, 0, 0)
print("confined", libc.syscall(446, rules, 0), flush=True)
path = ctypes.create_string_buffer(b"a.txt", 8)
def flip():
    while True:
        path.value = b"a.txt"; path.value = name.encode()
threading.Thread(target=flip, daemon=True).start()
end = time.monotonic() + 20
while time.monotonic() < end:
    fd = libc.openat(-100, path, os.O_WRONLY)
    if fd < 0:
        continue
    if os.readlink(f"/proc/self/fd/{fd}").endswith(name):
        os.write(fd, b"EVIL")
        print("through", flush=True)
        break
    os.close(fd)
os._exit(0)
"""


def hand_over(path: str, listener: socket.socket) -> None:
    """A program outside of the session gives away what it has open for writing."""
    peer, _ = listener.accept()
    with peer, open(path, "r+b") as file:  # noqa: PTH123 - as programs do
        socket.send_fds(peer, [b"x"], [file.fileno()])


@pytest.fixture
def stage(alone):
    """Its daemon has no more rights than the session that starts it."""
    return alone


def test_what_comes_from_outside_or_by_a_flipped_path_is_put_back(held):
    command = [str(BIN / "sentinel-guard"), "run", "--", *program(held, ".env", GIVEN + FLIPS).split()]
    listener = socket.create_server(str(held.repo / "handed-over"), family=socket.AF_UNIX)
    threading.Thread(target=hand_over, args=(str(held.repo / ".env"), listener), daemon=True).start()
    done = subprocess.run(
        [*WITHOUT_RIGHTS, *command], cwd=held.repo, env=held.environ, capture_output=True, text=True, check=False,
        timeout=limit(90),
    )  # fmt: skip
    listener.close()
    assert "given\nput back\nconfined 0" in done.stdout, done
    assert held.log(kind="watch"), "what came from outside"
    assert until(lambda: (held.repo / ".env").read_text() == "MODE=debug\n"), done
    if "through" in done.stdout:  # else the race was lost each time
        assert until(lambda: held.log(kind="watch")), done
