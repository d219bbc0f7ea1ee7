"""The proof of a session's secret: for whom there is one, and for whom there is none."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from sentinel_guard.core.wire_framing import encode
from sentinel_guard.host import session_proof
from sentinel_guard.host.machine.state_paths import StatePaths


@pytest.fixture
def where(tmp_path):
    places = StatePaths(tmp_path / "state", tmp_path / "run", tmp_path / "config")
    places.shims("s1").mkdir(parents=True)
    (places.shims("s1") / ".sentinel").write_text("socket=/x\nsecret=abc\nsession=s1\n")
    places.shims("old").mkdir(parents=True)
    (places.shims("old") / ".sentinel").write_text("socket=/x\n")
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims" / ".sentinel").write_text("secret=abc\n")
    return places


def test_it_is_the_hmac_of_the_whole_request(where):
    request = [(b"F", b"shim"), (b"N", b"n" * 16 + b"s1"), (b"A", b"ls")]
    wanted = hmac.new(b"abc", encode(request), hashlib.sha256).digest()
    assert session_proof.answer(where, request) == [(b"K", wanted)]


def test_the_launcher_of_the_git_hooks_has_a_secret_of_its_own(where):
    where.githook_folder.mkdir()
    (where.githook_folder / ".sentinel").write_text("secret=def\n")
    request = [(b"F", b"githook"), (b"N", b"n" * 16)]
    assert session_proof.answer(where, request) == [(b"K", session_proof.prove(b"def", encode(request)))]
    assert session_proof.make(where, "") == "def"


NONE = [
    ([], "nothing is asked"),
    ([(b"N", b"n" * 16)], "a git hook, where none is installed"),
    ([(b"N", b"short")], "no nonce"),
    ([(b"N", b"n" * 16 + b"other")], "no such session"),
    ([(b"N", b"n" * 16 + b"old")], "a session without a secret"),
    ([(b"N", b"n" * 16 + b"../..")], "a path that leads elsewhere"),
    ([(b"N", b"n" * 16 + b"..")], "the folder above"),
    ([(b"N", b"n" * 16 + b"s1\0")], "a zero byte"),
    ([(b"N", b"n" * 16 + b"\xff" * 300)], "no name"),
]


@pytest.mark.parametrize(("request_", "why"), NONE, ids=[row[-1] for row in NONE])
def test_otherwise_there_is_none(where, request_, why):
    assert session_proof.answer(where, request_) == []


def test_a_runner_knows_the_proof_for_its_nonce_by_the_same_secret(where):
    proof = session_proof.attached(where, "s1", "n1")
    assert session_proof.is_attached("abc", "s1", "n1", proof)
    for wrong in (("abd", "s1", "n1", proof), ("abc", "s2", "n1", proof), ("abc", "s1", "n2", proof),
                  ("abc", "s1", "n1", ""), ("abc", "s1", "n1", None), ("abc", "s1", "n1", "\u00e9")):  # fmt: skip
        assert not session_proof.is_attached(*wrong)
    assert session_proof.attached(where, "old", "n1") == session_proof.attached(where, "s1", "") == ""


def test_a_secret_is_made_once(where):
    assert session_proof.make(where, "s1") == "abc"
    first, second = (session_proof.make(where, "new") for _ in range(2))
    assert len(first) == 64 and first != second
