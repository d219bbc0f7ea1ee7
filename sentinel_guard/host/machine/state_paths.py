"""Paths of the guard's state, settings and sockets: the XDG folders, or everything below ``SENTINEL_HOME``.

Folders are made on demand, mode 0700. Nothing here reads the clock or the network.

One home, one daemon: state and settings decide which one, though homes of one user share XDG_RUNTIME_DIR, and a login
by ssh or cron may have none. So the sockets' folder has the home in its name where it is not the user's usual one, and
a daemon writes down where it listens.
"""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.errors import HostError

MAX_SOCKET_PATH = 107
"""Bytes that a Unix socket path may have (unix(7): sun_path of 108 with its closing NUL)."""


class StatePaths(NamedTuple):
    """The product's folders of one user."""

    state: Path
    runtime: Path
    config: Path
    home: str = ""
    """The value of SENTINEL_HOME; empty where it is not set."""

    @property
    def githook_folder(self) -> Path:
        """Where the launcher lies that git hooks ask, and its settings."""
        return self.state / "hooks"

    @property
    def agent_socket(self) -> Path:
        return self.runtime / "agent.sock"

    @property
    def operator_socket(self) -> Path:
        return self.runtime / "operator.sock"

    @property
    def lock(self) -> Path:
        return self.runtime / "daemon.lock"

    @property
    def database(self) -> Path:
        return self.state / "audit.sqlite3"

    @property
    def daemon_log(self) -> Path:
        return self.state / "daemon.log"

    @property
    def listens(self) -> Path:
        """Where the daemon of this state writes down its sockets' folder, and its settings' folder."""
        return self.state / "daemon.listens"

    @property
    def policy(self) -> Path:
        """The user's own policy file."""
        return self.config / "sentinel.toml"

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings' folder; where SENTINEL_HOME moves it, also what the user's usual guard has below HOME."""
        home = os.environ.get("HOME", "") if self.home else ""
        usual = (f"{home}/.config/sentinel-guard", f"{home}/.local/state/sentinel-guard") if home[:1] == "/" else ()
        return str(self.config), *usual

    @property
    def sessions(self) -> Path:
        """The folder of all sessions."""
        return self.state / "sessions"

    def session(self, session: str) -> Path:
        """The folder of one session: shims, baseline, vault, quarantine."""
        return self.sessions / session

    def shims(self, session: str) -> Path:
        return self.session(session) / "shims"

    def say_where_it_listens(self) -> None:
        """For clients of the same home whose environment names another folder. Raises OSError."""
        aside = self.listens.with_suffix(".new")
        aside.write_bytes(os.fsencode(f"{self.runtime}\n{self.config}\n"))
        aside.replace(self.listens)

    def make(self) -> None:
        """Make the folders, private. Raises HostError with words."""
        for folder in (self.state, self.runtime, self.config):
            _private(folder)
        too_long = len(os.fsencode(self.operator_socket)) - MAX_SOCKET_PATH
        if too_long > 0:
            raise HostError(
                f"The socket path {self.operator_socket} is {too_long} bytes too long (limit {MAX_SOCKET_PATH}).",
                "Set SENTINEL_HOME or XDG_RUNTIME_DIR to a shorter path.",
            )


def places(environ: Mapping[str, str] | None = None) -> StatePaths:
    """The folders that the environment names. Raises HostError where there is no HOME."""
    env = os.environ if environ is None else environ
    if own := env.get("SENTINEL_HOME"):
        base = Path(own).absolute()
        return StatePaths(base / "state", base / "run", base / "config", str(base))
    home = env.get("HOME")
    if not home or not home.startswith("/"):
        raise HostError("HOME is not set, so there is no place to keep the audit log.", "Set HOME or SENTINEL_HOME.")
    state = Path(env.get("XDG_STATE_HOME") or f"{home}/.local/state") / "sentinel-guard"
    config = Path(env.get("XDG_CONFIG_HOME") or f"{home}/.config") / "sentinel-guard"
    runtime = env.get("XDG_RUNTIME_DIR")
    run = f"{runtime}/sentinel-guard" if runtime else f"/tmp/sentinel-guard-{os.getuid()}"  # noqa: S108 - checked by _private
    usual = StatePaths(state, Path(run + _suffix(state, config)), config)
    return StatePaths(state, _listening(usual) or usual.runtime, config)


def _suffix(state: Path, config: Path) -> str:
    """What tells the sockets of this home from those of the user's usual one; empty for the latter."""
    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a container's user without a name
        home = os.environ.get("HOME", "")
    usual = (f"{home}/.local/state/sentinel-guard", f"{home}/.config/sentinel-guard")
    asked = (os.path.realpath(state), os.path.realpath(config))
    if asked == tuple(map(os.path.realpath, usual)):
        return ""
    import hashlib  # noqa: PLC0415 - few have another home

    return "-" + hashlib.sha256(os.fsencode("\0".join(asked))).hexdigest()[:8]


def _listening(usual: StatePaths) -> Path | None:
    """The folder where this home's daemon listens, or did; it may have been started from another kind of login. What
    was told that folder (launchers of sessions and of git hooks) finds the next daemon there.
    """
    with contextlib.suppress(OSError, ValueError):
        run, config = os.fsdecode(usual.listens.read_bytes()).splitlines()
        # Another policy is another guard's; the lock on the log tells.
        if config == str(usual.config) and Path(run).lstat().st_uid == os.getuid():
            return Path(run)
    return None


def _private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        seen = folder.lstat()
    except OSError as e:
        raise HostError(
            f"Cannot make the folder {folder}: {e.strerror}.", "Set SENTINEL_HOME to a folder that you can write."
        ) from e
    if folder.is_symlink() or seen.st_uid != os.getuid():
        raise HostError(
            f"The folder {folder} is not yours.", "Remove it, or set SENTINEL_HOME to a folder that is yours."
        )
    if seen.st_mode & 0o077:
        folder.chmod(0o700)
