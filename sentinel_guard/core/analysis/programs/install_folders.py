"""The folder into which an installer puts what it installs, where its options name one: files come there, as from an
archive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect

_PIP, _NODE = ("-t", "--target", "--prefix", "--root"), ("--prefix", "-C", "--dir", "--cwd")
_OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("pip", "pip3", "uv"), _PIP),
    **dict.fromkeys(("npm", "pnpm", "yarn"), _NODE),
    "cargo": ("--root",),
    "gem": ("-i", "--install-dir", "-n", "--bindir"),
}
"""As their help names them (pip 25, uv 0.9, npm 11, cargo 1.90, RubyGems 3.7)."""
_VERBS = frozenset(("install", "i", "add", "ci", "sync", "update", "upgrade"))


def installed(call: Call) -> Iterator[Effect]:
    """What an installation writes into the folders that its options name."""
    words = call.fields[1:]
    if not _VERBS.isdisjoint(item.text for item in words):
        for folder in _named(_OPTIONS[call.command.program], words):
            yield from call.write(folder, "append")


def _named(options: tuple[str, ...], words: Iterable[Field]) -> Iterator[Field]:
    for option, value in pairwise((*words, Field(""))):
        name, equals, rest = option.text.partition("=")
        if name in options:
            yield Field(rest, option.known) if equals else value


PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = dict.fromkeys(_OPTIONS, installed)
