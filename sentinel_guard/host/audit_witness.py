"""Tells the newest place and hash of the audit log to a second place, and reads them back: a log that is rewritten
together with its head file, or put back from an older copy, does not fit there (docs/threat-model.md).

Rules of this file:
1. A witness is a file (``file:/PATH``), a ref in a repository (``git:/REPO#refs/NAME``) or the machine's log
   (``syslog``), which is written and not read back.
2. Nothing in a witness is ever changed: a line is added, a commit is put upon the last one.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.core.hash_chain import Head
from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import Git

_LINE = re.compile(r"(\d+\.\d{3}) (\d{1,18}) ([0-9a-f]{64})")
_REPOSITORY = re.compile(r"git:(/[^#\0]*)#(refs/[^#\s]+)")
log = logging.getLogger(__name__)
_HINT = "[audit] witness names file:/PATH, git:/REPO#refs/NAME or syslog; see docs/policy.md."


@dataclass(frozen=True, slots=True)
class Witnessed:
    """What a witness was told, and when: seconds of the epoch."""

    at: float
    head: Head


class Teller:
    """Tells each witness what it was not told yet."""

    def __init__(self) -> None:
        self._last: dict[str, Head] = {}

    def tell(self, witnesses: Iterable[str], head: Head) -> None:
        """One that cannot be told keeps no other from it; it is told the next time."""
        for witness in witnesses:
            if self._last.get(witness) == head:
                continue
            try:
                tell(witness, head, time.time())
            except Exception as e:  # noqa: BLE001 - as above
                log.warning("the witness %r was not told: %s", witness, e)
            else:
                self._last[witness] = head


def tell(witness: str, head: Head, at: float) -> None:
    """Raises HostError where it cannot be told, or is none of these."""
    line = f"{at:.3f} {head.seq} {head.hash}"
    if witness == "syslog":
        import syslog  # noqa: PLC0415 - only where it is wanted

        syslog.syslog(syslog.LOG_AUTHPRIV | syslog.LOG_NOTICE, f"sentinel-guard audit: {line}")
    elif path := _file(witness):
        _add(path, line)
    else:
        git, ref = _ref(witness)
        tree = git.run("mktree", stdin=b"").decode().strip()
        last = git.text("rev-parse", "--verify", "--quiet", ref, ok=(0, 1))
        made = git.text("commit-tree", tree, "-m", line, *(("-p", last) if last else ()))
        git.run("update-ref", ref, made, last or "0" * len(made))


def told(witness: str) -> list[Witnessed] | None:
    """All that it was told, oldest first; None for one that is not read back. Raises HostError where it cannot be
    read, or was never told anything.
    """
    if witness == "syslog":
        return None
    if path := _file(witness):
        text = _text(path)
    else:
        git, ref = _ref(witness)
        text = git.text("log", "--reverse", "--format=%B", ref, "--")
    return [Witnessed(float(at), Head(int(seq), digest)) for at, seq, digest in _LINE.findall(text)]


def _file(witness: str) -> Path | None:
    kind, _, path = witness.partition(":")
    return Path(path) if kind == "file" and path.startswith("/") and "\0" not in path else None


def _ref(witness: str) -> tuple[Git, str]:
    found = _REPOSITORY.fullmatch(witness)
    if not found:
        raise HostError(f"{witness!r} is no witness.", _HINT)
    inner = f"{found[1]}/.git"
    # Not pathlib's: that raises where a folder may not be entered.
    return Git(inner if os.path.isdir(inner) else found[1], found[1]), found[2]  # noqa: PTH112


def _text(path: Path) -> str:
    try:
        # As below.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
            return (file.read() or b"").decode("ascii", "replace")
    except OSError as e:
        raise HostError(f"The witness file:{path} cannot be read: {e.strerror}.", _HINT) from e


def _add(path: Path, line: str) -> None:
    try:
        # A pipe in its place is not waited for.
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, f"{line}\n".encode())
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as e:
        raise HostError(f"The witness file:{path} cannot be written: {e.strerror}.", _HINT) from e
