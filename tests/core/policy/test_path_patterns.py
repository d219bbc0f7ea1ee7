"""What the lists of patterns spare themselves changes nothing: they say what fnmatch says of each pattern."""

from __future__ import annotations

import itertools
from fnmatch import fnmatchcase

import pytest

from sentinel_guard.core.policy.path_patterns import Anywhere, Below
from sentinel_guard.core.policy.target_placeholders import matches_target, meant_by_name
from sentinel_guard.host.policy_files import builtin
from tests.core.policy.test_target_placeholders import GROUND

PATTERNS = (
    "*.db",
    "/dev/sd[a-z]*",
    "*secret*",
    "[ab]*",
    "a?c",
    "x",
    "",
    "*",
    ".ssh/*",
    ".ssh/id_*.pub",
    "*/hooks/*",
    "a[b",
    "b]",
)
TEXTS = (
    "x.db",
    "/dev/sda1",
    "/dev/sd1",
    "my secrets",
    "abc",
    "ac",
    "x",
    "",
    ".ssh/id_a.pub",
    ".ssh/sub/id",
    "q/hooks/z",
    "a[b",
    "b]",
    "b",
)


@pytest.mark.parametrize(
    "patterns", [*itertools.combinations(PATTERNS, 1), *itertools.combinations(PATTERNS, 2), PATTERNS]
)
def test_anywhere_is_fnmatch_of_each(patterns: tuple[str, ...]) -> None:
    told = Anywhere(patterns)
    assert [t for t in TEXTS if told.match(t)] == [t for t in TEXTS if any(fnmatchcase(t, p) for p in patterns)]


@pytest.mark.parametrize(
    "patterns", [*itertools.combinations(PATTERNS, 1), *itertools.combinations(PATTERNS, 2), PATTERNS]
)
def test_below_is_fnmatch_behind_the_folder(patterns: tuple[str, ...]) -> None:
    told = Below(patterns)
    assert [t for t in TEXTS if told.match(f"/home/a/{t}", "/home/a")] == [
        t for t in TEXTS if any(fnmatchcase(t, p) for p in patterns)
    ]
    assert not any(told.match(f"/home/ab/{t}", "/home/a") or told.match(t, "") for t in TEXTS)


def test_the_built_in_lists_answer_as_each_of_their_patterns() -> None:
    names = meant_by_name(builtin().rules)
    assert "{secret}" not in names
    for path in (
        "/home/user/project/app.sqlite",
        "/home/user/.bashrc",
        "/etc/sudoers",
        "/dev/sda",
        "/home/user/project/a.py",
    ):
        each = any(matches_target((name,), path, GROUND) for name in names)
        assert matches_target(names, path, GROUND) is each, path
