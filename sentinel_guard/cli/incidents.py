"""Command-line options of ``incidents`` and ``replay``. ``cli/main.py`` runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.host.machine.state_paths import places


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def incidents(ctx: click.Context, as_json: bool) -> Any:
    """List the incident reports of this repository.

    Each is open, filled (the agent has explained it) or signed off (by a person).
    """
    return (
        lazy_import.command_module("incidents").list_reports(places(), working_folder(), as_json=as_json)
        if ctx.invoked_subcommand is None
        else 0
    )


@incidents.command("list")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def incidents_list(as_json: bool) -> Any:
    """List the reports, as without a subcommand."""
    return lazy_import.command_module("incidents").list_reports(places(), working_folder(), as_json=as_json)


@incidents.command("show")
@click.argument("name", required=False, default="")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def incidents_show(name: str, as_json: bool) -> Any:
    """Show one report; the newest if none is named.

    Says whether the machine's part is as it was written; exit code 1 if it was changed.
    """
    return lazy_import.command_module("incidents").show(places(), working_folder(), name, as_json=as_json)


@incidents.command("fill")
@click.argument("name", required=False, default="")
@click.option(
    "--root-cause", "cause", default="", metavar="TEXT", help="Names steps: 'Step 12 ...'; - for standard input."
)
@click.option(
    "--action", "actions", multiple=True, metavar="TEXT", help="What will be done differently; often, if need be."
)
@click.option(
    "--from", "file", type=click.Path(path_type=Path), help="A file with both: ## Root cause, ## Action items."
)
def incidents_fill(name: str, cause: str, actions: tuple[str, ...], file: Path | None) -> Any:
    """For agents: say what led to an incident.

    The newest that is not signed off, if none is named.
    The root cause cites steps of the timeline by their numbers.
    """
    module = lazy_import.command_module("incidents")
    return module.fill(places(), working_folder(), name, module.given(cause, actions, file))


@incidents.command("sign-off")
@click.argument("name", required=False, default="")
@click.option("--note", default="", help="Goes below the agent's part, and on record.")
def incidents_sign_off(name: str, note: str) -> Any:
    """For people: the incident is dealt with.

    The newest that is not signed off, if none is named.
    Refused from inside a guarded session.
    """
    return lazy_import.command_module("incidents").sign_off(places(), working_folder(), name, note)


@click.command()
@click.argument("incident", required=False, default="")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def replay(incident: str, as_json: bool) -> Any:
    """Judge an incident's steps by the policy of today.

    The newest if none is named. Nothing runs. Exit code 0 if it would be stopped at or before the same step, 1 if not.
    """
    return lazy_import.command_module("replay").replay(places(), working_folder(), incident, as_json=as_json)
