"""Measures what looks through texts: the secret scan (on ordinary source text, on texts made to be slow, and at process
start), the digest of an output, and redaction before a record.
"""

from __future__ import annotations

import base64
import json
import random
import string
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from bench.benchmark_results import Row, median_ms, timed
from sentinel_guard.core.secrets.formats.registry import FORMATS
from sentinel_guard.core.secrets.generic_assignments import NAME_NEEDLES
from sentinel_guard.core.secrets.model import Piece
from sentinel_guard.core.secrets.redact_before_logging import redact_secrets
from sentinel_guard.core.secrets.scan_outgoing_content import scan_pieces
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING
from sentinel_guard.core.text.normalize_output import mask
from sentinel_guard.core.text.redact_by_pattern import redact

SIZE = 1_000_000
"""Characters of a text."""
SAMPLE = 6_000_000
STARTS = 7
OUTPUT, WRITTEN = 64_000, 30_000
"""Characters of an output that the launcher keeps; of a text that a command writes into a file."""


def rows() -> Iterator[Row]:
    texts = list(_ordinary())
    size = sum(map(len, texts)) / 1e6
    speed = size / min(timed(lambda: [scan_pieces([Piece(text, "a.py")]) for text in texts], 3))
    beside = f"{len(texts)} files of the standard library, {size:.1f} MB"
    yield Row("secrets and personal data in source text", 8, speed, "MB/s", beside, at_least=True)
    seconds = {
        name: min(timed(lambda text=text: scan_pieces([Piece(text, "a.py")]), 2)) for name, text in _hostile().items()
    }
    slowest = max(seconds, key=seconds.__getitem__)
    yield Row("the worst of 1 MB texts made to be slow", 2, seconds[slowest], "s", f"{slowest}; {len(seconds)} texts")
    yield Row("search for leaks, first answer of a new process", None, _first(), "ms", "over importing the policy")
    yield from _daemons()


def _daemons() -> Iterator[Row]:
    """What a command's texts cost the daemon."""
    lines = range(2000)
    listed = "".join(f"-rw-r--r-- 1 me me {n * 37} Nov {n % 28 + 1} 12:{n % 60:02d} file_{n}.txt\n" for n in lines)
    tests = "".join(f"tests/test_{n % 40}.py::test_something_{n} PASSED [{n % 100:3d}%]\n" for n in lines)
    code = "".join(f'def handler_{n}(token: str) -> None:\n    items[{n}] = {{"key": token}}\n' for n in lines)
    words = "a line of words without signs " * 3 + "\n"
    listing, results = (median_ms(timed(lambda text=text: mask(text[:OUTPUT]), 9)) for text in (listed, tests))
    yield Row("digest of 64 KB of test results", 1, results, "ms", f"of a listing with times: {listing:.1f}")
    of_code, of_words = (
        median_ms(timed(lambda text=text: redact_secrets(redact(text[:WRITTEN]), NOTHING), 9))
        for text in (code, words * 400)
    )
    yield Row("redaction of 30 KB of code", 10, of_code, "ms", f"of words: {of_words:.1f}")


def _ordinary() -> Iterator[str]:
    left = SAMPLE
    files = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    random.Random(2).shuffle(files)
    for file in files:
        if left <= 0:
            return
        text = file.read_text(encoding="utf-8", errors="replace")
        left -= len(text)
        yield text


def _hostile() -> dict[str, str]:
    dice = random.Random(1)
    needles = [needle for row in FORMATS for needle in row.needles] + list(NAME_NEEDLES)
    letters = string.ascii_letters + string.digits
    records = [
        {"key": dice.randrange(10**9), "token": None, "id": "".join(dice.choices(letters, k=9))} for _ in range(20000)
    ]
    head, login = "-----BEGIN RSA PRIVATE KEY-----\n", b'password = "hunter2!x" and so on '
    pieces = {
        "key= over and over": "key=",
        "assignments without an end": "password=",
        "quotes without an end": 'password="',
        "one letter": "a",
        "quotes": "\"'",
        "heads of tokens": "eyJhbGciOiJI.",
        "heads of keys": head,
        "heads of keys, one line": head.strip(),
        "needles": "".join(needles),
        "needles, each assigned": '="'.join(needles),
        "logins in URLs": "https://a:b",
        "per cent signs": "%41",
        "short runs of base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVld ",
        "addresses": "a@b.co,",
        "digits": "4111 ",
    }
    return {name: (piece * (SIZE // len(piece) + 1))[:SIZE] for name, piece in pieces.items()} | {
        "one line of base64": base64.b64encode(dice.randbytes(SIZE * 3 // 4)).decode(),
        "one line of base64 that holds passwords": base64.b64encode(login * (SIZE // 44)).decode(),
        "a key without an end": head + ("A" * 64 + "\n") * (SIZE // 65),
        "minified JSON": json.dumps(records, separators=(",", ":"))[:SIZE],
        "chance": "".join(dice.choices(letters + " \n", k=SIZE)),
    }


def _first() -> float:
    policy = "import sentinel_guard.core.policy.policy, sentinel_guard.core.response_text"
    search = f"{policy}; from sentinel_guard.core.secrets.scan_text import scan; scan('password = \"hunter22x\"')"

    def start(code: str) -> None:
        subprocess.run([sys.executable, "-I", "-c", code], check=True)

    return median_ms(timed(lambda: start(search), STARTS)) - median_ms(timed(lambda: start(policy), STARTS))
