"""What somebody else knows of the log is held against it (``SqliteStore.compare``)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit.opening import EDITED
from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.model import Entry

KNOWN = (
    (2, "", True, "an entry as it stands"),
    (2, "f" * 64, False, "another one in its place"),
    (2, "0" * 64, False, "another one with a lower hash"),
    (9, "f" * 64, False, "one that is missing"),
)


@pytest.mark.parametrize(("seq", "digest", "fits", "why"), KNOWN, ids=[row[-1] for row in KNOWN])
def test_what_does_not_fit_is_on_record_and_its_head_is_kept(tmp_path: Path, seq, digest, fits, why):
    path = tmp_path / "audit.sqlite3"
    with closing(SqliteStore(path)) as store:
        entries = [store.append(Entry(float(n), "s1", "verdict")) for n in range(3)]
        known = Head(seq, digest or entries[seq - 1].hash)
        assert store.compare(known, "a witness") is fits
        noted = [e for e in store.entries(kinds=("daemon",)) if e.data["event"] == EDITED]
    kept = [head_file.read(p) for p in head_file.broken(head_file.path_of(path))]
    assert (len(noted), kept) == ((0, []) if fits else (1, [known]))
