"""Where a command runs that another one starts: on this machine, on another one, or in a container; and what leads a
client's statements from there to another server.
"""

from __future__ import annotations

import re

from sentinel_guard.core.model import Command

_AWAY = frozenset(
    (
        *("ssh", "autossh", "mosh", "kubectl", "oc", "microk8s", "flyctl", "fly", "heroku", "vagrant", "multipass"),
        *("gcloud", "aws", "az", "ansible", "ansible-playbook", "salt", "pdsh", "pssh", "doctl", "limactl", "lima"),
        *("lxc", "incus", "nsenter", "chroot", "systemd-nspawn", "toolbox", "distrobox", "railway", "render", "nomad"),
        *("tsh", "wsl", "devcontainer", "balena", "dokku", "eb", "copilot", "scalingo", "platform", "upsun"),
    )
)
"""What runs a command on another machine: what is at the same port, or bears the same name, there is somebody's."""
_CONTAINERS = frozenset(("docker", "podman", "nerdctl", "docker-compose", "podman-compose"))


def is_away(command: Command) -> bool:
    """Whether a command runs on another machine."""
    return any(via.partition(" ")[0] in _AWAY for via in command.via)


def is_inside(command: Command) -> bool:
    """Whether a command runs in a container."""
    return any(via.partition(" ")[0] in _CONTAINERS for via in command.via)


CONNECTS = re.compile(
    r"\\c(?:onnect)?[ \t]+(?:\S*(?:=|://)|[\"']|\S+[ \t]+\S+[ \t]+\S)|\b(?:dblink(?:_\w+)?|postgres_fdw|CONNECT)\b"
    r"|(?i:\bconnect[ \t]+(?!on\b)\S+[ \t]+[\w.-]+)|\\r[ \t]+\S+[ \t]+\S|\b(?:connect|Mongo)\("
)
"""Commands of psql, mysql and mongosh that lead to another server than the one that their client is told."""


IN = "in "
"""Before the container in the name of a server there."""


def container(command: Command) -> str | None:
    """The container that a command runs in, as its engine was told; empty for none, None where nobody knows which."""
    inside = [via for via in command.via if via.partition(" ")[0] in _CONTAINERS]
    return "".join(inside) if not inside or (len(inside) == 1 and " " in inside[0]) else None
