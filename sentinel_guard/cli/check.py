"""Click command ``check``: what the guard would say to a command or a tool call."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.cli.lazy_import import ANY_COMMAND
from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.host.machine.state_paths import places


@click.command(context_settings=ANY_COMMAND)
@click.option("--explain", "explained", is_flag=True, help="Show each command in it, what it does, the rule it meets.")
@click.option("--tool", default="", help="Judge an agent's tool call: Write, Edit, WebFetch, mcp__files__delete ...")
@click.option("--input", "given", default="{}", help="The tool's input as a JSON object; - for standard input.")
@click.option("--json", "as_json", is_flag=True, help="The verdict as one JSON object; with --explain its effects too.")
@click.option("--jsonl", is_flag=True, help='Judge one {"command": ..., "cwd": ...} a line of input.')
@click.option("--cwd", type=click.Path(file_okay=False, path_type=Path), default=None, help="Where it would run.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def check(
    *, explained: bool, tool: str, given: str, as_json: bool, jsonl: bool, cwd: Path | None, command: tuple[str, ...]
) -> Any:
    """Say what the guard would do with COMMAND. Nothing runs, nothing is recorded, no daemon is needed.

    Exit code 0: it would run, at most with a hint or a snapshot; 3: a person would be asked; 126: it would be refused;
    137: it would end the session. With --jsonl 0, or 1 where a line could not be read.
    """
    module, folder = lazy_import.command_module("check"), cwd or working_folder()
    if jsonl:
        return module.lines(places(), sys.stdin, sys.stdout)
    if tool and not command:
        text = sys.stdin.read() if given == "-" else given
        return module.check_tool(places(), tool, text, folder, as_json=as_json, explained=explained)
    if tool or not command:
        raise click.UsageError("Give a command after --, or --tool NAME --input JSON, or --jsonl.")
    return module.check(places(), command, folder, as_json=as_json, explained=explained)
