"""The diff of a restricted file without its values; and redaction of those values in other texts.

Rules of this file:
1. No value is ever told: of an assignment the name, of any other line how long it is.
2. Names are told only of lines that changed; of a policy file, which holds no secrets, the lines themselves.
3. It is short: ``LINES`` lines, and of what is large or no text only the sizes.
4. Of a value that an ordinary word could be (``MODE=development``) nothing is hidden: a report is to be read.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence

from sentinel_guard.core.analysis.secret_names import names_secret
from sentinel_guard.core.secrets.user_secrets.parse_secret_files import Part, parts
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.redact_by_pattern import MARK, redact

LINES = 12
MAX_BYTES = 1 << 16
"""Bytes of a version beyond which only sizes are told."""
MASK = "<masked>"
_NAME = re.compile(
    r"""^\s*(?:[#;-]\s*)?(?:export\s+)?["']?([A-Za-z_][A-Za-z0-9_.-]{0,63})["']?\s{0,8}(?:(=)(?=\s*[^\s=])|(:)(?=\s))"""
)
"""An assignment. A line that ends in ``=`` may be the end of a key."""
_KEY = "-----BEGIN"
"""In a file with this no line has a name."""
SHORT, LONG = 8, 16
"""Characters of a value below which it is not hidden; and from which it is, whatever it looks like."""
MOST = 2000
"""Values that are looked for."""
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{32,}")
_OPEN = ("sentinel.toml",)
"""Names of files whose lines may be shown, redacted."""


def change(path: str, before: bytes | None, after: bytes | None) -> str:
    """What changed from one version to the other; None stands for no such file. At most LINES lines, visible text."""
    old, new = _text(before), _text(after)
    if old is None or new is None:
        return f"{_size(before)} -> {_size(after)}"
    shown = _way(path, old + new)
    lines = [row[0] + shown(row[1:]) for row in _changed(old.splitlines(), new.splitlines())]
    if not lines:
        return "only the ends of lines differ" if before != after else ""
    more = [f"... and {len(lines) - LINES} more lines"] if len(lines) > LINES else []
    return "\n".join([*lines[:LINES], *more])


def values_to_redact(path: str, content: bytes) -> list[str]:
    """What is worth hiding of what a restricted file holds: values of assignments, lines of keys."""
    text = _text(content)
    if text is None or path.rpartition("/")[2] in _OPEN:
        return []
    return [part.value for part in parts(path, text) if _is_worth_hiding(part)]


def redact_values(text: str, secrets: Iterable[str]) -> str:
    """The text with each of these values replaced, the longest first."""
    wanted = sorted(set(secrets), key=lambda s: (-len(s), s))[:MOST]
    return re.sub("|".join(map(re.escape, wanted)), MARK, text) if wanted else text


def _is_worth_hiding(part: Part) -> bool:
    if not part.name:
        return _KEY_LINE.fullmatch(part.value) is not None
    telling = len(part.value) >= LONG or names_secret(part.name) or any(c.isdigit() for c in part.value)
    return len(part.value) >= SHORT and telling


def _way(path: str, text: str) -> Callable[[str], str]:
    if path.rpartition("/")[2] in _OPEN:
        return _plain
    return _length if _KEY in text else _named


def _text(version: bytes | None) -> str | None:
    if version is None:
        return ""
    if len(version) > MAX_BYTES or b"\0" in version:
        return None
    try:
        return version.decode()
    except UnicodeDecodeError:
        return None


def _size(version: bytes | None) -> str:
    return "no file" if version is None else f"{len(version)} bytes"


def _changed(old: Sequence[str], new: Sequence[str]) -> list[str]:
    rows = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
    return [row for row in rows if not row.startswith("@@")]


def _plain(line: str) -> str:
    return visible(redact(line))[:160]


def _named(line: str) -> str:
    found = _NAME.match(line)
    return f"{redact(found[1])}{found[2] or found[3]}{MASK}" if found else _length(line)


def _length(line: str) -> str:
    return f"<{len(line)} characters>" if line.strip() else ""
