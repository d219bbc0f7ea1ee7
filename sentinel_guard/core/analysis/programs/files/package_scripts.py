"""Packages of a project: scripts that ``npm pkg set`` changes, and where the one lies that a command is run for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.files import edited_file_content
from sentinel_guard.core.model import Effect

_LIFECYCLE = ("preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare", "prepublishOnly")
"""Scripts that run by themselves, wherever the package is installed."""


def changed(call: Call, package: str, given: Sequence[str]) -> Iterator[Effect]:
    """``npm pkg set scripts.x=…``: the file changes; a script that runs by itself counts at once."""
    call.world.write(package, edited_file_content.pkg_set(given, call.script_text(package) or "{}"))
    for name, _, value in (word.partition("=") for word in given):
        if name.removeprefix("scripts.") in _LIFECYCLE:
            yield from call.runner.script(value, call, f"{call.command.program} pkg set")


def scripts(text: str | None) -> dict[str, str]:
    """Those of a package.json, by their names."""
    try:
        package = json.loads(text or "{}", strict=False)
    except ValueError:
        return {}
    found = package.get("scripts") if isinstance(package, dict) else None
    return {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, dict) else {}


_PACKAGES = ("*/package.json", "*/*/package.json", "*/*/*/package.json")
_MANY = frozenset(("-r", "--recursive", "--workspaces", "-ws", "--workspace-root"))
_ROOT = "-w"
"""pnpm's for the package at the top, too; npm's has a value."""


def chosen_folder(call: Call) -> str:
    """Where the one package lies that ``pnpm --filter NAME`` or ``npm -w NAME`` means; empty where nobody knows.

    pnpm takes a name without its scope, too (https://pnpm.io/filtering).
    """
    given = call.parsed.values("-w", "--workspace", "-F", "--filter")
    own = [item.text for item in takewhile(lambda item: item not in call.operands[:1], call.fields)]
    many = not _MANY.isdisjoint(own) or (call.command.program == "pnpm" and _ROOT in own)
    if len(given) != 1 or not given[0].known or many:
        return ""
    return folder_of(call, given[0].text)


def folder_of(call: Call, name: str) -> str:
    """Where the one package lies that is called so; empty where nobody knows."""
    if call.world.kind(call.locate(f"{name}/package.json")) == "file":
        return call.locate(name)
    called = re.compile(rf'(?m)^\s*"name"\s*:\s*"(?:@[\w.-]+/)?{re.escape(name)}"')
    files = [path for pattern in _PACKAGES for path in call.world.glob(call.locate(pattern))]
    found = [path for path in files if "/node_modules/" not in path and called.search(call.world.read(path) or "")]
    return paths.parent(found[0]) if len(found) == 1 and not call.world.cut else ""
