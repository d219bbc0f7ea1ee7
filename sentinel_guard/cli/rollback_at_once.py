"""``sentinel-guard rollback`` without the command line's parts, which take half as long as a look at 40,000 files."""

from __future__ import annotations

import sys
from collections.abc import Sequence

OPTIONS = {"--dry-run": "dry_run", "--yes": "yes", "--later-too": "later_too", "--json": "as_json"}


def options(words: Sequence[str]) -> dict[str, str | bool] | None:
    """``session`` and which of the OPTIONS were given; None for all that the command line itself must look at."""
    flags = [word for word in words if word in OPTIONS]
    names = [word for word in words if word not in OPTIONS]
    if (
        len(names) > 1
        or any(name[:1] in ("", "-") for name in names)
        or ("--json" in flags and "--dry-run" not in flags)
    ):
        return None
    return {"session": "".join(names)} | {name: word in flags for word, name in OPTIONS.items()}


def rollback(given: dict[str, str | bool]) -> int:
    """Its exit code. Raises SentinelError; KeyboardInterrupt where nobody answers the question."""
    from sentinel_guard.cli.working_folder import working_folder  # noqa: PLC0415 - what is asked above hurries
    from sentinel_guard.commands.rollback import rollback as roll_back  # noqa: PLC0415 - the same
    from sentinel_guard.host.machine.state_paths import places  # noqa: PLC0415 - the same

    session, yes = str(given["session"]), given["yes"]
    flags = {name: bool(given[name]) for name in ("dry_run", "later_too", "as_json")}
    try:
        code = roll_back(places(), working_folder(), session, confirm=None if yes else confirm, **flags)
        if sys.stdout:  # None where it was closed before we began
            sys.stdout.flush()
    except BrokenPipeError:
        from sentinel_guard.cli.main import heard_enough  # noqa: PLC0415 - where nobody reads any more

        return heard_enough()
    return code


def confirm(question: str) -> bool:
    """Asks on standard error, as ``click.confirm`` does."""
    while True:
        if sys.stdout:  # None where it was closed before we began
            sys.stdout.flush()
        print(f"{question} [y/N]: ", end="", file=sys.stderr, flush=True)
        try:
            answer = sys.stdin.readline() if sys.stdin else ""
        except UnicodeDecodeError:
            answer = "?"
        if not answer:
            raise KeyboardInterrupt
        if (word := answer.strip().lower()) in ("", "n", "no", "y", "yes"):
            return word[:1] == "y"
        print("Error: invalid input", file=sys.stderr)
