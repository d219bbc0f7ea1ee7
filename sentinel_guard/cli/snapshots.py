"""Command-line options of ``snapshots``. Part of ``cli/main.py``, which runs it."""

from __future__ import annotations

from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.host.machine.state_paths import places


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def snapshots(ctx: click.Context, as_json: bool) -> Any:
    """List rescue snapshots, and bring files back.

    \b
    sentinel-guard snapshots                     list them, the newest first
    sentinel-guard snapshots diff 3f2a           what has changed since
    sentinel-guard snapshots restore 3f2a src    bring files or folders back
    """  # noqa: D301 - the backspace is meant: it keeps click from joining the lines
    if ctx.invoked_subcommand is not None:
        return 0
    return lazy_import.command_module("snapshots").show_all(places(), working_folder(), as_json=as_json)


@snapshots.command("list")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def snapshots_list(as_json: bool) -> Any:
    """List the snapshots, as without a subcommand."""
    return lazy_import.command_module("snapshots").show_all(places(), working_folder(), as_json=as_json)


@snapshots.command("show")
@click.argument("ident", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def snapshots_show(ident: str, as_json: bool) -> Any:
    """Show what a snapshot was taken for, and what it holds.

    ID is the first digits of its commit, as the list shows them, or its place in the list: 1 is the newest.
    """
    return lazy_import.command_module("snapshots").show(places(), working_folder(), ident, as_json=as_json)


@snapshots.command("diff")
@click.argument("ident", metavar="ID")
@click.argument("paths", nargs=-1, type=click.Path())
def snapshots_diff(ident: str, paths: tuple[str, ...]) -> Any:
    """Show what has changed in its files since: + is what is there now."""
    return lazy_import.command_module("snapshots").diff(places(), working_folder(), ident, paths)


@snapshots.command("restore")
@click.argument("ident", metavar="ID")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--all", "everything", is_flag=True, help="All files of the snapshot.")
@click.option("--branch", "name", default="", metavar="NAME", help="Make a deleted branch or tag again, no files.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def snapshots_restore(
    *, ident: str, paths: tuple[str, ...], everything: bool, name: str, dry_run: bool, yes: bool
) -> Any:
    """Bring files of a snapshot back.

    Files that came later stay. What is written over is kept in a snapshot first; HEAD and index are left alone.
    """
    module, cwd = lazy_import.command_module("snapshots"), working_folder()
    if name:
        if paths or everything:
            raise click.UsageError("--branch brings no files back: give PATH or --all in a command of its own.")
        return module.branch(places(), cwd, ident, name)
    asked = None if yes else _ask
    return module.restore(places(), cwd, ident, paths, everything=everything, dry_run=dry_run, confirm=asked)


@snapshots.command("drop")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="All snapshots of this repository.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def snapshots_drop(ids: tuple[str, ...], everything: bool, yes: bool) -> Any:
    """Forget snapshots.

    Old ones go by themselves: keep_days and keep_megabytes in the policy's [recovery].
    """
    return lazy_import.command_module("snapshots").forget(
        places(), working_folder(), ids, everything=everything, confirm=None if yes else _ask
    )


def _ask(question: str) -> bool:
    return click.confirm(question, err=True)
