"""Programs that the project builds itself, by their paths and by what its build files call them."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay

_FOLDERS = frozenset(("target", "build", "out", "bin", "zig-out", "_build", ".build", "builddir", "dist-newstyle"))
"""Where compilers of these build files leave programs."""
_FILES = ("build.zig", "Cargo.toml", "Package.swift", "CMakeLists.txt", "meson.build", "*.cabal")
_CALLS = r"(?:\bname\s*[:=]\s*[\"']|\b(?:add_)?executable\s*\(\s*[\"']?|^executable\s+)%s(?![\w-])"


def is_built(path: str, world: Overlay) -> bool:
    """Whether a path leads to what a build file beside its folder, not written by this text, calls an executable:
    ``./zig-out/bin/zx`` is not the zx that runs scripts.
    """
    if not world.root or not path.startswith(f"{world.root}/") or path in world.made() or path in world.copies:
        return False
    name = re.compile(_CALLS % re.escape(paths.base(path)), re.MULTILINE)
    above = paths.parent(path)
    while above != world.root:
        folder, above = paths.base(above), paths.parent(above)
        if folder in _FOLDERS:
            files = [
                file for pattern in _FILES for file in world.glob(f"{above}/{pattern}") if file not in world.made()
            ]
            if any(name.search(world.read(file) or "") for file in files):
                return True
    return False
