"""What only reads is free inside of a guarded session, with the kernel layer and without it."""

from __future__ import annotations

import pytest

from sentinel_guard.host import kernel_layer

READS = ("log", "log --last 3", "log --json", "log --suspect", "status", "log verify", "snapshots", "incidents")


@pytest.mark.parametrize("mode", ["off", "require"])
def test_reading_is_free(stage, mode):
    if mode == "require" and not kernel_layer.probed(kernel_layer.begin_probe())[0]:
        pytest.skip("no system calls can be held here")
    stage.policy(f'[kernel]\nmode = "{mode}"\n')
    stage.commit(a__txt="a\n")
    _, seen = stage.agent(*(f"sentinel-guard {verb}" for verb in READS))
    assert len(seen) == len(READS)
    for step in seen:
        assert step["code"] == 0 and "403" not in step["err"] and "KILL" not in step["err"], step
