"""``make leaks``: recall, false positives and speed of the secret scan, beside detect-secrets and kingfisher.

On the labelled rows that no rule was tuned on (``tests/labelled_secrets``, held), on the corpus (SENTINEL_CORPUS: its
folder), and on published packages, where nearly every find is a false one or a key made for tests. Nothing that is
searched is ever run or sent.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import other_secret_scanners
from bench.other_secret_scanners import Finds
from sentinel_guard.core.secrets.model import Grade, Hit, Piece
from sentinel_guard.core.secrets.scan_outgoing_content import scan_pieces
from sentinel_guard.host.secrets import scanned_files
from tests.labelled_secrets import labelled
from tests.labelled_secrets.labelled import Row, Score

HERE = Path(__file__).parent
SLOW, SMALL = ("detect-secrets",), 1_200_000
"""Peers that need minutes for a large package, and the bytes of text that make one."""
HOSTILE = 1_000_000
"""Characters of a text made to be slow."""
PEERS: dict[str, Callable[[Path], Finds]] = {
    "detect-secrets": other_secret_scanners.detect_secrets,
    "kingfisher": other_secret_scanners.kingfisher,
}


def finders(rows: list[Row]) -> Iterator[tuple[str, Callable[[Row], bool]]]:
    """Ours and the peers', each as a question about a row."""
    yield "ours: would be refused", partial(labelled.ours, least=Grade.BLOCK)
    yield "ours: warned of, too", labelled.ours
    with tempfile.TemporaryDirectory() as folder:
        places = {row: f"{n:05}/{row.path or 'text.txt'}" for n, row in enumerate(rows)}
        for row, place in places.items():
            file = Path(folder, place)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(row.text, errors="surrogateescape")
        for name, search in PEERS.items():
            found = search(Path(folder))
            yield name, lambda row, found=found: bool(found.get(places[row]))


def accuracy(title: str, rows: list[Row], *, kinds: bool) -> Iterator[Table]:
    """Precision and recall of each finder; with ``kinds`` a row for each kind besides."""
    table = Table("", "precision", "recall", "secrets", "personal data", "false", title=title, box=None, pad_edge=False)
    by_kind: dict[str, dict[str, Score]] = {}
    for name, finds in finders(rows):
        by_kind[name] = scores = labelled.judge(rows, finds)
        whole = labelled.total(scores.values())
        parts = [_part(rows, scores, label) for label in ("secret", "pii")]
        figures = (f"{whole.precision:.3f}", f"{whole.recall:.3f}", *(f"{p.recall:.3f}" for p in parts))
        table.add_row(name, *figures, f"{whole.wrong} of {whole.wrong + whole.let_be}")
    yield table
    if kinds:
        yield _kinds(by_kind)


def _part(rows: list[Row], scores: dict[str, Score], label: str) -> Score:
    return labelled.total(scores[kind] for kind in {row.kind for row in rows if row.label == label})


def _kinds(by_kind: dict[str, dict[str, Score]]) -> Table:
    table = Table("kind", *by_kind, box=None, pad_edge=False)
    for kind in next(iter(by_kind.values())):
        scores = [found[kind] for found in by_kind.values()]
        table.add_row(kind, *(_figure(score) for score in scores))
    return table


def _figure(score: Score) -> str:
    if score.hit + score.missed:
        return f"{score.hit} of {score.hit + score.missed}"
    return f"{score.wrong} false of {score.wrong + score.let_be}"


def load(folders: list[Path]) -> Iterator[Table]:
    """Finds in published packages for each MB, and how fast they were looked through."""
    table = Table("", "finds", "for each MB", "MB/s", "MB", title="published packages", box=None, pad_edge=False)
    hits: list[Hit] = []
    sizes: dict[Path, int] = {}
    began = time.perf_counter()
    for folder in folders:
        found, sizes[folder] = _ours(folder)
        hits += found
    seconds = time.perf_counter() - began
    for name, least in (("ours: would be refused", Grade.BLOCK), ("ours: warned of, too", Grade.WARN)):
        number = sum(hit.leak.grade >= least and not hit.allowed for hit in hits)
        table.add_row(name, *_figures(number, sum(sizes.values()), seconds))
    for name, search in PEERS.items():
        some = [f for f in folders if name not in SLOW or sizes[f] < SMALL]
        began = time.perf_counter()
        number = sum(len(found) for folder in some for found in search(folder).values())
        table.add_row(name, *_figures(number, sum(sizes[f] for f in some), time.perf_counter() - began))
    table.caption = f"{len(folders)} packages"
    yield table
    yield _rules(hits)


def _ours(folder: Path) -> tuple[list[Hit], int]:
    """What is found below a folder, and the bytes of text there."""
    hits, size = [], 0
    for file in scanned_files.walked(folder):
        source = scanned_files.read(file, file.relative_to(folder).as_posix())
        if source.piece:
            size += source.size
            hits += scan_pieces([source.piece]).hits
    return hits, size


def _figures(number: int, size: int, seconds: float) -> tuple[str, ...]:
    million = size / 1e6
    return str(number), f"{number / million:.2f}", f"{million / seconds:.1f}", f"{million:.0f}"


def _rules(hits: list[Hit]) -> Table:
    table = Table("grade", "rule", "finds", "", title="ours in packages, by rule", box=None, pad_edge=False)
    counted = Counter((hit.leak.grade, hit.leak.rule) for hit in hits if not hit.allowed)
    for (grade, rule), number in sorted(counted.items(), key=lambda item: (-item[0][0], -item[1])):
        first = next(h for h in hits if (h.leak.grade, h.leak.rule) == (grade, rule))
        table.add_row(grade.name.lower(), rule, str(number), f"{first.path}:{first.line} {first.excerpt}"[:100])
    return table


def speed() -> Iterator[Table]:
    """Seconds for texts that are made to be slow."""
    table = Table("hostile text", "seconds for 1 MB", title="hostile texts", box=None, pad_edge=False)
    texts = {
        "key= over and over": "key=" * (HOSTILE // 4),
        "one line of base64": "QUJDREVG" * (HOSTILE // 8),
        "prefixes of tokens": "ghp_ sk_live_ xoxb- " * (HOSTILE // 20),
        "quotes and colons": "password:'\"" * (HOSTILE // 11),
        "digits": "4111 " * (HOSTILE // 5),
        "percent signs": "%41%" * (HOSTILE // 4),
        "begin of keys": "-----BEGIN PRIVATE KEY-----\n" * (HOSTILE // 28),
        "addresses": "a@b.co," * (HOSTILE // 7),
        "logins in URLs": "://a:" * (HOSTILE // 5),
        "dots of a JWT": "eyJ." * (HOSTILE // 4),
    }
    for name, text in texts.items():
        began = time.perf_counter()
        scan_pieces([Piece(text)])
        table.add_row(name, f"{time.perf_counter() - began:.2f}")
    yield table


def main() -> int:
    console = Console(highlight=False, width=130)
    rows = labelled.rows("held")
    for table in accuracy("labelled rows, held", rows, kinds="--kinds" in sys.argv):
        console.print(table, "")
    corpus = Path(os.environ.get("SENTINEL_CORPUS") or HERE.parent.parent / "shared" / "corpus") / "leaks.jsonl"
    if corpus.exists():
        for table in accuracy("the corpus", labelled.read(corpus, "text_b64"), kinds=False):
            console.print(table, "")
    for table in (*load(other_secret_scanners.packages()), *speed()):
        console.print(table, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
