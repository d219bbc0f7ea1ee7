"""``sentinel-guard daemon``: start, stop, status, run."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import time
from typing import NoReturn

from sentinel_guard.client import Operator
from sentinel_guard.core.peer import Peer
from sentinel_guard.errors import DaemonError
from sentinel_guard.host.machine import allocator, processes
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.start_daemon import environ_to_start

READY = 30.0
"""Seconds that a daemon may take until it answers: a loaded machine needs more than ten."""
GONE = 10.0
"""Seconds that a daemon may take to end."""
OURS = "sentinel-guard: "
"""What an error of ours begins with (``cli/main.py``)."""
READ = 1 << 16
"""Bytes of the log that are looked at for it."""
ATTEMPTS = 3
"""Daemons that are started: one that finds an older one still ending its work gives up."""


def run(places: StatePaths) -> int:
    """Serve in the foreground until stopped or idle. Raises DaemonError where one runs already."""
    places.make()
    lock = os.open(places.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as e:
        raise DaemonError("A guard daemon runs already.", "sentinel-guard daemon status") from e
    allocator.keep_little()
    # All parts of the daemon: 0.3 s that only the one that serves has to wait for.
    from sentinel_guard.daemon import assembly  # noqa: PLC0415

    assembly.serve(places)
    return 0


def start(places: StatePaths) -> int:
    """Start it in the background and wait until it answers. Starting twice is starting once."""
    places.make()
    said = places.daemon_log.stat().st_size if places.daemon_log.exists() else 0
    for _ in range(ATTEMPTS):
        if _hello(places) is not None or _answers(places, _detach(places)):
            return 0
    raise DaemonError("The guard daemon did not start.", _reason(places, said))


def _reason(places: StatePaths, since: int) -> str:
    """The words with which daemons have given up, once; ``since``: bytes of the log that are older."""
    with contextlib.suppress(OSError), places.daemon_log.open("rb") as log:
        log.seek(since)
        lines = log.read(READ).decode(errors="replace").splitlines()
        if words := [w for line in lines if (w := line.removeprefix(OURS)) != line]:
            return f"{words[-1]} (The log: {places.daemon_log})"
    return f"See {places.daemon_log}."


def stop(places: StatePaths, *, force: bool) -> int:
    hello = _hello(places)
    if hello is None:
        print("No guard daemon runs.")
        return 0
    served = processes.identify(int(str(hello["pid"])))
    with Operator(places, start=False) as operator:
        operator.request("stop", force=force)
    _gone(served)
    print("The guard daemon has stopped.")
    return 0


def status(places: StatePaths, *, as_json: bool) -> int:
    """Say whether it runs; exit code 1 where it does not."""
    hello = _hello(places)
    if as_json:
        print(json.dumps({"daemons": [hello] if hello else []}))
    elif hello is None:
        print("No guard daemon runs. It starts by itself with 'sentinel-guard run'.")
    else:
        count = "1 session" if hello["sessions"] == 1 else f"{hello['sessions']} sessions"
        print(f"The guard daemon {hello['version']} runs as process {hello['pid']} with {count}.")
    return 0 if hello else 1


def _hello(places: StatePaths) -> dict[str, object] | None:
    try:
        with Operator(places, start=False) as operator:
            return operator.request("hello")
    except DaemonError:
        return None


def _detach(places: StatePaths) -> int:
    """Leave a daemon behind that is no child of ours, with the log as its output. Returns its pid."""
    environ = environ_to_start(places)  # while our ancestors are still ours
    told, tell = os.pipe()
    if not os.fork():
        os.setsid()
        if pid := os.fork():
            os.write(tell, str(pid).encode())
            os._exit(0)
        _become_daemon(places, environ)
    os.close(tell)
    os.wait()
    with os.fdopen(told, "rb") as said:
        return int(said.read() or 0)


def _become_daemon(places: StatePaths, environ: dict[str, str]) -> NoReturn:
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    log = os.open(places.daemon_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for target, source in ((0, null), (1, log), (2, log)):
        os.dup2(source, target)
    os.closerange(3, 256)
    program = [sys.executable, "-I", "-m", "sentinel_guard", "daemon", "run"]
    os.execve(sys.executable, program, environ)  # noqa: S606 - no shell wanted


def _answers(places: StatePaths, pid: int) -> bool:
    """Wait for a daemon's hello: the one that was started, or the one that holds the lock before which it gave up."""
    begun = processes.identify(pid)
    deadline = time.monotonic() + READY
    while time.monotonic() < deadline:
        there = (begun is not None and processes.alive(begun)) or _locked(places)
        if _hello(places) is not None:
            return True
        if not there:
            return False
        time.sleep(0.02)
    raise DaemonError(f"The guard daemon did not answer within {READY:g} s.", f"See {places.daemon_log}.")


def _locked(places: StatePaths) -> bool:
    """Whether a daemon is beginning, serving or ending."""
    with contextlib.closing(os.fdopen(os.open(places.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _gone(served: Peer | None) -> None:
    deadline = time.monotonic() + GONE
    while served and time.monotonic() < deadline:
        # A zombie has gone, however long its parent takes to notice.
        if not processes.alive(served):
            return
        time.sleep(0.02)
    if served:
        raise DaemonError(f"The guard daemon (process {served.pid}) has not ended yet.", "Try again in a moment.")
