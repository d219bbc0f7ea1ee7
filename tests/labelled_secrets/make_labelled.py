"""Makes the labelled set, ``tune.jsonl`` and ``held.jsonl``, from ``texts/`` (README.md says what is in it).

``python -m tests.labelled_secrets.make_labelled`` writes both; the same seed gives the same bytes. A row is one JSON
object: ``text`` (base64 of UTF-8), ``label`` (secret, pii, clean), ``kind``, ``path``, ``why``,
and a word to ``scanners``.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.labelled_secrets.random_values import fill

HERE = Path(__file__).parent
TEXTS = HERE / "texts"
SEEDS = {"tune": 20261122, "held": 47110815}
TIMES = 4
"""Contexts that each kind of token is written in."""
OFTEN = {"pii": 2, "clean": 2}
"""What the number in a head is multiplied by."""
SCANNERS = "sentinel: allow, gitleaks:allow"
"""In every row: what looks for secrets in this repository is not to stop at them."""
_ADDRESS_SAFE = re.compile(r"[\w.~-]+", re.ASCII)


class Kind(NamedTuple):
    """A kind of token: see ``texts/kinds.txt``."""

    name: str
    halves: str
    shape: str
    words: list[str]
    form: str


class Section(NamedTuple):
    """A text of ``texts/``: the words of its head, and what stands below."""

    head: list[str]
    text: str


def rows(half: str) -> Iterator[dict[str, str]]:
    """The rows of a half, in the order of the files."""
    rng, seen = Random(SEEDS[half]), set[str]()
    for row in (*_tokens(rng, half), *_texts(rng, half)):
        if row["text"] not in seen:
            seen.add(row["text"])
            yield row | {"text": base64.b64encode(row["text"].encode()).decode(), "scanners": SCANNERS}


def _tokens(rng: Random, half: str) -> Iterator[dict[str, str]]:
    contexts = sections(f"contexts.{half}.txt")
    for kind in kinds():
        if half[0] not in kind.halves:
            continue
        made = fill(rng, kind.form)
        fitting = [c for c in contexts if _fits(kind, c.head[1], made)]
        for context in rng.sample(fitting, TIMES):
            text = fill(rng, context.text, names(kind.words) | {"v": fill(rng, kind.form)})
            yield _row(text, "secret", kind.name, context.head[0], f"{kind.name} in {context.head[0]}")


def _fits(kind: Kind, needs: str, value: str) -> bool:
    if needs == "own":
        return kind.shape == "own"
    return needs == "named" or bool(_ADDRESS_SAFE.fullmatch(value))


def _texts(rng: Random, half: str) -> Iterator[dict[str, str]]:
    for file, label in (("secrets", "secret"), ("pii", "pii"), ("clean", "clean")):
        for section in sections(f"{file}.{half}.txt"):
            kind, path, times, why = section.head
            for _ in range(int(times) * OFTEN.get(label, 1)):
                yield _row(fill(rng, section.text), label, kind, path, why)


def _row(text: str, label: str, kind: str, path: str, why: str) -> dict[str, str]:
    return {"text": text, "label": label, "kind": kind, "path": path, "why": why}


def names(words: list[str]) -> dict[str, str]:
    """The words of a name in every way of writing that the contexts use."""
    titled = [word.title() for word in words]
    return {
        "NAME": "_".join(words).upper(),
        "snake": "_".join(words),
        "kebab": "-".join(words),
        "dotted": ".".join(words),
        "pascal": "".join(titled),
        "camel": words[0] + "".join(titled[1:]),
    }


def kinds() -> list[Kind]:
    lines = (TEXTS / "kinds.txt").read_text().splitlines()
    cells = ([cell.strip() for cell in line.split(" | ")] for line in lines if not line.startswith("#"))
    return [Kind(name, halves, shape, words.split(), form) for name, halves, shape, words, form in cells]


def sections(file: str) -> list[Section]:
    """``=== head | of | cells`` and the lines below, up to the next head."""
    found = re.split(r"^=== (.*)\n", (TEXTS / file).read_text(), flags=re.MULTILINE)[1:]
    return [Section(head.split(" | "), text) for head, text in zip(found[::2], found[1::2], strict=True)]


def main() -> None:
    for half in SEEDS:
        made = list(rows(half))
        (HERE / f"{half}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
        print(f"{half}: {len(made)} rows")


if __name__ == "__main__":
    main()
