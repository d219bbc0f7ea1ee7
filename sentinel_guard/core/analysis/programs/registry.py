"""Registry of all known programs: name -> function that gives its effects, and name -> option table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis.expansion.command_and_options import Call, Options, options
from sentinel_guard.core.analysis.languages import compilers_and_runtimes, interpreters
from sentinel_guard.core.analysis.programs import (
    build_scripts,
    command_wrappers,
    downloads_and_dns,
    guard_uninstall,
    install_folders,
    open_access,
    package_publishing,
    secret_stores,
    task_definition_files,
    task_names,
    terminal_multiplexers,
    unknown_programs,
    unknown_verbs,
    xargs,
)
from sentinel_guard.core.analysis.programs.cloud import (
    android_devices,
    cloud_clis,
    containers,
    deployment_tools,
    host_mounts,
    local_ends,
    other_service_clis,
    remote_commands,
)
from sentinel_guard.core.analysis.programs.databases import database_clients
from sentinel_guard.core.analysis.programs.files import (
    chosen_files,
    cmake_commands,
    fd,
    file_commands,
    find,
    generators,
    project_files,
)
from sentinel_guard.core.analysis.programs.git import git_command, git_options, other_vcs
from sentinel_guard.core.analysis.programs.system import processes_and_scheduled_jobs
from sentinel_guard.core.model import Effect

Program = Callable[[Call], Iterable[Effect]]


def kubectl(call: Call) -> Iterable[Effect]:
    if call.command.subcommand != "exec":
        return cloud_clis.cloud(call)
    found = remote_commands.kubectl(call)
    return remote_commands.leading_on(call, found) if local_ends.is_here(call) else found


def deno(call: Call) -> Iterable[Effect]:
    task = bool(call.operands) and call.operands[0].text == "task"
    return task_definition_files.run(call) if task else interpreters.PROGRAMS["deno"](call)


def _also(first: Program, second: Program) -> Program:
    """Both, for a program that publishes besides."""
    return lambda call: (*first(call), *second(call))


def _else(first: Program, second: Program) -> Program:
    """The second, where the first has nothing to say."""
    return lambda call: tuple(first(call)) or second(call)


PROGRAMS: dict[str, Program] = {
    **downloads_and_dns.PROGRAMS,
    **package_publishing.PROGRAMS,
    **guard_uninstall.PROGRAMS,
    **cloud_clis.PROGRAMS,
    **database_clients.PROGRAMS,
    **processes_and_scheduled_jobs.PROGRAMS,
    **terminal_multiplexers.PROGRAMS,
    **file_commands.PROGRAMS,
    **chosen_files.PROGRAMS,
    **cmake_commands.PROGRAMS,
    **build_scripts.PROGRAMS,
    **interpreters.PROGRAMS,
    **containers.PROGRAMS,
    **remote_commands.PROGRAMS,
    **android_devices.PROGRAMS,
    **xargs.PROGRAMS,
    **task_definition_files.PROGRAMS,
    **fd.PROGRAMS,
    **task_names.PROGRAMS,
    **git_command.PROGRAMS,
    **other_vcs.PROGRAMS,
    "deno": deno,
    "find": find.find,
    "kubectl": kubectl,
    "oc": kubectl,
}
PROGRAMS |= {
    name: _also(PROGRAMS[name], row) if name in PROGRAMS else row
    for rows in (compilers_and_runtimes.PROGRAMS, install_folders.PROGRAMS, project_files.PROGRAMS)
    for name, row in rows.items()
}
PROGRAMS |= {name: _also(PROGRAMS[name], row) for name, row in generators.PROGRAMS.items() if name in PROGRAMS}
_BOTH = other_service_clis.TABLES.keys() & package_publishing.PROGRAMS.keys()
"""They publish, and take down what they published."""
PROGRAMS |= {name: _else(package_publishing.PROGRAMS[name], other_service_clis.service) for name in _BOTH}
PROGRAMS["dolt"] = _also(PROGRAMS["dolt"], other_vcs.vcs)
PROGRAMS |= {name: _else(PROGRAMS[name], task_names.named) for name in ("cargo", "nx", "lerna")}
PROGRAMS |= {
    name: _also(PROGRAMS[name], remote_commands.told_by_words)
    for name in ("gh", "tailscale", *deployment_tools.TABLES)
    if name in PROGRAMS
}
PROGRAMS |= {
    name: _also(PROGRAMS[name], unknown_programs.hands_on)
    for name in ("grpcurl", "redis-cli", "honeybadger", "sentry-cli", "newrelic", "kcat", "nats", "rabbitmqadmin")
    if name in PROGRAMS
}
PROGRAMS |= {name: _also(PROGRAMS[name], build_scripts.node_script) for name in ("node", "nodejs")}
PROGRAMS |= {
    name: _also(PROGRAMS[name], package_publishing.registry)
    for name in ("deno", "dotnet", "hub", "mix", "pdm", "hatch", "pixi", "mvn", "mvnw", "mvnd", "gradle", "gradlew")
}

PROGRAMS["dotnet"] = _also(PROGRAMS["dotnet"], task_definition_files.msbuild)
PROGRAMS |= {
    name: _also(PROGRAMS[name], row) if name in PROGRAMS else row for name, row in host_mounts.PROGRAMS.items()
}
PROGRAMS |= {
    name: _also(PROGRAMS.get(name, unknown_programs.unknown), guard_uninstall.taken_away)
    for name in guard_uninstall.INSTALLERS
}

VERBS = unknown_verbs.PROGRAMS | database_clients.PROGRAMS.keys()
"""Programs whose first operand may be a verb, beside those that have subcommands by their options' table."""

OPTIONS: dict[str, Options] = {
    **{name: row.options for name, row in command_wrappers.WRAPPERS.items()},
    **dict.fromkeys(
        ("apt", "apt-get", "dnf", "yum", "brew", "pip", "pip3", "go", "snap", "apk", "pacman"), options("| sub")
    ),
    **downloads_and_dns.OPTIONS,
    **package_publishing.OPTIONS,
    **cloud_clis.OPTIONS,
    **database_clients.OPTIONS,
    **processes_and_scheduled_jobs.OPTIONS,
    **terminal_multiplexers.OPTIONS,
    **file_commands.OPTIONS,
    **chosen_files.OPTIONS,
    **cmake_commands.OPTIONS,
    **build_scripts.OPTIONS,
    **interpreters.OPTIONS,
    **containers.OPTIONS,
    **remote_commands.OPTIONS,
    **android_devices.OPTIONS,
    **xargs.OPTIONS,
    **task_definition_files.OPTIONS,
    **fd.OPTIONS,
    **task_names.OPTIONS,
    **open_access.OPTIONS,
    **secret_stores.OPTIONS,
    **git_options.OPTIONS,
    **other_vcs.OPTIONS,
    **{name: row for name, row in package_publishing.OPTIONS.items() if name in _BOTH},
    "find": options("| words"),
    **dict.fromkeys(("sentinel-guard", "sentinel_guard"), options("| sub")),
}
"""By program, and by ``program subcommand``."""
