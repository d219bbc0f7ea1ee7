"""What the tests of ``secrets`` stand on: two tokens, and its commands called in a repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

from sentinel_guard.commands.secrets import baseline
from sentinel_guard.commands.secrets.scan import Asked, scan
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.secrets import allowlist_file

TOKEN = "ghp" + "_Zx81mQp4Lk2Vn7Rt5Yw3Bc6Df9Gh0Js1A8zX"
OTHER = "glp" + "at-Xk29mPqLw84ZtRv7NcYb"
LINE = f"token: {TOKEN}\n"


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)


def look(root: Path, *paths: Path, cwd: Path | None = None, **asked: bool) -> int:
    return scan(places(), cwd or root, Asked(paths, **asked))


def take_in(root: Path, *, history: bool = False) -> int:
    return baseline.baseline(places(), root, None, history=history)


def said(root: Path) -> list[str]:
    return [row.said.value for row in allowlist_file.load(root).rows]
