"""The key with which found secrets are hashed (fingerprinted): equal values can be told to be equal, nothing more.

Rules of this file:
1. It is made once, by whoever is first; two processes at the same time get the same.
2. It leaves neither the state folder nor the process, and nobody else may read it.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import atomic_files
from sentinel_guard.host.machine.state_paths import StatePaths

SIZE = 32
"""Bytes of the key."""
_NAME = "leaks.key"
_log = logging.getLogger(__name__)


def key(places: StatePaths) -> bytes:
    """The key of this user, made where there is none. Raises HostError."""
    path = places.state / _NAME
    try:
        if len(found := _read(path)) == SIZE:
            return found
        with _alone(places.state):
            return _make(path)
    except OSError as e:
        raise HostError(
            f"The key {path} for finds of secrets cannot be read or made: {e.strerror}.",
            f"Make {places.state} a folder that you can write, or set SENTINEL_HOME to one.",
        ) from e


def key_or_none(places: StatePaths) -> bytes:
    """The same; empty where it cannot be had, and then no hash is told."""
    try:
        return key(places)
    except HostError as e:
        _log.warning("%s", e)
        return b""


def _make(path: Path) -> bytes:
    found = _read(path)
    if len(found) == SIZE:
        return found
    if found:
        _log.warning("the key %s was damaged and is made anew: what was found before is not told to be equal", path)
    made = secrets.token_bytes(SIZE)
    atomic_files.write(path, made, atomic_files.PRIVATE)
    return made


def _read(path: Path) -> bytes:
    """Empty where there is none. A link or anything but a file is refused: somebody else put it there."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    try:
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode) or seen.st_uid != os.getuid():
            raise HostError(f"{path} is not a file of yours.", "Remove it; it is made anew.")
        if seen.st_mode & 0o077:
            os.fchmod(descriptor, atomic_files.PRIVATE)
        return os.read(descriptor, SIZE + 1)
    finally:
        os.close(descriptor)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Whoever else makes a key waits: the lock is on the folder and ends with the process."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
