"""Entry point of ``python -m sentinel_guard`` and of the ``sentinel-guard`` command."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn


def main() -> None:
    """Run the command line and leave with its exit code."""
    # In a session, what writes into our own folders is an attack.
    inside = "SENTINEL_SESSION" in os.environ
    sys.dont_write_bytecode |= inside
    match sys.argv[1:]:
        case ["hook", name, *arguments] if not name.startswith("-"):
            _leave(_at_once(lambda: _hook(name, arguments)))
        case ["run", "--", *command] if command and not inside:
            _leave(_at_once(lambda: _run(command)))
        case ["rollback", *words] if not inside and (given := _rollback_options(words)):
            _leave(_at_once(lambda: _rollback(given)))
    gc.disable()  # of what is imported nothing becomes garbage: looking through it takes 10 ms
    from sentinel_guard.cli import main as command_line  # noqa: PLC0415 - a commit does not wait for it

    gc.freeze()
    gc.enable()
    command_line.main()


def _leave(code: int) -> NoReturn:
    """Nothing is open any more; the interpreter would take 10 to 20 ms to take itself apart."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(code)


def _hook(name: str, arguments: Sequence[str]) -> int:
    gc.disable()  # what little goes in circles goes with the process, in a moment
    from sentinel_guard.commands.git_hook import hook  # noqa: PLC0415 - no other command needs it

    return hook(name, tuple(arguments), sys.stdin.buffer.read)


def _run(command: Sequence[str]) -> int:
    gc.disable()  # of what is imported nothing becomes garbage: looking through it takes 10 ms
    from sentinel_guard.commands.run.run import run  # noqa: PLC0415 - the same
    from sentinel_guard.host.machine.state_paths import places  # noqa: PLC0415 - the same

    gc.freeze()
    gc.enable()
    return run(places(), command)


def _rollback_options(words: Sequence[str]) -> dict[str, str | bool] | None:
    from sentinel_guard.cli import rollback_at_once  # noqa: PLC0415 - no other command needs it

    return rollback_at_once.options(words)


def _rollback(given: dict[str, str | bool]) -> int:
    gc.disable()  # what little goes in circles goes with the process
    from sentinel_guard.cli import rollback_at_once  # noqa: PLC0415 - no other command needs it

    return rollback_at_once.rollback(given)


def _at_once(command: Callable[[], int]) -> int:
    """One command, without the command line's parts: an agent or a commit waits."""
    from sentinel_guard.core.text.control_characters import visible  # noqa: PLC0415 - the same
    from sentinel_guard.errors import SentinelError  # noqa: PLC0415 - other commands have it from elsewhere

    try:
        return command()
    except SentinelError as e:
        print(visible(f"sentinel-guard: {e}", keep="\n"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception:  # noqa: BLE001 - as in cli/main.py
        from sentinel_guard.cli.main import our_fault  # noqa: PLC0415 - where all else failed

        return our_fault()


if __name__ == "__main__":
    main()
