"""Runs Kingfisher, a second secret scanner for commits and pushes, where the extra ``secrets`` is installed.

Rules of this file:
1. It never validates, asks for no update and gets no settings but ours: nothing that it reads leaves the machine.
2. It sees the added text alone, in a private folder that is gone when it has ended.
3. Where it is not installed nothing is said; where it fails, a word is, and our own rules stand.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sentinel_guard.core.policy.policy import last_matching_pattern
from sentinel_guard.core.secrets.model import Grade, Hit, Piece, SecretFind
from sentinel_guard.core.secrets.redacted_excerpt import ScannedText
from sentinel_guard.core.secrets.skipped_files import is_test_or_document, skipped
from sentinel_guard.host.secrets.kingfisher_program import installed

SECONDS = 60.0
"""How long it may take; its first run compiles its rules."""
_QUIETLY = (
    *("scan", "--no-validate", "--no-update-check", "--quiet", "--format", "jsonl"),
    *("--git-history", "none", "--no-extract-archives", "--no-dedup", "--jobs", "1"),
)
_ENDED = (0, 200)
"""Nothing found; something found."""
_KEPT = ("HOME", "PATH", "TMPDIR", "XDG_CACHE_HOME", "LANG")
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}")


def search(
    pieces: Sequence[Piece],
    seen: Iterable[Hit],
    allow: tuple[str, ...],
    environ: Mapping[str, str],
    new: Callable[[Piece, SecretFind], bool],
    *,
    comments: bool = True,
) -> tuple[list[Hit], tuple[str, ...]]:
    """What it finds and our own rules (``seen``) did not, and a word where it failed.

    ``new`` and ``comments``: as in ``review``.
    """
    program = installed()
    wanted = [
        p
        for p in pieces
        if not (skipped(p.path) or is_test_or_document(p.path) or last_matching_pattern(allow, p.path, ""))
    ]
    if not program or not wanted:
        return [], ()
    try:
        rows = _run(program, wanted, environ)
        ours = {(h.commit, h.path, h.line) for h in seen}
        return [h for h in _hits(wanted, rows, new, comments) if (h.commit, h.path, h.line) not in ours], ()
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError) as e:
        return [], (f"kingfisher failed ({_reason(e)}): only our own rules were used",)


def _run(program: str, pieces: Sequence[Piece], environ: Mapping[str, str]) -> list[Mapping[str, object]]:
    """The rows that it reports. Raises OSError, SubprocessError, ValueError."""
    import json  # noqa: PLC0415 - most machines have no kingfisher, and a commit waits
    import tempfile  # noqa: PLC0415 - the same

    kept = {key: environ[key] for key in _KEPT if key in environ}
    with tempfile.TemporaryDirectory(prefix="sentinel-") as folder:  # 0700
        for number, piece in enumerate(pieces):
            Path(folder, _name(number, piece)).write_text(piece.text, encoding="utf-8", errors="replace")
        command = [program, *_QUIETLY, folder]
        done = subprocess.run(command, capture_output=True, check=False, cwd=folder, env=kept, timeout=SECONDS)
    if done.returncode not in _ENDED:
        raise subprocess.CalledProcessError(done.returncode, "kingfisher")
    rows = [json.loads(line) for line in done.stdout.decode("utf-8", "replace").splitlines() if line.startswith("{")]
    return [row for row in rows if "finding" in row]


def _name(number: int, piece: Piece) -> str:
    """The number of a piece, and the ending of its file, which tells the language."""
    ending = os.path.splitext(piece.path)[1]  # noqa: PTH122 - a name in git, and no path of this machine
    return f"{number}{ending if _ENDING.fullmatch(ending) else '.txt'}"


def _hits(
    pieces: Sequence[Piece],
    rows: Iterable[Mapping[str, object]],
    new: Callable[[Piece, SecretFind], bool],
    comments: bool,
) -> Iterator[Hit]:
    for row in rows:
        rule, finding = row["rule"], row["finding"]
        if not isinstance(rule, dict) or not isinstance(finding, dict):
            raise TypeError("no report as it is known")
        piece = pieces[int(os.path.basename(str(finding["path"])).partition(".")[0])]  # noqa: PTH119 - as in _name
        leak = _leak(piece.text, str(rule["name"]), finding)
        page = ScannedText(piece.text, [leak])
        line, column = page.place(leak)
        allowed = "comment" if comments and page.commented(leak) else ""
        if new(piece, leak):
            yield Hit(leak, piece.path, piece.line + line - 1, column, page.excerpt(leak), piece.commit, allowed)


def _leak(text: str, name: str, finding: Mapping[str, object]) -> SecretFind:
    value, line = str(finding["snippet"]), int(str(finding["line"]))
    begins = sum(len(before) + 1 for before in text.split("\n")[: line - 1])
    found = text.find(value, begins)
    start = begins if found < 0 else found
    end = start + (len(value) if found >= 0 else len(text[start:].partition("\n")[0]))
    grade = Grade.BLOCK if finding.get("confidence") == "high" else Grade.WARN
    return SecretFind(f"kingfisher.{name}", "secret", f"a secret ({name})", grade, start, end, text[start:end])


def _reason(error: Exception) -> str:
    """What went wrong, without anything of what it read."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no end after {SECONDS:.0f} s"
    if isinstance(error, subprocess.CalledProcessError):
        return f"exit code {error.returncode}"
    return error.strerror or "" if isinstance(error, OSError) else "its report cannot be read"
