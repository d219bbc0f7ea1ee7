"""Atomic file writes: to a temporary file, then renamed, so that a reader (or a power cut) never sees half of one.

TOML in and out.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.errors import ConfigError, HostError

PRIVATE = 0o600
MAX_TOML = 1 << 20
"""Bytes that any TOML file may have."""
MAX_DOTS = 8
"""Dots of a key: ``tomllib`` takes 2.5 s for one of 16,000 parts."""
_STRINGS = re.compile(r'''("""(?:\\.|[^\\])*?"""|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')|\#[^\n]*''', re.DOTALL)
"""Strings and comments of TOML 1.0."""
_NO_KEY = re.compile(r"[^\w.\- \t]")
_IN_FORCE = "{name} is not in force. Correct it, or take it away."
_NO_TEXT = "{name} is not in force. Make it a readable text file, or take it away."


@dataclass(frozen=True, slots=True)
class Size:
    """What a TOML file may hold."""

    size: int = MAX_TOML
    """Bytes."""
    strings: int = MAX_TOML


def write(path: Path, data: bytes, mode: int | None = None, *, durable: bool = True) -> None:
    """Puts ``data`` in place of the file, whole or not at all, safe against power loss unless it need not be
    ``durable``: what is of use to running processes only.

    ``mode`` is the new file's; without it the old file's is kept, or 0600 where there was none. A symbolic link stays,
    and what it points to is written. Raises HostError.
    """
    path = Path(os.path.realpath(path))
    try:
        _write_aside(path, data, _mode_of(path) if mode is None else mode, durable=durable)
    except OSError as e:
        raise HostError(
            f"Cannot write {path}: {e.strerror}.", "Check its folder's permissions and the room on the disk."
        ) from e


def _write_aside(path: Path, data: bytes, mode: int, *, durable: bool) -> None:
    import tempfile  # noqa: PLC0415 - who only reads does without

    descriptor, aside = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, mode)
            if durable:
                os.fsync(descriptor)
        Path(aside).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(aside).unlink()
        raise
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes a rename in a folder survive power loss, where the file system can say so."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_json(path: Path, data: object, *, durable: bool = True) -> None:
    """Written aside, synced (as ``write``), renamed; readable by its owner alone. Raises OSError."""
    import json  # noqa: PLC0415 - a commit waits, and writes none

    aside = path.with_suffix(".new")
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w") as f:  # noqa: PTH123 - a mode
        f.write(json.dumps(data))  # not json.dump, which is seven times as slow: it goes through Python piece by piece
        f.flush()
        if durable:
            os.fsync(f.fileno())
    aside.rename(path)


def _mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return PRIVATE


def read_toml(path: Path, name: str = "", most: Size | None = None) -> tuple[dict[str, object], str]:
    """A TOML file: what it says and its text. ``name`` stands for it in errors. Raises ConfigError."""
    name = name or str(path)
    return parse_toml(read_bytes(path, name), name, most)


def parse_toml(data: bytes, name: str, most: Size | None = None) -> tuple[dict[str, object], str]:
    """What TOML says, and its text. ``name`` stands for it in errors. Raises ConfigError.

    What exceeds a size is refused unparsed: a parser may take seconds for a key of thousands of parts.
    """
    import tomllib  # noqa: PLC0415 - as in write_json

    most = most or Size()
    text = _decoded(data, name, most.size)
    code, strings = _STRINGS.sub("s", text), sum(map(bool, _STRINGS.findall(text)))
    if max(part.count(".") for part in _NO_KEY.split(code)) > MAX_DOTS:
        raise ConfigError(f"{name}: has a key of more than {MAX_DOTS} dots", _IN_FORCE.format(name=name))
    if strings > most.strings:
        raise ConfigError(
            f"{name}: holds {strings} patterns and texts; {most.strings} are possible", _IN_FORCE.format(name=name)
        )
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as e:
        raise ConfigError(f"{name}: not TOML: {e}", _IN_FORCE.format(name=name)) from e


def read_bytes(path: Path, name: str = "") -> bytes:
    """What a regular file holds, at most a byte more than ``MAX_TOML``. ``name`` as above. Raises ConfigError."""
    name = name or str(path)
    try:
        return read_regular(path, MAX_TOML + 1)
    except OSError as e:
        raise ConfigError(f"{name}: cannot be read: {e.strerror}", _NO_TEXT.format(name=name)) from e


def read_regular(path: str | Path, most: int = -1) -> bytes:
    """What a regular file holds. Raises OSError, for all that is none, too: to read a named pipe would hold us up."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(path))
        return file.read(most)


def _decoded(data: bytes, name: str, size: int) -> str:
    hint = _NO_TEXT.format(name=name)
    if len(data) > size:
        raise ConfigError(f"{name}: is over the limit of {size} bytes", hint)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise ConfigError(f"{name}: is not UTF-8 at byte {e.start}", hint) from e


def append_toml(path: Path, tables: Mapping[str, Mapping[str, object] | list[Mapping[str, object]]]) -> None:
    """Adds tables (a list is ``[[name]]``, each) at the end of a TOML file; what a person wrote stays byte for byte.

    The file is proved before it is written: what comes out must be TOML. Raises ConfigError, HostError.
    """
    import tomllib  # noqa: PLC0415 - as in write_json

    before = path.read_bytes() if path.exists() else b""
    gap = b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n"
    after = before + gap + toml_tables(tables).encode()
    try:
        tomllib.loads(after.decode("utf-8-sig"))
    except ValueError as e:
        raise ConfigError(f"{path}: the new table does not fit: {e}", "Write it by hand.") from e
    write(path, after)


def toml_tables(tables: Mapping[str, Mapping[str, object] | list[Mapping[str, object]]]) -> str:
    """The text of tables as ``append_toml`` writes it."""
    return "\n".join(_tables(tables))


def _tables(tables: Mapping[str, Mapping[str, object] | list[Mapping[str, object]]]) -> Iterator[str]:
    import tomli_w  # noqa: PLC0415 - the same

    # The headers are ours: tomli_w writes a short list of tables as one key, which would fall into the table before it.
    for name, value in tables.items():
        many = isinstance(value, list)
        for table in value if isinstance(value, list) else [value]:
            yield (f"[[{name}]]\n" if many else f"[{name}]\n") + tomli_w.dumps(table)
