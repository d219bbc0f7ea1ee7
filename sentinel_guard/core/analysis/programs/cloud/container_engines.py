"""Which engine of containers a command works at: that of this machine with the person's own store, or another one.

A name proves something of one engine alone: docker, podman and nerdctl know nothing of each other's containers.
"""

from __future__ import annotations

import re

from sentinel_guard.core.analysis import network_addresses, places
from sentinel_guard.core.analysis.expansion.command_and_options import Call

_LOCAL_CONTEXTS = ("default", "desktop-linux", "orbstack", "colima", "rootless", "rancher-desktop", "lima", "podman")
_CURRENT = re.compile(r"\"currentContext\"\s*:\s*\"(?!(?:" + "|".join(_LOCAL_CONTEXTS) + r")?\")")
CHANGED = "context of docker"
"""Among ``Overlay.forwards``: from here on the engine of another machine may be meant."""


def other_host(call: Call) -> str:
    """The engine of another machine, if an option or a variable of the text says so."""
    given = call.head.value("-c", "--context")
    contexts = (given.text,) if given is not None else call.scope.variables.get("DOCKER_CONTEXT", ())
    if contexts is None or any(context not in _LOCAL_CONTEXTS for context in contexts):
        return "context" if contexts is None else contexts[0]
    hosts = [item.text for item in call.head.values("-H", "--host")]
    hosts = hosts or list(call.scope.variables.get("DOCKER_HOST") or ())
    return next((host for host in hosts if not _is_of_machine(host)), "")


def _is_of_machine(host: str) -> bool:
    return host.startswith(("unix:", "npipe:", "fd:")) or network_addresses.is_local_address(host)


ENGINES = ("DOCKER_HOST", "CONTAINER_HOST", "DOCKER_CONTEXT", "CONTAINER_CONNECTION")
_REMOTE = ("--remote", "-r", "--url", "--connection", "--identity")
_STORES: dict[str, tuple[str, ...]] = {
    "docker": ("--config",),
    "podman": ("--root", "--runroot", "--storage-driver", "--storage-opt", "--module"),
    "nerdctl": ("-n", "--namespace", "-a", "--address", "-H", "--host", "--data-root"),
}
"""Options before the verb with which an engine has other containers, or takes its context from another file."""
_SETTINGS = (
    *("DOCKER_CONFIG", "CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE", "CONTAINERS_STORAGE_CONF", "STORAGE_DRIVER"),
    *("XDG_DATA_HOME", "CONTAINERD_NAMESPACE", "CONTAINERD_ADDRESS", "NERDCTL_TOML"),
)
"""Variables of the text that do the same; those of the person's shell are there for each call."""


def is_here(call: Call) -> bool:
    """Whether the engine of this machine is surely meant, and not that of another one, or one within a container."""
    if places.is_away(call.command) or places.is_inside(call.command):
        return False
    if CHANGED in call.world.forwards or other_host(call) or any(item.text in _REMOTE for item in call.fields[1:4]):
        return False
    for name in ENGINES:
        held = call.scope.lookup(name)
        if held.isset and not (held.known and all(v in _LOCAL_CONTEXTS or _is_of_machine(v) for v in held.items)):
            return False
    home = call.world.home
    if any(name in call.scope.variables for name in _SETTINGS) or call.scope.variables.get("HOME", (home,)) != (home,):
        return False
    if _has_other_store(call):
        return False
    settings = "".join(call.scope.lookup("DOCKER_CONFIG").items) or f"{home}/.docker"
    return not call.world.fulfils(f"{settings}/config.json", lambda text: _CURRENT.search(text) is not None)


def _has_other_store(call: Call) -> bool:
    names = _STORES.get(call.command.program, ())
    if call.head.values(*names) or any(item.text in names for item in call.fields[1:3]):
        return True
    given = (item.text.partition("=")[0] for item in call.fields[1:]) if call.command.program == "podman" else ()
    return any(name in names for name in given)


def named(call: Call, name: str) -> str:
    """A container's name as that of its engine's alone."""
    program = call.command.program.partition("-")[0]
    return name if program == "docker" else f"{program}:{name}"
