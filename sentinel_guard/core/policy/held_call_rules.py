"""The rules by which the broker holds system calls (docs/protocol.md, "The face ``kernel``"), made from a policy.

Rules of this file:
1. They ask about more rather than less: what the policy itself says is decided when it is asked.
2. Nothing is spared but what the guard knows to be the session's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.socket_rights import ENGINE, SOCKETS
from sentinel_guard.core.policy.policy import Policy, Rule
from sentinel_guard.core.policy.target_placeholders import CACHES, REBUILT, REBUILT_HERE, inside

HeldCallRule = tuple[str, ...]
"""The fields of one rule: ``("name", "ask", "/repo", ".env*")``."""
_WILD = re.compile(r"[][*?\\]")
_WORKED = ("/home", "/srv", "/mnt", "/media")
"""Folders in which people keep what they work on, beside their home."""


@dataclass(frozen=True, slots=True)
class HeldResources:
    """What is held for a session beside the names that its policy restricts; absolute paths."""

    files: tuple[str, ...] = ()
    """Restricted files that are there."""
    folders: tuple[str, ...] = ()
    """The guard's own folders and settings files."""
    own: tuple[str, ...] = ()
    """Folders in these that belong to the session's agent."""
    programs: tuple[str, ...] = ()
    """Programs that are judged, by whatever path they are started."""
    launcher: str = ""
    """The program that asks by itself about what it becomes."""
    sockets: tuple[str, ...] = ()
    """Sockets that give a right, and lie elsewhere in each session: of programs that type on a person's terminal, of
    the session bus, of an ssh agent; ``@NAME`` of an abstract one.
    """
    home: str = ""
    tools: tuple[str, ...] = ()
    """Folders of the home, and below it, in which programs keep what is theirs."""
    secrets: bool = False
    """Whether it is seen that programs read files of secrets: what they then connect to is asked about."""
    released: tuple[str, ...] = ()
    """Files and folders outside of the repository that a person let the session delete and replace."""


def rules(policy: Policy, root: str, held: HeldResources) -> Iterator[HeldCallRule]:
    """The rules of a session in the repository ``root``."""
    for pattern in (*policy.paths.restricted, *policy.project.restricted):
        yield from _name(pattern, root)
    yield from (("file", "ask", path) for path in held.files)
    yield from (("below", "ask", path) for path in held.folders)
    yield from (("below", "pass", path) for path in held.own)
    yield from (("program", "ask", path) for path in held.programs)
    yield ("program", "pass", held.launcher)
    yield from (("socket", "ask", glob) for glob in (*SOCKETS[ENGINE], *map(_literally, held.sockets)))
    if held.secrets:
        yield ("machines", "ask", "*")
    yield from dict.fromkeys(found for rule in policy.rules for found in _of_rule(rule, root, held.home))
    yield from _losses(root, held)


def _of_rule(rule: Rule, root: str, home: str) -> Iterator[HeldCallRule]:
    """The paths of a rule of the policy that is to be held."""
    if not rule.held:
        return
    for word, targets in (("ask", rule.target), ("pass", rule.not_target)):
        for target in targets:
            name, _, below = target.partition("}/")
            folder = {"{home": home, "{root": root}.get(name, "") if below else ""
            if (folder and folder != "/") or target.startswith("/"):
                yield _path(word, f"{folder}/{below}" if below else target)


def _path(word: str, pattern: str) -> HeldCallRule:
    """A shell pattern of absolute paths as the folder before its first wildcard, and the last name behind it."""
    parts = pattern.strip("/").split("/")
    plain = [*takewhile(lambda part: not _WILD.search(part), parts)]
    folder = f"/{'/'.join(plain)}"
    # A name that any file has would be asked about everywhere, where a folder is not known by its name.
    named = [part for part in parts[len(plain) :] if part.strip("*")]
    return ("name", word, folder, named[-1]) if named else ("below", word, folder)


def _asked(root: str, home: str) -> tuple[str, ...]:
    """The folders in which people keep what they work on."""
    return tuple(dict.fromkeys(p for p in (home, paths.sibling_folder(root), *_WORKED) if p not in ("", "/")))


def released_with(path: str, root: str, home: str) -> str:
    """What a yes to the loss of a file outside of the repository covers: the project, or folder, that it lies in."""
    parts = path.split("/")
    above = max((len(folder.split("/")) for folder in _asked(root, home) if inside(path, folder)), default=1)
    folders = ("/".join(parts[:size]) for size in range(above + 1, len(parts)))
    return next((folder for folder in folders if not (inside(root, folder) or inside(home, folder))), path)


def _losses(root: str, held: HeldResources) -> Iterator[HeldCallRule]:
    """Files of before the session that no snapshot holds: where people keep theirs, but not what is made again."""
    asked = _asked(root, held.home)
    yield from (("loss", "ask", path) for path in asked)
    caches = (held.home + cache.rstrip("/") for cache in CACHES)
    spared = (root, *(folder.rstrip("/") for folder in paths.TEMPORARY), *caches, *held.tools, *held.released)
    yield from (("loss", "pass", path) for path in dict.fromkeys(spared) if path not in asked)
    yield from (("loss", "pass", name) for name in dict.fromkeys((*REBUILT, *REBUILT_HERE)))


def _name(pattern: str, root: str) -> Iterable[HeldCallRule]:
    """A gitignore pattern as a folder and a shell pattern; folders with wildcards on the way are left to the answer."""
    if pattern.startswith(("!", "#")):
        return
    parts = [part for part in pattern.strip("/").split("/") if part != "**"] or ["*"]
    anchored = "/" in pattern.rstrip("/") and not pattern.startswith("**/")
    folders = takewhile(lambda part: not _WILD.search(part), parts[:-1]) if anchored else ()
    yield ("name", "ask", "/".join((root.rstrip("/"), *folders)) or "/", parts[-1])


def _literally(path: str) -> str:
    return re.sub(r"([][*?\\])", r"\\\1", path)
