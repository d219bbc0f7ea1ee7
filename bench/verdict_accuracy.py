"""``make corpus``: measures how many dangerous commands are stopped and how many honest ones pass.

Nothing of them is ever run. For each list: how much of what is dangerous is stopped, how much of what is honest goes
on undisturbed, beside what peers reach; how long a verdict takes; and every disagreement with our reason
(``corpus_reasons.toml`` where we let pass what a list wants stopped, the finding's own words where we stop what it lets
pass).

Stopped: snapshot (what a snapshot can undo), ask, deny, break, kill. Undisturbed: allow, snapshot, hint.
The lists stay where they are: SENTINEL_CORPUS names their folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from rich.console import Console
from rich.table import Table

from sentinel_guard.commands.check import Checker
from sentinel_guard.core.analysis.programs.databases import sql_statements
from sentinel_guard.core.model import Response, Verdict
from sentinel_guard.core.response_text import visible
from sentinel_guard.core.text.normalize_output import digest
from sentinel_guard.core.text.redact_by_pattern import redact
from sentinel_guard.daemon.assembly import keep_what_is_loaded
from sentinel_guard.host.machine.state_paths import places

HERE = Path(__file__).parent
REASONS = HERE / "corpus_reasons.toml"
LISTS = ("dangerous", "benign", "peers")
UNEXPLAINED = "UNEXPLAINED"

PEERS = (
    ("cc-safety-net 2.4.5 standard", "60 %", "78"),
    ("cc-safety-net 2.4.5 strict", "66 %", "78"),
    ("cc-safety-net 2.4.5 paranoid", "67 %", "75"),
    ("nah 0.11.0", "89 %", "57"),
    ("hol-guard 3.57", "99.6 %", "33"),
    ("termaxa 0.17", "98 %", "10"),
    ("Continue terminal-security", "97 %", "16"),
    ("ai-runtime-guard 2.3.1", "56 %", "65"),
)
"""Peers with their default settings: of 238 dangerous commands stopped, of 80 honest ones undisturbed."""

FIXTURE = {
    ".env": "SECRET=1\n",
    "README.md": "# Fixture\n",
    "Makefile": "clean:\n\trm -f .env\n\nnuke:\n\trm -rf /\n",
    "package.json": '{"name": "fixture", "scripts": {"nuke": "rm -rf /", "wipe": "rm -f .env"}}\n',
    "wipe.sh": "rm -f .env\n",
    "nuke.sh": "rm -rf /\n",
    "evil.patch": "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-SECRET=1\n+SECRET=2\n",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One command of a list, and what we say to it."""

    list: str
    source: str
    command: str
    expected: str
    note: str
    verdict: Verdict
    seconds: float
    cpu: float
    """Seconds of this process's, the kernel's for it with them."""

    @property
    def stopped(self) -> bool:
        response = self.verdict.response
        return response is Response.SNAPSHOT or response >= Response.ASK

    @property
    def newly_blocked(self) -> bool:
        return self.verdict.response >= Response.COOL_DOWN

    @property
    def agrees(self) -> bool:
        return not self.newly_blocked if self.expected == "allow" else self.stopped


class Reason(NamedTuple):
    """Why we let pass what a list wants stopped. The first row that fits is the reason."""

    why: str
    command: re.Pattern[str]
    source: re.Pattern[str]
    note: re.Pattern[str]
    miss: bool
    """True: it is a gap of ours, known and not closed."""

    def fits(self, row: Row) -> bool:
        named = self.source.search(row.source) and self.note.search(row.note)
        return bool(named and self.command.search(row.command))


class Fixture:
    """The repository that the lists assume, below a home of its own; gone afterwards."""

    def __enter__(self) -> Self:
        self.before = dict(os.environ)
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
        state.mkdir(parents=True, exist_ok=True)
        # Not below a temporary folder or a cache: what lies there may be deleted.
        self.folder = Path(tempfile.mkdtemp(prefix="sentinel-corpus-", dir=state))
        self.repository = self.folder / "home" / "project"
        self.repository.mkdir(parents=True)
        for name, text in FIXTURE.items():
            (self.repository / name).write_text(text)
        home = str(self.folder / "home")
        kept = {k: v for k, v in os.environ.items() if k in {"PATH", "LANG", "USER", "TERM"}}
        os.environ.clear()
        os.environ.update(kept | {"HOME": home, "SENTINEL_HOME": f"{home}/.guard", "PWD": str(self.repository)})
        identity = ("-c", "user.name=Corpus", "-c", "user.email=corpus@example.com")
        for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "start")):
            subprocess.run(["git", *words], cwd=self.repository, check=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.environ.clear()
        os.environ.update(self.before)
        shutil.rmtree(self.folder, ignore_errors=True)


def judged(corpus: Path, repository: Path) -> Iterator[Row]:
    """Every command of the lists with its verdict."""
    checker, cwd = Checker(places()), str(repository)
    sql_statements.load()  # as a daemon does, soon after its start
    checker.verdict("psql -c 'SELECT 1'", cwd)  # what is read once (packs, policy) is no part of one
    for name in LISTS:
        for line in lines(corpus / f"{name}.jsonl"):
            command = str(line["command"])
            began, used = time.perf_counter(), time.process_time()
            verdict = checker.verdict(command, cwd)
            took, cpu = time.perf_counter() - began, time.process_time() - used
            note = f"{line.get('note') or ''} {line.get('category') or ''}".strip()
            yield Row(name, str(line.get("source", name)), command, str(line["expected"]), note, verdict, took, cpu)


def lines(path: Path) -> Iterator[dict[str, object]]:
    if path.exists():
        with path.open(encoding="utf-8") as file:
            yield from (json.loads(line) for line in file)


def reasons(path: Path = REASONS) -> tuple[Reason, ...]:
    """The rows of the file of reasons, in order."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["reason"]
    patterns = ("command", "source", "note")
    return tuple(
        Reason(r["why"], *(re.compile(r.get(key, ""), re.DOTALL) for key in patterns), r.get("miss", False))
        for r in rows
    )


def reason(row: Row, known: tuple[Reason, ...]) -> tuple[str, bool]:
    """Our reason for a disagreement, and whether it is a gap of ours."""
    if row.expected == "allow":
        decisive = row.verdict.decisive
        return (f"{decisive.rule or decisive.check}: {decisive.why}" if decisive else UNEXPLAINED), False
    return next(((r.why, r.miss) for r in known if r.fits(row)), (UNEXPLAINED, False))


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}".replace("%", " %") if whole else "-"


def table(rows: list[Row]) -> Table:
    """By list, source and expectation: how many agree, and which verdicts there were."""
    shown = [r for r in Response if any(row.verdict.response is r for row in rows)]
    result = Table("list", "expected", "commands", "", *(r.word for r in shown), box=None, pad_edge=False)
    for key in dict.fromkeys((row.list, row.source, row.expected) for row in rows):
        mine = [row for row in rows if (row.list, row.source, row.expected) == key]
        _add(result, key[1] if key[0] == "peers" else key[0], key[2], mine, shown)
    for expected in ("block", "ask", "allow"):
        mine = [row for row in rows if row.list == "peers" and row.expected == expected]
        if mine:
            _add(result, "[bold]peers, all[/]", expected, mine, shown)
    return result


def _add(result: Table, name: str, expected: str, rows: list[Row], shown: list[Response]) -> None:
    word = "undisturbed" if expected == "allow" else "stopped"
    said = Counter(row.verdict.response for row in rows)
    figure = f"{word} {share(sum(row.agrees for row in rows), len(rows))}"
    result.add_row(name, expected, str(len(rows)), figure, *(str(said[r] or "") for r in shown))


def beside(rows: list[Row]) -> Table:
    """Ours on the lists at hand, the peers' on the full ones."""
    result = Table("", "dangerous stopped", "honest undisturbed", box=None, pad_edge=False)
    dangerous = [row for row in rows if row.list == "dangerous"]
    honest = [row for row in rows if row.list == "benign"]
    stopped, undisturbed = sum(r.agrees for r in dangerous), sum(r.agrees for r in honest)
    result.add_row(
        "[bold]sentinel-guard[/]",
        f"{share(stopped, len(dangerous))} ({stopped} of {len(dangerous)})",
        f"{undisturbed} of {len(honest)}",
    )
    for name, harm, calm in PEERS:
        result.add_row(name, harm, f"{calm} of 80")
    return result


def disagreements(rows: list[Row], known: tuple[Reason, ...]) -> Iterator[str]:
    """Each with its reason, those of one reason together; what nothing explains first."""
    groups: dict[tuple[str, bool, bool], list[Row]] = {}
    for row in rows:
        if not row.agrees:
            why, miss = reason(row, known)
            groups.setdefault((why, miss, row.expected == "allow"), []).append(row)
    for (why, miss, stopped), mine in sorted(
        groups.items(), key=lambda g: (g[0][0] != UNEXPLAINED, g[0][2], -len(g[1]))
    ):
        said = "stopped, and a list lets it pass" if stopped else "passes, and a list wants it stopped"
        yield f"\n{len(mine)} {said}{' (a gap of ours)' if miss else ''}: {why}"
        yield from (f"    {row.source:<16} {_shown(row)}" for row in mine)


def _shown(row: Row) -> str:
    text = visible(redact(row.command.replace("\n", "⏎")))
    return text if len(text) <= 140 else text[:139] + "…"


MOST_CPU = 50.0
"""Milliseconds of CPU time that no verdict is to take."""


def milliseconds(rows: list[Row]) -> Iterator[str]:
    """p50, p99 and the longest verdict by the clock and of CPU time; each that takes more of it than any should."""
    for what, seconds in (("by the clock", [row.seconds for row in rows]), ("of CPU", [row.cpu for row in rows])):
        took = sorted(one * 1000 for one in seconds)
        p50, p99 = took[len(took) // 2], took[int(len(took) * 0.99)]
        yield f"verdict {what}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, longest {took[-1]:.1f} ms, {len(took):,} commands"
    over = [row for row in rows if row.cpu * 1000 > MOST_CPU]
    yield f"{len(over)} verdicts took more than {MOST_CPU:.0f} ms of CPU{':' if over else ''}"
    yield from (f"    {row.cpu * 1000:5.1f} ms  {_shown(row)}" for row in over)


def masks(corpus: Path) -> str:
    """Pairs of error outputs that are the same failure, or a different one: what the loop check's masks say."""
    pairs = [(line, digest(str(line["a"])) == digest(str(line["b"]))) for line in lines(corpus / "error_pairs.jsonl")]
    wrong = [
        f"{p['a']!r} and {p['b']!r} are {p['expected']}" for p, same in pairs if same is not (p["expected"] == "same")
    ]
    right = f"error_pairs (masks of the loop check): {len(pairs) - len(wrong)} of {len(pairs)} as asserted"
    return "\n    ".join((right, *wrong))


def main() -> int:
    corpus = Path(os.environ.get("SENTINEL_CORPUS") or HERE.parent.parent / "shared" / "corpus").absolute()
    if not any((corpus / f"{name}.jsonl").exists() for name in LISTS):
        print(f"There are no lists in {corpus}. SENTINEL_CORPUS names their folder; nothing was measured.")
        return 0
    console, known = Console(highlight=False, width=110 if not sys.stdout.isatty() else None), reasons()
    with Fixture() as fixture:
        rows = list(judged(corpus, fixture.repository))
    said = list(disagreements(rows, known))
    if "--brief" not in sys.argv:
        print("\n".join(said))
    print()
    console.print(table(rows))
    print()
    console.print(beside(rows))
    print("(peers: measured on the full lists of 238 and 80; ours: on the lists at hand)")
    against = [reason(row, known) for row in rows if not row.agrees]
    open_ = sum(why == UNEXPLAINED for why, _ in against)
    gaps = sum(miss for _, miss in against)
    print(
        f"\n{len(against)} disagreements: {gaps} gaps of ours, {open_} {UNEXPLAINED}, the others for the reasons given"
    )
    if unused := sorted({r.why for r in known} - {why for why, _ in against}):
        print(f"{len(unused)} reasons are needed no more: {'; '.join(unused)}")
    print("\n".join(milliseconds(rows)))
    print(masks(corpus))
    print("loops: make loops")
    return 0


if __name__ == "__main__":
    keep_what_is_loaded()  # as a daemon does, else the collector's time is in the longest verdicts
    sys.exit(main())
