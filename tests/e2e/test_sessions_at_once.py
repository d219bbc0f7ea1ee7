"""Sessions that begin together: each keeps its shims and its baseline for as long as it lives. Real processes."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from sentinel_guard.host.recovery.baseline.session_baseline import MANIFEST
from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit

SESSIONS = 8
KEPT = 10
"""Other sessions whose folders are kept; here they are newer than all that begin, which go first where any goes."""


@pytest.fixture
def stage(alone):
    return alone


def test_sessions_that_begin_together_all_keep_what_guards_them(stage):
    stage.commit()
    stage.sentinel("daemon", "start")
    for number in range(KEPT):
        (stage.guard / "state" / "sessions" / f"2999010{number}-000000-0000" / "shims").mkdir(parents=True)
    gate = stage.folder / "gate"
    agent = f'until [ -e {gate} ]; do sleep 0.05; done; bash -c "echo x > .env"; echo "code $?"'
    running = [
        subprocess.Popen(
            [str(BIN / "sentinel-guard"), "run", "--", "/bin/sh", "-c", agent],
            cwd=stage.repo, env=stage.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(SESSIONS)
    ]  # fmt: skip
    folder = stage.guard / "state" / "sessions"
    deadline = time.monotonic() + limit(120)
    while len(stage.log(kind="session")) < SESSIONS:
        assert time.monotonic() < deadline, "the sessions did not begin"
        time.sleep(0.5)
    time.sleep(1)
    whole = [p.name for p in folder.iterdir() if _stands(p)]
    gate.touch()
    said = [p.communicate(timeout=limit(90)) for p in running]
    assert set(whole) >= {e["session"] for e in stage.log(kind="session")[:SESSIONS]}
    assert [out.decode().strip() for out, _ in said] == ["code 126"] * SESSIONS, said[0]
    assert (stage.repo / ".env").read_text() == "MODE=debug\n"


def _stands(session: Path) -> bool:
    return os.access(session / "shims" / "bash", os.X_OK) and (session / "baseline" / MANIFEST).exists()
