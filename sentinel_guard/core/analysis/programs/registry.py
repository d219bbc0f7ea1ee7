"""Every program that the analysis knows, and how its options read: the tables of the rooms, joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis import (
    cloud,
    compilers,
    containers,
    databases,
    fd,
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
    tasks,
    terminals,
    vcs,
    wrappers,
    xargs,
)
from sentinel_guard.core.analysis.commands import Call, Options, options
from sentinel_guard.core.model import Effect

Program = Callable[[Call], Iterable[Effect]]


def kubectl(call: Call) -> Iterable[Effect]:
    return containers.kubectl(call) if call.command.subcommand == "exec" else cloud.cloud(call)


def deno(call: Call) -> Iterable[Effect]:
    task = bool(call.operands) and call.operands[0].text == "task"
    return tasks.run(call) if task else interpreters.PROGRAMS["deno"](call)


def _also(first: Program, second: Program) -> Program:
    """Both, for a program that publishes besides."""
    return lambda call: (*first(call), *second(call))


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
    **tasks.PROGRAMS,
    **fd.PROGRAMS,
    **git.PROGRAMS,
    **vcs.PROGRAMS,
    "deno": deno,
    "find": find.find,
    "kubectl": kubectl,
    "oc": kubectl,
}
PROGRAMS |= {n: _also(PROGRAMS[n], row) if n in PROGRAMS else row for n, row in compilers.PROGRAMS.items()}
PROGRAMS |= {name: _also(PROGRAMS[name], scripts.node_script) for name in ("node", "nodejs")}
PROGRAMS |= {name: _also(PROGRAMS[name], publish.registry) for name in ("deno", "dotnet", "hub", "mix")}

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
    **tasks.OPTIONS,
    **fd.OPTIONS,
    **git_options.OPTIONS,
    **vcs.OPTIONS,
    "find": options("| words"),
    **dict.fromkeys(("sentinel-guard", "sentinel_guard"), options("| sub")),
}
"""By program, and by ``program subcommand``."""
