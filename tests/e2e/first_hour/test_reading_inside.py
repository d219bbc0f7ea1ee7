"""What only reads is free inside of a guarded session, with the kernel layer and without it."""

from __future__ import annotations

import pytest

from sentinel_guard.host import kernel_layer

CODES = {"doctor --no-trial": (0, 1), "replay": (0, 1)}
"""Of those whose code says what was found."""
READS = (
    *(
        "log",
        "log --last 3",
        "log --json",
        "log --suspect",
        "status",
        "log verify",
        "snapshots",
        "incidents",
        "questions",
    ),
    *("rollback --dry-run", "snapshots show 1", "allow --list", "daemon status", "check -- ls"),
    *("policy show", "policy validate", "policy test", "secrets scan", "doctor --no-trial", "incidents show", "replay"),
)


@pytest.mark.parametrize("mode", ["off", "require"])
def test_reading_is_free(stage, mode):
    if mode == "require" and not kernel_layer.probed(kernel_layer.begin_probe())[0]:
        pytest.skip("no system calls can be held here")
    stage.policy(f'[kernel]\nmode = "{mode}"\n')
    stage.commit(a__txt="a\n")
    stage.write("a.txt", "b\n")
    stage.agent("git reset --hard", "rm -rf /")  # leaves a snapshot and a report
    (stage.folder / "seen.json").unlink()  # what is there already, and outside, is asked about
    _, seen = stage.agent("echo more > a.txt", *(f"sentinel-guard {verb}" for verb in READS))
    told = dict(zip(READS, seen[1:], strict=True))
    for verb, step in told.items():
        assert step["code"] in CODES.get(verb, (0,)), step
        assert "403" not in step["err"] and "KILL" not in step["err"], step
    assert "Comes back as it was (1):\n  changed  a.txt" in told["rollback --dry-run"]["out"]


def test_git_shows_what_has_changed_since_a_snapshot(stage):
    stage.commit(a__txt="a\n")
    stage.write("a.txt", "b\n")
    _, seen = stage.agent("git reset --hard", "sentinel-guard snapshots diff 1")
    way = seen[1]["err"].splitlines()[-1].strip()
    assert way.startswith("git diff ")
    _, [shown] = stage.agent(way)
    assert shown["code"] == 0 and "-b\n+a\n" in shown["out"]
