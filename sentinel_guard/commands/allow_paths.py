"""``sentinel-guard allow PATH…``: lets a person change restricted files while an agent works."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from sentinel_guard.client import Operator
from sentinel_guard.errors import ConfigError, DaemonError
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.humans.terminal_prompts import visible

LONGEST = 24 * 3600
NOBODY = "No guarded session is running here."
EDIT = "Edit the file: nothing puts it back."
_SPAN = re.compile(r"(\d{1,9})(s|m|h)")
_UNITS = {"s": 1, "m": 60, "h": 3600}


def allow(places: StatePaths, cwd: Path, paths: Sequence[str], span: str) -> int:
    """Open a window for each path in all sessions of its repository; a span of ``0s`` closes them.

    Raises ConfigError for a span that is none, DaemonError where no session is live.
    """
    seconds = _seconds(span)
    with _operator(places) as operator:
        for path in paths:
            place = _absolute(cwd, path)
            until = operator.request("allow", path=place, span=seconds)["until"]
            print(f"{visible(place)}: {_words(until) if seconds else 'the window is closed.'}")
    return 0


def show(places: StatePaths, cwd: Path, *, as_json: bool = False) -> int:
    """Print the open windows around a folder, a line each. Raises DaemonError where no session is live."""
    with _operator(places) as operator:
        said = operator.request("windows", cwd=os.path.realpath(cwd))
    if not said["sessions"]:
        raise DaemonError(NOBODY, EDIT)
    if as_json:
        print(json.dumps({"windows": said["windows"], "sessions": said["sessions"]}))
        return 0
    for window in said["windows"]:
        print(f"{visible(str(window['path']))}: {_words(window['until'])}")
    if not said["windows"]:
        print("No window is open. Open one with: sentinel-guard allow PATH")
    return 0


def _operator(places: StatePaths) -> Operator:
    try:
        return Operator(places, start=False).connect()
    except DaemonError as e:
        raise DaemonError(NOBODY, EDIT) from e


def _seconds(span: str) -> int:
    found = _SPAN.fullmatch(span.strip())
    seconds = int(found[1]) * _UNITS[found[2]] if found else -1
    if not 0 <= seconds <= LONGEST or (not seconds and span != "0s"):
        raise ConfigError(f"'{visible(span)}' is no time for a window.", "Say 30s, 10m or 2h; 24h is the longest.")
    return seconds


def _absolute(cwd: Path, path: str) -> str:
    """The path with the links of its folder followed, and not its own: the link is what is restricted."""
    folder, name = os.path.split(os.path.normpath(os.path.join(os.path.realpath(cwd), path)))  # noqa: PTH118 - text with surrogates
    return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - the same


def _words(until: float) -> str:
    clock = time.strftime("%H:%M:%S", time.localtime(until))
    return f"what you change until {clock} stays."
