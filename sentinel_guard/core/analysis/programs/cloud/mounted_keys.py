"""Folders of keys that a container is given: to whose image."""

from __future__ import annotations

import re
from collections.abc import Iterable

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
