"""Command-line options of ``secrets``. Part of ``cli/main.py``, which runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.host.machine.state_paths import places


@click.group()
def secrets() -> None:
    """Find secrets and personal data that must not leave.

    \b
    sentinel-guard secrets scan        look into all files of this work tree
    sentinel-guard secrets baseline    what is there already is not asked about again
    sentinel-guard secrets audit       say of each of these finds what it is
    """  # noqa: D301 - the backspace is meant: it keeps click from joining the lines


@secrets.command("scan")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--staged", is_flag=True, help="The lines that the next commit adds.")
@click.option("--history", is_flag=True, help="The lines that every commit of every branch added.")
@click.option("--warnings", is_flag=True, help="Show what refuses nothing, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def secrets_scan(*, paths: tuple[Path, ...], staged: bool, history: bool, warnings: bool, as_json: bool) -> Any:
    """Look into PATHs, or into every file of the work tree that git tracks or would track.

    Values are masked. Exit code 1 if there is something for which a commit would be refused, 0 if not, 2 for a wrong
    use. No daemon is needed, and nothing leaves the machine.
    """
    if bool(paths) + staged + history > 1:
        raise click.UsageError("Give paths, or --staged, or --history.")
    module = lazy_import.command_module("secrets.scan")
    return module.scan(places(), working_folder(), module.Asked(paths, staged, history, warnings, as_json))


@secrets.command("baseline")
@click.option("--history", is_flag=True, help="And what stands only in commits that no remote has yet.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def secrets_baseline(history: bool, yes: bool) -> Any:
    """Take in what is there today, so that it is not asked about again.

    Writes .sentinel-secrets.toml at the top of the repository: path, rule, line and a salted, slow hash of each find,
    never a value. Run again, it drops what is gone and keeps what people said. With --history a push is let through
    whose older commits hold a find that the files no longer have. Inside guarded sessions a find is let be only where
    a person has marked it: sentinel-guard secrets audit.
    """
    return lazy_import.command_module("secrets.baseline").baseline(
        places(), working_folder(), None if yes else _ask, history=history
    )


@secrets.command("audit")
@click.option("--list", "listed", is_flag=True, help="Print the rows and their verdicts, ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="With --list: for programs.")
def secrets_audit(listed: bool, as_json: bool) -> Any:
    """For people: look at each find of the baseline, and say what it is."""
    module = lazy_import.command_module("secrets.audit")
    if as_json and not listed:
        raise click.UsageError("--json goes with --list.")
    if listed:
        return module.show(working_folder(), as_json=as_json)
    seen = sys.stdin.isatty() and sys.stdout.isatty()
    return module.audit(places(), working_folder(), click.getchar if seen else None)


def _ask(question: str) -> bool:
    return click.confirm(question, err=True)
