"""Path text -> absolute, normalised path with symbolic links resolved; tests for devices and temporary folders."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.world import World

IGNORED = frozenset(("/dev/null", "/dev/tty", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr"))
"""Writing there changes nothing."""

TEMPORARY = (  # names that commands use; nothing is made there by us
    *("/tmp/", "/var/tmp/", "/var/folders/", "/private/tmp/", "/private/var/folders/", "/dev/shm/"),  # noqa: S108
)
DEVICES = ("/dev/", "/proc/sysrq-trigger")
_NO_DEVICE = (  # names to tell apart: nothing is opened
    "/dev/fd/", "/dev/shm/", "/dev/pts/", "/dev/mqueue/", "/dev/tcp/", "/dev/udp/", "/dev/tty", "/dev/log",  # noqa: S108
)  # fmt: skip

_SELF = re.compile(r"/+proc/+(?:self|thread-self|\d+)(?:/+task/+\d+)?/+(cwd|root)(?=/|$)")
_DESCRIPTOR = re.compile(r"/dev/(?:stdin|stdout|stderr|fd/\d+)|/proc/(?:self|thread-self|\d+)/fd/\d+")
REBUILT = frozenset(
    (
        *("build", "dist", "target", "node_modules", "out", "coverage", "htmlcov", "_build", "obj", ".venv"),
        *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".next", ".nuxt", ".turbo"),
        *(".svelte-kit", ".angular", ".parcel-cache", ".cache", ".gradle", ".godot", ".dart_tool", ".terraform"),
        *("dist-newstyle", ".stack-work", "elm-stuff", "DerivedData", ".zig-cache", "zig-cache", "zig-out"),
    )
)
"""Names of folders that are made anew: what git ignores in them is no loss."""


def locate(text: str, cwd: str, world: World, *, follow: bool = True) -> str:
    """The absolute, normalised path with symbolic links resolved.

    Without ``follow`` the last component stays as it is named: ``rm link`` removes the link. A closing ``/`` or ``/.``
    makes the link its target again. ``cwd`` is absolute.
    """
    path = text if text.startswith("/") else f"{cwd}/{text}"
    # An open descriptor is the asking process's own; resolved here it would be one of the guard's.
    if path.startswith(("/dev/", "/proc/")) and _DESCRIPTOR.fullmatch(normal(path)):
        return normal(path)
    if "/proc/" in path and (match := _SELF.match(path)):
        path = (cwd if match[1] == "cwd" else "") + path[match.end() :]
    if follow or path.endswith(("/", "/.", "/..")):
        return world.resolve(path or "/")
    head, _, last = path.rpartition("/")
    return world.spelled(child(world.resolve(head or "/"), last))


def child(folder: str, name: str) -> str:
    """``folder/name``, for the root too."""
    return f"/{name}" if folder == "/" else f"{folder}/{name}"


def parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def base(path: str) -> str:
    """The last component: ``rm`` for ``/usr/bin/rm``."""
    return path.rpartition("/")[2]


def normal(path: str) -> str:
    """Lexically: no ``//``, ``.`` and ``..``. For an absolute path."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part and part != ".":
            parts.append(part)
    return "/" + "/".join(parts)


def is_device(path: str) -> bool:
    """A raw device or a kernel trigger: what is written there is no file's content."""
    return path.startswith(DEVICES) and not path.startswith(_NO_DEVICE) and path not in IGNORED


def is_remote(text: str) -> bool:
    """``host:path``, as scp and rsync read it."""
    head, colon, _ = text.partition(":")
    return bool(colon) and "/" not in head


def sibling_folder(root: str) -> str:
    """The folder in which the repository lies beside others; empty where that is the system's or everybody's."""
    above = parent(root) if root else "/"
    return "" if above == "/" or f"{above}/" in TEMPORARY else above


def is_temporary(path: str, root: str, home: str) -> bool:
    """Whether a path is a temporary folder's: below one, and neither the person's (a repository that lies there
    itself, what lies beside it, a home), nor a folder that holds such things.
    """
    if not path.startswith(TEMPORARY):
        return False
    own = (sibling_folder(root), root, home)
    return not any(_touch(path, folder) for folder in own if folder.startswith(TEMPORARY))


def _touch(path: str, folder: str) -> bool:
    """Whether one of them is the other, or lies below it."""
    return f"{path}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{path}/")


_SETTINGS = frozenset((".config", ".local", ".ssh", ".gnupg"))
"""Hidden folders in which an empty file may be a setting: systemd takes one for a service that is switched off."""


def is_programs_folder(path: str, home: str) -> bool:
    """Whether a path is a folder within a program's own hidden folder in the home: ``~/.tool/sessions``."""
    hidden, slash, _ = path[len(home) + 1 :].partition("/")
    return path.startswith(f"{home}/.") and slash != "" and hidden not in _SETTINGS


def is_mark(path: str, world: World) -> bool:
    """Whether a path is an empty file in such a folder: with it nothing but its name is lost."""
    own = is_programs_folder(parent(path), world.home)
    return own and world.kind(path) == "file" and world.read(path) == ""


def emptied_folder(text: str, source: str, *, unmatched: bool) -> str | None:
    """The folder whose whole content a glob means: ``x`` for ``x/*``, ``x/.*``; None for anything else.

    ``text`` is one field, ``source`` the word that it came from; an unmatched glob is its own text.
    """
    pattern = text if unmatched else source
    if "*" not in pattern:
        return None
    last = pattern.rstrip("/").rpartition("/")[2]
    if not last or last.strip("*.?"):
        return None
    folder, slash, _ = text.rstrip("/").rpartition("/")
    return (folder or "/") if slash else "."
