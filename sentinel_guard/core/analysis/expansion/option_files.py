"""Options that stand in a file (``curl --config FILE``), one a line."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.expansion.shell_state import Field

_SETTING = re.compile(r"\s*(?P<name>-{0,2}[\w-]+)(?:\s*[=:]\s*|\s+|\s*$)(?P<value>\"(?:[^\"\\]|\\.)*+\"|\S*)")
_SETTINGS = 500
"""Options of a file that are looked at."""


def options_of_file(text: str) -> list[Field] | None:
    """The words that a file of options stands for (curl's): one option a line, ``name = "value"``; None: too many."""
    fields: list[Field] = []
    for line in text.splitlines():
        if len(fields) > _SETTINGS:
            return None
        if (match := _SETTING.match(line)) and line.lstrip()[:1] != "#":
            name, value = match["name"], match["value"].strip('"')
            fields.append(Field(name if name[:1] == "-" else f"--{name}"))
            fields.extend([Field(value)] if value else [])
    return fields
