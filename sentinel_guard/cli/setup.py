"""Click commands that set the guard up and look at it: install, uninstall, doctor, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.host.machine.state_paths import places

_TEMPLATE = click.option(
    "--template", type=click.Path(file_okay=False, path_type=Path), help="A template folder of git init instead."
)


@click.command()
@_TEMPLATE
def install(template: Path | None) -> Any:
    """Write sentinel.toml and put the git hooks in place.

    Hooks that are there already are kept, and run first; those of husky, lefthook, pre-commit and others are joined.
    """
    return lazy_import.command_module("install").install(working_folder(), template)


@click.command()
@_TEMPLATE
def uninstall(template: Path | None) -> Any:
    """Take out what install put in; every other byte is as before."""
    return lazy_import.command_module("install").uninstall(working_folder(), template)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def doctor(as_json: bool) -> Any:
    """Say what protects you here, what is missing, and what to do."""
    return lazy_import.command_module("doctor").doctor(places(), as_json=as_json)


@click.command()
@click.option("--keep", is_flag=True, help="Leave the throw-away folder for a look.")
def demo(keep: bool) -> Any:
    """Watch a scripted agent earn every level of the protocol.

    All of it happens in a throw-away repository.
    """
    return lazy_import.command_module("demo").demo(keep=keep)
