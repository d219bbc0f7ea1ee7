"""Runs git as a subprocess, hardened: no program or setting planted in a repository or the environment takes effect.

Rules of this file:
1. git is resolved once, to an absolute path.
2. The environment is scrubbed: no ``GIT_*`` and no ``LD_*`` of the caller's is passed on.
3. The git directory and the work tree are always named; ``core.worktree`` and ``core.bare`` decide nothing.
4. Names travel with ``-z``, as bytes outside and as ``surrogateescape`` text inside.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import math
import os
import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sentinel_guard.errors import HostError

if TYPE_CHECKING:
    import subprocess


class Setting(NamedTuple):
    """One of git's."""

    scope: str
    """system, global, local or worktree."""
    key: str
    value: str | None
    """None for a key without one, which means true."""
    origin: str
    """The file that holds it, as git names it: relative to the top of the work tree, or absolute."""


TIMEOUT = 600.0
"""Seconds after which a git command is given up."""
_LAST_MOMENT = ContextVar("last moment", default=math.inf)

PIPE = 256 << 10
"""Bytes that git may be ahead of its reader: with the usual 64 KB both wake each other for megabytes of names."""

FLAGS: tuple[str, ...] = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.ignoreCase=false",
    "core.sparseCheckout=false",
    "core.multiPackIndex=false",
    "core.commitGraph=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.quotePath=false",
    "core.looseCompression=1",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "log.showSignature=false",
    "advice.graftFileDeprecated=false",
)
"""Settings that override the repository's: each was seen to lie or to run a program (recovery.md 1.2)."""
_OPTIONS = tuple(word for flag in FLAGS for word in ("-c", flag))

NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
"""A partial clone fetches what it lacks, by programs that its settings name, whatever ``protocol.allow`` says: a
``protocol.NAME.allow`` of the repository goes before.
"""

ENVIRONMENT = {
    **NO_TRANSPORT,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "sentinel-guard",
    "GIT_AUTHOR_EMAIL": "sentinel-guard@localhost",
    "GIT_COMMITTER_NAME": "sentinel-guard",
    "GIT_COMMITTER_EMAIL": "sentinel-guard@localhost",
    "LC_ALL": "C",
}


@contextlib.contextmanager
def until(moment: float) -> Iterator[None]:
    """Whatever git does within is given up then (``time.monotonic``), in the calls that it starts beside it, too."""
    before = _LAST_MOMENT.set(moment)
    try:
        yield
    finally:
        _LAST_MOMENT.reset(before)


def left(seconds: float) -> float:
    """How long a git command may take that is given so many seconds."""
    return max(0.0, min(seconds, _LAST_MOMENT.get() - time.monotonic()))


@functools.lru_cache(maxsize=1)
def program() -> str:
    """The absolute path of git. Raises HostError where there is none."""
    # Not by shutil, which is slow to import: a commit waits.
    places = (f"{folder}/git" for folder in os.get_exec_path())
    found = next((place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)), "")  # noqa: PTH113 - pathlib raises where a folder may not be entered
    if not found:
        raise HostError("git is not installed.", "Install git; sentinel-guard works in git repositories.")
    return os.path.realpath(found)


@dataclass(frozen=True, slots=True)
class Git:
    """Git on one repository."""

    git_dir: str
    work_tree: str
    index: str = ""
    """A private index file; empty for the repository's own."""
    objects: str = ""
    """Where new objects are written; empty for the git directory's own store."""
    settings: str = ""
    """A file that stands for the user's global configuration; empty for the real one."""
    umask: int = -1
    """For files that git makes; -1 for the daemon's."""
    seconds: float = TIMEOUT
    """After which a command is given up."""

    def run(self, *args: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> bytes:
        """What the command prints. Raises HostError with git's own words if it exits with a code not in ``ok``."""
        code, out, err = self._run(args, stdin)
        if code not in ok:
            words = os.fsdecode(err).strip() or f"exit code {code}"
            raise HostError(f"git {args[0]} failed in {self.work_tree}: {words}")
        return out

    def text(self, *args: str, ok: tuple[int, ...] = (0,)) -> str:
        return os.fsdecode(self.run(*args, ok=ok)).strip()

    def names(self, *args: str, ok: tuple[int, ...] = (0,)) -> list[str]:
        """The NUL-separated names that the command prints."""
        return [n for n in os.fsdecode(self.run(*args, ok=ok)).split("\0") if n]

    def _run(self, args: tuple[str, ...], stdin: bytes) -> tuple[int, bytes, bytes]:
        import subprocess  # noqa: PLC0415 - most commits start no git, and wait

        command = [program(), *_OPTIONS, *args]
        pipe = subprocess.PIPE
        try:
            with subprocess.Popen(
                command,
                stdin=pipe if stdin else subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                cwd=self.work_tree,
                env=self._environ(),
                umask=self.umask,
            ) as process:
                return self._heard(process, stdin)
        except (OSError, subprocess.SubprocessError) as e:
            raise HostError(f"git {args[0]} cannot run in {self.work_tree}: {e}") from e

    def _heard(self, process: subprocess.Popen[bytes], stdin: bytes) -> tuple[int, bytes, bytes]:
        """Its exit code, and what it printed."""
        if process.stdout:
            with contextlib.suppress(OSError):  # who has many pipes is given no larger ones
                fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, PIPE)
        try:
            out, err = process.communicate(stdin or None, timeout=left(self.seconds))
        except BaseException:
            process.kill()
            raise
        return process.returncode, out, err

    def _environ(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "LD_"))}
        named = {
            "GIT_DIR": self.git_dir,
            "GIT_WORK_TREE": self.work_tree,
            "GIT_INDEX_FILE": self.index,
            "GIT_OBJECT_DIRECTORY": self.objects,
            "GIT_CONFIG_GLOBAL": self.settings,
        }
        return kept | ENVIRONMENT | {k: v for k, v in named.items() if v}


def lines(names: Iterable[str]) -> bytes:
    """Names as ``-z`` input."""
    return b"".join(os.fsencode(n) + b"\0" for n in names)


def settings(git: Git) -> list[Setting]:
    """All settings in force, includes resolved."""
    told = git.run("config", "--list", "--includes", "--show-scope", "--show-origin", "-z")
    words, found = os.fsdecode(told).split("\0"), []
    for scope, origin, entry in zip(words[::3], words[1::3], words[2::3], strict=False):
        key, newline, value = entry.partition("\n")
        if scope != "command":
            found.append(Setting(scope, key, value if newline else None, origin.removeprefix("file:")))
    return found


def settings_file(found: Iterable[tuple[str, str | None]]) -> bytes:
    """A configuration file that holds these settings, flat."""
    text = []
    for key, value in found:
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        head = f'[{section} "{_escaped(subsection)}"]' if subsection else f"[{section}]"
        text.append(f"{head}\n\t{name}" + ("" if value is None else f' = "{_escaped(value)}"') + "\n")
    return os.fsencode("".join(text))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
