"""Words of a framework's task on its database: whether they leave it at the one that the settings name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

BY_ADDRESS = frozenset(("sqlx", "diesel", "dbmate", "goose", "migrate", "atlas", "sea-orm-cli", "sea", "prisma"))
"""Tools that are given an address, in a word or as ``DATABASE_URL``."""
DEVELOPMENT = frozenset(("", "dev", "develop", "development", "local"))
LIVE = re.compile(r"(?i)(?:^|[^a-z])(?:prod|production|live|staging)(?:[^a-z]|$)")
_PLAIN = frozenset(
    (
        *("--force", "-y", "--yes", "--noinput", "--no-input", "--trace", "-q", "--quiet"),
        *("--skip-seed", "--skip-generate", "--seed", "--accept-data-loss", "--force-reset", "--all"),
    )
)
"""Options that say nothing of a database."""
_FORCES = ("prisma", "mix", "sqlx")
"""Programs to which ``-f`` is ``--force``."""
GIVES_ADDRESS = frozenset(("-D", "--database-url", "-u", "--url", "--database", "-database"))
_CHOOSES = frozenset(("-e", "--env", "--environment"))


def value(word: str) -> str:
    """What a word says: of an option what stands behind its ``=``."""
    return word.partition("=")[2] if word[:1] == "-" and "=" in word.partition("://")[0] else word


def are_plain(program: str, words: Sequence[str]) -> bool:
    """Whether none of a task's words may say another database or environment than the one that is meant without it."""
    for before, word in pairwise(("", *words)):
        name, sign, value = word.partition("=")
        if LIVE.search(word):
            return False
        if name in _CHOOSES or before in _CHOOSES:
            chosen = value if sign else word if before in _CHOOSES else "dev"
            if program == "rake" or chosen not in DEVELOPMENT:
                return False
        elif name in GIVES_ADDRESS or (before in GIVES_ADDRESS) or "://" in word:
            if program not in BY_ADDRESS:
                return False
        elif (word[:1] == "-" and word not in _PLAIN and not (word == "-f" and program in _FORCES)) or (
            sign and word != "VERSION=0"
        ):
            return False
    return True
