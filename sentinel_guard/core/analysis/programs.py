"""Every program that the analysis knows, and how its options read: the tables of the rooms, joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis import (
    cloud,
    containers,
    databases,
    files,
    find,
    git,
    git_options,
    installers,
    interpreters,
    publish,
    remote,
    scripts,
    system,
    terminals,
    wrappers,
    xargs,
)
from sentinel_guard.core.analysis.commands import Call, Options, options
from sentinel_guard.core.model import Effect

Program = Callable[[Call], Iterable[Effect]]


def kubectl(call: Call) -> Iterable[Effect]:
    return containers.kubectl(call) if call.command.subcommand == "exec" else cloud.cloud(call)


PROGRAMS: dict[str, Program] = {
    **remote.PROGRAMS,
    **publish.PROGRAMS,
    **installers.PROGRAMS,
    **cloud.PROGRAMS,
    **databases.PROGRAMS,
    **system.PROGRAMS,
    **terminals.PROGRAMS,
    **files.PROGRAMS,
    **scripts.PROGRAMS,
    **interpreters.PROGRAMS,
    **containers.PROGRAMS,
    **xargs.PROGRAMS,
    **git.PROGRAMS,
    "find": find.find,
    "kubectl": kubectl,
    "oc": kubectl,
}

OPTIONS: dict[str, Options] = {
    **{name: row.options for name, row in wrappers.WRAPPERS.items()},
    **dict.fromkeys(
        ("apt", "apt-get", "dnf", "yum", "brew", "pip", "pip3", "go", "snap", "apk", "pacman"), options("| sub")
    ),
    **remote.OPTIONS,
    **publish.OPTIONS,
    **cloud.OPTIONS,
    **databases.OPTIONS,
    **system.OPTIONS,
    **terminals.OPTIONS,
    **files.OPTIONS,
    **scripts.OPTIONS,
    **interpreters.OPTIONS,
    **containers.OPTIONS,
    **xargs.OPTIONS,
    **git_options.OPTIONS,
    "find": options("| words"),
}
"""By program, and by ``program subcommand``."""
