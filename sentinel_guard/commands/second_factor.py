"""``sentinel-guard totp``: set up the codes that a yes may need, or take them away."""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Callable

from sentinel_guard.errors import SentinelError
from sentinel_guard.host import second_factor
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.second_factor import SecondFactor

Read = Callable[[str], str]


def setup(places: StatePaths, read: Read = getpass.getpass) -> int:
    """Show a new secret, and keep it once a code of it was typed. Raises SentinelError."""
    _at_a_terminal()
    places.make()
    factor = SecondFactor(places)
    if factor.is_set_up:
        _by_code(factor, "A code of the second factor that is set up: ", read)
    secret = second_factor.new_secret()
    _show(second_factor.address(secret, getpass.getuser()), secret)
    if why := factor.set_up(secret, read("The code that it shows: "), time.time()):
        raise SentinelError(f"Nothing was set up: {why}.", "Check the clocks of both, and try again.")
    print('It is set up. Which actions need a code says your policy: [gate] second_factor = ["DEPLOY"], or ["*"].')
    return 0


def remove(places: StatePaths, read: Read = getpass.getpass) -> int:
    """Take the secret away, for a code of it. Raises SentinelError."""
    _at_a_terminal()
    factor = SecondFactor(places)
    if not factor.is_set_up:
        print("No second factor is set up.")
        return 0
    _by_code(factor, "A code of it: ", read)
    factor.remove()
    print("It was taken away. What needs a code by your policy is refused until one is set up.")
    return 0


def _at_a_terminal() -> None:
    if not (sys.stdin and sys.stdin.isatty()):
        raise SentinelError("A second factor is set up at a terminal, and standard input is none.", "Run it in one.")


def _by_code(factor: SecondFactor, prompt: str, read: Read) -> None:
    if why := factor.refusal(read(prompt), time.time()):
        raise SentinelError(f"Nothing was changed: {why}.", f"Without the device: delete {factor.path}, as its owner.")


def _show(address: str, secret: str) -> None:
    print("Add this to your authenticator:\n")
    try:
        import segno  # noqa: PLC0415 - an extra

        segno.make(address, error="l").terminal(compact=True)
    except ModuleNotFoundError:
        print(f"  {address}")
    print(f"\nOr type the secret: {' '.join(secret[at : at + 4] for at in range(0, len(secret), 4))}\n")
