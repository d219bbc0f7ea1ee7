"""Click commands that agents and git hooks call: hook, help-me, usage, mcp."""

from __future__ import annotations

import io
import sys
from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.cli.lazy_import import ANY_COMMAND
from sentinel_guard.host.session_environ import places_of_session


@click.command(context_settings=ANY_COMMAND)
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def hook(name: str, arguments: tuple[str, ...]) -> Any:
    """What the git hooks call; needs no daemon.

    NAME is a git hook (pre-commit, commit-msg, pre-push ...) or one for the pre-commit framework: restricted-paths,
    secrets, message, policy. docs/git-hooks.md tells of them all.
    """
    return lazy_import.command_module("git_hook").hook(name, arguments, sys.stdin.buffer.read)


@click.command("help-me")
@click.argument("context")
def help_me(context: str) -> Any:
    """For agents: pause and ask the human.

    Their words are printed when they type /resume.
    """
    return lazy_import.command_module("for_agents.request_human_help").help_me(places_of_session(), context)


@click.command("mcp")
def mcp_server() -> Any:
    """Serve tools for a model (MCP, on standard input and output).

    request_human_help, report_token_usage, guard_status, explain_block.
    """
    read = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    return lazy_import.command_module("for_agents.mcp_server").serve(read, sys.stdout)


@click.group(invoke_without_command=True)
@click.option("--session", default="", help="Only this session, with a chart; the last part of its name is enough.")
@click.option("--last", "-n", type=int, default=20, show_default=True, help="How many sessions; 0 for all.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def usage(ctx: click.Context, session: str, last: int, as_json: bool) -> Any:
    """Show the tokens of sessions, by session and model.

    What the coding agents record themselves, else what was reported. What nobody told is unknown, and not 0.
    """
    if ctx.invoked_subcommand is None:
        module = lazy_import.command_module("token_usage")
        return module.usage(places_of_session(), session, as_json=as_json, last=last)
    return None


@usage.command("report")
@click.option("--tokens", type=click.IntRange(min=0), default=0, help="All work tokens, if the parts are not known.")
@click.option("--input", "input_", type=click.IntRange(min=0), default=0, help="Uncached input tokens.")
@click.option("--output", type=click.IntRange(min=0), default=0, help="Output tokens.")
@click.option("--cache-read", type=click.IntRange(min=0), default=0, help="Tokens read from the cache (not counted).")
@click.option("--cache-write", type=click.IntRange(min=0), default=0, help="Tokens written to the cache.")
def usage_report(tokens: int, input_: int, output: int, cache_read: int, cache_write: int) -> Any:
    """For agents: tell the guard how many tokens a response took."""
    kinds = {"input": input_, "output": output, "cache_read": cache_read, "cache_write": cache_write}
    return lazy_import.command_module("for_agents.report_token_usage").report(
        places_of_session(), tokens=tokens, **kinds
    )
