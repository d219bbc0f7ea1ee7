"""Whichever library reads the patterns, the same is found; patterns that stand still cost nothing."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_guard.core.secrets import regex_engine
from sentinel_guard.core.secrets.formats.registry import FORMATS
from sentinel_guard.core.secrets.scan_text import scan
from tests.support.time_limits import limit

TEXTS = [f"a\n{text}\nİ \udc80 {text};" for row in FORMATS for text in (*row.hit, *row.miss)]


def found(monkeypatch, library, text):
    with monkeypatch.context() as m:
        m.setattr(regex_engine, "_engine", library)
        regex_engine.compiled.cache_clear()
        leaks = scan(text)
    regex_engine.compiled.cache_clear()
    return [(leak.rule, leak.start, leak.end) for leak in leaks]


def test_re_and_re2_find_the_same(monkeypatch):
    re2 = pytest.importorskip("re2", reason="google-re2 is not installed (extra re2)")
    text = "\n".join(TEXTS)
    assert found(monkeypatch, re2, text) == found(monkeypatch, None, text)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(TEXTS), max_size=4).map("".join), st.integers(0, 40))
def test_searchable_keeps_every_place(text, cut):
    plain = regex_engine.searchable(text[cut:])
    assert len(plain) == len(text[cut:])
    plain.encode()


def test_the_import_compiles_no_pattern_of_ours():
    code = (
        "import re, sys, base64, urllib.parse, dataclasses, enum, functools, math, string\n"
        "import sentinel_guard.core.policy.policy, sentinel_guard.core.secrets.formats.base\n"
        "made = re.compile; seen = []\n"
        "re.compile = lambda *a: seen.append(sys._getframe(1).f_globals['__name__']) or made(*a)\n"
        "import sentinel_guard.core.secrets.scan_text\n"
        "print(*sorted(set(seen)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=limit(60))
    assert not {"engine", "generic", "literals", "entropy"} & {name.rpartition(".")[2] for name in done.stdout.split()}
