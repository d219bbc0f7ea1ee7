"""The hash chain: what was done to a log, and where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sentinel_guard.core.hash_chain import GENESIS, SEARCH, Head, canonical, entry_hash, find_breaks, seal, verify
from sentinel_guard.core.model import Entry


def log(count: int = 6) -> list[Entry]:
    entries: list[Entry] = []
    head = Head()
    for n in range(count):
        entry = seal(Entry(1000.0 + n, "s1", "verdict", {"id": f"a{n + 1}", "argv": ["ls", "-l"]}), head)
        head = Head(entry.seq, entry.hash)
        entries.append(entry)
    return entries


def head_of(entries: list[Entry]) -> Head:
    return Head(entries[-1].seq, entries[-1].hash)


def edit(entries, seq, **change):
    return [replace(e, **change) if e.seq == seq else e for e in entries]


def rehashed(entries, seq, **change):
    def forged(entry):
        entry = replace(entry, **change)
        return replace(entry, hash=entry_hash(entry.prev, entry))

    return [forged(e) if e.seq == seq else e for e in entries]


def swap(entries, first, second):
    """The contents of two rows change places, their numbers stay."""
    rows = {e.seq: e for e in entries}
    rows[first], rows[second] = replace(rows[second], seq=first), replace(rows[first], seq=second)
    return [rows[n] for n in sorted(rows)]


def without(entries, *seqs):
    return [e for e in entries if e.seq not in seqs]


def renumbered(entries, gone):
    return [replace(e, seq=e.seq - (e.seq > gone)) for e in entries if e.seq != gone]


def forged_end(entries, start):
    """Everything from ``start`` on is edited and sealed anew: only the head file can tell."""
    head, out = Head(), []
    for e in entries:
        sealed = seal(replace(e, data={"id": "forged"}) if e.seq >= start else e, head)
        head = Head(sealed.seq, sealed.hash)
        out.append(sealed)
    return out


TAMPERED = [
    ("nothing was done", lambda e: e, None),
    ("a value was edited", lambda e: edit(e, 3, data={"id": "a3", "argv": ["ls"]}), (3, "edited")),
    ("a time was edited", lambda e: edit(e, 2, at=999.0), (2, "edited")),
    ("a session was edited", lambda e: edit(e, 2, session="s2"), (2, "edited")),
    ("a level was edited", lambda e: edit(e, 6, level="L4"), (6, "edited")),
    ("a hash was edited", lambda e: edit(e, 4, hash="f" * 64), (4, "edited")),
    ("a link was edited", lambda e: edit(e, 4, prev="f" * 64), (4, "edited")),
    ("a link is no text of a hash", lambda e: edit(e, 4, prev="ü"), (4, "edited")),
    ("an entry was edited and its own hash made anew", lambda e: rehashed(e, 3, data={}), (3, "edited")),
    ("one row was cut out", lambda e: without(e, 3), (3, "cut")),
    ("three rows were cut out", lambda e: without(e, 2, 3, 4), (2, "cut")),
    ("the beginning was cut off", lambda e: without(e, 1, 2), (1, "cut")),
    ("the beginning was cut off and the rest renumbered", lambda e: renumbered(e, 1), (1, "reordered")),
    ("a row was cut out and the rest renumbered", lambda e: renumbered(e, 3), (3, "reordered")),
    ("two neighbours changed places", lambda e: swap(e, 3, 4), (3, "reordered")),
    ("two far rows changed places", lambda e: swap(e, 2, 5), (2, "reordered")),
    ("rows come out of order", lambda e: [e[0], e[2], e[1], *e[3:]], (2, "cut")),
    ("a row stands twice", lambda e: [*e[:3], e[2], *e[3:]], (3, "reordered")),
    ("the end was cut off", lambda e: without(e, 5, 6), (5, "truncated")),
    ("the last row was cut off", lambda e: without(e, 6), (6, "truncated")),
    ("the end was cut off behind an odd place", lambda e: without(e, 4, 5, 6), (4, "truncated")),
    ("everything was cut off", lambda e: [], (1, "truncated")),
    ("the end was forged with sound hashes", lambda e: forged_end(e, 4), (6, "edited")),
    ("a log without its own beginning", lambda e: rehashed(e, 1, prev="f" * 64), (1, "cut")),
]


@pytest.mark.parametrize(("tamper", "place"), [row[1:] for row in TAMPERED], ids=[row[0] for row in TAMPERED])
def test_a_break_is_found_at_its_place(tamper, place):
    whole = log()
    found = verify(tamper(whole), head_of(whole))
    assert (found and (found.seq, found.how)) == place


WORDS = [
    ("one missing entry", lambda e: without(e, 3), "The log is cut: entry 3 is missing."),
    ("several missing entries", lambda e: without(e, 2, 3), "The log is cut: entries 2 to 3 are missing."),
    (
        "a truncated log names what the head file names",
        lambda e: without(e, 5, 6),
        "The log is truncated: the head file names entry 6, and entries 5 to 6 are missing.",
    ),
    (
        "what is missing begins behind an odd place",
        lambda e: without(e, 4, 5, 6),
        "The log is truncated: the head file names entry 6, and entries 4 to 6 are missing.",
    ),
    ("a moved entry names its home", lambda e: swap(e, 3, 4), "Entry 4 stands in the place of entry 3."),
]


@pytest.mark.parametrize(("tamper", "words"), [row[1:] for row in WORDS], ids=[row[0] for row in WORDS])
def test_the_words_name_the_place(tamper, words):
    whole = log()
    found = verify(tamper(whole), head_of(whole))
    assert found
    assert found.words == words


FAR = [(0, False), (1, True), (SEARCH, True), (SEARCH + 1, False)]


@pytest.mark.parametrize(("far", "named"), FAR, ids=["its own", "next", "as far as is looked", "farther"])
def test_the_home_of_a_moved_entry_is_looked_for_near_its_place(far, named):
    whole = log(2 * SEARCH + 10)
    for moved, place in ((105, 105 - far), (105, 105 + far)):
        found = verify([*whole[: place - 1], replace(whole[moved - 1], seq=place)])
        words = f"Entry {moved} stands in the place of entry {place}."
        assert found is None if far == 0 else found and (found.words == words) is named


def test_a_row_that_stands_far_behind_its_place_is_named():
    whole = log()
    assert [(b.seq, b.how) for b in find_breaks([*whole, whole[1]])] == [(2, "reordered")]


@pytest.mark.parametrize("fill", ["0", "f"], ids=["a lower one", "a higher one"])
def test_a_head_that_names_another_hash_is_a_break(fill):
    whole = log()
    assert [(b.seq, b.how) for b in find_breaks(whole, Head(6, fill * 64))] == [(6, "edited")]


def test_without_a_head_only_the_end_cannot_be_seen():
    whole = log()
    assert verify(whole[:4]) is None
    assert verify(whole[1:])


def test_an_older_head_still_holds():
    whole = log()
    assert verify(whole, head_of(whole[:3])) is None


def test_the_chain_is_taken_up_after_a_break():
    whole = without(edit(log(8), 2, at=0.0), 5)
    assert [(b.seq, b.how) for b in find_breaks(whole)] == [(2, "edited"), (5, "cut")]


def test_what_the_hash_covers_is_the_same_everywhere():
    entry = Entry(1.5, "s1", "human", {"b": "\udcff", "a": {"y": (1, 2), "x": None}}, "L2", 7)
    assert canonical(entry) == b'[7,1.5,"s1","human","L2",{"a":{"x":null,"y":[1,2]},"b":"\\udcff"}]'
    assert entry_hash(GENESIS, entry) == "360e5c2c44367357c11e81c1d5557ea9052e2d21e2723230b3a9f06480bbc9d0"
