"""Packages of the distribution that the project itself asks for: in its README, its Dockerfile, its CI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sentinel_guard.core.analysis.expansion.file_overlay import Overlay

_INSTALLS = {
    **dict.fromkeys(("apt", "apt-get"), ("install", "update")),
    **dict.fromkeys(("dnf", "yum", "zypper"), ("install",)),
    "apk": ("add", "update"), "pacman": ("-S",),
}  # fmt: skip
_PLAIN = frozenset(
    (
        *("-y", "--yes", "--assume-yes", "-q", "-qq", "-yq", "-qy", "-yqq", "-qqy", "--quiet"),
        *("--no-install-recommends", "--no-cache", "--noconfirm", "--needed"),
    )
)
"""Options with which nothing else is done: ``-o`` may name a program that runs."""
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*(?<!\.deb)(?<!\.rpm)(?<!-)")
"""Behind a minus apt takes a package away."""
_FILES = (
    *("README", "README.md", "README.rst", "INSTALL", "INSTALL.md", "CONTRIBUTING.md", "DEVELOPMENT.md", "HACKING.md"),
    *("docs/install.md", "docs/installation.md", "docs/setup.md", "docs/development.md", "docs/getting-started.md"),
    *("Dockerfile", ".devcontainer/Dockerfile", "docker/Dockerfile", ".gitlab-ci.yml", "Aptfile", "apt.txt"),
    *("packages.txt", ".github/workflows/*.y*ml"),
)


def are_asked_for(words: Sequence[str], world: Overlay) -> bool:
    """Whether a command only installs packages that files at the top of the repository name, or asks which there are.

    The packages are the distribution's, and signed; a file that this very text wrote asks for none.
    """
    program, *rest = [*words, ""]
    verbs = [word for word in rest if word and word not in _PLAIN]
    if not verbs or verbs[0] not in _INSTALLS.get(program, ()):
        return False
    wanted = set(verbs[1:])
    if not all(map(_NAME.fullmatch, wanted)) or (not wanted and verbs[0] != "update"):
        return False
    for text in _texts(world) if wanted else ():
        wanted -= {name for name in wanted if re.search(rf"(?<![\w.+-]){re.escape(name)}(?![\w+-])", text)}
    return not wanted


def _texts(world: Overlay) -> Iterator[str]:
    for name in _FILES if world.root else ():
        path = f"{world.root}/{name}"
        for found in world.glob(path) if "*" in name else (path,):
            if found not in world.made():
                yield world.read(found) or ""
