"""Whether a git process is a ``git fetch`` of a remote on another machine, not of a folder of this one.

Rules of this file:
1. What is not an ordinary ``git fetch`` of an ordinary remote is none: its commits are judged like the session's own.
2. git itself says which address it would ask, with the settings and the environment of the process in question.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sentinel_guard.core.analysis.network_addresses import host, is_local_address
from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import program

_SECONDS = 10.0
_GLOBAL = ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source")
_VALUED = (
    *("--depth", "--deepen", "--shallow-since", "--shallow-exclude", "--jobs", "-j", "--filter"),
    *("--server-option", "-o", "--negotiation-tip", "--refmap", "--recurse-submodules-default", "--submodule-prefix"),
)
_FLAGS = frozenset(
    (
        *("--quiet", "--verbose", "--prune", "--prune-tags", "--tags", "--no-tags", "--force", "--append", "--atomic"),
        *("--keep", "--progress", "--no-progress", "--update-head-ok", "--recurse-submodules", "--unshallow"),
        *("--no-recurse-submodules", "--update-shallow", "--no-auto-gc", "--auto-gc", "--auto-maintenance", "--ipv4"),
        *("--no-auto-maintenance", "--write-fetch-head", "--no-write-fetch-head", "--set-upstream", "--ipv6"),
        *("--show-forced-updates", "--no-show-forced-updates", "--write-commit-graph", "--no-prune", "--refetch"),
        *("--no-write-commit-graph", "--prefetch", "--multiple"),
    )
)
ALL = "--all"
_SHORT = re.compile(r"-[qvptnfaku46P]+|-j\d+")
_AWAY = re.compile(r"(?:https?|ssh|git|git\+ssh|ssh\+git|ftps?)://.+|[^/:]+:(?!:|//).*", re.IGNORECASE)
_ADDRESS = re.compile(r"remote\..*\.url", re.DOTALL)
_STEERS = re.compile(r"remote\..*\.(?:uploadpack|vcs)|core\.(?:sshcommand|gitproxy)", re.DOTALL)
"""Settings that put a program of one's choice in place of the way to a remote."""
_STEERING = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND")


@functools.lru_cache(maxsize=1)
def programs() -> frozenset[str]:
    """The files that are git itself: the one on PATH, and the one that it starts. Raises HostError."""
    return frozenset((program(), os.path.realpath(f"{_own_folder()}/git")))


@functools.lru_cache(maxsize=1)
def _own_folder() -> str:
    """Where git has its programs; it tells them by the environment, too."""
    return _said(Path("/"), {}, "--exec-path").removesuffix("\n")


def remote_of(command: Sequence[str]) -> str | None:
    """The remote that a ``git fetch`` names, empty where the settings say, ALL; None for any other command."""
    words = _behind_fetch(command)
    if words and ALL in words:
        return ALL
    while words:
        word = words.pop(0)
        if word in _VALUED:
            words = words[1:]
        elif not word.startswith("-"):
            return word
        elif word == "--":
            return words[0] if words else ""
        elif not (word in _FLAGS or _SHORT.fullmatch(word) or word.partition("=")[0] in {*_VALUED, *_FLAGS}):
            return None
    return None if words is None else ""


def _behind_fetch(command: Sequence[str]) -> list[str] | None:
    words = [*command[1:]]
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in _GLOBAL else words[1:]
    return words[1:] if words[:1] == ["fetch"] else None


def is_elsewhere(remote: str, work: Path, environ: Mapping[str, str], start: frozenset[tuple[str, str]]) -> bool:
    """Whether a fetch of ``remote`` in ``work`` asks another machine, or a folder that was a remote at the start.

    ``environ``: the whole environment that the git process gives its hook; ``start``: the settings of then.
    """
    if any(environ.get(name) for name in _STEERING):
        return False
    try:
        if environ.get("GIT_EXEC_PATH", _own_folder()) != _own_folder():
            return False
        listed = _said(work, environ, "config", "--list", "-z").split("\0")
        now = {(key, value) for key, _, value in (row.partition("\n") for row in listed)}
        names = [key[7:-4] for key, _ in now if _ADDRESS.fullmatch(key)] if remote == ALL else [remote]
        urls = [_said(work, environ, "ls-remote", "--get-url", *filter(None, [name])) for name in names]
    except HostError:
        return False
    steered = any(_STEERS.fullmatch(key) for key, _ in now - start)
    usual = {value for key, value in start if _ADDRESS.fullmatch(key)}
    return not steered and all(_leads_away(url) or url in usual for url in (u.removesuffix("\n") for u in urls))


def _leads_away(url: str) -> bool:
    return _AWAY.fullmatch(url) is not None and not is_local_address(url) and host(url) != os.uname().nodename


def _said(work: Path, environ: Mapping[str, str], *args: str) -> str:
    kept = {name: value for name, value in environ.items() if not name.startswith(("LD_", "GIT_TRACE"))}
    try:
        done = subprocess.run(
            [program(), "--no-pager", *args],
            capture_output=True, check=True, cwd=work, env=kept, timeout=_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as e:
        raise HostError(f"git {args[0]} cannot run in {work}: {type(e).__name__}") from e
    return os.fsdecode(done.stdout)
