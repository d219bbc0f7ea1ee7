"""What is known of a coding agent's own record of tokens: where it lies, whose conversation it holds, how it is read.

Rules of this package:
1. Pure: text and values in, ``Usage`` out. Who reads the files is ``host/client_records``.
2. A reply that has no counts where they must stand raises ``ValueError`` (or KeyError, TypeError): it is unknown then,
   and not 0.
3. ``Usage.input`` is what was not read from a cache, whatever the client calls input.
4. A key names a reply in all records of its client: what is copied into another file is no second reply.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from sentinel_guard.core.model import Usage

Json = Mapping[str, object]
Parser = Callable[[Json], Iterable[Usage]]
"""One line, document or row -> the tokens of the replies that it tells of. Of one file, in its order."""
MOST = 10**12
"""More tokens than a reply can have."""


class Form(enum.Enum):
    LINES = "lines"
    """JSON objects, one a line; lines are only added."""
    DOCUMENT = "document"
    """One JSON object, which is written anew with each reply."""
    ROWS = "rows"
    """A table in an SQLite database."""


class Conversation(NamedTuple):
    """Which conversation a record holds."""

    names: frozenset[str]
    """Ids by which the client's tools may be told of it."""
    folder: str = ""
    """Where the client was started; empty where that is not told."""


class TokenRecord(NamedTuple):
    """One coding agent's record of tokens."""

    agent: str
    """Its name (``agents/registry``)."""
    form: Form
    folders: tuple[tuple[str, str], ...]
    """Where records lie: a variable that may name a folder (empty: HOME), and the path from there. The first whose
    variable is set counts."""
    files: tuple[str, ...]
    """Patterns below that folder; ``{name}`` is the id of a conversation, or ``*``."""
    conversation: Callable[[str, Json], Conversation]
    """The path of a record, and the first object in what tells of it -> the conversation."""
    parser: Callable[[], Parser]
    """Makes a parser for one file."""
    named_by: str = ""
    """The variable by which its tools are told the conversation's id; empty where there is none. Its hooks tell it in
    any case: as the id of their session."""
    about: Callable[[str], str] = str
    """The path of a record -> the file whose first object tells of its conversation."""
    marks: tuple[bytes, ...] = ()
    """Of LINES: only a line that has one of these is looked at."""
    query: str = ""
    """Of ROWS: gives ``id`` and ``data``, a JSON object; ``?`` is milliseconds of the epoch, since when."""

    def folder(self, environ: Mapping[str, str]) -> str:
        """The folder of its records, by the environment of its process; empty where that says too little."""
        for variable, path in self.folders:
            if top := environ.get(variable or "HOME"):
                return f"{top.rstrip('/')}/{path}".rstrip("/")
        return ""


def mapping(value: object) -> Json:
    """A JSON object; empty for anything else."""
    return value if isinstance(value, Mapping) else {}


def count(held: Json, name: str, *, missing: int | None = None) -> int:
    """A count of tokens by its name; ``missing`` where there is none. Raises ValueError."""
    value = held.get(name, missing)
    if value is None:
        value = missing
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
        raise ValueError(f"{name} is no count of tokens: {value!r:.40}")
    return int(value)


def counts_with_cache(held: Json) -> tuple[int, int, int, int]:
    """``Usage``'s counts, where ``inputTokens`` includes what was cached and what was written to the cache.

    Raises ValueError.
    """
    cached, written = (count(held, name, missing=0) for name in ("cacheReadTokens", "cacheWriteTokens"))
    return max(0, count(held, "inputTokens") - cached - written), count(held, "outputTokens"), cached, written


def moment(value: object) -> float:
    """Seconds of the epoch, to a millisecond, of an ISO 8601 time or of milliseconds. Raises ValueError."""
    if isinstance(value, str):
        return round(datetime.fromisoformat(value).timestamp(), 3)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return round(value / 1000, 3)
    raise ValueError(f"no time: {value!r:.40}")
