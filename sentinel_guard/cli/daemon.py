"""Click commands of the daemon: start, stop, status, run."""

from __future__ import annotations

from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.host.machine.state_paths import places


@click.group()
def daemon() -> None:
    """The guard daemon; it starts by itself."""


@daemon.command("start")
def daemon_start() -> Any:
    """Start it in the background."""
    return lazy_import.command_module("daemon").start(places())


@daemon.command("stop")
@click.option("--force", is_flag=True, help="Even while sessions are alive: all their commands are refused then.")
def daemon_stop(force: bool) -> Any:
    """Stop it."""
    return lazy_import.command_module("daemon").stop(places(), force=force)


@daemon.command("status")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def daemon_status(as_json: bool) -> Any:
    """Say whether it runs; exit code 1 if not."""
    return lazy_import.command_module("daemon").status(places(), as_json=as_json)


@daemon.command("run")
def daemon_run() -> Any:
    """Run it in the foreground."""
    return lazy_import.command_module("daemon").run(places())
