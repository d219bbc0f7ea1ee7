"""The interface of an audit log store: append-only, hash-chained, one writer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.model import Entry


class Store(Protocol):
    """Append-only, hash-chained, one writer. Raises StoreError."""

    def append(self, entry: Entry, *, durable: bool = False) -> Entry:
        """Puts an entry at the end and returns it with ``seq``, ``prev`` and ``hash``.

        On return it survives kill -9; with ``durable`` also power loss.
        """

    def sync(self) -> None:
        """What was appended survives power loss, too, where the disk takes it."""

    def entries(
        self, *, session: str = "", after: int = 0, kinds: tuple[str, ...] = (), last: int = 0
    ) -> Iterator[Entry]:
        """Entries in order, filtered; ``last`` keeps the newest so many."""

    def live_sessions(self) -> tuple[str, ...]:
        """Sessions that have begun and not ended."""

    def ended_sessions(self) -> frozenset[str]:
        """Sessions whose end is on record."""

    @property
    def named(self) -> Head | None:
        """The newest entry that outlives a power loss."""

    def compare(self, head: Head, witness: str) -> bool:
        """Whether the log has the entry that a witness knows; where not, that is on record."""

    def close(self) -> None: ...
