"""The quick looks before pathspec is asked never differ from what pathspec says."""

from __future__ import annotations

import pathspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentinel_guard.core.policy import is_pattern, takes_in

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # re's own, about the form of a class ([[])
PATTERN = st.text(st.sampled_from("ab.*?[]!\\/# -_é"), min_size=1, max_size=8)
PATH = st.text(st.sampled_from("ab.!\\ -_é[]*?#/"), min_size=1, max_size=10).map(lambda t: t.strip("/")).filter(bool)


def asked(patterns: tuple[str, ...], path: str) -> str:
    spec = pathspec.GitIgnoreSpec.from_lines(patterns)
    for form in (path, f"{path}/"):
        seen = spec.check_file(form)
        if seen.include and seen.index is not None:
            return patterns[seen.index]
    return ""


def valid(pattern: str) -> bool:
    try:
        return pathspec.GitIgnoreSpec.from_lines([pattern]).patterns[0].include is not None
    except (ValueError, IndexError):
        return False


@given(st.lists(PATTERN.filter(valid), min_size=1, max_size=3).map(tuple), PATH)
@example(("[abc]x",), "ax")
@example(("\\[a]",), "[a]")
@example(("*.pem", "!b.pem"), "a.pem")
@example(("a\\ b",), "a b")
@example(("secrets/",), "secrets")
def test_a_path_is_taken_in_as_pathspec_says(patterns: tuple[str, ...], path: str) -> None:
    assert takes_in(patterns, f"/root/{path}", "/root") == asked(patterns, path)


@given(PATTERN)
@example("!")
@example("/")
@example("**")
@example("***/a")
@example("!/a-b.é/*")
def test_a_pattern_is_one_as_pathspec_says(pattern: str) -> None:
    assert is_pattern(pattern) == valid(pattern)
