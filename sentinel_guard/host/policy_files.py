"""Loads the policy in force from files: the built-in rule packs, the user's file, the project's ``sentinel.toml``.

Rules of this file:
1. A file that cannot be used (syntax, schema, rights) is never "no policy": its last good version stays, over a restart
   of the daemon too, else what is built in; and ``Policy.warnings`` says so.
2. A rule whose examples fail does not load, and is named. The built-in packs are proved by
   tests/core/policy/test_rule_examples.py.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sentinel_guard.core.policy.file_schema import Layer, parse
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Policy, Rule
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.machine import atomic_files
from sentinel_guard.host.machine.state_paths import StatePaths

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from sentinel_guard.core.policy.rule_examples import Problem

NAME = "sentinel.toml"
"""The project's file, at the top of its repository."""

MOST = atomic_files.Size(size=1 << 16, strings=2_000)
"""What a policy file may hold: a session waits for it to be read."""
READING = 0.05
"""Seconds that anybody waits for a changed file to be read; its last version is in force that long."""
_PACKS = Path(__file__).parent.parent / "core" / "policy" / "packs"
_Stamp = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class _Read:
    """A policy file as it was last read."""

    stamp: _Stamp
    layer: Layer
    warnings: tuple[str, ...] = ()
    digest: str = ""
    """SHA-256 of its bytes, in hex; empty where there is none, or none that can be read."""


class Policies:
    """Finds and keeps policies; a changed file is read again when it is next asked for, beside who asks."""

    def __init__(
        self, places: StatePaths, *, keeps: bool = False, changed: Callable[[str, str], None] = lambda _old, _new: None
    ) -> None:
        """``keeps`` (the daemon): good versions are copied to the state folder, for the time when a file is broken.
        ``changed`` is told of a user's file that is another than before: both as ``user_hash`` gives them.
        """
        self._user, self._changed = places.policy, changed
        self._copies, self._keeps = places.state / "policies", keeps
        self._compared: _Read | None = None
        self._comparing = threading.Lock()
        self._read: dict[Path, _Read] = {}
        self._reader: ThreadPoolExecutor | None = None
        self._reading: dict[Path, tuple[_Stamp, Future[_Read]]] = {}
        self._merged: dict[Path, tuple[tuple[_Read, _Read], Policy]] = {}

    def load(self, root: str | Path = "") -> Policy:
        """The policy in force in a repository (``root``), or outside of one. Never raises for a broken file."""
        project = _project(root) if root else None
        user = self._fresh(self._user)
        self._compare_user(user)
        own = self._fresh(project) if project else _NOTHING
        key = project or Path()
        known = self._merged.get(key)
        if known is None or known[0] != (user, own):
            known = (user, own), merge(builtin(), user.layer, own.layer, (*user.warnings, *own.warnings))
            self._merged[key] = known
        return known[1]

    def user_hash(self) -> str:
        """SHA-256 of the user's own file as it was last read, in hex; empty where there is none that can be read."""
        return self._fresh(self._user).digest

    def _compare_user(self, read: _Read) -> None:
        """Tell of a user's file that is another than the one that was read last."""
        with self._comparing:
            before, self._compared = self._compared, read
        if before and before.digest != read.digest:
            self._changed(before.digest, read.digest)

    def _fresh(self, path: Path) -> _Read:
        stamp, last = _stamp(path), self._read.get(path)
        if last is None:
            last = self._read[path] = self._now(path, stamp, None)
        elif last.stamp != stamp:
            begun, found = self._reading.get(path) or (None, None)
            if found is None or begun != stamp:
                found = self._beside().submit(self._now, path, stamp, last)
                self._reading[path] = stamp, found
            with contextlib.suppress(TimeoutError):
                found.exception(READING)
            if found.done():
                # Another thread may have taken it away already.
                self._reading.pop(path, None)
                last = self._read[path] = found.result()
        return last

    def _beside(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - who reads a policy once does without

        self._reader = self._reader or ThreadPoolExecutor(max_workers=1, thread_name_prefix="policy")
        return self._reader

    def _now(self, path: Path, stamp: _Stamp, last: _Read | None) -> _Read:
        import hashlib  # noqa: PLC0415 - load_paths does without

        limited = path != self._user
        copy = self._copies / hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
        last = last or _copied(copy, path, limited=limited)
        if stamp is None:
            return _NOTHING
        try:
            data = atomic_files.read_bytes(path)
        except ConfigError as e:
            return _kept(path, stamp, last, e.message)
        found = replace(_parsed(data, path, stamp, last, limited=limited), digest=hashlib.sha256(data).hexdigest())
        if self._keeps and not found.warnings:
            _copy(data, copy)
        return found


def load(places: StatePaths, root: str | Path = "") -> Policy:
    """The policy in force, for a command that asks once."""
    return Policies(places).load(root)


def load_paths(places: StatePaths, root: str | Path) -> Policy:
    """What is restricted, hidden and let pass in a repository; no rule is kept or proved: the git hooks hurry."""
    layers = [_paths_of(places.policy, limited=False), _paths_of(Path(root) / NAME, limited=True)]
    warnings = tuple(warning for read in layers for warning in read.warnings)
    return merge(_pack("defaults"), layers[0].layer, layers[1].layer, warnings)


def _paths_of(path: Path, *, limited: bool) -> _Read:
    stamp = _stamp(path)
    if stamp is None:
        return _NOTHING
    try:
        layer = read(path, limited=limited)
    except ConfigError as e:
        return _kept(path, stamp, None, e.message)
    settings = {place: value for place, value in layer.settings.items() if place[0] in ("paths", "leaks", "protection")}
    return _Read(stamp, Layer(layer.source, settings))


def read(path: Path, *, limited: bool = False) -> Layer:
    """What one policy file says, its rules not yet proved. Raises ConfigError with every mistake.

    ``limited``: it is a project's (``project_file_size_limits``).
    """
    return _layer(atomic_files.read_bytes(path), str(path), limited=limited)


def validate(path: Path, *, limited: bool = False) -> Layer:
    """The layer of one policy file. Raises ConfigError with every mistake, failed examples of its rules among them."""
    return _proved(read(path, limited=limited))


def prove(data: bytes, name: str) -> Layer:
    """``validate`` for what a project's file called ``name`` would hold. Raises ConfigError."""
    return _proved(_layer(data, name, limited=True))


@lru_cache(maxsize=16)
def _layer(data: bytes, name: str, *, limited: bool) -> Layer:
    """The same bytes say the same: each commit asks. What is wrong is not remembered."""
    document, text = atomic_files.parse_toml(data, name, MOST)
    return parse(document, name, text, limited=limited)


def _proved(layer: Layer) -> Layer:
    if problems := _problems(layer.rules):
        raise ConfigError("\n".join(p.words for p in problems), "A rule whose examples fail is not in force.")
    return layer


@lru_cache(maxsize=1)
def builtin() -> Layer:
    """The built-in policy: the packs, joined."""
    from sentinel_guard.core.policy import rule_examples  # noqa: PLC0415 - as in _problems

    layers = [_pack(name) for name in rule_examples.NAMES]
    settings = {place: value for layer in layers for place, value in layer.settings.items()}
    confirm = {name: patterns for layer in layers for name, patterns in layer.confirm.items()}
    return Layer("", settings, confirm, tuple(rule for layer in layers for rule in layer.rules))


def _pack(name: str) -> Layer:
    document, text = atomic_files.read_toml(_PACKS / f"{name}.toml", name)
    return parse(document, f"pack {name}", text)


@lru_cache(maxsize=256)
def _project(root: str | Path) -> Path:
    """The project's file. Asked for with every verdict, and paths are slow to join."""
    return Path(root) / NAME


_NOTHING = _Read(None, Layer(""))


def _copied(copy: Path, path: Path, *, limited: bool) -> _Read | None:
    """The last good version that an earlier daemon kept."""
    try:
        return _Read(None, _layer(atomic_files.read_bytes(copy), str(path), limited=limited))
    except ConfigError:
        return None


def _copy(data: bytes, copy: Path) -> None:
    # Without the copy only a restart with a broken file is worse off.
    with contextlib.suppress(OSError, HostError):
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not copy.exists() or copy.read_bytes() != data:
            atomic_files.write(copy, data)


def _stamp(path: Path) -> _Stamp:
    try:
        seen = os.stat(path)  # noqa: PTH116 - hot
    except FileNotFoundError:
        return None
    except OSError:
        return (0, 0, 0)
    return (seen.st_mtime_ns, seen.st_size, seen.st_ino)


def _parsed(data: bytes, path: Path, stamp: _Stamp, last: _Read | None, *, limited: bool) -> _Read:
    try:
        layer = _layer(data, str(path), limited=limited)
    except ConfigError as e:
        return _kept(path, stamp, last, e.message)
    problems = _problems(layer.rules)
    said = "\n".join(p.words for p in problems)
    if problems and last and last.layer.source:
        return _kept(path, stamp, last, said)
    failed = {p.rule for p in problems}
    layer = replace(layer, rules=tuple(r for r in layer.rules if r.id not in failed))
    return _Read(stamp, layer, (f"{said}\n  {path}: a rule whose examples fail is not in force.",) if problems else ())


def _problems(rules: Sequence[Rule]) -> list[Problem]:
    if not rules:
        return []
    from sentinel_guard.core.analysis.analyse import analyse  # noqa: PLC0415 - slow to import, and a commit waits
    from sentinel_guard.core.policy import rule_examples  # noqa: PLC0415 - the same

    return rule_examples.validate(rules, analyse)


def _kept(path: Path, stamp: _Stamp, last: _Read | None, said: str) -> _Read:
    good = last.layer if last else Layer("")
    stays = "its last good version" if good.source else "the built-in policy"
    return _Read(stamp, good, (f"{said}\n  {path} is broken: {stays} stays in force.",))
