"""Commands that change who may read, write or run a file (chmod, chown, setfacl, chcon …): argv -> effects."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sentinel_guard.core.analysis import file_modes
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

SETUID = re.compile(r"0*[4-7][0-7]{3}|0*2[0-7]{3}|[ugoa,=+rwxX-]*[+=][rwxX]*s.*")
_MODE_FLAGS = ("-r", "-w", "-x", "-X", "-s", "-t", "-u", "-g", "-o", "-a")
_SHUT = re.compile(r"0*[0-3]?\d{2}|0*[0-7]?[0-3]\d{2}|0+\d?|[ua]*(?:-[wxXst]*r[rwxXst]*|=[wxXst]*)(?:,.*)?")
"""Modes with which the owner can no longer read."""


def chmod(call: Call) -> Effects:
    given = call.has("--reference") or call.has(*_MODE_FLAGS)
    files = call.operands if given else call.operands[1:]
    if not given and call.operands and SETUID.fullmatch(call.operands[0].text):
        yield call.effect(Kind.PRIVILEGE, "setuid")
    mode = call.operands[0].text if call.operands and not given else ""
    shut = ("shut",) if _SHUT.fullmatch(mode) or call.has("-r") else ()
    yield from _attributes(call, files, "mode", *shut, *(("open",) if file_modes.opens(mode) else ()))


def chown(call: Call) -> Effects:
    return _attributes(call, call.operands if call.has("--reference") else call.operands[1:], "owner")


def chattr(call: Call) -> Effects:
    return _attributes(call, [o for o in call.operands if o.text[:1] not in "+="], "mode")


def setfacl(call: Call) -> Effects:
    given = call.parsed.values("-m", "--modify", "--set")
    opened = ("open",) if any(file_modes.entry_opens(item.text) for item in given) else ()
    return _attributes(call, call.operands, "mode", *opened)


def _attributes(call: Call, files: Iterable[Field], *how: str) -> Effects:
    deep = ("recursive",) if call.has("-R", "--recursive") else ()
    for item in files:
        yield from call.write(item, *how, *deep)


def labels(call: Call) -> Effects:
    """setfattr, chcon: the names behind the first operand, or behind the options."""
    items = (
        call.operands[1:]
        if call.command.program == "chcon" and not call.has("-t", "-u", "-r", "-l", "--reference")
        else call.operands
    )
    yield from _attributes(call, items, "mode")
