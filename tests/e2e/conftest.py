from __future__ import annotations

import pytest

from sentinel_guard.host import kernel_layer
from tests.support.guarded_repository import Stage


@pytest.fixture
def stage():
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture
def held(stage):
    works, words = kernel_layer.probed(kernel_layer.begin_probe())
    if not works:
        pytest.skip(f"the kernel layer: {words}")
    stage.policy('[kernel]\nmode = "require"\n')
    stage.commit(a__txt="a\n")
    return stage
