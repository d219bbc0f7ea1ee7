"""The kernel layer of this machine: the broker of held system calls, whether it works here, and what it is to hold."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import sentinel_guard
from sentinel_guard.core.analysis.socket_rights import AGENT, BUS, SOCKETS
from sentinel_guard.host.machine.find_program import find_program

BROKER = Path(sentinel_guard.__file__).parent / "broker" / "sentinel-broker"
PROBE_SECONDS = 5.0
_TERMINALS = ("/tmp/tmux-{uid}/*", "{tmux}/tmux-{uid}/*", "/run/screen/S-*/*", "/run/user/{uid}/zellij/*/*")  # noqa: S108 - where they lie
"""Sockets of programs that type on terminals."""
_TOOLCHAINS = frozenset(
    (
        *("go", "snap", "miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", "Android", "flutter"),
        *("perl5", "R", "vcpkg", "emsdk", "nltk_data", "scikit_learn_data", "esp"),
    )
)
_TOOL_VARIABLES = ("_HOME", "_DIR", "_ROOT", "_PREFIX", "_CACHE", "GOPATH", "GOBIN")
"""How variables end that name a program's own folder; search paths name the person's work, too."""
_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
_AGAIN = {"git": ("lib/git-core/git", "libexec/git-core/git")}
"""Where a program stands a second time, relative to the folder above its own: git starts itself by that path."""


Probe = subprocess.Popen[str] | None


def begin_probe() -> Probe:
    """Start to find out whether calls can be held here; None where there is no broker that runs."""
    try:
        return subprocess.Popen(
            [BROKER, "probe"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except OSError:
        return None


def probed(begun: Probe) -> tuple[bool, str]:
    """Whether calls can be held, and in words how well, or why not."""
    if begun is None:
        return False, f"none: {BROKER} is missing or cannot be run"
    try:
        said, _ = begun.communicate(timeout=PROBE_SECONDS)
    except subprocess.TimeoutExpired:
        begun.kill()
        said, _ = begun.communicate()
        return False, f"none: the probe took longer than {PROBE_SECONDS:.0f} s"
    return begun.returncode == 0, said.strip() or f"none: the probe ended with {begun.returncode}"


def drop(begun: Probe) -> None:
    """End a probe whose answer nobody wants."""
    if begun:
        begun.kill()
        begun.communicate()


def programs(names: Iterable[str], path: str, root: str) -> tuple[str, ...]:
    """The files that the names stand for: on a PATH, or (``./scripts/deploy*``) in the repository.

    A program of many names (busybox) is left out: not all that it does is meant.
    """
    return tuple(dict.fromkeys(found for name in names for found in _files(name, path, root)))


def _files(name: str, path: str, root: str) -> Iterator[str]:
    if "/" in name:
        found_here = glob.glob(name.removeprefix("./"), root_dir=root)  # noqa: PTH207 - text with surrogates
        yield from (os.path.realpath(f"{root}/{found}") for found in found_here)
    elif found := find_program(name, path):
        real = os.path.realpath(found)
        if os.path.basename(real) == name:  # noqa: PTH119 - text with surrogates, as it came
            yield real
            yield from filter(
                os.path.exists, (os.path.normpath(f"{real}/../../{again}") for again in _AGAIN.get(name, ()))
            )


def tool_folders(home: str, environ: Mapping[str, str], command: Iterable[str]) -> tuple[str, ...]:
    """What lies in a home and is not the person's own work: hidden folders, those of toolchains, and what the
    environment (``CARGO_HOME``, ``GOPATH``) or the agent's command line names (``--data-dir``, ``--add-dir``).
    """
    found = []
    with contextlib.suppress(OSError):
        found = [f"{home}/{e.name}" for e in os.scandir(home) if e.name.startswith(".") or e.name in _TOOLCHAINS]
    named = [text for name, text in environ.items() if name.endswith(_TOOL_VARIABLES) and name != "PROJECT_HOME"]
    named += (word.partition("=")[2] or word for word in command)
    found += (os.path.normpath(part) for part in named if part.startswith(f"{home}/"))
    return tuple(sorted({*found}))


def environment_above(path: str, before: float) -> str:
    """The virtual environment of Python or conda, made ``before``, that a path lies in: what is there was installed."""
    while (path := os.path.dirname(path)) != "/":  # noqa: PTH120 - text with surrogates
        for mark in _ENVIRONMENTS:
            with contextlib.suppress(OSError):
                if os.stat(f"{path}/{mark}").st_ctime < before:  # noqa: PTH116 - as above
                    return path
    return ""


def rights_sockets(environ: Mapping[str, str], before: float) -> dict[str, str]:
    """The sockets that were there ``before`` (epoch seconds) of the session bus and of ssh agents, by their places and
    by the environment in which the session was begun -> the right (``socket_rights``). An agent or a bus that the
    session starts for itself gives it nothing.
    """
    named = {found: right for right in (BUS, AGENT) for glob_ in SOCKETS[right] for found in glob.glob(glob_)}  # noqa: PTH207 - of any folder
    for part in re.split("[;,]", environ.get("DBUS_SESSION_BUS_ADDRESS", "")):
        kind, _, path = part.rpartition(":")[2].partition("=")
        if path and kind in ("path", "abstract"):
            named[("@" if kind == "abstract" else "") + unquote(path)] = BUS
    if agent := environ.get("SSH_AUTH_SOCK"):
        named[agent] = AGENT
    return {_real(path): right for path, right in named.items() if path.startswith("@") or _stood(path, before)}


def _real(path: str) -> str:
    return path if path.startswith("@") else os.path.realpath(path)


def _stood(path: str, before: float) -> bool:
    try:
        return os.stat(path).st_ctime < before  # noqa: PTH116 - text with surrogates
    except OSError:
        return False


def terminal_sockets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The sockets that are there now of programs which type on terminals (tmux, screen, zellij), and that which shows
    the terminal of the session, wherever it lies: ``environ`` is that in which the session was begun.
    """
    folders = {folder or "/tmp" for folder in (os.environ.get("TMUX_TMPDIR"), environ.get("TMUX_TMPDIR"))}  # noqa: S108
    places = {p.format(uid=os.getuid(), tmux=folder) for p in _TERMINALS for folder in folders}
    there = [found for place in places for found in glob.glob(place)]  # noqa: PTH207 - of any folder
    kitty, wezterm = environ.get("KITTY_LISTEN_ON", "").removeprefix("unix:"), environ.get("WEZTERM_UNIX_SOCKET", "")
    named = (environ.get("TMUX", "").partition(",")[0], kitty, wezterm)
    there += [path for path in named if path.startswith(("/", "@"))]
    return tuple(sorted({_real(path) for path in there}))
