"""While a session runs, its shims or the whole state folder are deleted or changed: it is ended, with words."""

from __future__ import annotations

import sys

import pytest

PROGRAM = """
import os, shutil, sys, time
state, session, how = sys.argv[1], os.environ["SENTINEL_SESSION"], sys.argv[2]
shims = f"{state}/sessions/{session}/shims"
if how == "state":
    shutil.rmtree(state)
elif how == "folder":
    os.rename(shims, shims + ".old")
elif how == "one":
    os.unlink(f"{shims}/git")
elif how == "bytes":
    os.chmod(f"{shims}/git", 0o700)
    with open(f"{shims}/git", "r+b") as file:
        file.seek(1000)
        file.write(b"x")
time.sleep(8)
open("free", "w").close()
"""
HARMS = (
    ("state", "the whole state folder"),
    ("folder", "the folder of the shims"),
    ("one", "one shim"),
    ("bytes", "the bytes that all of them share"),
)


@pytest.mark.parametrize("how", [row[0] for row in HARMS], ids=[row[1] for row in HARMS])
def test_a_session_whose_shims_are_harmed_is_ended(stage, how):
    stage.commit()
    (stage.folder / "harm.py").write_text(PROGRAM)
    agent = [sys.executable, str(stage.folder / "harm.py"), str(stage.guard / "state"), how]
    done = stage.sentinel("run", "--", *agent)
    assert done.returncode == 137, done
    assert "KILL SWITCH" in done.stderr and "deleted or changed" in done.stderr
    assert not (stage.repo / "free").exists()
    if how != "state":
        (entry,) = [e for e in stage.log(kind="verdict") if e["level"] == "L4"]
        assert entry["data"]["findings"][0]["check"] == "shims"
        assert stage.sentinel("log", "verify").returncode == 0


def test_shims_that_only_were_touched_are_left_alone(stage):
    stage.commit()
    program = "import os, glob, sys, time\nfor f in glob.glob(sys.argv[1]): os.utime(f)\ntime.sleep(3)\nprint('done')\n"
    (stage.folder / "touch.py").write_text(program)
    done = stage.sentinel(
        "run", "--", sys.executable, str(stage.folder / "touch.py"), f"{stage.guard}/state/sessions/*/shims/*"
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
