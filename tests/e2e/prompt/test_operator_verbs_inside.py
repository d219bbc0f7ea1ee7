"""A person who follows the guard's advice inside of a session is refused in words, however often, and is not ended."""

from __future__ import annotations

import json

import pytest

from tests.support.guarded_repository import BIN

VERBS = (
    *("allow .env", "install", "uninstall", "daemon stop", "daemon stop --force", "run -- true", "pause", "resume"),
    *("kill --yes", "approve", "deny", "revoke", "rollback", "demo"),
)
READS = ("status", "questions", "log -n 1", "incidents list", "snapshots list", "daemon status")


SCRIPT = """\
import json, subprocess
for words in json.loads(bytes.fromhex(open("verbs.hex").read())):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    print(done.returncode, repr(done.stderr[-300:]), flush=True)
"""


def program_of(stage, lines):
    """A script that takes its commands from a file: what it starts is met by the guard's own command line."""
    (stage.repo / "advice.py").write_text(SCRIPT)
    verbs = json.dumps([[str(BIN / "sentinel-guard"), *line.split()] for line in lines])
    (stage.repo / "verbs.hex").write_text(verbs.encode().hex())
    stage.commit()
    return "python3 advice.py"


@pytest.mark.parametrize("lines", [VERBS, ("allow .env",) * 4], ids=["each verb", "one again and again"])
def test_operator_verbs_are_refused_with_the_way_out_and_end_nothing(stage, lines):
    _, [told] = stage.agent(program_of(stage, lines))
    rows = told["out"].splitlines()
    assert len(rows) == len(lines), told
    assert all(row.startswith("126 ") and "outside of this session" in row for row in rows), rows
    assert not [e for e in stage.log() if e["level"] == "L4"]
    assert stage.log(kind="end"), "the session ended by itself"


def test_reading_verbs_are_free(stage):
    _, [told] = stage.agent(program_of(stage, READS))
    assert [row.split()[0] for row in told["out"].splitlines()] == ["0"] * len(READS), told
    assert not [e for e in stage.log() if e["level"] in {"L2", "L3", "L4"}]
