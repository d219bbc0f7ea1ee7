"""The ledger of tokens: each reply once, never two sources added, what is unknown is not 0."""

from __future__ import annotations

from dataclasses import replace

import pytest

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


def test_each_reply_counts_once_at_its_highest_and_at_its_first_time():
    first, final = Usage(1.0, output=1, source="claude", key="m"), Usage(2.0, output=9, source="claude", key="m")
    reports = (Usage(3.0, output=5, source="report"),) * 2
    found = token_ledger.latest([*stored(first, *reports, final), Entry(1.0, "s", "state", {"event": "cool"})])
    assert found == {"s": (replace(final, at=1.0), *reports)}, "two reports that are equal are two"


@pytest.mark.parametrize(
    ("later", "known", "why"),
    [
        ({"output": 9}, {"output": 9}, "a count grows"),
        ({"output": 0}, {}, "and never falls"),
        ({"input": 0, "output": 0, "cache_read": 0, "cache_write": 0}, {}, "nor do all of them"),
        ({"input": 0, "cache_read": 8}, {"cache_read": 8}, "each by itself"),
        ({"at": 1.0}, {}, "an earlier time would hide it from the last minute"),
        ({"at": 99.0}, {}, "a later one from now"),
        ({"compaction": False}, {}, "what was a compaction stays one"),
    ],
)
def test_what_is_told_of_a_reply_later_takes_nothing_away(later, known, why):
    wanted = replace(FULL, **known)
    assert token_ledger.grown(FULL, replace(FULL, **later)) == wanted, why
    assert token_ledger.merged((FULL,), replace(FULL, **later)) == (wanted,), why
    assert token_ledger.latest(stored(FULL, replace(FULL, **later))) == {"s": (wanted,)}, why


def test_an_entry_of_lower_counts_holds_the_higher_ones_and_says_so():
    entry = token_ledger.entry("s", 9.0, FULL, replace(FULL, output=0))
    assert token_ledger.lowered(entry) and not token_ledger.lowered(*stored(FULL))
    assert entry.data["lowered"] == {"input": 1, "output": 0, "cache_read": 3, "cache_write": 4}
    assert token_ledger.usage_from(entry) == FULL


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
    kinds = ("estimate", "report", "telemetry", "claude")
    usages = [Usage(1.0, output=n, source=source) for n, source in enumerate(kinds, 1)]
    for number in (1, 2, 3, 4):
        assert [u.source for u in token_ledger.counted(usages[:number])] == [kinds[number - 1]]
    assert token_ledger.per_minute(usages, 30.0) == 4
    assert token_ledger.per_minute(usages, 61.0) == 0


def test_who_tells_much_pushes_nothing_out_of_what_is_remembered():
    own = [Usage(1.0, output=50, source="claude", key=str(n)) for n in range(3)]
    forged = [Usage(2.0, output=1, source="telemetry", key=str(n)) for n in range(100)]
    known: tuple[Usage, ...] = ()
    for usage in (*own, *forged):
        known = token_ledger.bounded((*known, usage), 10)
    assert sum(u.output for u in known if u.source == "claude") == 150 and token_ledger.per_minute(known, 3.0) == 150
    assert sum(u.output for u in known) == 250 and len(known) <= 12
