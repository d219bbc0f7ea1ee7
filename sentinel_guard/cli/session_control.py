"""Click commands of a person in another terminal: pause, resume, kill, revoke, questions, approve, deny."""

from __future__ import annotations

from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.host.machine.state_paths import places

_SESSION = click.argument("session", required=False, default="")
_OF = click.option("--session", default="", help="Of this session, where two have a question of that id.")


@click.command()
@_SESSION
def pause(session: str) -> Any:
    """Let what an agent starts wait, until you resume.

    SESSION: its name, or the last part of it; by default the one of this folder.
    What runs already goes on until it starts something itself.
    """
    return lazy_import.command_module("session_control").pause(places(), working_folder(), session)


@click.command()
@_SESSION
def resume(session: str) -> Any:
    """End a pause, a breaker's too, or an agent's wait for you."""
    return lazy_import.command_module("session_control").resume(places(), working_folder(), session)


@click.command()
@_SESSION
@click.option("--rollback", is_flag=True, help="Put the repository back to where the session started.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def kill(session: str, rollback: bool, yes: bool) -> Any:
    """End a session and every process of it.

    Its files stay as they are, unless --rollback is given.
    """
    confirm = None if yes else lambda question: click.confirm(question, err=True)
    module = lazy_import.command_module("session_control")
    return module.kill(places(), working_folder(), session, rollback=rollback, confirm=confirm)


@click.command()
@click.argument("grant", required=False, default="")
@click.option("--session", default="", help="Of this session; by default the one of this folder.")
def revoke(grant: str, session: str) -> Any:
    """End a yes that holds for a while.

    GRANT: its name, as `status` and the gate show it; by default all of the session.
    """
    return lazy_import.command_module("session_control").revoke(places(), working_folder(), grant, session)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def questions(as_json: bool) -> Any:
    """Show what the guard asks just now, in all sessions."""
    return lazy_import.command_module("open_questions").show(places(), as_json=as_json)


@click.command()
@click.argument("question", required=False, default="")
@_OF
def approve(question: str, session: str) -> Any:
    """Answer an open question at this terminal.

    It is shown as the gate shows it, and only a Y is a yes.
    """
    return lazy_import.command_module("open_questions").approve(places(), question, session)


@click.command()
@click.argument("question", required=False, default="")
@click.option("--reason", default="", help="What the agent is told besides.")
@_OF
def deny(question: str, reason: str, session: str) -> Any:
    """Answer an open question with a no."""
    return lazy_import.command_module("open_questions").deny(places(), question, session, reason)
