"""The labelled set: how much of it the search finds, and how much else. The figures are in each failure's message.

The aims are a precision of 0.95 and a recall of 0.90 on ``held``, which no rule was made or tuned with.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from functools import cache, partial

import pytest

from sentinel_guard.core.secrets.model import Grade
from tests.labelled_secrets import labelled, make_labelled
from tests.labelled_secrets.labelled import Score

FLOORS = (
    # half, family, least grade, precision, recall, why
    ("held", "all", Grade.WARN, 0.95, 0.90, "the aim"),
    ("tune", "all", Grade.WARN, 0.95, 0.95, "what was tuned with must do better"),
    ("held", "all", Grade.BLOCK, 0.99, 0.60, "what refuses a commit is hardly ever wrong"),
    ("held", "tokens", Grade.BLOCK, 0.99, 0.95, "a provider's token is known by its form"),
    ("held", "named", Grade.WARN, 0.80, 0.60, "what only a name tells is guessed at, and not in documents"),
    ("held", "texts", Grade.WARN, 0.90, 0.80, "keys, logins in addresses, files of tools"),
    ("held", "pii", Grade.WARN, 0.90, 0.95, "cards, accounts, ids and lists"),
)
CLEAN_KINDS = {
    "placeholder": "no word in a value's place is a value", "env-lookup": "code that reads a secret holds none",
    "i18n": "translations", "git-ids": "commits", "hashes": "checksums", "uuid": "ids", "lock-integrity": "checksums",
    "test-card": "numbers that everybody tests with", "example-mail": "reserved domains", "author-mail": "two people",
    "public-key": "public", "certificate": "public", "base64-image": "pictures", "svg": "drawings",
    "masked": "what is masked already", "version": "versions", "phone-like": "numbers of a program",
}  # fmt: skip


@cache
def _scores(half: str, least: Grade) -> dict[tuple[str, str], Score]:
    """By family and kind."""
    rows = labelled.rows(half)
    families = {row.kind: labelled.family(row) for row in rows}
    found = labelled.judge(rows, partial(labelled.ours, least=least))
    return {(families[kind], kind): score for kind, score in found.items()}


@pytest.mark.parametrize(
    ("half", "family", "least", "precision", "recall"),
    [f[:5] for f in FLOORS],
    ids=[f"{f[0]}-{f[1]}-{f[5]}" for f in FLOORS],
)
def test_enough_is_found_and_little_else(half, family, least, precision, recall):
    scores = {kind: s for (f, kind), s in _scores(half, least).items() if family == "all" or f in (family, "clean")}
    whole = labelled.total(scores.values())
    short = {
        k: f"missed {s.missed} of {s.hit + s.missed}, false {s.wrong}" for k, s in scores.items() if s.missed or s.wrong
    }
    figures = f"precision {whole.precision:.3f}, recall {whole.recall:.3f}; {short}"
    assert whole.precision >= precision, figures
    assert whole.recall >= recall, figures


@pytest.mark.parametrize("kind", CLEAN_KINDS, ids=[f"{k}: {why}" for k, why in CLEAN_KINDS.items()])
@pytest.mark.parametrize("half", make_labelled.SEEDS)
def test_what_is_no_secret_refuses_nothing(half, kind):
    assert _scores(half, Grade.BLOCK).get(("clean", kind), Score()).wrong == 0


@pytest.mark.parametrize("half", make_labelled.SEEDS)
def test_the_committed_rows_are_what_the_script_makes(half):
    made = "".join(json.dumps(row) + "\n" for row in make_labelled.rows(half))
    assert made == (labelled.HERE / f"{half}.jsonl").read_text(encoding="utf-8")


def test_the_set_is_as_large_as_it_says():
    by_half = {half: labelled.rows(half) for half in make_labelled.SEEDS}
    for half, rows in by_half.items():
        assert len(rows) >= 600
        assert len({row.kind for row in rows if row.label == "secret"}) >= 80
        assert Counter(row.label for row in rows)["clean"] >= 200, half
    assert not {row.text for row in by_half["tune"]} & {row.text for row in by_half["held"]}


def test_no_template_is_in_both_halves():
    for file in ("contexts", "secrets", "pii", "clean"):
        tune, held = ({s.text for s in make_labelled.sections(f"{file}.{half}.txt")} for half in ("tune", "held"))
        assert not tune & held, file


def test_no_row_stands_in_the_open():
    # Scanners of forges look at this repository too.
    for half in make_labelled.SEEDS:
        for row in map(json.loads, (labelled.HERE / f"{half}.jsonl").read_text().splitlines()):
            assert base64.b64decode(row["text"])
