"""The ledger of tokens: each reply once, never two sources added, what is unknown is not 0."""

from __future__ import annotations

from sentinel_guard.core.model import Entry, Usage
from sentinel_guard.core.session import token_ledger

FULL = Usage(
    5.0, 1, 2, 3, 4, source="claude", key="m1", model="opus", estimated=True, compaction=True,
)  # fmt: skip


def stored(*usages, session="s"):
    return [token_ledger.entry(session, 9.0, usage) for usage in usages]


def test_a_usage_comes_back_from_its_entry():
    [entry] = stored(FULL)
    assert (entry.at, entry.kind, token_ledger.usage_from(entry)) == (9.0, "usage", FULL)


def test_an_entry_of_an_older_version_is_a_report_of_its_own_time():
    assert token_ledger.usage_from(Entry(7.0, "s", "usage", {"output": 5})) == Usage(7.0, output=5, source="report")


def test_each_reply_counts_once_as_it_was_told_last():
    first, final = Usage(1.0, output=1, source="claude", key="m"), Usage(2.0, output=9, source="claude", key="m")
    reports = (Usage(3.0, output=5, source="report"),) * 2
    found = token_ledger.latest([*stored(first, *reports, final), Entry(1.0, "s", "state", {"event": "cool"})])
    assert found == {"s": (final, *reports)}, "two reports that are equal are two"


def test_rows_by_session_source_and_model():
    usages = [
        Usage(1.0, 1, 2, 3, 4, source="claude", key="a", model="opus"),
        Usage(2.0, 10, 20, 30, 40, source="claude", key="b", model="opus"),
        Usage(3.0, 5, source="claude", key="c", model="haiku"),
        Usage(4.0, output=99, source="report"),
    ]
    found = token_ledger.rows(token_ledger.latest(stored(*usages) + stored(usages[3], session="r")))
    shown = [(r.session, r.source, r.model, r.work, r.cache_read, r.replies, r.counted) for r in found]
    assert shown == [
        ("r", "report", "", 99, 0, 1, True),
        ("s", "claude", "haiku", 5, 0, 1, True),
        ("s", "claude", "opus", 77, 33, 2, True),
        ("s", "report", "", 99, 0, 1, False),
    ]


def test_a_session_of_which_nobody_told_has_no_row():
    entries = [token_ledger.unread_entry("s", 1.0, "claude", "no record")]
    assert token_ledger.latest(entries) == {}
    assert token_ledger.unread(entries[0]) == "no record"


def test_the_best_source_counts():
    kinds = ("estimate", "report", "claude")
    usages = [Usage(1.0, output=n, source=source) for n, source in enumerate(kinds, 1)]
    for number in (1, 2, 3):
        assert [u.source for u in token_ledger.counted(usages[:number])] == [kinds[number - 1]]
    assert token_ledger.per_minute(usages, 30.0) == 3
    assert token_ledger.per_minute(usages, 61.0) == 0
