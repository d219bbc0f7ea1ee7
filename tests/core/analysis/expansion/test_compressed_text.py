"""Packed texts: what comes out again is what went in, as the real programs read it, and a bomb is not unpacked."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from sentinel_guard.core.analysis.expansion.compressed_text import (
    MAX_UNPACKED,
    bytes_of,
    compressed,
    decompressed,
    filtered,
    text_of,
)

FORMS = ("gzip", "bzip2", "xz")


INSTALLED = [
    pytest.param(form, marks=pytest.mark.skipif(not shutil.which(form), reason=f"{form} is not installed"))
    for form in FORMS
]


@pytest.mark.parametrize("form", INSTALLED)
def test_the_real_program_reads_ours_and_we_read_its(form: str) -> None:
    text = b"echo a\necho b\n" * 20
    ours = bytes_of(text_of(compressed(form, text)))
    assert subprocess.run([form, "-dc"], input=ours, capture_output=True, check=True).stdout == text
    real = subprocess.run([form, "-c"], input=text, capture_output=True, check=True).stdout
    assert "\0" not in text_of(real)  # which would be what is not known
    assert decompressed(form, bytes_of(text_of(real))) == text


@pytest.mark.parametrize("form", FORMS)
def test_what_is_too_long_cut_off_or_no_such_format_is_not_known(form: str) -> None:
    bomb = compressed(form, b"a" * (MAX_UNPACKED + 1))
    for data in (bomb, compressed(form, b"echo a\n")[:-4], b"no such format"):
        with pytest.raises(ValueError, match=r".+"):
            decompressed(form, data)


def test_a_filter_with_other_words_than_plain_options_is_not_known() -> None:
    packed = filtered("gzip", ("-9", "-c"), "ls\n")
    assert packed is not None
    assert filtered("gunzip", (), packed) == "ls\n"
    assert filtered("gzip", ("-dc",), packed) == "ls\n"
    assert filtered("zcat", ("file.gz",), packed) is None
    assert filtered("gunzip", (), "ls\n") is None
