"""The one way round a held call that is left: a program confines itself, then exchanges the path under the call.

Its own ruleset must judge its calls, so the kernel goes on with them, and reads the path a second time. What gets
through is put back (docs/kernel-layer.md, "What is left").
"""

from __future__ import annotations

import os
import subprocess

from tests.e2e.test_kernel_layer import program
from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit
from tests.support.wait_until import until

WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] if os.geteuid() == 0 else []
FLIPS = """
import ctypes, struct, threading
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


def test_what_a_flipped_path_lets_through_is_put_back(held):
    command = [str(BIN / "sentinel-guard"), "run", "--", *program(held, ".env", FLIPS).split()]
    done = subprocess.run(
        [*WITHOUT_RIGHTS, *command], cwd=held.repo, env=held.environ, capture_output=True, text=True, check=False,
        timeout=limit(90),
    )  # fmt: skip
    assert "confined 0" in done.stdout, done
    assert until(lambda: (held.repo / ".env").read_text() == "MODE=debug\n"), done
    if "through" in done.stdout:  # else the race was lost each time
        assert until(lambda: held.log(kind="watch")), done
