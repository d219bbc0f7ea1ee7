"""What a container is given of this machine: folders of keys, to whose image; nothing at all that a stranger's code in
it could change, or must not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.cloud import container_engines
from sentinel_guard.core.analysis.secret_names import may_hold_secret

TARGET = "mounted keys"
_KEYS = (".ssh", ".aws", ".gnupg", ".kube", ".azure", ".docker", ".config/gcloud", ".config/gh")
_MAKERS = re.compile(
    r"(?:docker\.io/)?(?:(?:library|amazon|google|hashicorp|bitnami|pulumi|docker|grafana|alpine)/)?[\w.-]+(?:[:@].*)?"
    r"|(?:mcr\.microsoft\.com|gcr\.io/google\.com|public\.ecr\.aws|registry\.k8s\.io|ghcr\.io/hashicorp)/.*"
)
"""Images of this machine, of the registry's own library, and of makers whose programs log in with such keys."""


def are_for_strangers(home: str, folders: Iterable[str], image: str) -> bool:
    """Whether a folder of keys is mounted into an image of nobody known."""
    keys = {f"{home}/{name}" for name in _KEYS}
    return any(folder.rstrip("/") in keys for folder in folders) and _MAKERS.fullmatch(image) is None


SHUT = "ro:"
"""In front of a folder inside that is mounted to be read only."""
_MOUNTS = ("-v", "--volume", "--mount")
_NETWORKS = ("--network", "--net")
_GIVES_NOTHING = frozenset(
    (
        *_MOUNTS, *_NETWORKS,
        *("-w", "--workdir", "--rm", "-i", "--interactive", "-t", "--tty", "--name", "--platform", "--pull", "-q"),
        *("--quiet", "-u", "--user", "--init", "-m", "--memory", "--cpus", "--shm-size", "-h", "--hostname"),
        *("--entrypoint", "--tmpfs", "--cap-drop", "--read-only"),
    )
)  # fmt: skip
"""Options of ``docker run`` that hand over neither rights nor variables."""
_ALL = ("**/*", "**/.*")
"""At any depth; beyond the limits of a search each that may hold a secret is found all the same, or it is cut."""
_OF_GIT = ("**/.git/config", ".git/modules/**/config")


def keep_code_in(call: Call, mounts: Mapping[str, str]) -> bool:
    """Whether code in the container of a ``docker run`` can change nothing of this machine and read no secret of it:
    at most folders of the project are mounted, to be read only, in which no file is called as one.
    """
    parsed, root = call.parsed, call.world.root
    if not (root and _GIVES_NOTHING.issuperset(parsed.flags) and container_engines.is_here(call)):
        return False
    given = parsed.values(*_MOUNTS)
    if len(mounts) != len(given) or not all(item.known for item in given):
        return False
    if any(item.text not in ("none", "bridge") for item in parsed.values(*_NETWORKS)):
        return False
    shut = all(inside.startswith(SHUT) for inside in mounts)
    return shut and all(f"{host}/".startswith(f"{root}/") and _holds_no_secret(call, host) for host in mounts.values())


_LOGS_IN = re.compile(r"://[^/\s@]+@|(?i:extraheader)")


def _holds_no_secret(call: Call, folder: str) -> bool:
    if any(f"{copy}/".startswith(f"{folder}/") for copy in call.world.copies):
        return False  # which bears another name now
    for patterns, holds in ((_ALL, may_hold_secret), (_OF_GIT, lambda path: call.world.fulfils(path, _logs_in))):
        for pattern in patterns:
            found = call.world.glob(f"{folder}/{pattern}")
            if call.world.cut or any(map(holds, found)):
                return False
    return True


def _logs_in(settings: str) -> bool:
    return _LOGS_IN.search(settings) is not None
