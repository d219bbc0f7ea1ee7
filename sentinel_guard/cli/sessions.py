"""Click commands of a guarded session: run, shell-init, status, log, rollback, allow."""

from __future__ import annotations

import time
from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.cli.lazy_import import ANY_COMMAND
from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine.state_paths import places


@click.command(context_settings=ANY_COMMAND)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
def run(command: tuple[str, ...]) -> Any:
    """Run COMMAND (an agent) under guard in this repository.

    Its exit code is passed through.
    """
    return lazy_import.command_module("run.run").run(places(), command)


@click.command("shell-init")
@click.option("--pid", type=int, default=0, help="The shell to guard; this command's parent if not given.")
@click.option("--shell", default="", help="bash, zsh, sh, dash or ksh; by default the one in SHELL.")
def shell_init(pid: int, shell: str) -> Any:
    """Print what guards a shell of your own.

    Use it so: eval "$(sentinel-guard shell-init)"
    """
    return lazy_import.command_module("run.shell_init").shell_init(places(), pid=pid, shell=shell)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--watch", is_flag=True, help="Go on showing them, until Ctrl-C.")
def status(as_json: bool, watch: bool) -> Any:
    """Show the guarded sessions and their health.

    State, seconds left, calls, loop count, error rate, tokens a minute.
    """
    module = lazy_import.command_module("status")
    return module.watch(places()) if watch and not as_json else module.status(places(), as_json=as_json)


@click.command()
def console() -> Any:
    """Sessions, questions and the log on one screen.

    For a terminal beside the agent's. Needs the extra: pip install 'sentinel-guard[console]'
    """
    try:
        module = lazy_import.command_module("console.console")
    except ModuleNotFoundError as e:
        if not (e.name or "").startswith("textual"):
            raise
        raise SentinelError("The console needs textual.", "pip install 'sentinel-guard[console]'") from e
    return module.console(places())


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object; with --follow one a line.")
@click.option("--session", default="", help="Only this session; the last part of its name is enough.")
@click.option("--blocked", is_flag=True, help="Only what was refused, put back or ended (L2 to L4).")
@click.option("--asked", is_flag=True, help="Only what you were asked, and what you said.")
@click.option("--suspect", is_flag=True, help="Only stops that were probably false, and why they look so.")
@click.option("--rule", default="", metavar="PATTERN", help="Only what met such a rule: 'git.*'.")
@click.option("--since", default="", metavar="TIME", help="30m, 2h, 1d, or 2026-11-25T14:00.")
@click.option("--follow", "-f", is_flag=True, help="Go on as entries come.")
@click.option("--last", "-n", type=int, default=50, show_default=True, help="How many entries; 0 for all.")
@click.option("--verbose", "-v", "details", is_flag=True, help="All fields of each entry.")
@click.pass_context
def log(ctx: click.Context, /, *, blocked: bool, asked: bool, rule: str, since: str, last: int, **shown: Any) -> Any:
    """Read the audit log."""
    if ctx.invoked_subcommand is None:
        if shown["suspect"] and shown["follow"]:
            raise click.UsageError("--suspect looks back: it does not go together with --follow.")
        filters, module = lazy_import.command_module("log.log_filter"), lazy_import.command_module("log.log")
        wanted = filters.LogFilter(blocked, asked, rule, filters.since(since, time.time()))
        return module.show(places(), module.Shown(limit=last, wanted=wanted, **shown))
    return 0


@log.command("verify")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def log_verify(as_json: bool) -> Any:
    """Check the hash chain.

    Says where it is cut, edited or truncated; exit code 1 then.
    """
    return lazy_import.command_module("log.log").verify(places(), as_json=as_json)


@log.command("archive")
def log_archive() -> Any:
    """Put the log away and begin a new one.

    For a log that no longer verifies, when you know why. Nothing is deleted, and the new log says where it is. The
    daemon must not run.
    """
    return lazy_import.command_module("log.log").archive(places())


@click.command()
@click.argument("session", required=False, default="")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--later-too", is_flag=True, help="Undo commits that were made after the session as well.")
@click.option("--json", "as_json", is_flag=True, help="With --dry-run: for programs.")
def rollback(session: str, *, dry_run: bool, yes: bool, later_too: bool, as_json: bool) -> Any:
    """Put the repository back to where SESSION started.

    The newest session if none is named.
    """
    if as_json and not dry_run:
        raise click.UsageError("--json goes with --dry-run.")
    confirm = None if yes else lambda question: click.confirm(question, err=True)
    options = {"dry_run": dry_run, "confirm": confirm, "later_too": later_too, "as_json": as_json}
    return lazy_import.command_module("rollback").rollback(places(), working_folder(), session, **options)


@click.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--for", "span", default="", metavar="TIME", help="How long: 30s, 10m (the default), 2h; 24h at most.")
@click.option("--end", is_flag=True, help="Close the windows of these paths.")
@click.option("--list", "listed", is_flag=True, help="Show the open windows of this repository.")
@click.option("--json", "as_json", is_flag=True, help="With --list: for programs.")
def allow(paths: tuple[str, ...], *, span: str, end: bool, listed: bool, as_json: bool) -> Any:
    """Change restricted files yourself while an agent works here.

    \b
    sentinel-guard allow .env              10 minutes for .env
    sentinel-guard allow secrets --for 1h  a folder, and all that is or comes below it

    While the window is open, changes of these paths are not put back: what is there at its end is the new original.
    It is for changes that the watcher sees. What the agent's commands may do does not change.
    """  # noqa: D301 - the backspace is meant: it keeps click from joining the lines
    if listed == bool(paths) or (end and (span or listed)) or (as_json and not listed):
        raise click.UsageError("Give paths, with --for TIME or --end, or --list alone (with --json, for programs).")
    module = lazy_import.command_module("allow_paths")
    if listed:
        return module.show(places(), working_folder(), as_json=as_json)
    return module.allow(places(), working_folder(), paths, "0s" if end else span or "10m")
