"""Command-line options of ``policy``. Part of ``cli/main.py``, which runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sentinel_guard.cli import lazy_import
from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.host.machine.state_paths import places

_RESPONSES = ("deny", "ask", "hint", "snapshot", "kill")


@click.group()
def policy() -> None:
    """Show, prove and extend the policy."""


@policy.command("show")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def policy_show(as_json: bool) -> Any:
    """Print the policy in force here, and where each part comes from."""
    return lazy_import.command_module("policy").show(working_folder(), as_json=as_json)


@policy.command("validate")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def policy_validate(file: Path | None, as_json: bool) -> Any:
    """Check how a policy file is written.

    Names line, key and the nearest known key; a rule's own examples count. Exit code 1 if it is wrong.
    """
    return lazy_import.command_module("policy").validate(working_folder(), file, as_json=as_json)


@policy.command("test")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def policy_test(file: Path | None, as_json: bool) -> Any:
    """Try what all rules do, together.

    Every hit, every miss, and whether what a rule says to do instead passes the guard: of all rules in force here, or
    of those in FILE. Exit code 1 if something does not hold.
    """
    return lazy_import.command_module("policy").test(working_folder(), file, as_json=as_json)


@policy.command("add")
@click.option("--deny", default="", metavar="COMMAND", help="Refuse commands like this one; * stands for anything.")
@click.option("--ask", default="", metavar="COMMAND", help="Ask a person about commands like this one.")
@click.option("--hint", default="", metavar="COMMAND", help="Give the agent a hint at commands like this one.")
@click.option("--why", default="", help="Goes into the answer. Required.")
@click.option("--instead", default="", help="What the agent may do instead: a command that passes the guard.")
@click.option("--id", "id_", default="", help="By default made from the command: project.kubectl-delete-ns.")
@click.option("--response", type=click.Choice(_RESPONSES), help="Where no example says it.")
@click.option("--action", default="", help="What the gate shows (ask).")
@click.option("--risk", type=click.Choice(("LOW", "MEDIUM", "HIGH", "CRITICAL")), help="The same.")
@click.option("--program", multiple=True, help="The program; a pattern. This and the next may be given often.")
@click.option("--subcommand", multiple=True, help="push in git push.")
@click.option("--flag", "any_flag", multiple=True, help="One of these flags.")
@click.option("--operand", multiple=True, help="One operand matches this pattern.")
@click.option("--effect", multiple=True, help="What it does: write, delete, read, publish, network ...")
@click.option("--target", multiple=True, help="The effect's target: a pattern or a name such as {root}.")
@click.option("--hit", multiple=True, help="A command that the rule must match.")
@click.option("--miss", multiple=True, help="An honest command that it must leave alone.")
@click.option("--user", is_flag=True, help="Into your own policy, not the project's.")
@click.option("--yes", is_flag=True, help="Even where it stops honest commands of the built-in examples.")
@click.option("--dry-run", is_flag=True, help="Prove it and show it, write nothing.")
def policy_add(*, id_: str, user: bool, yes: bool, dry_run: bool, **given: Any) -> Any:
    """Write a rule and prove it.

    \b
    sentinel-guard policy add --deny 'kubectl delete ns *' --why 'namespaces are shared'
    sentinel-guard policy add --ask 'make release' --why 'it goes to all customers' --miss 'make test'

    What the example does not say, the other options do; docs/policy.md explains every key.
    """  # noqa: D301 - the backspace is meant: it keeps click from joining the lines
    examples = {word: text for word in ("deny", "ask", "hint") if (text := given.pop(word))}
    if len(examples) > 1:
        raise click.UsageError("Give one of --deny, --ask and --hint.")
    module = lazy_import.command_module("policy_add")
    for word in examples:
        given["response"] = word
    keys = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items() if value}
    asked = module.Asked(keys | ({"id": id_} if id_ else {}), next(iter(examples.values()), ""), user, yes, dry_run)
    return module.add(places(), working_folder(), asked)
