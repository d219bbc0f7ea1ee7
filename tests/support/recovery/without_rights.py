"""Baseline and rollback in a process to which modes of files apply: root may do anything, and proves nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

from sentinel_guard.host.recovery import api
from tests.support.recovery.repository import ENV, Repo

WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", "--")
MISSING = not shutil.which("setpriv")
AS_A_USER = WITHOUT_RIGHTS if os.geteuid() == 0 else ()
"""What a command begins with so that modes of files apply to it."""
_BEGIN = """
import dataclasses, json, sys
from pathlib import Path
from sentinel_guard.host.recovery import api
folder, restricts = Path(sys.argv[1]), lambda path: path.endswith("/.env")
"""
_TAKE = f"""{_BEGIN}
import time
now = time.time
time.time = lambda: now() - 3600 * int(sys.argv[3])
api.take(sys.argv[2], folder, restricts, "s1")
"""
_ROLLBACK = f"""{_BEGIN}
report = api.rollback(api.load(folder), restricts=restricts)
print(json.dumps(dataclasses.asdict(report) | {{"rescued": sorted(report.rescued)}}))
"""


def taken(repo: Repo, hours: int = 0) -> api.Baseline:
    """The baseline of a session that begins now; by a clock that was set back before by so many hours."""
    folder = repo.root.parent / "session"
    _run(_TAKE, str(folder), str(repo.root), str(hours))
    return api.load(folder)


def rolled_back(baseline: api.Baseline) -> dict[str, Any]:
    """The report of a rollback, as ``dataclasses.asdict`` gives it."""
    report: dict[str, Any] = json.loads(_run(_ROLLBACK, str(baseline.folder)))
    return report


def _run(program: str, *words: str) -> str:
    command = [*AS_A_USER, sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, check=False, text=True, env={**os.environ, **ENV})
    assert done.returncode == 0, done.stderr
    return done.stdout
