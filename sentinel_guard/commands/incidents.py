"""``sentinel-guard incidents``: read the incident reports of a repository (R9)."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.humans.terminal import visible

FOLDER = Path("docs", "incidents")


def list_reports(cwd: Path) -> int:
    """Print a line a report, the oldest first: its name, a tab, its heading."""
    reports = _reports(cwd)
    if not reports:
        print(f"There is no incident report in {_folder(cwd)}.", file=sys.stderr)
    for report in reports:
        print(f"{visible(report.stem)}\t{_heading(report)}")
    return 0


def show(cwd: Path, name: str) -> int:
    """Print the report whose name holds ``name``; the newest if it is empty. Raises ConfigError for none or several."""
    text = _text(_one(_reports(cwd), name, cwd))
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        print(text)
    return 0


def _one(reports: list[Path], name: str, cwd: Path) -> Path:
    if not reports:
        raise ConfigError(f"There is no incident report in {_folder(cwd)}.")
    if not name:
        return reports[-1]
    found = [r for r in reports if name.removesuffix(".md") == r.stem] or [r for r in reports if name in r.stem]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} incident reports have" if found else "No incident report has"
    raise ConfigError(f"{what} '{visible(name)}' in the name.", "See them with: sentinel-guard incidents")


def _reports(cwd: Path) -> list[Path]:
    # The names begin with the UTC time, so their order is the order of the incidents.
    return sorted(_folder(cwd).glob("INCIDENT-*.md"))


def _folder(cwd: Path) -> Path:
    top = next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
    return top / FOLDER


def _heading(report: Path) -> str:
    lines = _text(report).splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), "")


def _text(report: Path) -> str:
    """The report, safe to show: parts of it are an agent's words."""
    try:
        text = report.read_text(encoding="utf-8", errors="replace")
    except OSError as e:
        raise HostError(f"The incident report {report} cannot be read: {e.strerror}.") from e
    return "\n".join(visible(line.expandtabs()) for line in text.splitlines())
