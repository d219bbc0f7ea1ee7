"""Predicts the output of ps, pgrep and pidof: process 1 where it is sure to be listed, other processes unknown.

So that ``kill $(ps aux | awk '{print $2}')`` is what it is, and ``ps aux | grep NAME | …`` means processes of a name.
"""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.expansion import constant_output
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options

NAMES = frozenset(("ps", "pgrep", "pidof"))
FIRST = "1"
"""The process that all others hang on."""

_ROW = {"user": "root", "uid": "0", "pid": FIRST, "ppid": "0", "pgid": FIRST, "sid": FIRST, "tty": "?", "tt": "?"}
_INIT = re.compile(r"\^?(?:\.\*?|init|systemd|launchd)?\$?")
"""Patterns that the first process meets."""
_CHOOSING = ("-p", "--pid", "-C", "-g", "-G", "-t", "--ppid", "-q", "-s", "-T")


def output(call: Call) -> str:
    """The lines that are sure, then UNKNOWN."""
    told = _ps(call) if call.command.program == "ps" else _by_name(call)
    return told + UNKNOWN


_LINEWISE = frozenset(("awk", "gawk", "mawk", "cut", "tr", "tail"))


def filter_known_lines(call: Call) -> str:
    """What a filter that looks at each line alone makes of the lines that are known; empty where that is not so.

    ``tail -n +2`` leaves the heading away.
    """
    text, name = call.stdin, call.command.program
    if text[-2:] != f"\n{UNKNOWN}" or UNKNOWN in text[:-1] or name not in _LINEWISE:
        return ""
    skips = call.parsed.value("-n", "--lines") if name == "tail" else None
    if name == "tail" and (skips is None or skips.text[:1] != "+"):
        return ""
    if not all(item.known for item in call.fields):
        return ""
    if skips is not None:
        lines = text[:-1].splitlines(keepends=True)
        return "".join(lines[int(skips.text) - 1 :]) + UNKNOWN if skips.text[1:].isdigit() else ""
    told = constant_output.output(call.command.argv, text[:-1], constant_output.ProgramContext(call.world, None))
    return "" if told is None else told + UNKNOWN


def _by_name(call: Call) -> str:
    if call.command.program == "pidof":
        named = any(_INIT.fullmatch(item.text) for item in call.operands)
        return f"{FIRST}\n" if named else ""
    of_root = {item.text for item in call.parsed.values("-u", "--euid", "-U", "--uid")} & {"root", "0"}
    pattern = call.operands[0].text if call.operands else "."
    met = _INIT.fullmatch(pattern) is not None or call.has("-v", "--inverse")
    whole = of_root or not call.has("-u", "--euid", "-U", "--uid")
    chosen = call.has("-P", "--parent", "-t", "--terminal", "-s", "--session", "-n", "--newest", "-g", "--pgroup")
    return f"{FIRST}\n" if met and whole and not chosen else ""


def _ps(call: Call) -> str:
    words = [item.text for item in call.operands]
    letters = words[0] if words and words[0].isalpha() else ""
    users = {item.text for item in call.parsed.values("-u", "-U", "--user")}
    every = call.has("-e", "-A") or {"a", "x"} <= {*letters, *("a" * call.has("-a")), *("x" * call.has("-x")), *users}
    if not (every or users & {"root", "0"}) or call.has(*_CHOOSING):
        return ""
    given = [item.text for item in call.parsed.values("-o", "-O", "--format")]
    given += words[1:2] if letters.endswith("o") else []
    if given:
        names = ",".join(given).replace("=", "").split(",")
        head = "" if all("=" in part for text in given for part in text.split(",")) else "PID " * len(names)
        return f"{head}\n" * bool(head) + " ".join(_ROW.get(name, "init") for name in names) + "\n"
    if call.has("-f", "-F") or "u" in letters or "x" in users:
        return f"UID PID PPID C STIME TTY TIME CMD\nroot {FIRST} 0 0 00:00 ? 00:00:00 init\n"
    return f"PID TTY TIME CMD\n{FIRST} ? 00:00:00 init\n"


OPTIONS = {
    "ps": options("-o= -O= --format= -p= --pid= -C= -u= -U= --user= -g= -G= -t= --ppid= -q= -s= --sort= --cols="),
    "pgrep": options("-u= --euid= -U= --uid= -P= --parent= -g= --pgroup= -G= -t= --terminal= -s= --session= -F= -d= "
                     "--delimiter= --signal= --ns="),
    "pidof": options("-o= -S="),
}  # fmt: skip
