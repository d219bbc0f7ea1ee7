"""HMAC-SHA-256 of the launcher and the broker: the published vectors, and Python's own at every length of a block."""

from __future__ import annotations

import ctypes
import hashlib
import hmac
import subprocess
from collections.abc import Callable

import pytest

import hatch_build

Hmac = Callable[[bytes, bytes], bytes]

# RFC 4231, 4.2 to 4.5 and 4.8 (its other keys are longer than ours may be).
VECTORS = {
    "a key of 20 bytes": (
        b"\x0b" * 20,
        b"Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    ),
    "a key shorter than the digest": (
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    "key and text longer than a block together": (
        b"\xaa" * 20,
        b"\xdd" * 50,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    ),
    "a key of 25 bytes": (
        bytes(range(1, 26)),
        b"\xcd" * 50,
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ),
}


@pytest.fixture(scope="module")
def ours(tmp_path_factory) -> Hmac:
    library = tmp_path_factory.mktemp("hmac") / "hmac.so"
    # With musl a library cannot be loaded into a process of glibc.
    compiler = hatch_build.system_compiler(hatch_build.COMPILERS[1:]) or hatch_build.compiler()
    source = str(hatch_build.SOURCES / "hmac.c")
    subprocess.run([*compiler, *hatch_build.FLAGS, "-fPIC", "-shared", source, "-o", library], check=True)
    function = ctypes.CDLL(str(library)).hmac
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]

    def digest(key: bytes, text: bytes) -> bytes:
        out = ctypes.create_string_buffer(32)
        function(key, len(key), text, len(text), out)
        return out.raw

    return digest


@pytest.mark.parametrize(("key", "text", "wanted"), VECTORS.values(), ids=VECTORS)
def test_a_published_vector_is_met(ours, key, text, wanted):
    assert ours(key, text).hex() == wanted


def test_every_length_around_a_block_is_digested_as_python_does(ours):
    key = b"a key of the session's own"
    texts = [bytes(range(256))[: size % 256] * (size // 256 + 1) for size in (*range(200), 4096, 38_000)]
    assert [ours(key, text) for text in texts] == [hmac.digest(key, text, hashlib.sha256) for text in texts]
