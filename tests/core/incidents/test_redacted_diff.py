"""How a restricted file changed, told without what is in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.incidents.redacted_diff import LINES, MASK, change, redact_values, values_to_redact

SECRET = "s3cr3tvalue"

TOLD = [
    (b"A=1\nB=2\n", b"A=1\nB=3\n", f"-B={MASK}\n+B={MASK}", "a value"),
    (b"A=1\n", b"A=1\nexport NEW='x'\n", f"+NEW={MASK}", "a new name"),
    (b"# OLD=1\n", b"", f"-OLD={MASK}", "a comment that held a value"),
    (b"db:\n  pass: x\n", b"db:\n  pass: y\n", f"-pass:{MASK}\n+pass:{MASK}", "YAML"),
    (b'{\n"key": "a"\n}', b'{\n"key": "b"\n}', f"-key:{MASK}\n+key:{MASK}", "JSON"),
    (b"hunter2\n", b"hunter22\n", "-<7 characters>\n+<8 characters>", "a line without a name"),
    (b"user:pass\n", None, "-<9 characters>", "a password file"),
    (b"abcdE=\n", b"", "-<6 characters>", "what may be the end of a key"),
    (b"-----BEGIN X\nA=b\n", b"-----BEGIN X\nA=c\n", "-<3 characters>\n+<3 characters>", "a key file has no names"),
    (None, b"A=1\n", f"+A={MASK}", "created"),
    (b"A=1\n", None, f"-A={MASK}", "deleted"),
    (b"\x00\x01", b"\x00", "2 bytes -> 1 bytes", "no text"),
    (b"\xff\xfe", None, "2 bytes -> no file", "not UTF-8"),
    (b"x" * 70_000, b"", "70000 bytes -> 0 bytes", "too large"),
    (b"A=1", b"A=1\n", "only the ends of lines differ", "the end of the last line"),
    (b"A=1\n", b"A=1\n", "", "nothing"),
]


@pytest.mark.parametrize(("before", "after", "told", "why"), TOLD, ids=[row[3] for row in TOLD])
def test_what_is_told(before, after, told, why):
    assert change("/r/.env", before, after) == told


def test_a_policy_is_shown_redacted_and_it_is_short():
    before, after = b"[loop]\nrepeats = 3\n", b"[loop]\nrepeats = 9\napi_key = 'sk-abcdefghijklmnopqrstuvwxyz'\n"
    told = change("/r/sentinel.toml", before, after)
    assert "-repeats = 3\n+repeats = 9" in told and "abcdef" not in told
    many = change("/r/.env", b"", b"".join(b"K%d=1\n" % n for n in range(100)))
    assert many.splitlines()[-1] == f"... and {100 - LINES} more lines"


NAMES = st.sampled_from(["A=", "export B=", "c: ", "# D=", "", "- ", '"e": ', "é=", "x" * 70 + "="])
ROWS = st.lists(st.tuples(NAMES, st.sampled_from([SECRET, f"'{SECRET}", f"{SECRET}=", f"{SECRET}: {SECRET}"])))


@given(ROWS, ROWS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_no_value_is_ever_told(old, new, end):
    before, after = (end.join(name + value for name, value in rows).encode() for rows in (old, new))
    told = change("/r/.env", before, after)
    assert told.isprintable() or "\n" in told
    named = {f"{SECRET}:{MASK}", f"{SECRET}={MASK}"}
    assert SECRET not in "".join(line for line in told.splitlines() if line[1:] not in named)


HELD = [
    (b"PLAIN=alpha-beta-7 # the second key\n", ["alpha-beta-7"], "a value with a digit, without its comment"),
    (b"DB_PASSWORD='correct horse'\n", ["correct horse"], "the name says that it is a secret"),
    (b"LONG=abcdefghijklmnop\n", ["abcdefghijklmnop"], "long"),
    (b"MODE=development\nPORT=8000\nOK=true\n", [], "ordinary words and short values"),
    (b"-----BEGIN X-----\n" + b"aB3/" * 16 + b"\n-----END X-----\n", ["aB3/" * 16], "a line of a key"),
    (b"\x00\x01", [], "no text"),
]


@pytest.mark.parametrize(("content", "held", "why"), HELD, ids=[row[2] for row in HELD])
def test_what_a_restricted_file_holds_is_hidden_elsewhere(content, held, why):
    assert values_to_redact("/r/.env", content) == held
    text = content.decode() + "elsewhere: " + " ".join(held)
    assert not any(value in redact_values(text, held) for value in held)
    assert values_to_redact("/r/sentinel.toml", content) == []


def test_of_two_values_the_longer_is_hidden_whole():
    assert redact_values("a12345678b a12345678", ["12345678", "a12345678b"]) == "<redacted> a<redacted>"
    assert redact_values("as it is", []) == "as it is"
