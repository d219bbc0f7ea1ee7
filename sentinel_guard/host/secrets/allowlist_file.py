"""Reads and writes a repository's allowlist of secret finds (``core/secrets/allowlisted_findings.py``)."""

from __future__ import annotations

import os
from pathlib import Path

from sentinel_guard.core.secrets.allowlisted_findings import NAME, NONE, Allowlist
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine import atomic_files

_MERGED = f"Take one side (git checkout --ours {NAME}), then bring it up to date: sentinel-guard secrets baseline"
_SALT = 16
_MODE = 0o644
_HEAD = """\
# What a search for secrets found here and does not ask about again; no value stands in it.
# Written by 'sentinel-guard secrets baseline', walked through with 'sentinel-guard secrets audit'; docs/secrets.md.
"""


def load(root: str | Path) -> Allowlist:
    """The repository's baseline, or NONE where there is no file. Raises ConfigError for one that cannot be read."""
    path = Path(root) / NAME
    if not os.path.lexists(path):
        return NONE
    try:
        return Allowlist.parse(atomic_files.read_toml(path, NAME)[1])
    except ConfigError:
        if path.is_file() and path.stat().st_size <= atomic_files.MAX_TOML and b"\n<<<<<<< " in path.read_bytes():
            raise ConfigError(f"{NAME} holds a merge conflict.", _MERGED) from None
        raise


def reviewed(root: str | Path) -> Allowlist:
    """What a person has marked; nothing where the file cannot be read: it lets nothing be then."""
    try:
        return load(root).reviewed()
    except ConfigError:
        return NONE


def begin() -> Allowlist:
    """An empty one with a salt of its own."""
    return Allowlist(os.urandom(_SALT))


def save(root: str | Path, baseline: Allowlist) -> None:
    """Write it, whole or not at all. Raises ConfigError where it would be too long to be read, HostError."""
    data = (_HEAD + atomic_files.toml_tables(baseline.document())).encode()
    if len(data) > atomic_files.MAX_TOML:
        hint = "Leave out files that are full of them: [leaks] allow = [...] in your own policy."
        raise ConfigError(f"{len(baseline.rows)} rows are too many: {NAME} holds {atomic_files.MAX_TOML} bytes.", hint)
    atomic_files.write(Path(root) / NAME, data, _MODE)
