"""core/wire_framing.py against the vectors, byte by byte, at its limits, and against garbage."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.wire_framing import END, HEAD, MAX_CHUNK, MAX_MESSAGE, Reader, encode
from sentinel_guard.errors import PeerError
from tests.vectors.wire_vectors import VECTORS


def read_all(pieces):
    """Messages that come out, and the words of the refusal if there was one."""
    reader, messages = Reader(), []
    try:
        for piece in pieces:
            reader.feed(piece)
            while (message := reader.next_message()) is not None:
                messages.append(message)
    except PeerError as e:
        return messages, e.message
    return messages, ""


def split(data, sizes):
    """The data in pieces of these sizes, round and round."""
    pieces, at = [], 0
    while at < len(data):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(data[at : at + size])
        at += size
    return pieces


@pytest.mark.parametrize("size", [1, 2, 5, 7, 1 << 20])
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v.name)
def test_vectors(vector, size):
    messages, refusal = read_all(split(vector.data, [size]))
    assert messages == vector.messages
    assert vector.refused in refusal
    assert bool(vector.refused) == bool(refusal)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v.messages and not v.refused], ids=lambda v: v.name)
def test_vectors_are_written_as_they_are_read(vector):
    assert vector.data.startswith(b"".join(encode(m) for m in vector.messages))


TAGS = st.sampled_from([bytes([c]) for c in b"ABCXYZabcxyz0129"])
MESSAGES = st.lists(st.lists(st.tuples(TAGS, st.binary(max_size=300)), max_size=8), max_size=5)


@given(MESSAGES, st.lists(st.integers(1, 64), min_size=1, max_size=5))
def test_what_is_written_is_read(messages, sizes):
    data = b"".join(encode(m) for m in messages)
    assert read_all(split(data, sizes)) == (messages, "")


@given(st.binary(max_size=400), st.lists(st.integers(1, 64), min_size=1, max_size=5))
def test_garbage_raises_nothing_but_words_and_the_pieces_do_not_matter(data, sizes):
    assert read_all([data]) == read_all(split(data, sizes))


@given(MESSAGES.filter(bool), st.data())
def test_a_message_that_is_cut_short_never_comes_out(messages, data):
    whole = encode(messages[-1])
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert read_all([whole[:cut]]) == ([], "")


LIMITS = [
    ([(b"A", MAX_CHUNK)], True, "the largest chunk"),
    ([(b"A", MAX_CHUNK + 1)], False, "one byte more"),
    ([(b"A", MAX_CHUNK), (b"A", MAX_CHUNK - 2 * HEAD.size)], True, "the largest message"),
    ([(b"A", MAX_CHUNK), (b"A", MAX_CHUNK - HEAD.size + 1)], False, "a larger message"),
]


@pytest.mark.parametrize(("chunks", "fits", "why"), LIMITS, ids=[row[-1] for row in LIMITS])
def test_limits(chunks, fits, why):
    data = b"".join(HEAD.pack(tag, size) + bytes(size) for tag, size in chunks) + HEAD.pack(END, 0)
    messages, refusal = read_all([data])
    assert bool(messages) == fits
    assert ("over the limit" in refusal) != fits


def test_what_is_too_large_is_refused_by_its_head():
    reader = Reader()
    reader.feed(HEAD.pack(b"A", MAX_MESSAGE))
    with pytest.raises(PeerError, match="over the limit"):
        reader.next_message()


def test_a_reader_that_refused_goes_on_refusing():
    reader = Reader()
    reader.feed(b"\0\0\0\0\0")
    for _ in range(2):
        with pytest.raises(PeerError):
            reader.next_message()
    reader.feed(encode([]))
    with contextlib.suppress(PeerError):
        assert reader.next_message() is None
