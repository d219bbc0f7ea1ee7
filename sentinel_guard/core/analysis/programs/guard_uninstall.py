"""Detects installer commands (pip, pipx, uv …) that uninstall or replace the guard's own package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.package_publishing import registry
from sentinel_guard.core.model import Effect

_VERBS = frozenset(
    (
        "uninstall",
        "install",
        "upgrade",
        "reinstall",
        "remove",
        "inject",
        "sync",
        "rm",
        "un",
        "unlink",
        "purge",
        "delete",
    )
)
_OWN = re.compile(r"sentinel[-_.]+guard(?:\[.*\])?(?:[=<>!~@ ].*)?", re.IGNORECASE)


def taken_away(call: Call) -> Iterator[Effect]:
    """To take the package away, or to put another one over it, is to uninstall the guard, by whatever installer."""
    words = [item.text for item in call.fields[1:]]
    verb = next((word for word in words if word in _VERBS), "")
    if verb and any(_OWN.fullmatch(word) for word in words):
        yield from call.runner.run(
            [Field("sentinel-guard"), Field("uninstall")], call, f"{call.command.program} {verb}"
        )


def installer(call: Call) -> Iterator[Effect]:
    yield from taken_away(call)
    yield from registry(call)


INSTALLERS = (
    *("npm", "pnpm", "yarn", "bun", "brew", "apt", "apt-get", "dnf", "yum", "zypper", "apk", "snap", "flatpak", "nix"),
    *("cargo", "gem", "go", "mise", "asdf", "scoop", "choco", "winget", "port", "mamba", "micromamba", "pixi", "dpkg"),
    "uv",
)
"""Installers with rows of their own, which take any package away by a verb."""
PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = dict.fromkeys(
    ("pip", "pip3", "pipx", "poetry", "pdm", "hatch", "rye", "conda"), installer
)
