"""``eval "$(sentinel-guard shell-init --pid $$)"``: guard what this shell starts from now on."""

from __future__ import annotations

import os
import shlex
from pathlib import PurePath

from sentinel_guard.client import Operator
from sentinel_guard.commands.run.run import START_SECONDS, here
from sentinel_guard.commands.run.session_notices import tell
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine.state_paths import StatePaths

SHELLS = ("bash", "zsh", "sh", "dash", "ksh")


def shell_init(places: StatePaths, shell: str = "", pid: int = 0) -> int:
    """Print the shell code that a shell evaluates; the session belongs to that shell and ends with it.

    ``shell`` is by default the one in SHELL, ``pid`` the parent of this process. Raises ConfigError, SentinelError.
    """
    name = PurePath(shell or os.environ.get("SHELL", "sh")).name
    if name not in SHELLS:
        raise ConfigError(f"There is no shell code for {name}.", f"Known are: {', '.join(SHELLS)} (--shell NAME).")
    with Operator(places) as operator:
        begun = operator.request(
            "start",
            command=[name],
            cwd=here(),
            pid=pid or os.getppid(),
            interactive=False,
            path=os.environ.get("PATH", os.defpath),
            kind="shell",
            seconds=START_SECONDS,
        )
    tell(begun.get("notes", ()))
    print(code(begun.get("environ", {})))
    return 0


def code(environ: dict[str, str]) -> str:
    """Assignments for any POSIX shell; ``hash -r`` makes it forget where it found its programs."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in sorted(environ.items())]
    return "\n".join([*lines, "hash -r"])
