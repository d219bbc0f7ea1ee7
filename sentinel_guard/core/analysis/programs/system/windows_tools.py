"""Windows' own tools, as WSL and Git Bash start them (``net.exe user x /add``): what they change of the machine.

Data and one reader; their switches are words (``/add``). https://learn.microsoft.com/windows-server/administration,
as of 2026.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from sentinel_guard.core.analysis.expansion.command_and_options import Call, Options, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from sentinel_guard.core.analysis.running_processes import OTHERS
from sentinel_guard.core.model import Effect, Kind

TABLES: dict[str, tuple[Row, ...]] = {
    "net": table(users="user|localgroup|group ** /add|/delete|/del, user * *", service="stop"),
    "manage-bde": table(quiet="** -status", security="** -off|-disable|-pause|-forcerecovery|-changekey|-protectors"),
    "vssadmin": table(quiet="list|query", volume="delete|resize|revert"),
    "wbadmin": table(volume="delete|start"),
    "bcdedit": table(quiet=". , /enum|/v|/?", boot="/*"),
    "diskpart": table(volume="**"),
    "netsh": table(quiet="** show|dump|export", firewall="advfirewall|firewall **",
                   network="interface|int|wlan|winsock|winhttp|http|portproxy|dns ** set|add|delete|reset|disconnect"),
    "sc": table(service="stop|delete|config|failure|sdset", starts="create"),
    "wevtutil": table(logs="cl|clear-log|sl|set-log"),
    "fsutil": table(volume="usn deletejournal, file setzerodata, dirty set"),
    "dism": table(packages="** /disable-feature*|/remove-package*"),
    "reg": table(quiet="query|export|compare|save, ** /?",
                 starts="add *\\Run|*\\RunOnce|*\\RunServices|*\\Winlogon|*\\Policies\\Explorer\\Run",
                 kernel_setting="add|delete|copy HKLM*|HKCR*|HKU*|HKEY_LOCAL_MACHINE*, delete, import|restore|load"),
    **dict.fromkeys(("icacls", "cacls"), table(
        security="** /grant*|/setowner|/inheritance*|/reset|/remove*|/deny|/G|/P",
    )),
    "takeown": table(security="**"),
    "schtasks": table(starts="** /create|/change", service="** /delete|/end"),
    "cipher": table(volume="/w*, ** /w*"), "format": table(volume="*:"),
    "certutil": table(security="/addstore|/delstore, ** -addstore|-delstore"),
    "setx": table(kernel_setting="path|PATH *"),
}  # fmt: skip
_SHARED = re.compile(
    r".*[*?].*|node|deno|bun|pythonw?[\d.]*|py|javaw?|ruby|perl|php|dotnet|cmd|powershell|pwsh|bash|sh|wsl|conhost|git"
    r"|windowsterminal|wt|code|cursor|windsurf|devenv|idea64|pycharm64|explorer|chrome|msedge|firefox|docker"
)
"""Programs in which other work runs, too, and patterns: which processes of theirs there are cannot be looked at."""
OPTIONS: dict[str, Options] = {"manage-bde": options("| words"), "certutil": options("| words")}


def tool(call: Call) -> Iterator[Effect]:
    return subcommand_tables.effects(_lowered(call), _ROWS[call.command.program])


def taskkill(call: Call) -> Iterator[Effect]:
    """``taskkill /IM node.exe``, ``/PID 12``: by name, or one process."""
    for option, item in pairwise(call.fields[1:]):
        switch, name = option.text.lower().lstrip("/-"), item.text.lower().removesuffix(".exe")
        if switch in ("im", "pid"):
            yield call.effect(Kind.SIGNAL, name, "force", sure=item.known)
        if switch == "im":
            yield from ends_shared(call, item.text)


def ends_shared(call: Call, program: str) -> Iterator[Effect]:
    """Ending all that run a program, where it may be others' work."""
    if _SHARED.fullmatch(program.lower().removesuffix(".exe")):
        yield call.effect(Kind.SIGNAL, f"each {program} of this machine, whosesoever it is", "force", OTHERS)


def _lowered(call: Call) -> Call:
    """The call in small letters: Windows does not tell them apart."""
    items = [Field(item.text.lower(), item.known) for item in call.operands]
    own = replace(call.command, subcommand=call.command.subcommand.lower())
    return replace(call, command=own, parsed=replace(call.parsed, operands=items))


_ROWS = {name: tuple(row._replace(words=row.words.lower()) for row in rows) for name, rows in TABLES.items()}


PROGRAMS: dict[str, Callable[[Call], Iterator[Effect]]] = {**dict.fromkeys(TABLES, tool), "taskkill": taskkill}
