"""A code from the person's phone (TOTP, RFC 6238) that a yes may need: its secret, and which codes were used.

Rules of this file:
1. The secret stands in the guard's own state, readable by its owner alone; it leaves it once, at the setup.
2. A code counts once: neither it nor an earlier one is taken again, over restarts too.
3. Whoever tries codes out is held up; no code stands in any message, error or log.
4. Without a secret, or without pyotp, no code is right.
"""

from __future__ import annotations

import hmac
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sentinel_guard.core.checks.rules import SECOND_FACTOR
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.machine.atomic_files import write_json
from sentinel_guard.host.machine.state_paths import StatePaths

STEP = 30
"""Seconds for which a code is shown."""
AROUND = (0, -1, 1)
"""Steps from now whose codes are taken: clocks differ, and typing takes its time."""
TRIES, SPAN = 5, 300.0
"""So many wrong codes in so many seconds; then none is taken until the first of them is that old."""
EXTRA = "pip install 'sentinel-guard[totp]'"
SETUP = "sentinel-guard totp setup"
NOT_SET_UP = f"no second factor is set up: {SETUP}"
WRONG = "that code is not right"
USED = "that code was used already: wait for the next one"
HELD_UP = "too many wrong codes: wait {:.0f} s"


@dataclass(frozen=True, slots=True)
class _Kept:
    secret: str
    used: int = 0
    """The step of the newest code that was taken."""
    wrong: tuple[float, ...] = ()
    """When codes were wrong, seconds of the epoch."""


class SecondFactor:
    def __init__(self, places: StatePaths) -> None:
        self.path: Path = places.state / SECOND_FACTOR

    @property
    def is_set_up(self) -> bool:
        return self._read() is not None

    def set_up(self, secret: str, code: str, now: float) -> str:
        """Keep a secret, once a code shows that the person's device has it. Why not, in words; empty where it is kept.

        Raises ConfigError without pyotp, HostError.
        """
        step = _step(secret, code, now)
        if step is None:
            return WRONG
        self._write(_Kept(secret, step))
        return ""

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)

    def refusal(self, code: str, now: float) -> str:
        """Why a code is not taken, in words; empty where it is, and then it is used up. Does not fail."""
        kept = self._read()
        if kept is None:
            return NOT_SET_UP
        wrong = tuple(at for at in kept.wrong if 0 <= now - at < SPAN)
        if len(wrong) >= TRIES:
            return HELD_UP.format(wrong[0] + SPAN - now)
        try:
            step = _step(kept.secret, code, now)
            if step is not None and step > kept.used:
                self._write(_Kept(kept.secret, step))
                return ""
            self._write(replace(kept, wrong=(*wrong, now)))
        except (ConfigError, HostError) as e:
            return e.message
        return WRONG if step is None else USED

    def _read(self) -> _Kept | None:
        """None where there is none, and where it cannot be read: then no code is right."""
        try:
            found = json.loads(self.path.read_bytes())
            return _Kept(str(found["secret"]), int(found["used"]), tuple(float(at) for at in found["wrong"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, kept: _Kept) -> None:
        """What cannot be written down is not taken. Raises HostError."""
        try:
            write_json(self.path, asdict(kept))
        except OSError as e:
            raise HostError(f"The second factor cannot be kept: {os.strerror(e.errno or 0)}.") from e


def new_secret() -> str:
    """Raises ConfigError without pyotp."""
    try:
        import pyotp  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as e:
        raise ConfigError("The second factor needs pyotp.", EXTRA) from e
    return pyotp.random_base32()


def address(secret: str, name: str) -> str:
    """The ``otpauth`` address that an authenticator takes."""
    import pyotp  # noqa: PLC0415 - as above

    return pyotp.TOTP(secret, interval=STEP).provisioning_uri(name=name, issuer_name="sentinel-guard")


def _step(secret: str, code: str, now: float) -> int | None:
    """The step of which this is the code; None for none. Raises ConfigError without pyotp."""
    try:
        import pyotp  # noqa: PLC0415 - as above
    except ModuleNotFoundError as e:
        raise ConfigError("The second factor needs pyotp.", EXTRA) from e
    given, totp = "".join(code.split()).encode(), pyotp.TOTP(secret, interval=STEP)
    steps = [int(now // STEP) + off for off in AROUND]
    return next((s for s in steps if hmac.compare_digest(totp.generate_otp(s).encode(), given)), None)
