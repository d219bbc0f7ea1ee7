"""``sentinel-guard incidents``: read a repository's incident reports, fill in the agent's part, sign off (R9)."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from sentinel_guard.audit.sqlite import SqliteReader
from sentinel_guard.client import Operator
from sentinel_guard.commands.incident_view import render
from sentinel_guard.commands.local_time import when
from sentinel_guard.core.incidents import root_cause_and_sign_off
from sentinel_guard.core.incidents.root_cause_and_sign_off import Review, Seal, State
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host import incident_files
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.humans.styled_text import Printer, Styled
from sentinel_guard.humans.terminal_prompts import visible
from sentinel_guard.humans.text_tables import Column, table

COLOURS = {State.OPEN: "yellow", State.FILLED: "cyan", State.SIGNED: "green"}
SEALS = {Seal.UNCHANGED: "green", Seal.CHANGED: "bold red", Seal.UNKNOWN: "yellow"}
MAX_TEXT = 1 << 20
"""Characters of a root cause that are read from a file or standard input."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A report in the list."""

    name: str
    state: str
    at: float
    """Seconds of the epoch."""
    level: str
    headline: str
    path: str

    @property
    def clock(self) -> str:
        at = when(self.at)
        return f"{at[:19]} {at[-6:]}"


def list_reports(places: StatePaths, cwd: Path, *, as_json: bool = False) -> int:
    """Print the reports, the oldest first: name, state, when, level, headline; a table in a terminal, else tabs."""
    found = _reports(places, cwd)
    rows = [_row(places, report) for report in found]
    if as_json:
        print(json.dumps({"incidents": [asdict(row) for row in rows]}))
    elif not rows:
        print(f"There is no incident report in {_top(cwd) / incident_files.FOLDER}.", file=sys.stderr)
    elif sys.stdout.isatty():
        printer = Printer()
        printer.lines(_table(rows, printer.width))
    else:
        for row in rows:
            cells = (row.name, row.state, row.clock, row.level, row.headline)
            print("\t".join(map(visible, cells)))
    return 0


def show(places: StatePaths, cwd: Path, name: str, *, as_json: bool = False) -> int:
    """Print the report whose name holds ``name``; the newest if it is empty. Exit code 1 where it was changed.

    Raises ConfigError for none or several, HostError where it cannot be read.
    """
    report = one(places, cwd, name)
    text = incident_files.read(report)
    sealed = root_cause_and_sign_off.seal_status(text, report.stem, _about(places))
    said = f"{report.stem}: {sealed}."
    if as_json:
        print(json.dumps({"incidents": [asdict(_row(places, report)) | {"seal": sealed.value, "text": _safe(text)}]}))
    elif sys.stdout.isatty():
        printer = Printer()
        printer.lines(render(_safe(text), printer.width))
        printer.put((said, SEALS[sealed]))
    else:
        print(_safe(text))
        print(said, file=sys.stderr)
    return 1 if sealed is Seal.CHANGED else 0


def fill(places: StatePaths, cwd: Path, name: str, given: Review) -> int:
    """Fill in the agent's part; the machine's part stays byte for byte.

    Raises ConfigError with what is missing, HostError, DaemonError where it cannot be put on record.
    """
    report = one(places, cwd, name) if name else _newest(places, cwd)
    text = incident_files.read(report)
    if root_cause_and_sign_off.seal_status(text, report.stem, _about(places)) is Seal.CHANGED:
        raise ConfigError(f"The machine's part of {report.stem} was {Seal.CHANGED}.", "Bring it back first.")
    if root_cause_and_sign_off.state(text, report.stem, _about(places)) is State.SIGNED:
        raise ConfigError(f"{report.stem} is signed off: nothing is filled in any more.")
    by = f"Filled in at {_now()}"
    with Operator(places) as operator:
        incident_files.write(report, root_cause_and_sign_off.fill_in(text, given, by))
        operator.request("filled", path=str(report))
    print(f"{report.stem} is filled in. A person reads it and runs: sentinel-guard incidents sign-off {report.stem}")
    return 0


def sign_off(places: StatePaths, cwd: Path, name: str, note: str) -> int:
    """Put the person's sign-off on record, and below the agent's part. Raises SentinelError from inside a session."""
    report = one(places, cwd, name) if name else _newest(places, cwd)
    with Operator(places) as operator:
        operator.request("sign-off", path=str(report), note=note)
    text = incident_files.read(report)
    incident_files.write(report, root_cause_and_sign_off.add_sign_off(text, _now(), note))
    unexplained = (
        ""
        if root_cause_and_sign_off.state(text, report.stem, ()) is State.FILLED
        else " Its root cause was not filled in."
    )
    print(f"{report.stem} is signed off.{unexplained}")
    return 0


def _newest(places: StatePaths, cwd: Path) -> Path:
    """The newest report that is not signed off; where all are, the newest. Raises ConfigError for none."""
    about, last = _about(places), one(places, cwd, "")
    unsigned = (
        report
        for report in reversed(_reports(places, cwd))
        if root_cause_and_sign_off.state(incident_files.read(report), report.stem, about) is not State.SIGNED
    )
    return next(unsigned, last)


def given(cause: str, actions: Sequence[str], file: Path | None) -> Review:
    """What is to be filled in, from options, standard input (``-``) or a file with the two headings.

    Raises ConfigError, HostError.
    """
    if file is not None:
        if cause or actions:
            raise ConfigError("--from FILE takes the place of --root-cause and --action.")
        return root_cause_and_sign_off.parse(_read(file))
    return Review(sys.stdin.read(MAX_TEXT) if cause == "-" else cause, tuple(actions))


def one(places: StatePaths, cwd: Path, name: str) -> Path:
    """The report whose name is or holds ``name``; the newest if it is empty. Raises ConfigError for none or several."""
    found = _reports(places, cwd)
    if not found:
        raise ConfigError(f"There is no incident report in {_top(cwd) / incident_files.FOLDER}.")
    if not name:
        return found[-1]
    name = name.rpartition("/")[2].removesuffix(".md")
    fits = [r for r in found if name == r.stem] or [r for r in found if name in r.stem]
    if len(fits) == 1:
        return fits[0]
    what = f"{len(fits)} incident reports have" if fits else "No incident report has"
    raise ConfigError(f"{what} '{visible(name)}' in the name.", "See them with: sentinel-guard incidents")


def _reports(places: StatePaths, cwd: Path) -> list[Path]:
    return incident_files.found(places, str(_top(cwd)))


def _top(cwd: Path) -> Path:
    top = next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
    return Path(os.path.realpath(top))


def _about(places: StatePaths, session: str = "") -> list[Entry]:
    """What the log has about reports; of one session where that is enough.

    Whose report it is, its text says: to find out whether that was changed, all of the log is asked.
    """
    if not places.database.exists():
        return []
    reader = SqliteReader(places.database)
    try:
        return [*reader.entries(session=session, kinds=("incident",))]
    finally:
        reader.close()


def _row(places: StatePaths, report: Path) -> Listed:
    try:
        text = incident_files.read(report)
    except HostError as e:
        return Listed(report.stem, "unreadable", incident_files.when(report), "", e.message, str(report))
    severity = re.search(r"(?m)^\| Severity \| (L\d)", text)
    session = incident_files.session(text)
    state = root_cause_and_sign_off.state(text, report.stem, _about(places, session) if session else [])
    level = severity[1] if severity else ""
    return Listed(report.stem, state.value, incident_files.when(report), level, _headline(text), str(report))


def _headline(text: str) -> str:
    """The last paragraph before the first table: what was decided, in one line."""
    lines = text.partition("\n|")[0].splitlines()
    return next((said for line in reversed(lines) if (said := line.removeprefix("# ").strip())), "")


def _table(rows: Sequence[Listed], width: int) -> Iterator[Styled]:
    about = [Column("incident"), Column(), Column("state"), Column("what", folds=True)]
    shown = list[list[str | Styled]]()
    for row in rows:
        state = (row.state, COLOURS.get(State(row.state), "") if row.state in {*State} else "red")
        shown.append([visible(row.name), row.level, Styled.of(state), visible(row.headline)])
    return table(about, shown, width)


def _safe(text: str) -> str:
    """The report, safe to show: parts of it are an agent's words."""
    return "\n".join(visible(line.expandtabs()) for line in text.splitlines())


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(MAX_TEXT)
    except OSError as e:
        raise HostError(f"{file} cannot be read: {e.strerror}.") from e


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
