"""Compares our bash parser with bash and shfmt (differential testing), on a corpus and on random scripts.

Run with ``python -m bench.analysis.parser_oracles [SCRIPTS]`` at the top of the repository. ``SENTINEL_CORPUS`` names
the folder of ``shell_snippets.jsonl``. shfmt's answers are kept, since each costs a process. Exit code 1
where a command was missed.
"""

from __future__ import annotations

import collections
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.analysis.bash_script_generator import SHFMT, Generator, bash_accepts, names, shfmt_commands
from sentinel_guard.core.analysis.parser.bash_parser import parse
from sentinel_guard.core.analysis.parser.syntax_tree import simple_commands

CORPUS = Path(os.environ.get("SENTINEL_CORPUS", "../shared/corpus"))
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "sentinel-guard-bench" / "shfmt.json"
SCRIPTS = 14_000
WORKERS = 2
SHARE = 0.998
"""Of what bash accepts, at least."""
HANG = 1.0
"""Seconds."""
EXPLAINED = {"!(": "without extglob bash reads `!(a)` in the place of a command as the negated subshell `! (a)`"}
"""What shfmt reads in another way, by how its word begins, and why it is no miss."""


def snippets() -> list[tuple[str, bool]]:
    """Texts with bash's word on each; none where the corpus is not there."""
    path = CORPUS / "shell_snippets.jsonl"
    if not path.exists():
        return []
    rows = map(json.loads, path.read_text().splitlines())
    return [(row["text"], row["bash_valid"]) for row in rows]


def parsed(texts: Sequence[str]) -> tuple[list[bool | None], list[float]]:
    """Whether each text is taken without an error, None for a crash, and the seconds that it took."""
    clean: list[bool | None] = []
    seconds = []
    for text in texts:
        began = time.perf_counter()
        try:
            clean.append(not parse(text).errors)
        except Exception:  # noqa: BLE001 - a crash is what is looked for
            clean.append(None)
        seconds.append(time.perf_counter() - began)
    return clean, seconds


def acceptance(rows: Sequence[tuple[str, bool]], table: Table) -> bool:
    """Shares of what bash accepts and refuses, crashes, hangs and times."""
    clean, seconds = parsed([text for text, _ in rows])
    crashes, hangs = clean.count(None), sum(s > HANG for s in seconds)
    valid, invalid = (
        [good for good, (_, v) in zip(clean, rows, strict=True) if v is wanted] for wanted in (True, False)
    )
    accepted = valid.count(True)
    share = accepted / len(valid)
    ordered = sorted(s * 1e6 for s in seconds)
    table.add_row("bash-valid snippets accepted", "≥ 99.8 %", f"{accepted:,} of {len(valid):,}, {share:.2%}")
    table.add_row("invalid snippets accepted", "", f"{invalid.count(True)} of {len(invalid)}")
    table.add_row("crashes, hangs", "0, 0", f"{crashes}, {hangs}")
    times = " / ".join(f"{ordered[int((len(ordered) - 1) * at)]:.0f}" for at in (0.5, 0.99, 1))
    table.add_row("time p50 / p99 / max", "", f"{times} µs")
    return share >= SHARE and not crashes and not hangs


def _key(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _remembered(texts: Sequence[str]) -> list[list[str] | None]:
    known = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    missing = [text for text in texts if _key(text) not in known]
    with ThreadPoolExecutor(WORKERS) as pool:
        known |= zip(map(_key, missing), pool.map(shfmt_commands, missing), strict=True)
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    CACHE.write_text(json.dumps(known))
    return [known[_key(text)] for text in texts]


def _plain(word: str) -> str:
    """A first word without what a backtick or a heredoc adds to or takes from it."""
    return word.replace("\\\n", "").replace("\\", "").replace("\0", "")


def beside_shfmt(rows: Sequence[tuple[str, bool]], table: Table, say: Callable[[str], None]) -> bool:
    """Commands that shfmt names and we do not, where we saw no error."""
    texts = [text for text, valid in rows if valid]
    compared = missed = explained = 0
    for text, theirs in zip(texts, _remembered(texts), strict=True):
        if theirs is None:
            continue
        compared += 1
        tree = parse(text)
        ours = collections.Counter(_plain(c.words[0].source) for c in simple_commands(tree) if c.words)
        missing = collections.Counter(map(_plain, theirs)) - ours
        if missing and not tree.errors:
            why = next((why for head, why in EXPLAINED.items() if all(w.startswith(head) for w in missing)), "")
            missed, explained = missed + (not why), explained + bool(why)
            say(f"  shfmt names {dict(missing)} in {text[:300]!r}{why and ': '}{why}")
    table.add_row(f"silent misses beside shfmt, {compared:,} snippets", "0", f"{missed} ({explained} explained above)")
    return not missed


def by_chance(count: int, table: Table, say: Callable[[str], None]) -> bool:
    """Scripts of the generator that bash accepts: missed without a word, and flagged."""
    texts = [Generator(seed).script() for seed in range(count)]
    valid = [text for text, good in zip(texts, bash_accepts(texts), strict=True) if good]
    missed, flagged, commands = 0, 0, 0
    for text in valid:
        tree = parse(text)
        first = {(c.words[0].literal or "").rpartition("/")[2] for c in simple_commands(tree) if c.words}
        missing = names(text) - first
        commands += len(names(text))
        flagged += bool(tree.errors)
        if missing and not tree.errors:
            missed += 1
            say(f"  missed {missing} in {text[:300]!r}")
    table.add_row(f"silent misses, {len(valid):,} scripts by chance, {commands:,} commands", "0", str(missed))
    table.add_row("of these accepted", "", f"{len(valid) - flagged:,}")
    return not missed


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SCRIPTS
    console = Console(width=130, highlight=False)
    table = Table("the parser and its oracles", "aim", "measured", box=None, pad_edge=False)
    rows = snippets()
    say = partial(console.print, markup=False)
    good = [by_chance(count, table, say)]
    if rows:
        good.append(acceptance(rows, table))
    else:
        console.print(f"No corpus: {CORPUS / 'shell_snippets.jsonl'} is not there (SENTINEL_CORPUS names its folder).")
    if rows and SHFMT.exists():
        good.append(beside_shfmt(rows, table, say))
    elif rows:
        console.print("No shfmt: install the extra 'dev' (shfmt-py).")
    console.print(table)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
