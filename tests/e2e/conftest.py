from __future__ import annotations

import pytest

from sentinel_guard.host import kernel_layer
from tests.support.guarded_repository import Stage


@pytest.fixture
def stage():
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture(scope="module")
def guard():
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture
def served(guard):
    """A stage whose daemon serves the module's other tests, too. Where a test needs no daemon of its own, this is half
    of its cost: a module has it by ``stage = served``.
    """
    stage = Stage(served_by=guard)
    yield stage
    stage.close()


@pytest.fixture(scope="session")
def layer():
    """Whether the kernel layer works here, and in words how or why not."""
    return kernel_layer.probed(kernel_layer.begin_probe())


@pytest.fixture
def held(stage, layer):
    works, words = layer
    if not works:
        pytest.skip(f"the kernel layer: {words}")
    stage.policy('[kernel]\nmode = "require"\n')
    stage.commit(a__txt="a\n")
    return stage
