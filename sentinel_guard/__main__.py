"""Entry point of ``python -m sentinel_guard`` and of the ``sentinel-guard`` command."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    words = sys.argv[1:]
    if words[:1] == ["hook"] and words[1:] and not words[1].startswith("-"):
        sys.exit(_hook(words[1], tuple(words[2:])))
    from sentinel_guard.cli import main as command_line  # noqa: PLC0415 - a commit does not wait for it

    command_line.main()


def _hook(name: str, arguments: tuple[str, ...]) -> int:
    """One hook, without the command line's parts: a commit waits."""
    gc.disable()  # what little goes in circles goes with the process, in a moment
    from sentinel_guard.commands.git_hook import hook  # noqa: PLC0415 - no other command needs it
    from sentinel_guard.core.text.control_characters import visible  # noqa: PLC0415 - the same
    from sentinel_guard.errors import SentinelError  # noqa: PLC0415 - the same

    try:
        return hook(name, arguments, sys.stdin.buffer.read)
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
