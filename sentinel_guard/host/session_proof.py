"""Proof that the daemon knows a session's secret: HMAC-SHA-256 over the launcher's request (docs/protocol.md).

The secret stands in the session's ``.sentinel``, beside its launchers; the git hooks' launcher, which belongs to no
session (its id is empty), has one of its own. A program that binds the daemon's socket without
having read that file is not obeyed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import secrets
from pathlib import Path

from sentinel_guard.core.wire_framing import Chunk, Message, encode
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.session_environ import SETTINGS

NONCE = 16
"""Random bytes with which a challenge begins; the session's id follows."""
_NAME = b"secret="


def make(places: StatePaths, session: str) -> str:
    """The secret of a session, or a new one where it has none."""
    return _read(_settings(places, session)).decode() or secrets.token_hex(32)


def answer(places: StatePaths, request: Message) -> list[Chunk]:
    """The chunk that proves it, for the first answer; none where nothing is asked, or no such secret is known."""
    challenge = dict(request).get(b"N", b"")
    session = challenge[NONCE:].decode(errors="replace")
    if len(challenge) < NONCE or "/" in session or "\0" in session or session.startswith("."):
        return []
    secret = _secret(places, session)
    return [(b"K", prove(secret, encode(request)))] if secret else []


def attached(places: StatePaths, session: str, nonce: str) -> str:
    """The proof for a runner that takes up its session with a daemon again; empty where no secret is known."""
    secret = _secret(places, session)
    return prove(secret, _attach(session, nonce)).hex() if secret and nonce else ""


def is_attached(secret: str, session: str, nonce: str, proof: object) -> bool:
    """Whether that is the proof for this nonce."""
    wanted = prove(secret.encode(), _attach(session, nonce)).hex()
    return isinstance(proof, str) and hmac.compare_digest(wanted.encode(), proof.encode(errors="replace"))


def _attach(session: str, nonce: str) -> bytes:
    return f"attach {session} {nonce}".encode()


def prove(secret: bytes, said: bytes) -> bytes:
    keyed = _keyed(secret).copy()
    keyed.update(said)
    return keyed.digest()


@functools.lru_cache(maxsize=256)
def _keyed(secret: bytes) -> hmac.HMAC:
    """Kept: to begin with a key takes OpenSSL four times as long, where a processor's caches hold other things."""
    return hmac.new(secret, digestmod=hashlib.sha256)


def _secret(places: StatePaths, session: str) -> bytes:
    """The secret of a session; empty where it has none."""
    with contextlib.suppress(LookupError):
        return _known(places, session)
    return b""


@functools.lru_cache(maxsize=256)
def _known(places: StatePaths, session: str) -> bytes:
    # It never changes; only that there is none may.
    if secret := _read(_settings(places, session)):
        return secret
    raise LookupError


def _settings(places: StatePaths, session: str) -> Path:
    return (places.shims(session) if session else places.githook_folder) / SETTINGS


def _read(settings: Path) -> bytes:
    try:
        lines = settings.read_bytes().split(b"\n")
    except OSError:
        return b""
    return next((line[len(_NAME) :] for line in lines if line.startswith(_NAME)), b"")
