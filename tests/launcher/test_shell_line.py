"""The face of a line that an interactive shell has read: what it sends, and what is a yes or a no."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.support.launcher_guard import answers, exit_code, value, values

LINE = "sentinel-line"


def test_what_a_line_sends(guard, tmp_path):
    g = guard(answers([exit_code(0)]))
    done = g.run(LINE, "7", b"cat \xff", "F='.env'\n", cwd=tmp_path, env={"PATH": "/bin", "ENV": "/e"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (request,) = g.requests
    assert value(request, "F") == b"line"
    assert values(request, "A")[1:] == [b"7", b"cat \xff", b"F='.env'\n"]
    assert value(request, "D") == os.fsencode(tmp_path)
    assert values(request, "I") == []


ANSWERS = (
    ([(b"P", b"2no\n"), exit_code(1)], 1, b"no\n", "a no with words"),
    ([(b"P", b"2hint\n"), exit_code(0)], 0, b"hint\n", "a yes with words"),
    ([exit_code(126)], 1, b"does not judge it", "the no of a daemon that does not know lines"),
    ([(b"X", b"/bin/true")], 1, b"does not judge it", "what would run a program is no verdict"),
    ([(b"S", b"/bin/true")], 1, b"does not judge it", "nor is what would watch over one"),
)


@pytest.mark.parametrize(("chunks", "code", "words"), [a[:3] for a in ANSWERS], ids=[a[3] for a in ANSWERS])
def test_what_is_a_verdict(guard, chunks, code, words):
    done = guard(answers(chunks)).run(LINE, "7", "ls", "")
    assert done.returncode == code
    assert words in done.stderr


def test_where_nobody_listens_a_line_is_refused_with_words(guard):
    done = guard(listen=False).run(LINE, "7", "ls", "")
    assert done.returncode == 1
    assert done.stderr.startswith(b"403 SENTINEL BLOCKED: the line was not run:")


def test_what_is_typed_ahead_stays_for_the_shell(guard):
    g = guard(answers([exit_code(0)]))
    script = f"'{g.shim(LINE)}' 7 ls ''; cat"
    done = subprocess.run(["/bin/sh", "-c", script], input=b"next\n", capture_output=True, check=False)
    assert done.stdout == b"next\n"
