"""Patterns mean what pathspec says they mean, and none takes long."""

from __future__ import annotations

import re
import time

import pathspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentinel_guard.core.policy.policy import is_pattern, last_matching_pattern

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # re's own, about the form of a class ([[])
PATTERN = st.text(st.sampled_from("ab.*?[]!\\/# -_é"), min_size=1, max_size=8)
PATH = st.text(st.sampled_from("ab.!\\ -_é[]*?#/"), min_size=1, max_size=10).map(lambda t: t.strip("/")).filter(bool)


BACKEND = "simple"
"""Of pathspec: where RE2 is installed it would take that, which knows no lookahead."""
CLASS = re.compile(r"(?<!\\)(\[(?!\^/\])\^?\]?[^]]*\])")


def asked(patterns: tuple[str, ...], path: str) -> str:
    """What pathspec says, whose classes take no ``/`` (as git's)."""
    spec = pathspec.GitIgnoreSpec.from_lines(patterns, backend=BACKEND)
    texts = [CLASS.sub(r"(?!/)\1", one.regex.pattern) for one in spec.patterns]
    spec = pathspec.GitIgnoreSpec(
        [type(one)(re.compile(text), one.include) for one, text in zip(spec.patterns, texts, strict=True)],
        backend=BACKEND,
    )
    for form in (path, f"{path}/"):
        seen = spec.check_file(form)
        if seen.include and seen.index is not None:
            return patterns[seen.index]
    return ""


def valid(pattern: str) -> bool:
    try:
        return pathspec.GitIgnoreSpec.from_lines([pattern], backend=BACKEND).patterns[0].include is not None
    except (ValueError, IndexError, re.error):  # re's: a class such as [b-a]
        return False


@given(st.lists(PATTERN.filter(valid), min_size=1, max_size=3).map(tuple), PATH)
@example(("[abc]x",), "ax")
@example(("\\[a]",), "[a]")
@example(("*.pem", "!b.pem"), "a.pem")
@example(("a\\ b",), "a b")
@example(("secrets/",), "secrets")
@example(("a/**/b",), "a/b/b")
@example(("*/a/**/b*/**/c",), "x/a/c/b/b!/c/c/-")
@example(("a*b*a/", "!b"), "a/b")
@example(("**/*a*/b/**/a*b?",), "b/a/b/a/b/ab/abb")
@example(("[!a]*b*[]a]",), "-b-ab]")
def test_a_path_is_taken_in_as_pathspec_says(patterns: tuple[str, ...], path: str) -> None:
    assert last_matching_pattern(patterns, f"/root/{path}", "/root") == asked(patterns, path)


@given(PATTERN)
@example("!")
@example("/")
@example("**")
@example("***/a")
@example("!/a-b.é/*")
@example("[b-a]")
def test_a_pattern_is_one_as_pathspec_says(pattern: str) -> None:
    assert is_pattern(pattern) == valid(pattern)


HOSTILE = [
    ("*a" * 12 + "b", "q/" + "a" * 100, "the one that was sent in: hours with an expression that backtracks"),
    ("*a" * 200 + "b", "a" * 20_000, "many stars over a name that no disk could hold"),
    ("a/**/" * 60 + "b", "a/" * 10_000, "folders between folders"),
    ("**/*a*/" * 60 + "b", "aaaa/" * 4_000, "both"),
    ("*?" * 100 + "b", "a" * 20_000, "a star beside what takes everything in"),
    ("[a-c]*" * 100 + "x", "abc" * 7_000, "classes"),
    ("[" * 5_000 + "x", "x", "classes without an end"),
]


@pytest.mark.parametrize(("pattern", "path"), [row[:2] for row in HOSTILE], ids=[row[2] for row in HOSTILE])
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    start = time.process_time()
    assert last_matching_pattern((pattern,), f"/root/{path}", "/root") == ""
    assert time.process_time() - start < 0.5


GIT_SAYS = [
    ("a[!b]c", "a/c", False, "a class takes no slash"),
    ("a[ -~]c", "a/c", False, "nor does a range that has it in"),
    (".env", "a\nb/.env", True, "a folder's name may hold a line's end"),
    ("secrets", "secrets\n", False, "and a name may end with one"),
]


@pytest.mark.parametrize(("pattern", "path", "taken"), [r[:3] for r in GIT_SAYS], ids=[r[3] for r in GIT_SAYS])
def test_where_pathspec_errs_git_is_right(pattern: str, path: str, taken: bool) -> None:
    assert bool(last_matching_pattern((pattern,), f"/root/{path}", "/root")) is taken
