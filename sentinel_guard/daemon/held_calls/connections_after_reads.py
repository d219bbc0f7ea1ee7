"""Connections to other machines, in a session whose programs have read a file of secrets (ADR 0024), and to sockets
that give a right.

Rules of this file:
1. What the guard judged as a command, the agent itself and package managers are not asked about: they connect all day.
2. A program is what it was before the session: who made it in the session may call it what they like.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from sentinel_guard.core.model import Ask, Entry, Finding, Response
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.daemon.live_sessions import STEP, Live, Place, Sessions
from sentinel_guard.host import shims
from sentinel_guard.host.machine import processes

RULE = "kernel.reach"
SHOWN = 80
"""Characters of a program's words in a question."""
_INTERPRETER = re.compile(r"(?:python|pypy|node|ruby|perl|php|bun|deno|lua|java)[\d.]*")
_SCRIPTS = {"npm-cli.js": "npm", "npx-cli.js": "npx", "yarn.js": "yarn", "pnpm.cjs": "pnpm", "pip3": "pip"}
"""Names of programs that an interpreter runs, where they are not the program's own."""
_INSTALLERS = frozenset(
    (
        *("npm", "npx", "yarn", "pnpm", "corepack", "pip", "uv", "poetry", "pdm", "pipx", "conda", "mamba"),
        *("cargo", "rustup", "go", "gem", "bundle", "composer", "mvn", "gradle", "brew", "apt-get", "dnf", "nix"),
        *("git-remote-http", "git-remote-https", "pre-commit"),
    )
)
"""Programs that fetch: what is installed, and what git sends after it was judged."""

_FOR_OTHERS = frozenset(
    (
        *("systemd-run", "systemctl", "busctl", "gdbus", "dbus-send", "qdbus", "qdbus6", "gio", "gtk-launch", "kstart"),
        *("gnome-terminal", "gnome-terminal.real", "ptyxis", "kgx", "konsole", "xfce4-terminal"),
        *("flatpak", "flatpak-spawn", "socat", "nc", "nc.openbsd", "nc.traditional", "ncat", "curl", "busybox", "gdb"),
    )
)
"""Programs that say to a socket whatever they are told, or have programs started by what serves it."""

_LOOKING = re.compile(
    r"(systemctl|busctl)( --(user|no-pager|all|full|plain|quiet|no-legend|failed))*"
    r" (status|show|cat|is-active|is-enabled|is-failed|list-\w+(-\w+)?|list|tree|introspect)\b.*"
)
"""Command lines of these that change nothing."""


@dataclass(frozen=True, slots=True)
class Connecting:
    """A process that connects."""

    name: str
    """Of the program that it runs; empty where that is a script of nobody's, or was made in the session."""
    words: str
    """What a person sees of it, and what their yes is for."""
    free_hand: bool = False
    """Whether it does what other files or its arguments say: a script, or a program that says to a socket what it is
    told.
    """


def connecting(pid: int, began: float) -> Connecting:
    """What a process runs, in a session that began then (epoch seconds)."""
    words, path = processes.command_line(pid), processes.executable(pid)
    name = os.path.basename(path)  # noqa: PTH119 - text with surrogates, as it came
    interpreted = bool(_INTERPRETER.fullmatch(name))
    if interpreted:
        name, path = _script(words, _folder(pid), path)
    stood = name not in shims.SHELLS and (_stood(path, began) or (name in _INSTALLERS and _in_environment(path)))
    free_hand = interpreted or (name in _FOR_OTHERS and not _LOOKING.fullmatch(" ".join((name, *words[1:]))))
    return Connecting(name if stood else "", visible(shlex.join(words[:3]))[:SHOWN], free_hand)


def is_expected(live: Live, place: Place, program: Connecting) -> bool:
    """Whether a connection needs nobody's word."""
    if live.reads is None or not live.reads.seen or live.policy().kernel.after_reading == "off":
        return True
    if place.parent in ("", STEP):
        return _is_agents_own(place)
    above = os.path.basename(processes.executable(place.above[0].pid)) if place.above else ""  # noqa: PTH119 - as above
    judged = program.name in live.announced.get(place.parent, ())
    by_git = program.name == "ssh" and above == "git"
    return bool(program.name and (program.name in _INSTALLERS or judged or by_git))


def may_use_socket(place: Place, program: Connecting) -> bool:
    """Whether a connection to the session bus or an ssh agent needs nobody's word: ssh, gpg and browsers use them all
    day, and do with them what their names say.
    """
    if place.parent in ("", STEP):
        return _is_agents_own(place)
    return bool(program.name and (not program.free_hand or program.name in _INSTALLERS))


def _is_agents_own(place: Place) -> bool:
    """What has left the agent's tree is not the agent: it was started by a call."""
    return place.is_agent or any(peer.pid == place.live.agent for peer in place.above)


def question(live: Live, address: str, program: Connecting) -> Finding:
    """What is asked about a connection."""
    assert live.reads
    read = sorted(path.removeprefix(f"{live.session.root}/") for path in live.reads.seen)
    why = (
        f"a program has read {', '.join(read[:3])} in this session, and this one is no command that was judged: "
        "what it sends is not seen"
    )
    instead = "send it by a command that the guard can judge, such as curl -d @FILE URL"
    ask = Ask("CONNECT_AFTER_READING", f"{address} ({program.words})", "HIGH")
    return Finding("human", Response.ASK, f"`{program.words}`", why, instead, RULE, f"connects to {address}", ask)


def note_reads(live: Live, sessions: Sessions, at: float) -> None:
    """Put on record what was read since the last look, as entries ``watch``. Raises StoreError."""
    for path in live.reads.look() if live.reads else ():
        name = path.removeprefix(f"{live.session.root}/")
        what = f"SENTINEL: {name} was read by a program while the session ran, without a command that names it."
        sessions.note(live, [Entry(at, live.id, "watch", {"what": what, "path": path, "check": "read"})])


def _script(words: Sequence[str], cwd: str, interpreter: str) -> tuple[str, str]:
    """The name and the file of what an interpreter runs; empty for code in its arguments or on its input."""
    for at, word in enumerate(words[1:], 1):
        if word == "-m" and at + 1 < len(words):
            module = words[at + 1]
            shadowed = any(os.path.lexists(f"{cwd}/{name}") for name in (module, f"{module}.py"))
            return ("", "") if shadowed else (module, interpreter)
        if not word.startswith("-"):
            path = os.path.realpath(os.path.join(cwd, word))  # noqa: PTH118 - text with surrogates, as it came
            name = os.path.basename(path)  # noqa: PTH119 - as above
            return _SCRIPTS.get(name, name), path
        if word in ("-c", "-e", "-", "--eval", "-p", "--print", "-r"):
            break
    return "", ""


def _folder(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115 - text with surrogates, as it came
    except OSError:
        return ""


def _in_environment(path: str) -> bool:
    """Whether a program is one of a virtual environment: those are made in sessions all day."""
    folder = os.path.dirname(os.path.dirname(path))  # noqa: PTH120 - text with surrogates, as it came
    return os.path.exists(f"{folder}/pyvenv.cfg")  # noqa: PTH110 - as above


def _stood(path: str, began: float) -> bool:
    """Whether a file is as it was before that moment (epoch seconds): no program can set its change time."""
    try:
        return os.stat(path).st_ctime < began  # noqa: PTH116 - text with surrogates, as it came
    except OSError:
        return False
