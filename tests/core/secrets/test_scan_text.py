"""What the engine finds in a text, what it lets be, and what holds for every text whatever."""

import base64
import string
import urllib.parse

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sentinel_guard.core.secrets.formats.base import fake
from sentinel_guard.core.secrets.formats.registry import FORMATS
from sentinel_guard.core.secrets.generic_assignments import NAME_NEEDLES
from sentinel_guard.core.secrets.model import Format, Grade, SecretFind
from sentinel_guard.core.secrets.scan_text import WIDEST, scan, without_overlaps

PAT = "ghp_" + fake(36)
OTHER = "gho_" + fake(36)
AWS = "AKIA" + "IOSFODNN7" + "EXAMPLE"
WORD = "Tr0ub4" + "dor&3x"

FOUND = [
    (f"{PAT}", [("github-pat", PAT)], "alone"),
    (f"x = '{PAT}'\n", [("github-pat", PAT)], "quoted"),
    (f"{'a' * 5000} {PAT} {'b' * 5000}", [("github-pat", PAT)], "far inside a long line"),
    (f"İİ İ {PAT}", [("github-pat", PAT)], "behind letters that are two in small"),
    (f"\udcff\U0001f600 {PAT}", [("github-pat", PAT)], "behind what is no UTF-8"),
    (f"{PAT} {OTHER}", [("github-pat", PAT), ("github-oauth", OTHER)], "two, one blank apart"),
    (f"{PAT},{PAT}", [("github-pat", PAT), ("github-pat", PAT)], "the same twice"),
    (f"token = '{PAT}'", [("github-pat", PAT)], "the form tells more than the name does"),
    (f"export GH={PAT}&x=1", [("github-pat", PAT)], "in a query"),
    (f'password = "{WORD}"', [("generic-password", WORD)], "no form, but a name"),
    ("", [], "nothing"),
    ("ghp_ AKIA sk_live_ password token secret ://", [], "needles alone"),
    (f"a{PAT}", [], "in the midst of a word"),
    (f"{PAT}9", [], "too long for the form"),
    ("ghp_" + "x" * 36, [], "one letter again and again"),
    ("ghp_" + "0123456789abcdefghijklmnopqrstuvwxyz", [], "the alphabet"),
    (f"aws_access_key_id = {AWS}", [], "the one that AWS prints in its documents"),
    ("key: wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY", [], "and the one beside it"),
]

ENCODED = [
    (base64.b64encode(f"x={PAT}".encode()).decode(), "base64"),
    (base64.b64encode(f"x={PAT}!".encode()).decode().rstrip("="), "base64 without its padding"),
    (base64.urlsafe_b64encode(f"{{'a?>~': '{PAT}'}}".encode()).decode(), "base64 for URLs"),
    (base64.b64encode(f"echo {PAT}".encode("utf-16-le")).decode(), "as PowerShell takes it"),
    (urllib.parse.quote(f'{{"a": "{PAT}"}}', safe=""), "per cent signs round it"),
    ("".join(f"%{ord(c):02x}" for c in PAT), "nothing but per cent signs"),
]


@pytest.mark.parametrize(("text", "expected", "why"), FOUND, ids=[row[2] for row in FOUND])
def test_what_is_found(text, expected, why):
    leaks = scan(text)
    assert [(leak.rule, leak.value) for leak in leaks] == expected
    assert [text[leak.start : leak.end] for leak in leaks] == [value for _, value in expected]


@pytest.mark.parametrize(("run", "why"), ENCODED, ids=[row[1] for row in ENCODED])
def test_what_is_encoded_is_found_one_level_deep(run, why):
    text = f'data="{run}" # x'
    (leak,) = scan(text)
    assert (leak.rule, leak.value) == ("github-pat", PAT)
    assert text[leak.start : leak.end] == (PAT if PAT in text else run)
    again = base64.b64encode(text.encode()).decode()
    assert scan(again) == []


def test_a_value_longer_than_the_window_is_whole():
    head = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9."
    token = (
        head + base64.urlsafe_b64encode(b'{"sub":"%s"}' % fake(2000).encode()).decode().rstrip("=") + "." + fake(300)
    )
    (leak,) = scan(f"t = {token}\n")
    assert leak.value == token


def test_a_private_key_is_one_find_to_its_end():
    body = "\n".join(fake(64, string.ascii_letters + string.digits + "+/") for _ in range(25))
    (leak,) = scan("k = '''-----BEGIN RSA " + f"PRIVATE KEY-----\n{body}\n-----END RSA " + "PRIVATE KEY-----\n'''")
    assert body in leak.value
    assert leak.grade is Grade.BLOCK


def test_without_generic_rules_only_forms_and_strong_logins_count():
    url = f"https://me:{WORD}@db.acme.io/x"
    assert [leak.rule for leak in scan(f'password = "{WORD}" {url}', generic=False)] == ["url-password"]
    assert scan("postgres://me:abc12x@localhost/x", generic=False) == []


def test_of_finds_that_overlap_the_telling_one_stays():
    def leak(rule, start, end, grade=Grade.BLOCK, kind="secret"):
        return SecretFind(rule, kind, "", grade, start, end, "v")

    known, form, name, wide = (
        leak("known-value", 4, 9, kind="known"), leak("github-pat", 2, 8), leak("generic-secret", 0, 20, Grade.WARN),
        leak("gitlab-pat", 2, 12),
    )  # fmt: skip
    assert without_overlaps([form, known]) == [known]
    assert without_overlaps([name, form]) == [form]
    assert without_overlaps([form, wide]) == [wide]
    assert without_overlaps([leak("a", 5, 9), leak("b", 9, 12)]) == [leak("a", 5, 9), leak("b", 9, 12)]


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.rule)
def test_every_needle_is_in_small_letters(row: Format):
    assert row.needles
    assert all(needle and needle == needle.lower() for needle in row.needles)


PIECES = st.one_of(
    st.text(),
    st.sampled_from(
        [PAT, OTHER, WORD, "\n", '"', " = ", "password", "://u:", "@h.io/", "%41%42", "İ", "\udc80", "\x00"]
    ),
    st.sampled_from(sorted({needle for row in FORMATS for needle in row.needles[:2]} | set(NAME_NEEDLES))),
    st.sampled_from([row.hit[0] for row in FORMATS]),
    st.binary(max_size=80).map(lambda data: base64.b64encode(data).decode()),
)


@given(st.lists(PIECES, max_size=12).map("".join))
@example("password='" + "a" * (WIDEST + 5))
@settings(max_examples=300)
def test_any_text_gives_finds_in_order_at_true_places(text):
    leaks = scan(text)
    end = 0
    for leak in leaks:
        assert end <= leak.start < leak.end <= len(text)
        end = leak.end
        run = text[leak.start : leak.end]
        assert run == leak.value or len(run) >= 24
    assert {leak.rule for leak in scan(text, generic=False) if leak.grade is Grade.BLOCK} == {
        leak.rule for leak in leaks if leak.grade is Grade.BLOCK
    }


def test_a_long_key_in_one_line_of_json_is_found():
    body = "\\n".join(fake(64)[n:] + fake(64)[:n] for n in range(30))
    text = f'{{"private_key": "-----BEGIN {"PRIVATE"} KEY-----\\n{body}\\n-----END {"PRIVATE"} KEY-----\\n"}}'
    (leak,) = scan(text)
    assert (leak.rule, body in leak.value) == ("private-key", True)


TYPED = [
    ("sk_" + "live_1234567890abcdef12345678", "digits in a row"),
    ("DATADOG_API_KEY=1234567890abcdef1234567890abcdef", "twice all digits of a hex number"),
    ("SONAR_TOKEN=0123456789abcdef0123456789abcdef01234567", "from 0 on"),
    ("heroku_api_key = 12345678-abcd-abcd-abcd-1234567890ab", "in the form of an id"),
    ("ghp" + "_1234567890abcdef1234567890abcdef1234", "behind a prefix"),
]


@pytest.mark.parametrize(("text", "why"), TYPED, ids=[row[1] for row in TYPED])
def test_what_somebody_typed_along_the_keyboard_stands_for_a_secret(text, why):
    assert scan(text) == []
