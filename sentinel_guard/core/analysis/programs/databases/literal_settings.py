"""Settings in JavaScript that are data all the same (``knexfile.js``): one object of plain values, or of a variable
with a plain value where it is not set.
"""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.databases import dotenv_databases

_COMMENTS = re.compile(r"(?ms)^\s*//.*?$|(?<=[\s,{])//[^\n]*|/\*.*?\*/")
_EXPORTS = re.compile(
    r"\s*(?:['\"]use strict['\"];?\s*)?(?:module\.exports\s*=|export\s+default)\s*(\{.*\})\s*;?\s*", re.DOTALL
)
_TEXT = r"(?:\"[^\"\\\n]*\"|'[^'\\\n]*'|`[^`\\$]*`)"
_VALUE = re.compile(rf"(?:process\.env\.(?P<variable>\w+)\s*(?:\|\||\?\?)\s*)?(?P<text>{_TEXT})")
_CONNECTION = re.compile(
    rf"(?<![\w.])connection\s*:\s*(?:process\.env\.\w+\s*(?:\|\||\?\?)\s*)?(?P<text>{_TEXT})(?=\s*[,}}])"
)
_REST = re.compile(r"(?:[\w$]+\s*:|[{}\[\],\s]|\b(?:true|false|null|\d+)\b|\0)*")
"""What is left of an object of values: keys, numbers, brackets."""
_NAMES = ("js", "cjs", "mjs", "ts", "coffee", "ls", "co", "eg", "iced", "litcoffee")


def knex(call: Call) -> bool:
    """https://knexjs.org/guide/migrations.html#knexfile-js; the settings are those beside the package."""
    found = [path for end in _NAMES if call.world.kind(path := call.locate(f"knexfile.{end}"))]
    chosen = any(item.text.startswith("--") and item.text != "--all" for item in call.fields)
    if len(found) != 1 or chosen or call.world.is_unseen(found[0]):
        return False
    exported = _EXPORTS.fullmatch(_COMMENTS.sub("", call.world.read(found[0]) or ""))
    if exported is None or _REST.fullmatch(_VALUE.sub("\0", exported[1])) is None:
        return False
    asked = {match["variable"] for match in _VALUE.finditer(exported[1])} - {None}
    addresses = [match["text"][1:-1] for match in _CONNECTION.finditer(exported[1])]
    whole = len(re.findall(r"\b(?:connection|filename|host|socketPath)['\"]?\s*:", exported[1])) == len(addresses)
    unset = not any(call.scope.lookup(name).isset for name in (*asked, "NODE_OPTIONS") if name)
    return bool(addresses) and whole and unset and all(map(dotenv_databases.is_named, addresses))
