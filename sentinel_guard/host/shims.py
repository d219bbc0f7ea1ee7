"""Makes a session's shims (its own copy of the launcher, first on PATH), and the launcher of installed git hooks."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import sentinel_guard
from sentinel_guard.errors import HostError
from sentinel_guard.host import bash_line_reader, session_proof
from sentinel_guard.host.machine import atomic_files
from sentinel_guard.host.machine.find_program import find_program
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.session_environ import ENVIRON, SETTINGS
from sentinel_guard.host.start_daemon import daemon_environ

SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "fish")
HOOK = "sentinel-hook"
GITHOOK = "sentinel-githook"
CLAUDES = ("bash", "zsh")
OWN = "sentinel-guard"
AGENT_FOLDERS = ("cline",)
"""Folders of a session's own that its agent writes to (``agents``)."""
PACKAGE = Path(sentinel_guard.__file__).resolve().parent
LAUNCHER = Path(sentinel_guard.__file__).parent / "launcher" / "sentinel-launcher"

# Bash reads this before the text of -c, by whatever path it was called; @folder@ stands for the shims, quoted.
#
# 1. A login shell resets PATH (/etc/profile) before it comes here: the shims come back.
# 2. A bash that did not come through its shim (/bin/bash -c ...) becomes the shim, with the same arguments, so that its
#    text is judged. Below a call (SENTINEL_CALL) that has happened already. SENTINEL_SHELL ends the second round of a
#    bash that its shim has let go on in the same process.
# 3. The person's own command, a child of the runner, is not the agent's.
# 4. A text alone is handed on as the variable in which bash has it: as a word it is copied again and again, which takes
#    0.4 ms with an agent's wrapper of 38 KB. A variable has 128 KB with its name: what comes near that stays a word.
# 5. Where the shim cannot be started, the text does not run: not with execfail either.
# 6. It holds under set -eu, prints nothing, and leaves nothing behind. It opens nothing to write: the kernel layer
#    would hold that call.
BASH_ENV = r"""case ":$PATH:" in :@folder@:*) ;; *) PATH=@folder@:"$PATH" ;; esac
if [ "${BASH_EXECUTION_STRING+x}${SENTINEL_CALL:+call}" = x ] && [ "${SENTINEL_SHELL-}" != $$ ] &&
    [ -x @folder@/bash ] &&
    mapfile -d '' -t __sentinel_from 2>&- </proc/$PPID/cmdline &&
    mapfile -d '' -t __sentinel_argv 2>&- </proc/$$/cmdline; then
    case " ${__sentinel_from[*]:0:4} " in
    */sentinel-guard' run '* | *' sentinel_guard run '*) ;;
    *)
        if [ "${#__sentinel_argv[*]} ${__sentinel_argv[1]}" = '3 -c' ] && [ ${#BASH_EXECUTION_STRING} -lt 43000 ]; then
            export BASH_EXECUTION_STRING
            __sentinel_argv=("${__sentinel_argv[0]}" -c)
        fi
        SENTINEL_SHELL=$$ exec -a "${__sentinel_argv[0]}" @folder@/bash "${__sentinel_argv[@]:1}" || exit 126
        ;;
    esac
fi
unset SENTINEL_SHELL __sentinel_argv __sentinel_from
"""


@lru_cache(maxsize=64)
def own_code(roots: frozenset[str]) -> tuple[str, ...]:
    """The guard's package and its program, by all their names, but for what lies in a repository that is worked on."""
    tops = tuple(f"{root}/" for root in roots if root)
    return tuple(path for path in _own_names() if not path.startswith(tops))


@lru_cache(maxsize=1)
def _own_names() -> tuple[str, ...]:
    programs = [path for path in (str(Path(sys.executable).parent / OWN), shutil.which(OWN)) if path]
    there = [path for path in programs if os.path.lexists(path)]
    return tuple(dict.fromkeys((str(PACKAGE), *there, *map(os.path.realpath, there))))


def make(places: StatePaths, session: str, names: Iterable[str], path: str) -> dict[str, str]:
    """Make a session's shims for the names that ``path`` (a PATH) has. Returns the environment to set.

    Raises HostError where the launcher is missing or the folder cannot be written.
    """
    folder = places.shims(session)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        atomic_files.write(folder / SETTINGS, _settings(places, session), atomic_files.PRIVATE, durable=False)
        _own_launcher(folder / HOOK)
        wanted = {n for n in (*SHELLS, *names) if "/" not in n and find_program(n, path)}
        for name in (*sorted(wanted), bash_line_reader.LINE):
            _link(folder / HOOK, folder / name)
        _own_program(folder / OWN)
        _bash_env(folder)
        bash_line_reader.write(folder)
    except OSError as e:
        raise HostError(
            f"Cannot make the shims in {folder}: {e.strerror}.",
            "Set SENTINEL_HOME to a folder with room that allows programs.",
        ) from e
    return _environ(folder, session, path)


def place_hooks(places: StatePaths, forms: Mapping[str, str]) -> Path:
    """Put the launchers that git hooks and agents' hooks ask in place, or renew them after an upgrade. Returns the path
    of the latter; the other one is ``GITHOOK`` beside it.

    They belong to no session. ``forms``: what stands in their settings for each agent's hooks. Raises HostError where
    the launcher is missing or the folder cannot be written.
    """
    folder = places.githook_folder
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        told, settings = folder / SETTINGS, _settings(places, "", forms)
        if not told.exists() or told.read_bytes() != settings:
            atomic_files.write(told, settings, atomic_files.PRIVATE)
        for name in (GITHOOK, HOOK):
            _own_launcher(folder / name)
    except OSError as e:
        raise HostError(
            f"Cannot put the hooks' launcher into {folder}: {e.strerror}.",
            "Set SENTINEL_HOME to a folder with room that allows programs.",
        ) from e
    return folder / HOOK


@lru_cache(maxsize=64)
def without(path: str, sessions: str) -> str:
    """A PATH without any session's shims. ``sessions``: the folder of all sessions, with a slash at its end."""
    return ":".join(p for p in path.split(":") if not p.startswith(sessions))


def _environ(folder: Path, session: str, path: str) -> dict[str, str]:
    shells = [folder / Path(os.environ.get("SHELL", "bash")).name, folder / "bash", folder / "sh"]
    shell = next((s for s in shells if s.exists()), folder / "sh")
    # Claude Code takes no other shell than these: it would find one of its own in /bin.
    claudes = next((s for s in (shell, folder / "bash", folder / "zsh") if s.name in CLAUDES and s.exists()), None)
    return {
        "PATH": f"{folder}:{path}",
        "SHELL": str(shell),
        # Bash expands this value before it reads the file (bash(1), BASH_ENV).
        "BASH_ENV": re.sub(r"[\\$`]", r"\\\g<0>", str(folder / ".bash_env")),
        "SENTINEL_SESSION": session,
        **({"CLAUDE_CODE_SHELL": str(claudes)} if claudes else {}),
    }


def _settings(places: StatePaths, session: str, forms: Mapping[str, str] = MappingProxyType({})) -> bytes:
    lines = {
        "socket": places.agent_socket,
        "python": sys.executable,
        "version": sentinel_guard.__version__,
        "session": session,
        "secret": session_proof.make(places, session),
        # These launchers start the daemon where it is gone, in the environment in which it began the session.
        **{f"{ENVIRON}{name}": value for name, value in _environ_of_daemon(places).items()},
        **forms,
    }
    return os.fsencode("".join(f"{k}={v}\n" for k, v in lines.items() if not {"\n", "\0"} & {*str(v)}))


def _environ_of_daemon(places: StatePaths) -> dict[str, str]:
    home = {"SENTINEL_HOME": places.home} if places.home else {}
    return daemon_environ(places) | home


def _bash_env(folder: Path) -> None:
    before = os.environ.get("BASH_ENV", "")
    text = BASH_ENV.replace("@folder@", shlex.quote(str(folder)))
    if before and not before.startswith(str(folder.parent.parent)):
        text += f"[ -r {shlex.quote(before)} ] && . {shlex.quote(before)}\n"
    (folder / ".bash_env").write_text(text, errors="surrogateescape")


def _own_program(name: Path) -> None:
    """Our own program beside the shims: a login shell may have lost the PATH on which it is found (``help-me``)."""
    if name.exists():
        return
    # "-Im" is one word, so that BASH_ENV finds "run" among the first four.
    name.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -Im sentinel_guard "$@"\n')
    name.chmod(stat.S_IRUSR | stat.S_IXUSR)


def _own_launcher(name: Path) -> None:
    """A copy of its own, and an upgrade does not pull it away; renewed where its bytes are not the launcher's."""
    if not LAUNCHER.exists():
        raise HostError(
            "The launcher was not built.",
            "Install again with a C compiler: pip install --force-reinstall sentinel-guard",
        )
    if _is_launcher(name):
        return
    aside = name.with_suffix(f".{os.getpid()}")
    aside.unlink(missing_ok=True)
    shutil.copyfile(LAUNCHER, aside)
    aside.chmod(stat.S_IRUSR | stat.S_IXUSR)
    aside.replace(name)
    if not _is_launcher(name):
        raise HostError(f"{name} is not the launcher that was copied there.", "Start the agent again.")


def _is_launcher(name: Path) -> bool:
    # filecmp would trust what it read before, where size and time are the same.
    usable = name.is_file() and not name.is_symlink() and os.access(name, os.R_OK | os.X_OK)
    return usable and name.read_bytes() == LAUNCHER.read_bytes()


def _link(launcher: Path, name: Path) -> None:
    if os.path.lexists(name) and not name.samefile(launcher):
        name.unlink()
    if not os.path.lexists(name):
        name.hardlink_to(launcher)
