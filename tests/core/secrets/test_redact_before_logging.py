"""Secrets in what goes on record: gone, wherever they stand, and nothing else is."""

from __future__ import annotations

import base64
import time

import pytest

from sentinel_guard.core.secrets.redact_before_logging import (
    redact_secrets,
    redact_secrets_in_data,
    redact_truncated,
    shorten,
)
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING, UserSecrets
from sentinel_guard.core.text.redact_by_pattern import MARK

# Made up here, never given out; in pieces, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "x8Kd02jFq7TsLmWc" + "3Vb9ZrPq5YtNh1GuEa4o"
OWN = "plum9Tractor" + "-Vq31xZ" + "-kW7"
KNOWN = UserSecrets({OWN: "the value of APP_TOKEN in .env"})
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
    once = redact_secrets(text, KNOWN)
    assert once == wanted or (CODED in text and OWN not in once and CODED not in once)
    assert redact_secrets(once, KNOWN) == once


def test_an_entry_is_hidden_at_any_depth_and_keeps_what_the_guard_needs() -> None:
    data = {
        "id": "c1", "operation": TOKEN, "call": True, "pid": 12,
        "arguments": {"argv": ["curl", "-d", OWN], OWN: 1}, "findings": [{"what": f"x {TOKEN}"}], "ask": None,
    }  # fmt: skip
    assert redact_secrets_in_data(data, KNOWN) == {
        "id": "c1", "operation": TOKEN, "call": True, "pid": 12,
        "arguments": {"argv": ["curl", "-d", MARK], MARK: 1}, "findings": [{"what": f"x {MARK}"}], "ask": None,
    }  # fmt: skip


def test_nothing_known_still_hides_what_has_a_secrets_form() -> None:
    assert redact_secrets(TOKEN, NOTHING) == MARK
    assert redact_secrets(OWN, NOTHING) == OWN


CUTS = [
    (f"cat .env '{OWN}{OWN[:14]}…", f"cat .env '{MARK}{MARK}…", "its beginning before an ellipsis (23)"),
    (f"{OWN[:9]} … and {OWN}", f"{MARK} … and {MARK}", "with a blank between"),
    (f"… {OWN[-6:]} rest", f"… {MARK} rest", "its end behind one"),
    (f"a…{OWN[4:]}…b", f"a…{MARK}…b", "between two"),
    (f"echo {CODED[:20]}…", f"echo {MARK}…", "a piece of its base64"),
    (f"git commit -m {OWN[:3]}…", f"git commit -m {OWN[:3]}…", "three characters tell nothing"),
    (f"git commit {OWN[:14]}", f"git commit {OWN[:14]}", "what nobody cut is no piece"),
    ("one… two … three…", "one… two … three…", "ellipses alone"),
]


@pytest.mark.parametrize(("text", "wanted"), [t[:2] for t in CUTS], ids=[t[2] for t in CUTS])
def test_what_a_cut_left_of_a_value_is_hidden(text: str, wanted: str) -> None:
    assert redact_secrets(text, KNOWN) == wanted


LINES = "\n" + "a line of text\n" * 9
PIECES = [
    (f"{OWN[8:]}{LINES}{OWN[:5]}", f"{MARK}{LINES}{MARK}", "both ends of a tail"),
    (OWN[:20], MARK, "most of a value and nothing else"),
    (OWN[:6], OWN[:6], "a short text is no piece of a longer one"),
]


@pytest.mark.parametrize(("text", "wanted"), [t[:2] for t in PIECES], ids=[t[2] for t in PIECES])
def test_a_text_that_was_cut_without_a_mark(text: str, wanted: str) -> None:
    assert redact_truncated(text, KNOWN) == wanted
    assert redact_secrets_in_data({"effects": [{"operands": [text]}]}, KNOWN) == {"effects": [{"operands": [wanted]}]}


SHORTENED = [
    f": {' '.join([OWN] * 1500)}",
    f"x{' '.join([TOKEN] * 700)}",
    f"{OWN * 300}",
    f"a {TOKEN * 90}",
    "a b " * 999,
]


@pytest.mark.parametrize("text", SHORTENED, ids=["values", "tokens", "values in a row", "tokens in a row", "words"])
@pytest.mark.parametrize("most", range(90, 130, 3))
def test_secrets_are_hidden_before_a_text_is_cut(text: str, most: int) -> None:
    short = redact_secrets(shorten(text, most, KNOWN), KNOWN)
    assert len(short) <= most + len(MARK)
    assert not any(secret[at : at + 4] in short for secret in (OWN, TOKEN[4:]) for at in range(len(secret) - 4))
    assert shorten(short, most + len(MARK), KNOWN) == short


def test_many_cuts_and_many_values_take_no_longer() -> None:
    known = UserSecrets({f"{OWN}{n:05}": "a value" for n in range(2000)})
    start = time.process_time()
    redact_secrets(f"{OWN[:8]}…" * 20_000, known)
    assert time.process_time() - start < 2
