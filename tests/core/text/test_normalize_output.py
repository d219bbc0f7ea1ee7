import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.text.normalize_output import MASKS, digest, mask, plain

SAME = (
    ("Error at 10:45:23", "Error at 11:30:45", "time of day"),
    ("done 9:01 PM", "done 10:44 AM", "twelve hours"),
    ("on 2024-01-29", "on 2025-12-31", "date"),
    ("[2026-11-21 20:03:11,123] E", "[2026-11-21 20:04:59,990] E", "log time"),
    ("2026-11-21T20:03:11.5Z x", "2026-11-22T01:00:00.25+01:00 x", "ISO time"),
    ("logs/2026-11-20T10_11_12_345Z-debug-0.log", "logs/2026-11-20T10_15_59_001Z-debug-0.log", "time in a file name"),
    ("a1b2c3d4-e5f6-7890-abcd-ef1234567890 x", "99999999-8888-7777-6666-555555555555 x", "uuid"),
    ("request req_8fj3k2 failed", "request req_0aa9z1 failed", "request id"),
    ('{"ok":1,"messageId":"om_1"}', '{"ok":1,"messageId":"om_22"}', "id in JSON"),
    ("<Foo at 0x7f3a2c10>", "<Foo at 0x7fee9910>", "address"),
    ("container 3f2a9c0d1b7e4a55", "container 91be00d1b7e4a550", "long hex"),
    ("worker[4121]: x", "worker[98]: x", "pid in brackets"),
    ("killed pid 17", "killed pid 99", "pid in words"),
    ("(node:4711) Warning: x", "(node:12) Warning: x", "node's pid"),
    ("goroutine 18 [running]", "goroutine 33 [running]", "goroutine"),
    ("120 passed in 3.41s", "120 passed in 12.07s", "duration"),
    ("took 12 ms", "took 9 ms", "milliseconds"),
    ("real 1m2.5s", "real 3m44.1s", "minutes and seconds"),
    ("/tmp/tmp1a2b3c4d/x.py", "/tmp/tmpzz_9qr8s/x.py", "tempfile"),
    ("/tmp/tmp.AbCdEfGhIj: no", "/tmp/tmp.XyZ0123456: no", "mktemp"),
    ("/tmp/pytest-of-me/pytest-3/x", "/tmp/pytest-of-me/pytest-4/x", "pytest's folder"),
    ("connect 127.0.0.1:49152", "connect 127.0.0.1:50001", "short-lived port"),
    ("NOT_FOUND", "not_found", "case"),
    ("script.py line 10", "script.py line 99", "prose that ends in a line"),
    ("\x1b[31mbad\x1b[0m", "bad", "colours"),
    ("10%\r50%\rdone", "1%\rdone", "a line that was redrawn"),
)

OTHER = (
    ("5 failed, 120 passed", "3 failed, 122 passed", "fewer failures are progress"),
    ("a.py:31: AssertionError", "a.py:57: AssertionError", "the failure moved"),
    ('File "x.py", line 12, in f', 'File "x.py", line 57, in f', "a line in a traceback stays"),
    ("x.sh: line 3: foo: command not found", "x.sh: line 9: foo: command not found", "so does bash's"),
    ("Cannot find module 'lodash'", "Cannot find module 'express'", "another module"),
    ("address in use :::3000", "address in use :::3001", "a server's port stays"),
    ("/tmp/a/one.py: bad", "/tmp/a/two.py: bad", "another file"),
    ("HTTP 404 for /users/17", "HTTP 404 for /orders/17", "another path"),
    ("index [5] with length 3", "index [2] with length 2", "numbers in a message"),
    ("Killed", "Segmentation fault", "another error"),
)


@pytest.mark.parametrize(("a", "b", "why"), SAME, ids=[r[2] for r in SAME])
def test_the_same_failure(a, b, why):
    assert mask(a) == mask(b)
    assert digest(a) == digest(b)


@pytest.mark.parametrize(("a", "b", "why"), OTHER, ids=[r[2] for r in OTHER])
def test_another_failure(a, b, why):
    assert digest(a) != digest(b)


@given(
    st.text(alphabet=st.sampled_from("aegidIDxX0189:-_./\\ []()\"'<>,+\n\r\x1b[mstp#") | st.characters(), max_size=80)
)
def test_masking_twice_changes_nothing(text):
    assert mask(mask(text)) == mask(text)


@given(st.text(max_size=80))
def test_plain_text_has_no_escapes(text):
    assert "\x1b" not in plain(text)


PIECES = st.sampled_from(
    [
        *(text for row in (*SAME, *OTHER) for text in row[:2]),
        "\n",
        " ",
        "5:30",
        "am",
        "tmp",
        "/tmp/tmpabcdefgh",
        "pid",
        "7",
        "\u0663:\u0664\u0665",
        "3 \u00b5s",
        "\u0664s",
        "0123456789abcdef",
        "2026/11-26",
    ]
)
"""What a mask finds, what it does not, pieces of both, and digits and units beyond ASCII."""


@given(st.lists(PIECES, max_size=8).map("".join))
def test_nothing_is_masked_otherwise_where_all_is_looked_for(text):
    masked = plain(text).casefold()
    while masked != (again := functools.reduce(lambda t, m: m.pattern.sub(m.token, t), MASKS, masked)):
        masked = again
    assert mask(text) == masked
