"""The daemon is killed, its log rewritten, both attacked, while calls are held: nothing is free, nothing is forged."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from tests.e2e.test_kernel_layer import kernel_verdicts, program
from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit
from tests.support.wait_until import until


@pytest.fixture
def stage(alone):
    return alone


def test_without_the_daemon_work_goes_on_and_what_is_restricted_is_refused_until_it_is_back(held):
    held.sentinel("daemon", "start")
    [pid] = held.daemons()
    code = """
def refused():
    try: open(name, 'w')
    except OSError: return True
first = refused()
open('ready', 'w'); time.sleep(1)
print(first, refused(), open('c.txt', 'w').write('c'))
time.sleep(float(os.environ["BACK"]))
print(refused())
"""
    run = [str(BIN / "sentinel-guard"), "run", "--", *program(held, ".env", code).split()]
    environ = {**held.environ, "BACK": str(limit(4))}  # the runner finds its daemon again by then
    with subprocess.Popen(run, cwd=held.repo, env=environ, stdout=subprocess.PIPE, text=True) as agent:
        assert until((held.repo / "ready").exists, 20)
        os.kill(pid, signal.SIGKILL)
        out, _ = agent.communicate(timeout=limit(60))
    assert out.split() == ["True", "True", "1", "True"]
    assert len(kernel_verdicts(held)) >= 2, "the daemon that came after it was asked again"


def edits(held):
    return [e["data"]["what"] for e in held.log(kind="daemon") if e["data"]["event"] == "log-edited"]


@pytest.mark.parametrize("held_calls", [True, False], ids=["held", "without the layer"])
def test_a_log_that_was_rewritten_with_its_head_is_known_from_the_broker(held, held_calls):
    if not held_calls:
        held.policy('[kernel]\nmode = "off"\n')
    held.sentinel("daemon", "start")
    [pid] = held.daemons()
    log = held.guard / "state/audit.sqlite3"
    wait = "import os, pathlib, time\nos.system('git status')\nwhile not pathlib.Path('end').exists(): time.sleep(0.1)"
    run = [str(BIN / "sentinel-guard"), "run", "--", sys.executable, "-c", wait]
    with subprocess.Popen(run, cwd=held.repo, env=held.environ) as agent:
        assert until(lambda: held.log(kind="verdict"), 20)
        time.sleep(2.5)  # the head is named within a second, and told within another
        forged = held.folder / "forged"
        with contextlib.closing(sqlite3.connect(log)) as db:
            db.execute("VACUUM INTO ?", (str(forged),))
        with contextlib.closing(sqlite3.connect(forged, isolation_level=None)) as db:
            triggers = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
            for name in triggers:
                db.execute(f"DROP TRIGGER {name}")
            db.execute("DELETE FROM log WHERE kind != 'session'")
            [(seq, digest)] = db.execute("SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1").fetchall()
        os.kill(pid, signal.SIGKILL)
        for name in ("audit.sqlite3-wal", "audit.sqlite3-shm"):
            (log.parent / name).unlink(missing_ok=True)
        forged.replace(log)
        log.with_suffix(".head").write_text(f"{seq} {digest}\n")
        assert until(lambda: held.daemons() not in ([], [pid]), 30)
        # Without the layer nobody remembers: it is given the time in which the broker would have told.
        words = until(lambda: edits(held), 8 if held_calls else 4)
        found = held.sentinel("log", "verify").returncode
        (held.repo / "end").touch()
        agent.wait(limit(30))
    assert bool(found) is held_calls
    assert bool(words) is held_calls and all("was told of entry" in said for said in words)


def test_the_guards_own_files_and_processes_are_out_of_reach(held):
    held.sentinel("daemon", "start")
    [pid] = held.daemons()
    reach = f"""import os, pathlib
for act in (lambda: os.kill({pid}, 9), lambda: os.truncate({str(held.guard / "state/audit.sqlite3")!r}, 0)):
    try: act(); print('done')
    except OSError as e: print(e.errno)
"""
    held.write("reach.py", reach)
    done = held.sentinel("run", "--", sys.executable, "reach.py")
    assert "done" not in done.stdout and held.daemons() == [pid], done
    assert held.sentinel("log", "verify").returncode == 0
