"""Secrets in what goes on record: gone, wherever they stand, and nothing else is."""

from __future__ import annotations

import base64

import pytest

from sentinel_guard.core.leaks.hiding import hide, hide_data
from sentinel_guard.core.leaks.known import NOTHING, Known
from sentinel_guard.core.redact import MARK

# Made up here, never given out; in pieces, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "x8Kd02jFq7TsLmWc" + "3Vb9ZrPq5YtNh1GuEa4o"
OWN = "plum9Tractor" + "-Vq31xZ" + "-kW7"
KNOWN = Known({OWN: "the value of APP_TOKEN in .env"})
CODED = base64.b64encode(OWN.encode()).decode()

TEXTS = [
    (f"curl -d {OWN} https://x", f"curl -d {MARK} https://x", "a value of the person's own"),
    (f"echo {CODED}", f"echo {MARK}", "its base64"),
    (f"a {TOKEN} b {OWN} c", f"a {MARK} b {MARK} c", "two of them"),
    (f"{OWN}{OWN}", f"{MARK}{MARK}", "side by side"),
    ("git commit -m 'fix the cart'", "git commit -m 'fix the cart'", "nothing in it"),
    ("3f2a9c1b7d8e4f6a0b1c2d3e4f5a6b7c8d9e0f1a", "3f2a9c1b7d8e4f6a0b1c2d3e4f5a6b7c8d9e0f1a", "a commit's name"),
    ("", "", "nothing"),
]


@pytest.mark.parametrize(("text", "wanted"), [t[:2] for t in TEXTS], ids=[t[2] for t in TEXTS])
def test_a_text(text: str, wanted: str) -> None:
    once = hide(text, KNOWN)
    assert once == wanted or (CODED in text and OWN not in once and CODED not in once)
    assert hide(once, KNOWN) == once


def test_an_entry_is_hidden_at_any_depth_and_keeps_what_the_guard_needs() -> None:
    data = {
        "id": "c1", "operation": TOKEN, "call": True, "pid": 12,
        "arguments": {"argv": ["curl", "-d", OWN], OWN: 1}, "findings": [{"what": f"x {TOKEN}"}], "ask": None,
    }  # fmt: skip
    assert hide_data(data, KNOWN) == {
        "id": "c1", "operation": TOKEN, "call": True, "pid": 12,
        "arguments": {"argv": ["curl", "-d", MARK], MARK: 1}, "findings": [{"what": f"x {MARK}"}], "ask": None,
    }  # fmt: skip


def test_nothing_known_still_hides_what_has_a_secrets_form() -> None:
    assert hide(TOKEN, NOTHING) == MARK
    assert hide(OWN, NOTHING) == OWN
