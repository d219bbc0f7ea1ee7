"""The ``sentinel-guard`` command line: parses arguments, runs a command, returns its exit code.

Everything else is in ``commands/``.

The one place that turns errors into words: exit 1 for what the user can mend, 3 for a fault of ours (with a log
file), 130 when interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from sentinel_guard import __version__
from sentinel_guard.cli import incidents, policy, secrets, snapshots
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine.state_paths import StatePaths, places

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
ANY_COMMAND = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(guarded_main())


def guarded_main() -> int:
    try:
        code = cli.main(prog_name="sentinel-guard", standalone_mode=False)
        if sys.stdout:  # None where it was closed before we began
            sys.stdout.flush()
        return int(code or 0)
    except click.exceptions.Abort:
        return 130
    except click.ClickException as e:
        e.show()
        return e.exit_code
    except SentinelError as e:
        click.echo(f"sentinel-guard: {e}", err=True)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _heard_enough()
    except SystemExit as e:
        # Click and rich end so for a broken pipe; nothing else of ours ends so.
        return _heard_enough() if e.code == 1 else int(e.code or 0)
    except Exception:  # noqa: BLE001 - no message of ours shows a traceback to a user
        return our_fault()


def _heard_enough() -> int:
    """The reader (head, less) has gone; Python would complain once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def our_fault() -> int:
    """Words about the exception that is being handled, which a log file tells whole. The exit code 3."""
    try:
        log = places().state / "crash.log"
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        log.write_text(traceback.format_exc())
        where = f"The details are in {log}."
    except (OSError, SentinelError):
        where = "The details could not be written anywhere."
    click.echo(f"sentinel-guard: this is a fault of ours. {where}", err=True)
    return 3


def _do(name: str) -> ModuleType:
    # Imported when called: --help answers in a moment.
    return importlib.import_module(f"sentinel_guard.commands.{name}")


def _places() -> StatePaths:
    return places()


@click.group(context_settings=CONTEXT)
@click.version_option(__version__, prog_name="sentinel-guard")
def cli() -> None:
    """Stands between a coding agent and your machine.

    \b
    sentinel-guard install           protect this repository (policy, git hooks)
    sentinel-guard run -- AGENT ...  let an agent work under guard
    sentinel-guard status            what the guarded sessions are doing
    """  # noqa: D301 - the backspace is meant: it keeps click from joining the lines


@cli.command(context_settings=ANY_COMMAND)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
def run(command: tuple[str, ...]) -> Any:
    """Run COMMAND (an agent) under guard in this repository.

    Its exit code is passed through.
    """
    return _do("run.run").run(_places(), command)


@cli.command("shell-init")
@click.option("--pid", type=int, default=0, help="The shell to guard; this command's parent if not given.")
@click.option("--shell", default="", help="bash, zsh, sh, dash or ksh; by default the one in SHELL.")
def shell_init(pid: int, shell: str) -> Any:
    """Print what guards a shell of your own.

    Use it so: eval "$(sentinel-guard shell-init)"
    """
    return _do("run.shell_init").shell_init(_places(), pid=pid, shell=shell)


_TEMPLATE = click.option(
    "--template", type=click.Path(file_okay=False, path_type=Path), help="A template folder of git init instead."
)


@cli.command()
@_TEMPLATE
def install(template: Path | None) -> Any:
    """Write sentinel.toml and put the git hooks in place.

    Hooks that are there already are kept, and run first; those of husky, lefthook, pre-commit and others are joined.
    """
    return _do("install").install(Path.cwd(), template)


@cli.command()
@_TEMPLATE
def uninstall(template: Path | None) -> Any:
    """Take out what install put in; every other byte is as before."""
    return _do("install").uninstall(Path.cwd(), template)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def status(as_json: bool) -> Any:
    """Show the guarded sessions and their health.

    State, seconds left, calls, loop count, error rate, tokens a minute.
    """
    return _do("status").status(_places(), as_json=as_json)


@cli.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--session", default="", help="Only this session.")
@click.option("--follow", "-f", is_flag=True, help="Go on as entries come.")
@click.option("--last", "-n", type=int, default=50, show_default=True, help="How many entries; 0 for all.")
@click.pass_context
def log(ctx: click.Context, as_json: bool, session: str, follow: bool, last: int) -> Any:
    """Read the audit log."""
    if ctx.invoked_subcommand is None:
        return _do("log").show(_places(), as_json=as_json, session=session, follow=follow, limit=last)
    return 0


@log.command("verify")
def log_verify() -> Any:
    """Check the hash chain.

    Says where it is cut, edited or truncated; exit code 1 then.
    """
    return _do("log").verify(_places())


@cli.command(context_settings=ANY_COMMAND)
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
    """Say what the guard would do with COMMAND. Nothing runs, nothing is recorded, no daemon is needed."""
    module, folder = _do("check"), cwd or Path.cwd()
    if jsonl:
        return module.lines(_places(), sys.stdin, sys.stdout)
    if tool and not command:
        text = sys.stdin.read() if given == "-" else given
        return module.check_tool(_places(), tool, text, folder, as_json=as_json, explained=explained)
    if tool or not command:
        raise click.UsageError("Give a command after --, or --tool NAME --input JSON, or --jsonl.")
    return module.check(_places(), command, folder, as_json=as_json, explained=explained)


cli.add_command(policy.policy)
cli.add_command(incidents.incidents)
cli.add_command(incidents.replay)
cli.add_command(snapshots.snapshots)
cli.add_command(secrets.secrets)


@cli.command()
@click.argument("session", required=False, default="")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--later-too", is_flag=True, help="Undo commits that were made after the session as well.")
def rollback(session: str, dry_run: bool, yes: bool, later_too: bool) -> Any:
    """Put the repository back to where SESSION started.

    The newest session if none is named.
    """
    confirm = None if yes else lambda question: click.confirm(question, err=True)
    options = {"dry_run": dry_run, "confirm": confirm, "later_too": later_too}
    return _do("rollback").rollback(_places(), Path.cwd(), session, **options)


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--for", "span", default="", metavar="TIME", help="How long: 30s, 10m (the default), 2h; 24h at most.")
@click.option("--end", is_flag=True, help="Close the windows of these paths.")
@click.option("--list", "listed", is_flag=True, help="Show the open windows of this repository.")
def allow(paths: tuple[str, ...], span: str, end: bool, listed: bool) -> Any:
    """Change restricted files yourself while an agent works here.

    \b
    sentinel-guard allow .env              10 minutes for .env
    sentinel-guard allow secrets --for 1h  a folder, and all that is or comes below it

    While the window is open, changes of these paths are not put back: what is there at its end is the new original.
    It is for changes that the watcher sees. What the agent's commands may do does not change.
    """  # noqa: D301 - the backspace is meant: it keeps click from joining the lines
    if listed == bool(paths) or (end and (span or listed)):
        raise click.UsageError("Give paths, with --for TIME or --end, or --list alone.")
    module = _do("allow_paths")
    if listed:
        return module.show(_places(), Path.cwd())
    return module.allow(_places(), Path.cwd(), paths, "0s" if end else span or "10m")


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def doctor(as_json: bool) -> Any:
    """Say what protects you here, what is missing, and what to do."""
    return _do("doctor").doctor(_places(), as_json=as_json)


@cli.command()
@click.option("--keep", is_flag=True, help="Leave the throw-away folder for a look.")
def demo(keep: bool) -> Any:
    """Watch a scripted agent earn every level of the protocol.

    All of it happens in a throw-away repository.
    """
    return _do("demo").demo(keep=keep)


@cli.group()
def daemon() -> None:
    """The guard daemon; it starts by itself."""


@daemon.command("start")
def daemon_start() -> Any:
    """Start it in the background."""
    return _do("daemon").start(_places())


@daemon.command("stop")
@click.option("--force", is_flag=True, help="Even while sessions are alive: all their commands are refused then.")
def daemon_stop(force: bool) -> Any:
    """Stop it."""
    return _do("daemon").stop(_places(), force=force)


@daemon.command("status")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def daemon_status(as_json: bool) -> Any:
    """Say whether it runs; exit code 1 if not."""
    return _do("daemon").status(_places(), as_json=as_json)


@daemon.command("run")
def daemon_run() -> Any:
    """Run it in the foreground."""
    return _do("daemon").run(_places())


@cli.command(context_settings=ANY_COMMAND)
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def hook(name: str, arguments: tuple[str, ...]) -> Any:
    """What the git hooks call; needs no daemon.

    NAME is a git hook (pre-commit, commit-msg, pre-push ...) or one for the pre-commit framework: restricted-paths,
    secrets, message, policy. docs/git-hooks.md tells of them all.
    """
    return _do("git_hook").hook(name, arguments, sys.stdin.buffer.read)


@cli.command("help-me")
@click.argument("context")
def help_me(context: str) -> Any:
    """For agents: pause and ask the human.

    Their words are printed when they type /resume.
    """
    return _do("request_human_help").help_me(_places(), context)


@cli.group()
def usage() -> None:
    """For agents: tell the guard how many tokens were used."""


@usage.command("report")
@click.option("--tokens", type=click.IntRange(min=0), default=0, help="All work tokens, if the parts are not known.")
@click.option("--input", "input_", type=click.IntRange(min=0), default=0, help="Uncached input tokens.")
@click.option("--output", type=click.IntRange(min=0), default=0, help="Output tokens.")
@click.option("--cache-read", type=click.IntRange(min=0), default=0, help="Tokens read from the cache (not counted).")
@click.option("--cache-write", type=click.IntRange(min=0), default=0, help="Tokens written to the cache.")
def usage_report(tokens: int, input_: int, output: int, cache_read: int, cache_write: int) -> Any:
    """Report the tokens of one response."""
    kinds = {"input": input_, "output": output, "cache_read": cache_read, "cache_write": cache_write}
    return _do("report_token_usage").report(_places(), tokens=tokens, **kinds)
