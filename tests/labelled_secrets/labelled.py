"""The labelled rows, and how a search for secrets is judged by them: in tests and ``bench/secret_scan_accuracy.py``."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.core.secrets.model import Grade, Piece
from sentinel_guard.core.secrets.scan_outgoing_content import scan_pieces
from tests.labelled_secrets.make_labelled import kinds

HERE = Path(__file__).parent


class Row(NamedTuple):
    text: str
    label: str
    """``secret``, ``pii`` or ``clean``."""
    kind: str
    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Score:
    """Rows that are something and were found, were missed; that are nothing and were found, were let be."""

    hit: int = 0
    missed: int = 0
    wrong: int = 0
    let_be: int = 0

    @property
    def precision(self) -> float:
        return self.hit / (self.hit + self.wrong) if self.hit + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.hit / (self.hit + self.missed) if self.hit + self.missed else 1.0

    def __add__(self, other: Score) -> Score:
        sums = (self.hit + other.hit, self.missed + other.missed, self.wrong + other.wrong, self.let_be + other.let_be)
        return Score(*sums)


def rows(half: str) -> list[Row]:
    """``tune`` or ``held``."""
    return read(HERE / f"{half}.jsonl", "text")


def read(path: Path, text: str) -> list[Row]:
    """Rows of JSON lines that hold their text in base64 under the key ``text``."""
    made = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        content = base64.b64decode(row[text]).decode("utf-8", "surrogateescape")
        made.append(Row(content, row["label"], row["kind"], row.get("path", ""), row.get("why", "")))
    return made


def judge(rows: Iterable[Row], finds: Callable[[Row], bool]) -> dict[str, Score]:
    """The score of each kind; of what is clean too."""
    scores: dict[str, Score] = defaultdict(Score)
    for row in rows:
        found = finds(row)
        if row.label == "clean":
            scores[row.kind] += Score(wrong=found, let_be=not found)
        else:
            scores[row.kind] += Score(hit=found, missed=not found)
    return dict(scores)


def total(scores: Iterable[Score]) -> Score:
    return sum(scores, Score())


def ours(row: Row, least: Grade = Grade.WARN) -> bool:
    """Whether our search finds something of the row's kind in it; in a clean row, anything."""
    hits = scan_pieces([Piece(row.text, row.path)]).hits
    kinds = {"secret": ("secret",), "pii": ("pii",)}.get(row.label, ("secret", "pii"))
    return any(h.leak.kind in kinds and h.leak.grade >= least and not h.allowed for h in hits)


def family(row: Row) -> str:
    """``tokens`` (known by form), ``named`` (by what stands beside), ``texts`` (files, addresses, keys), ``pii``."""
    if row.label != "secret":
        return row.label
    return _SHAPES.get(row.kind, "texts")


_SHAPES = {kind.name: {"own": "tokens", "named": "named"}[kind.shape] for kind in kinds()}
