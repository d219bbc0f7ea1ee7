"""The ``sentinel-guard`` command line: parses arguments, runs a command, returns its exit code.

Everything else is in ``commands/``.

The one place that turns errors into words: exit 1 for what the user can mend, 3 for a fault of ours (with a log
file), 130 when interrupted.
"""

from __future__ import annotations

import os
import sys

import click

from sentinel_guard import __version__
from sentinel_guard.cli import (
    agent,
    check,
    daemon,
    incidents,
    policy,
    secrets,
    session_control,
    sessions,
    setup,
    snapshots,
)
from sentinel_guard.cli.outside_only import outside_only
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine.state_paths import places

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


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
        click.echo(visible(f"sentinel-guard: {e}", keep="\n"), err=True)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return heard_enough()
    except SystemExit as e:
        # Click and rich end so for a broken pipe; nothing else of ours ends so.
        return heard_enough() if e.code == 1 else int(e.code or 0)
    except Exception:  # noqa: BLE001 - no message of ours shows a traceback to a user
        return our_fault()


def heard_enough() -> int:
    """The reader (head, less) has gone; Python would complain once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def our_fault() -> int:
    """Words about the exception that is being handled, which a log file tells whole. The exit code 3."""
    import traceback  # noqa: PLC0415 - where it is needed; every command waits for what stands above

    try:
        log = places().state / "crash.log"
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        log.write_text(traceback.format_exc())
        where = f"The details are in {log}."
    except (OSError, SentinelError):
        where = "The details could not be written anywhere."
    click.echo(f"sentinel-guard: this is a fault of ours. {where}", err=True)
    return 3


@click.group(context_settings=CONTEXT)
@click.version_option(__version__, prog_name="sentinel-guard")
def cli() -> None:
    """Stands between a coding agent and your machine.

    \b
    sentinel-guard install           protect this repository (policy, git hooks)
    sentinel-guard run -- AGENT ...  let an agent work under guard
    sentinel-guard status            what the guarded sessions are doing
    """  # noqa: D301 - the backspace is meant: it keeps click from joining the lines


for _command in (
    sessions.run,
    sessions.shell_init,
    sessions.status,
    sessions.console,
    sessions.log,
    sessions.rollback,
    sessions.allow,
    session_control.pause,
    session_control.resume,
    session_control.kill,
    session_control.revoke,
    session_control.questions,
    session_control.approve,
    session_control.deny,
    setup.install,
    setup.uninstall,
    setup.doctor,
    setup.demo,
    setup.second_factor,
    check.check,
    daemon.daemon,
    agent.hook,
    agent.help_me,
    agent.usage,
    agent.mcp_server,
    policy.policy,
    incidents.incidents,
    incidents.replay,
    snapshots.snapshots,
    secrets.secrets,
):
    cli.add_command(_command)

for _name in (
    *("run", "pause", "resume", "kill", "revoke", "approve", "deny", "install", "uninstall", "demo"),
    "shell-init",
):
    outside_only(cli.commands[_name], _name)
outside_only(cli.commands["rollback"], "rollback", spares="dry_run")
outside_only(cli.commands["allow"], "allow", spares="listed")
for _name in ("start", "stop"):
    outside_only(daemon.daemon.commands[_name], f"daemon {_name}")
for _name in ("setup", "remove"):
    outside_only(setup.second_factor.commands[_name], f"totp {_name}")
