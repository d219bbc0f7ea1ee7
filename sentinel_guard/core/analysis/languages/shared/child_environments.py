"""The environment that code of Python or node gives to a child process: what the child prints, it prints itself.

Left out is one form alone, so that nothing else is taken for it: a call of the library's own function, whose command is
a text, or a list of such. That command is known, and followed by itself. Not for what gives back its options
(``spawnSync`` of older versions of node).
"""

from __future__ import annotations

import re

_TEXT = r"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\$]|\\.)*+`)"
"""No line end behind it: in a remark a quote is none."""
_VALUE = rf"(?:{_TEXT}|[\w.]++)"
_GAP, _NEXT = r"[ \t]*+", r"[ \t]*+,\s*+"
_ENTRIES = rf"(?:{_NEXT}(?:\w++|{_TEXT}){_GAP}:\s*+{_VALUE})*+{_GAP},?+\s*+\}}"
"""The rest of an object or a dictionary."""

_NODE_CALL = re.compile(
    rf"(?<![\w.$])exec(?:File)?Sync\(\s*+{_TEXT}{_NEXT}(?:\[\s*+(?:{_TEXT}{_GAP}(?:,\s*+)?+)*+\]{_NEXT})?+\{{\s*+"
    rf"(?:(?!env\b)\w++{_GAP}:\s*+{_VALUE}{_NEXT})*+env{_GAP}:\s*+"
    rf"(?P<env>process\.env\b|\{{\s*+\.\.\.process\.env{_ENTRIES})"
    rf"(?:{_NEXT}\w++{_GAP}:\s*+{_VALUE})*+{_GAP},?+\s*+\}}\s*+\)"
)
_NODE_IMPORT = re.compile(
    r"\bimport\s*+\{[\w\s,]*+\}\s*+from\s*+['\"](?:node:)?child_process['\"]"
    r"|\b(?:const|let|var)\s*+\{[\w\s,]*+\}\s*+=\s*+require\(\s*+['\"](?:node:)?child_process['\"]\s*+\)"
    r"|\brequire\(['\"](?:node:)?child_process['\"]\)\.(?=exec(?:File)?Sync\()"
)
_NODE_OTHER = re.compile(r"\bexec(?:File)?Sync\b(?!\(\s*['\"`])|[.$]exec(?:File)?Sync\b")
"""The function's name in another place than in front of a text: it may be another function's."""

_PYTHON_CALL = re.compile(
    rf"\bsubprocess\.(?:check_output|run|call|check_call)\(\s*+"
    rf"(?:{_TEXT}|\[\s*+(?:(?:{_TEXT}|sys\.executable){_GAP}(?:,\s*+)?+)*+\]){_NEXT}"
    rf"(?:(?!env\b)\w++={_VALUE}{_NEXT})*+env=(?P<env>os\.environ\.copy\(\)|dict\(os\.environ(?:{_NEXT}\w++={_VALUE})*+{_GAP}\)"
    rf"|\{{\s*+\*\*os\.environ{_ENTRIES}|os\.environ\b(?![.\[])(?:{_GAP}\|{_GAP}\{{\s*+{_TEXT}{_GAP}:\s*+{_VALUE}{_ENTRIES})?+)"
    rf"(?:{_NEXT}\w++={_VALUE})*+{_GAP},?+\s*+\)"
)
_PYTHON_IMPORT = re.compile(r"(?m)(?:^|;)[ \t]*+import[ \t]++(?:(?!subprocess\b)\w++[ \t]*+,[ \t]*+)*+subprocess\b")
_PYTHON_OTHER = re.compile(r"\bsubprocess\b(?!\.\w++\()")


def left_out(code: str) -> str:
    """The code without it."""
    plain, imports = _NODE_IMPORT.subn("", code)
    if imports and not _NODE_OTHER.search(plain):
        code = _NODE_CALL.sub(_without_env, plain)
    return code if _PYTHON_OTHER.search(_PYTHON_IMPORT.sub("", code)) else _PYTHON_CALL.sub(_without_env, code)


def _without_env(match: re.Match[str]) -> str:
    begin, end = (at - match.start() for at in match.span("env"))
    return f"{match[0][:begin]}0{match[0][end:]}"
