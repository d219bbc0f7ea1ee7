"""What can be read in bytes that are no text."""

from __future__ import annotations

import random
import time

import pytest

from sentinel_guard.host.secrets import binary_strings

ROWS = [
    (b"\0\1token=12\0short\0a longer run\n", ["token=12", "a longer run"], "runs of ASCII, the short left out"),
    ("token=12".encode("utf-16-le"), ["token=12"], "UTF-16 of one end"),
    (b"\1" + "token=12".encode("utf-16-be") + b"\1", ["token=12"], "and of the other"),
    (b"\1" + "token=12".encode("utf-32-le"), ["token=12"], "UTF-32"),
    ("token=12".encode("utf-32-be"), ["token=12"], "UTF-32 of the other end"),
    ("t\u00f6ken=1".encode("utf-16-le"), [], "too few in a row"),
    (b"", [], "nothing"),
    (b"\0" * 50, [], "zeros"),
]


@pytest.mark.parametrize(("data", "runs"), [r[:2] for r in ROWS], ids=[r[2] for r in ROWS])
def test_what_can_be_read(data: bytes, runs: list[str]) -> None:
    assert [*binary_strings.narrow(data), *binary_strings.wide(data)] == runs


@pytest.mark.parametrize("unit", [b"a\0", b"\0", b"\0\0\0a", b"a\0b\0c\0d\0\1", b"aaaaaaa\0"])
def test_it_takes_no_longer_than_the_bytes_are_many(unit: bytes) -> None:
    data = unit * (2_000_000 // len(unit))
    begun = time.process_time()
    binary_strings.narrow(data)
    binary_strings.wide(data)
    assert time.process_time() - begun < 2


def test_random_bytes_are_quickly_read() -> None:
    begun = time.process_time()
    binary_strings.wide(random.Random(1).randbytes(4_000_000))
    assert time.process_time() - begun < 0.5
