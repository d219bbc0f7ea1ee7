"""Scan a text for personal data (PII): payment cards, IBANs, national ids, phone numbers, e-mail addresses (R3).

Rules of this file:
1. What has a checksum is checked, what has none needs a word beside it that says what it is, or comes in bulk.
2. One address is no leak and ten thousand are: what a find weighs is told by how many different ones there are.
3. Numbers that everybody prints (test cards of payment providers, example.com) count for nothing; the examples of IBANs
   warn where they stand in no test or document, and are no part of a list.
4. Time is linear: a pattern starts only where a number or an address can start, and what it repeats is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import compress
from typing import NamedTuple

from sentinel_guard.core.secrets.model import Grade, SecretFind
from sentinel_guard.core.secrets.pii import cards_and_ibans, emails_and_phones, national_ids
from sentinel_guard.core.secrets.pii.example_numbers import IBANS
from sentinel_guard.core.secrets.skipped_files import is_test_or_document

_PUBLIC = re.compile(
    r"(?i)(?:.*/)?(?:(?:authors|contributors|maintainers|committers|credits|thanks|patrons|sponsors|backers|owners"
    r"|change-?log|changes|history|news|copying|copyright|licen[cs]es?|notice|whats-?new|release[_-]?notes"
    r"|code_of_conduct)(?:[._-][^/]*)?|(?:security|humans)\.(?:md|rst|txt)"
    r"|(?:change-?logs?(?:\.d)?|whats-?new|release[_-]?notes?|newsfragments)/.*"
    r"|codeowners|\.mailmap|\.all-contributorsrc"
    r"|(?:package|composer|bower|codemeta)\.json|pkg-info|metadata|description|pyproject\.toml|cargo\.toml|setup\.(?:py|cfg)"
    r"|pom\.xml|citation\.cff|[^/]*\.(?:gemspec|podspec|cabal|nuspec|spec))"
)
"""Files in which addresses are there to be read: authors, owners, changes, what tells who made a package."""


class _Threshold(NamedTuple):
    """From how many different finds on they weigh that much."""

    rules: re.Pattern[str]
    warn: int
    block: int


_THRESHOLDS = (
    _Threshold(re.compile("pii-card|pii-iban"), 1, 3),
    _Threshold(re.compile("pii-email"), 5, 50),
    _Threshold(re.compile("pii-phone"), 5, 50),
    _Threshold(re.compile("pii-.*"), 1, 3),
)
_COUNTED = re.compile("pii-email|pii-phone")


def find(text: str) -> list[SecretFind]:
    """What may be personal data, sorted, not overlapping: ``NOTE`` for what counts only in number or not at all."""
    found = [*cards_and_ibans.find(text), *national_ids.find(text), *emails_and_phones.find(text)]
    found.sort(key=lambda leak: leak.start)
    kept, end = list[SecretFind](), 0
    for leak in found:
        if leak.start >= end:
            kept.append(leak)
            end = leak.end
    return kept


def grade(leaks: Sequence[SecretFind], path: str = "") -> list[SecretFind]:
    """The same finds, in their order, each with the grade that their number gives; ``NOTE`` counts for nothing.

    ``path``: the file that they are all in, empty for none.
    """
    let_be = "pii-email" if _PUBLIC.fullmatch(path) else ""
    leaks = [_of_example(leak, path) if _is_example(leak) else leak for leak in leaks]
    counts = [_counts(leak) and leak.rule != let_be and not _is_example(leak) for leak in leaks]
    values: dict[_Threshold, set[str]] = {t: set() for t in _THRESHOLDS}
    for leak in compress(leaks, counts):
        values[_threshold(leak.rule)].add(re.sub(r"[\W_]+", "", leak.value).casefold())
    grades = {t: _grade_of(t, len(values[t])) for t in _THRESHOLDS}
    pairs = zip(leaks, counts, strict=True)
    return [replace(leak, grade=grades[_threshold(leak.rule)]) if counted else leak for leak, counted in pairs]


def _counts(leak: SecretFind) -> bool:
    return leak.kind == "pii" and (leak.grade >= Grade.WARN or _COUNTED.fullmatch(leak.rule) is not None)


def _is_example(leak: SecretFind) -> bool:
    return leak.rule == "pii-iban" and re.sub(r"[ -]", "", leak.value) in IBANS


def _of_example(leak: SecretFind, path: str) -> SecretFind:
    return replace(leak, grade=Grade.NOTE if is_test_or_document(path) else Grade.WARN)


@cache
def _threshold(rule: str) -> _Threshold:
    return next(t for t in _THRESHOLDS if t.rules.fullmatch(rule))


def _grade_of(threshold: _Threshold, number: int) -> Grade:
    return Grade.BLOCK if number >= threshold.block else Grade.WARN if number >= threshold.warn else Grade.NOTE
