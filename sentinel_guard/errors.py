"""Exception classes with a message and a hint for their reader, named by who must act."""

from __future__ import annotations


class SentinelError(Exception):
    """What went wrong, and what to do about it. Caught once, in cli/main.py; exit code 1."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class ConfigError(SentinelError):
    """The user's: a policy file or an option is wrong."""


class PeerError(SentinelError):
    """The launcher's or agent's: bytes that are not the protocol."""


class HostError(SentinelError):
    """The machine's: no git, no permission, no room, a path too long."""


class StoreError(SentinelError):
    """The audit store's: cannot be read or written, or its chain is broken."""


class DaemonError(SentinelError):
    """The guard daemon's: not running, another version, no answer."""


class NoDaemonError(DaemonError):
    """No guard daemon runs: nobody is guarded now. One that runs and does not answer is another matter."""
