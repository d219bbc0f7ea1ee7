"""Sockets of this machine that give more than a program's own service, by where they lie, and what each gives."""

from __future__ import annotations

from fnmatch import fnmatchcase

ENGINE, BUS, AGENT, TYPING = "docker.sock", "session bus", "ssh agent", "typing"
SOCKETS = {
    ENGINE: ("*/docker.sock", "*/podman.sock", "*/containerd.sock", "*/crio.sock"),
    BUS: ("/run/user/*/bus", "/run/user/*/systemd/private"),
    AGENT: (
        *("/tmp/ssh-*/agent.*", "/run/user/*/keyring/ssh", "/run/user/*/keyring/.ssh"),  # noqa: S108 - where they lie
        *("/run/user/*/gnupg/S.gpg-agent.ssh", "/run/user/*/ssh-agent*", "*/.ssh/agent/*", "*/.1password/agent.sock"),
    ),
}
"""Right -> shell patterns of absolute paths. An engine gives the machine's root; the bus starts programs (systemd's
StartTransientUnit, a terminal's service) that are in no session; an agent signs with the person's keys.
"""


GUARD = "the guard's socket"
_GUARDS = ("*/sentinel-guard*.sock*", "*/sentinel_guard*.sock*", "*/sentinel-guard/*.sock*", "*/sentinel/*.sock*")


def is_guards(path: str) -> bool:
    """Whether a socket is called as one of the guard's own; in which folder is not always known."""
    return "sentinel" in path and any(fnmatchcase(path, glob) for glob in _GUARDS)


def right(path: str) -> str:
    """What a connection to a socket gives; empty for the socket of a program's own."""
    return next((name for name, globs in SOCKETS.items() if any(fnmatchcase(path, glob) for glob in globs)), "")
