"""Starts the guard daemon on demand.

Rules of this file:
1. One client at a time starts it (a lock in the runtime folder, given up when the start has ended, or with the client).
2. It gets a clean environment, by an allow-list: nothing that an agent can set steers it. What starts it from inside a
   session gives it the environment in which the session was begun.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

from sentinel_guard.errors import DaemonError, HostError
from sentinel_guard.host import session_environ
from sentinel_guard.host.machine import ancestry, processes
from sentinel_guard.host.machine.state_paths import StatePaths

FAILED = "The guard daemon could not be started."
START = (sys.executable, "-I", "-m", "sentinel_guard", "daemon", "start")
# What a daemon needs of its starter's environment. PATH is for git and notify-send.
_KEPT = (
    "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SENTINEL_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "SENTINEL_DEBUG",
)  # fmt: skip


class Starter:
    """Starts the daemon, at most one client at a time."""

    def __init__(self, places: StatePaths, command: Sequence[str] = ()) -> None:
        """``command``: another one than START. Raises HostError where the machine has no room for a lock."""
        self._places, self._command = places, command or START
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._lock = os.open(places.runtime / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
            # A file, not a pipe: the daemon may keep its standard error for ever.
            self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        except OSError as e:
            words = f"The guard daemon cannot be started: {e.strerror} ({places.runtime})."
            raise HostError(words, "Make room, or set SENTINEL_HOME to a folder that you can write.") from e

    def turn(self) -> None:
        """Go on starting; never waits. Raises DaemonError with the words of a start that failed."""
        if self._process is None:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._process = self._spawn()
        elif (code := self._process.poll()) is not None:
            if code:
                raise DaemonError(FAILED, self.words or f"See {self._places.daemon_log}.")
            # The daemon answered, and has been ended since: whoever holds the lock starts the next one, or gives it up.
            self._process = None
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    @property
    def lives(self) -> bool:
        """Whether the daemon that was started, by this client or by another one, is on its way."""
        if self._process is not None:
            return self._process.poll() is None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._lock, fcntl.LOCK_UN)
        return False

    @property
    def words(self) -> str:
        """What the start has said on its standard error."""
        self._said.seek(0)
        return self._said.read(4000).decode(errors="replace").strip()

    def close(self) -> None:
        if self._process:
            self._process.poll()
            # It goes on without us; Popen would warn of a child that is not waited for.
            self._process.returncode = self._process.returncode or 0
        self._said.close()
        os.close(self._lock)

    def _spawn(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self._command,
                cwd="/",
                env=environ_to_start(self._places),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,
            )
        except OSError as e:
            raise DaemonError(f"{FAILED[:-1]}: {e}.", "Is sentinel-guard installed as a whole?") from e


def environ_to_start(places: StatePaths) -> dict[str, str]:
    """The environment for a daemon that this process starts: inside a session that in which it was begun, else ours."""
    above = (processes.environ(peer.pid) for peer in ancestry.lineage(processes.own_pid()))
    for given in (dict(os.environ), *above):
        session = given.get("SENTINEL_SESSION", "")
        if session and "/" not in session and (begun := session_environ.begun_in(places.shims(session))):
            return begun
    return daemon_environ(places)


def daemon_environ(places: StatePaths, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a daemon: an allow-list, and PATH without any session's shims."""
    given = os.environ if environ is None else environ
    shims = f"{places.state}/sessions/"
    path = (folder for folder in given.get("PATH", os.defpath).split(":") if not folder.startswith(shims))
    return {name: given[name] for name in _KEPT if name in given} | {"PATH": ":".join(path)}
