"""Scripts of a package.json that ``npm pkg set`` changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
