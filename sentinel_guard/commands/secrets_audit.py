"""``sentinel-guard secrets audit``: a person looks at each row of the baseline that nobody has looked at.

Rules of this file:
1. Only from a terminal, and never from inside a guarded session: what is marked here lets a find pass there.
2. Each answer is written at once: who stops in the middle loses nothing.
3. The value stays masked; the file and the line are named, for who has to see it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from sentinel_guard.commands import outside, secrets
from sentinel_guard.commands.secrets import count
from sentinel_guard.commands.secrets_baseline import REFUSED
from sentinel_guard.core.leaks.base import Hit
from sentinel_guard.core.leaks.baseline import NAME, NONE, Baseline, Row, Said, stored
from sentinel_guard.core.leaks.excerpt import Page
from sentinel_guard.errors import ConfigError, SentinelError
from sentinel_guard.host import baselines, sources, staged
from sentinel_guard.host.places import Places
from sentinel_guard.humans.terminal import visible

AROUND = 2
"""Lines above and below."""
KEYS = {"y": Said.REAL, "a": Said.ACCEPTED, "n": Said.FALSE}
MENU = "y a real secret, it must go   a real, and may stay   n no secret   s skip   b back   q quit "
TOLD = {
    Said.REAL: "Stays refused. Make it void where it was given out, then take it out of the file.",
    Said.ACCEPTED: "Let be in this file.",
    Said.FALSE: "Let be, in every file.",
}
GOING = """\
For what must go:
  1. make it void where it was given out (its provider, the database), and take a new one;
  2. read the new one from the environment or a file that git ignores;
  3. where it was pushed: others may have it, so 1 is what counts; git filter-repo takes it out of the history.
  Then: sentinel-guard secrets baseline"""


def audit(places: Places, cwd: Path, key: Callable[[], str]) -> int:
    """Walk through the unreviewed rows. ``key`` waits for one key and returns it.

    Raises SentinelError where no person can be asked, ConfigError where there is no baseline, or a broken one.
    """
    root, baseline = _opened(cwd)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SentinelError("A person goes through the baseline, in a terminal.", "See it: sentinel-guard secrets audit --list")
    outside.only(places, root, REFUSED)
    rows = [r for r in baseline.rows if r.said is Said.UNREVIEWED]
    if not rows:
        print(f"All {count(len(baseline.rows), 'row')} of {NAME} are reviewed.")
        return 0
    seen = dict(_seen(places, root, baseline, rows))
    if gone := len(rows) - len(seen):
        print(f"{count(gone, 'row')} no longer found. To take them out: sentinel-guard secrets baseline\n")
    _walk(root, baseline, [r for r in rows if r in seen], seen, key)
    return 0


def show(cwd: Path, *, as_json: bool = False) -> int:
    """Print every row with its verdict. Raises ConfigError where there is no baseline, or a broken one."""
    _, baseline = _opened(cwd)
    if as_json:
        print(json.dumps([dict(row.table()) for row in baseline.rows]))
        return 0
    for row in baseline.rows:
        print(f"{row.said.value:<10}  {visible(row.path)}:{row.line}  {row.rule}")
    number = {said: sum(r.said is said for r in baseline.rows) for said in Said}
    print(", ".join(f"{n:,} {said.value}" for said, n in number.items() if n) or "No row.")
    return 0


def _opened(cwd: Path) -> tuple[Path, Baseline]:
    root = staged.top(cwd)
    baseline = baselines.load(root)
    if baseline is NONE:
        raise ConfigError(f"There is no {NAME} in {root}.", "Write one: sentinel-guard secrets baseline")
    return root, baseline


def _seen(places: Places, root: Path, baseline: Baseline, rows: Iterable[Row]) -> Iterator[tuple[Row, list[str]]]:
    """Each row whose find is still there, and the lines that show it."""
    search, wanted = secrets.begin(places, root, NONE), set(rows)
    paths = {row.path for row in wanted}
    for name in sources.tracked(root):
        piece = sources.read(root / name, name).piece if stored(name) in paths else None
        if piece is None:
            continue
        hits = [h for h in search.look([piece]) if not h.allowed]
        page = Page(piece.text, [h.leak for h in hits])
        for hit in hits:
            row = baseline.row(hit)
            if row in wanted and row.path == stored(name):
                wanted.discard(row)
                yield row, _shown(page, hit)


def _shown(page: Page, hit: Hit) -> list[str]:
    lines = []
    for number in range(hit.line - AROUND, hit.line + AROUND + 1):
        text = hit.excerpt if number == hit.line else page.line(number)
        mark = ">" if number == hit.line else " "
        if text or mark == ">":
            lines.append(f"  {mark} {number:>5}  {text}")
    return [f"{hit.leak.what} ({hit.leak.rule})", *lines]


def _walk(root: Path, baseline: Baseline, rows: list[Row], seen: dict[Row, list[str]], key: Callable[[], str]) -> None:
    """Ask about each row, back and forth; ``baseline`` is written at each answer."""
    at, said = 0, dict.fromkeys(rows, Said.UNREVIEWED)
    while at < len(rows):
        row = rows[at]
        print(f"[{at + 1} of {len(rows)}]  {visible(row.path)}:{row.line}")
        print("\n".join(seen[row]))
        pressed = _pressed(key)
        if pressed == "q":
            break
        if pressed == "b":
            at = max(at - 1, 0)
        else:
            if pressed in KEYS:
                said[row] = KEYS[pressed]
                baselines.save(root, baseline.marked(said))
                print(f"  {TOLD[said[row]]}")
            at += 1
        print()
    _end(said)


def _pressed(key: Callable[[], str]) -> str:
    """One of the menu's keys."""
    print(MENU, end="", flush=True)
    while (pressed := key().lower()) not in {*KEYS, "s", "b", "q"}:
        if pressed in {"\x03", "\x04", "\x1b"}:
            pressed = "q"
            break
    print(pressed)
    return pressed


def _end(said: dict[Row, Said]) -> None:
    left = sum(s is Said.UNREVIEWED for s in said.values())
    print(f"{count(len(said) - left, 'row')} marked, {left:,} left. Commit {NAME}.")
    if Said.REAL in said.values():
        print(GOING)
