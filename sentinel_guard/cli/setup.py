"""Click commands that set the guard up and look at it: install, uninstall, doctor, demo, second-factor."""

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


_AGENT = click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    help="The hooks of this coding agent instead; all: each on PATH.",
)


@click.command()
@_TEMPLATE
@_AGENT
@click.option("--trust", is_flag=True, help="Let Codex record that you trust these hooks, without a question.")
@click.option("--user", "level", flag_value="user", help="For all of your projects.")
@click.option("--managed", "level", flag_value="managed", help="For the machine: no agent can change it. Needs root.")
@click.option("--project", "level", flag_value="project", default="project", help="For this repository (the default).")
def install(template: Path | None, agents: tuple[str, ...], level: str, *, trust: bool) -> Any:
    """Write sentinel.toml and put the git hooks in place.

    Hooks that are there already are kept, and run first; those of husky, lefthook, pre-commit and others are joined.

    With --agent: put our hook into the settings of coding agents, which are then guarded however they are started.
    """
    if agents:
        if template:
            raise click.UsageError("--agent and --template do not go together.")
        module = lazy_import.command_module("agent_hooks.install_agent_hooks")
        return module.install(working_folder(), agents, level or "project", trust=trust)
    return lazy_import.command_module("install").install(working_folder(), template)


@click.command()
@_TEMPLATE
@_AGENT
@click.option("--all", "everywhere", is_flag=True, help="In every repository where install was called.")
def uninstall(template: Path | None, agents: tuple[str, ...], everywhere: bool) -> Any:
    """Take out what install put in; every other byte is as before.

    A sentinel.toml that was edited or committed stays.
    """
    if agents:
        if template or everywhere:
            raise click.UsageError("--agent goes with neither --template nor --all.")
        return lazy_import.command_module("agent_hooks.install_agent_hooks").uninstall(working_folder(), agents)
    module = lazy_import.command_module("uninstall")
    if everywhere and template:
        raise click.UsageError("--all and --template do not go together.")
    return module.uninstall_all() if everywhere else module.uninstall(working_folder(), template)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--trial/--no-trial", default=True, help="Whether to let a session and a hook refuse something.")
def doctor(as_json: bool, trial: bool) -> Any:
    """Say what protects you here, what is missing, and what to do.

    It tries out what it says: a throw-away repository, in which a session and the git hooks of this repository have to
    refuse a change of a restricted file.
    """
    return lazy_import.command_module("doctor").doctor(places(), as_json=as_json, trial=trial)


@click.command()
@click.option("--keep", is_flag=True, help="Leave the throw-away folder for a look.")
def demo(keep: bool) -> Any:
    """Watch a scripted agent earn every level of the protocol.

    All of it happens in a throw-away repository.
    """
    return lazy_import.command_module("demo").demo(keep=keep)


@click.group("totp")
def second_factor() -> None:
    """Codes of your phone for a yes.

    Which actions need one says [gate] second_factor. Needs the extra: pip install 'sentinel-guard[totp]'
    """


@second_factor.command("setup")
def second_factor_setup() -> Any:
    """Show a secret for your authenticator, and keep it once it has given a code."""
    return lazy_import.command_module("second_factor").setup(places())


@second_factor.command("remove")
def second_factor_remove() -> Any:
    """Take the secret away; asks for a code of it."""
    return lazy_import.command_module("second_factor").remove(places())
