"""adb: what is done to a phone, or an emulator, that hangs on this machine. argv -> effects."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.programs.cloud.containers import away
from sentinel_guard.core.model import Effect, Kind

_AS_ROOT = re.compile(r"\s*su(?:\s+(?:0|root))?(?:\s+-c)?\s+")
"""Android's su takes all that follows for the command."""
_APPLICATION = re.compile(r"\bapplicationId\s*=?\s*\(?\s*[\"']([\w.]+)[\"']")
_NAMESPACE = re.compile(r"\bnamespace\s*=?\s*\(?\s*[\"']([\w.]+)[\"']")
"""What an application is called whose identifier is not given (https://developer.android.com/build/configure-app-module)."""
_SUFFIX = re.compile(r"\bapplicationIdSuffix\s*=?\s*\(?\s*[\"'](\.[\w.]+)[\"']")


def _is_built_here(call: Call) -> bool:
    """Whether an app of the phone is the project's own, as its build files say: the next build installs it again."""
    found = (call.world.read(call.locate(f"{at}app/build.gradle{k}")) for at in ("", "android/") for k in ("", ".kts"))
    names = set[str]()
    for text in filter(None, found):
        named = _APPLICATION.findall(text) or _NAMESPACE.findall(text)
        names.update(f"{name}{end}" for name in named for end in ("", *_SUFFIX.findall(text)))
    names |= {f"{name}.test" for name in names}
    return bool(call.operands) and all(item.text in names for item in call.operands)


def phone(call: Call) -> Iterable[Effect]:
    """``adb shell COMMAND``: on the device that hangs on the cable."""
    verb = call.command.subcommand
    if verb == "shell" and call.operands:
        at = next(n for n, item in enumerate(call.fields) if item is call.operands[0])
        # As ssh does it: the words are one text for the shell there.
        words = call.fields[at:]
        body = _AS_ROOT.sub("", " ".join(item.text if item.known else UNKNOWN for item in words))
        yield from away(call, body, target="adb")
    elif verb in ("uninstall", "wipe", "sideload") and not (verb == "uninstall" and _is_built_here(call)):
        yield call.effect(Kind.DEPLOY, "adb", *(("delete",) if verb != "uninstall" else ()))


OPTIONS = {"adb": options("-s= -t= -H= -P= | sub")}
PROGRAMS = {"adb": phone}
