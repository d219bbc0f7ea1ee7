"""launcher/wire.c against the vectors of core/wire_framing.py; with sanitizers where the compiler has them."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hatch_build
from sentinel_guard.core.wire_framing import Message, Reader, encode
from sentinel_guard.errors import PeerError
from tests.support.time_limits import limit
from tests.vectors.wire_vectors import VECTORS

HERE = Path(__file__).parent
SOURCES = [str(hatch_build.SOURCES / name) for name in ("wire.c", "base.c")]


@pytest.fixture(scope="module")
def read_wire(tmp_path_factory):
    """Gives bytes in pieces to wire.c; returns messages and how it ended."""
    target = tmp_path_factory.mktemp("wire") / "read_wire"
    command = [
        # With musl there is no sanitizer to run it with.
        *(hatch_build.system_compiler(hatch_build.COMPILERS[1:]) or hatch_build.compiler()),
        *hatch_build.FLAGS,
        "-I",
        str(hatch_build.SOURCES),
        *SOURCES,
        str(HERE / "read_wire.c"),
    ]
    sanitized = ["-fsanitize=address,undefined", "-fno-sanitize-recover", "-g"]
    if subprocess.run([*command, *sanitized, "-o", str(target)], capture_output=True, check=False).returncode:
        subprocess.run([*command, "-o", str(target)], check=True)

    def read(pieces):
        ours, theirs = socket.socketpair()
        with subprocess.Popen([target], stdin=theirs, stdout=subprocess.PIPE, text=True) as process:
            theirs.close()
            with ours:
                for piece in pieces:
                    ours.sendall(piece)
                ours.shutdown(socket.SHUT_WR)
                lines = process.communicate(timeout=limit(20))[0].splitlines()
        assert process.returncode == 0
        return messages_of(lines[:-1]), lines[-1]

    return read


def messages_of(lines: list[str]) -> list[Message]:
    messages: list[Message] = [[]]
    for line in lines:
        if line == "end":
            messages.append([])
        else:
            tag, _, body = line.partition(" ")
            messages[-1].append((tag.encode(), bytes.fromhex(body)))
    return messages[:-1]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v.name)
def test_vectors(read_wire, vector):
    expected = (vector.messages, "garbage" if vector.refused else "closed")
    assert read_wire([vector.data]) == expected
    assert read_wire([bytes([b]) for b in vector.data]) == expected


def python_reads(data):
    reader, messages = Reader(), []
    reader.feed(data)
    try:
        while (message := reader.next_message()) is not None:
            messages.append(message)
    except PeerError:
        return messages, "garbage"
    return messages, "closed"


PIECES = st.one_of(
    st.binary(max_size=12),
    st.lists(st.tuples(st.sampled_from([b"A", b"z", b"1"]), st.binary(max_size=40)), max_size=4).map(encode),
)


@settings(max_examples=40, deadline=None)
@given(data=st.lists(PIECES, max_size=5).map(b"".join))
def test_both_ends_read_anything_alike(read_wire, data):
    assert read_wire([data]) == python_reads(data)


def test_a_large_message(read_wire):
    chunks = [(b"A", bytes(range(256)) * 4096)] * 3
    assert read_wire([encode(chunks), encode([(b"Z", b"")])]) == ([chunks, [(b"Z", b"")]], "closed")
