"""Packs of small contents: what was added is found by anybody, whatever a crash or damage did to the rest."""

from __future__ import annotations

import hashlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.host.machine import content_packs
from sentinel_guard.host.machine.content_packs import ContentPacks

CONTENTS = [b"", b"one", b"two" * 1000, content_packs._MARK * 9, os.urandom(500)]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def filled(folder) -> ContentPacks:
    folder.mkdir(exist_ok=True)
    packs = ContentPacks(folder)
    for data in CONTENTS:
        packs.add(digest(data), data)
    packs.flush()
    return packs


def test_what_was_added_is_found_by_another_reader_and_nothing_else_is(tmp_path):
    packs = filled(tmp_path)
    for reader in (packs, ContentPacks(tmp_path)):
        assert [reader.find(digest(data)) for data in CONTENTS] == CONTENTS
        assert reader.find(digest(b"other")) is None
    [path] = tmp_path.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600


def test_two_writers_of_a_folder_do_not_disturb_each_other(tmp_path):
    one, other = ContentPacks(tmp_path), ContentPacks(tmp_path)
    for number in range(10):
        for packs in (one, other):
            packs.add(digest(data := f"{id(packs)} {number}".encode()), data)
            packs.flush()
            assert one.find(digest(data)) == other.find(digest(data)) == data or packs is other
    assert len(dict(ContentPacks(tmp_path).all())) == 20


@given(at=st.integers(0, 4000), byte=st.integers(1, 255), cut=st.integers(0, 4000))
def test_damage_costs_what_it_hits_and_no_more(tmp_path_factory, at, byte, cut):
    folder = tmp_path_factory.mktemp("packs")
    places = dict(filled(folder).all())
    [path] = folder.iterdir()
    data = bytearray(path.read_bytes())
    at %= len(data)
    data[at] ^= byte
    path.write_bytes(data[: len(data) - cut])
    head = content_packs._HEAD.size
    reader = ContentPacks(folder)
    for content in CONTENTS:
        _, begin, size = places[digest(content)]
        if not begin - head <= at < begin + size and begin + size <= len(data) - cut:
            assert reader.find(digest(content)) == content


def test_a_pack_is_shared_as_a_whole_and_only_where_the_content_is_there(tmp_path):
    earlier = filled(tmp_path / "earlier")
    (tmp_path / "later").mkdir()
    later = ContentPacks(tmp_path / "later")
    assert later.share(earlier, digest(b"one"), 3)
    assert not later.share(earlier, digest(b"one"), 4), "another size"
    assert not later.share(earlier, digest(b"other"), 5)
    assert [later.find(digest(data)) for data in CONTENTS] == CONTENTS
    [path] = (tmp_path / "later").iterdir()
    assert path.stat().st_nlink == 2


@pytest.mark.parametrize(
    ("spoil", "shared", "why"),
    [
        (lambda pack: None, True, "as it was"),
        (lambda pack: pack.write_bytes(pack.read_bytes()[:-1]), False, "cut short"),
        (lambda pack: pack.write_bytes(pack.read_bytes()), False, "written anew"),
        (lambda pack: pack.unlink(), False, "gone"),
    ],
    ids=["as it was", "cut short", "written anew", "gone"],
)
def test_all_packs_are_shared_unread_only_where_they_are_as_they_were(tmp_path, spoil, shared, why):
    earlier = filled(tmp_path / "earlier")
    [pack] = (tmp_path / "earlier").iterdir()
    os.utime(pack, ns=(1, 1))
    states = earlier.states()
    spoil(pack)
    (tmp_path / "later").mkdir()
    later = ContentPacks(tmp_path / "later")
    assert later.share_all(earlier, states) is shared, why
    if shared:
        assert later.share_all(earlier, states), "again"
        assert [later.find(digest(data)) for data in CONTENTS] == CONTENTS
    assert not later.share_all(earlier, {}), "nothing is known of it"


def test_of_many_packs_the_largest_are_shared(tmp_path, monkeypatch):
    monkeypatch.setattr(content_packs, "SHARED", 1)
    for data in (b"small", b"large" * 100):
        packs = ContentPacks(tmp_path)
        packs.add(digest(data), data)
        packs.flush()
    (tmp_path / "later").mkdir()
    later = ContentPacks(tmp_path / "later")
    assert later.share(ContentPacks(tmp_path), digest(b"large" * 100), 500)
    assert not later.share(ContentPacks(tmp_path), digest(b"small"), 5)


def test_a_full_disk_is_told_and_spoils_nothing(tmp_path, monkeypatch):
    packs = filled(tmp_path)
    packs.add(digest(b"more"), b"more")
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", lambda _fd, data, _at: len(data) - 1)
        with pytest.raises(OSError, match="No space left"):
            packs.flush()
        with pytest.raises(OSError, match="No space left"):
            packs.find(digest(b"more"))
    packs.add(digest(b"later"), b"later")
    packs.flush()
    assert [ContentPacks(tmp_path).find(digest(data)) for data in (b"more", b"later")] == [b"more", b"later"]


def test_what_is_gathered_is_written_when_it_is_much(tmp_path):
    packs, data = ContentPacks(tmp_path), bytes(content_packs.SMALL)
    packs.add(digest(b"one"), b"one")
    assert [p.stat().st_size for p in tmp_path.iterdir()] == [0]
    for number in range(content_packs.AHEAD // content_packs.SMALL + 1):
        packs.add(digest(b"%d" % number), data)
    assert [p.stat().st_size > content_packs.AHEAD for p in tmp_path.iterdir()] == [True]
