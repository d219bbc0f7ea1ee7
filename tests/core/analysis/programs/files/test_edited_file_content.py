"""What is computed of a file after ``sed -i``, beside what sed makes of it."""

from __future__ import annotations

import subprocess

import pytest

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.programs.files import edited_file_content

TEXTS = ("a1\nb2\nc3\nd4\nb5\ne6\n", "  foo = 1\nbar\n\nfoo bar foo\nend\n", "x")
FOLLOWED = (
    *("1a X", "1i X", "2c X", "$a X", "/b/a\\\nX", "a X", "s/a/z/;1a Y; z", r"1a a\tb\nc"),
    *("2,3d", "2,3s/./Q/", "/b/,/d/d", "/b/,/d/s/[a-z]/Q/", "/b/,+1d", "2,$d", "0,/b/d", "0,/a/d", "1,/a/d", "3,1d"),
    *("2!d", "$!d", "/b/!s/./Q/", "2,3!d", "/b/ , /d/ d", "2 , 3 s/./Q/;4d", "/b/,2s/./Q/", "1d;2d", "1d;s/b/x/"),
    *("2{s/b/q/;s/2/9/}", "/foo/{s/foo/X/g;s/bar/Y/}", "/b/,/d/{/c/d;s/./Z/}", "2{d}", "/b/{/2/{s/b/q/}}"),
    *("2,3{i X\n}", "/b/{a\\\nX\ns/b/c/\n}", "/a/i Q\ns/Q/z/", "s/a/b/;/b/d", "1c q\n1s/q/r/"),
    *("s/^[[:space:]]*foo/X/", r"s/[[:digit:]]\+/N/g", r"s/\<foo\>/W/g", "s#/#|#", "s/.*/&&/", r"s/\(a\)\(.\)/\2\1/"),
    *(r"s/a\|b/Q/", "s/b*$/E/", "/FOO/Id", "s/FOO/z/I", "d", "/x/,/y/d"),
)
UNFOLLOWED = (
    *("s/foo/\\U&/", "s/o/0/2", "5q", "y/ab/xy/", "n;d", "2,3c X", "}", "{", "2{", "s/a/b", "s/x*/-/g", r"1a a\x41"),
    *("N;s/a/b/", "s/a/b/w out", "s/a/b/e", "/[[.a.]]/d"),
)


@pytest.mark.parametrize("script", FOLLOWED)
def test_a_script_does_what_sed_does(script: str) -> None:
    for text in TEXTS:
        done = subprocess.run(["sed", script], input=text, capture_output=True, text=True, check=True)
        assert edited_file_content.sed([script], text, extended=False) == done.stdout


@pytest.mark.parametrize("script", UNFOLLOWED)
def test_what_is_not_followed_leaves_nothing_known(script: str) -> None:
    assert edited_file_content.sed([script], TEXTS[1], extended=False) == UNKNOWN
