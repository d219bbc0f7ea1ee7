"""What an engine of containers knows of its containers and volumes: whose they are by when they were made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Mount(NamedTuple):
    """What a container sees of this machine, or of a volume."""

    inside: str
    is_folder: bool
    """A file or folder of this machine, and no volume."""
    is_new: bool
    """All that lies there came after the session began, and no container of before has it."""
    shut: bool
    """To be read only."""


class Container(NamedTuple):
    """One container, as the engine lists it."""

    ident: str
    names: tuple[str, ...]
    image: str
    project: str
    """Of compose; empty for none."""
    service: str
    folder: str
    """From which compose was called."""
    ports: frozenset[str]
    """Of this machine, at which this container is all that listens; none where it does not run."""
    mounts: tuple[Mount, ...]
    is_new: bool
    """It was made after the session began."""


class Volume(NamedTuple):
    """One volume."""

    project: str
    is_new: bool
    """It was made after the session began, here, and no container of before has it."""


class Told(NamedTuple):
    """What a container was started with."""

    words: tuple[str, ...]
    """Its entry point and its command."""
    variables: tuple[str, ...]
    """Their names."""
    network: str


class Engine(Protocol):
    """From host/containers/container_engine.py in the product."""

    containers: tuple[Container, ...]
    volumes: Mapping[str, Volume]

    def told(self, ident: str) -> Told | None:
        """What one container was started with; None where the engine does not say."""

    def keeps(self, ident: str) -> bool:
        """Whether the engine says that one container has data in its own layer, which goes with it."""
