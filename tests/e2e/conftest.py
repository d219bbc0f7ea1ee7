from __future__ import annotations

import pytest

from sentinel_guard.host import kernel_layer
from tests.support.guarded_repository import Stage


@pytest.fixture(scope="session")
def guard():
    guard = Stage()
    # Not by a session, which might have fewer rights than others: its daemon could not read their processes.
    assert guard.sentinel("daemon", "start", cwd=guard.folder).returncode == 0
    yield guard
    guard.close()


@pytest.fixture
def stage(guard):
    """A stage whose daemon serves the other tests too: to start one costs more than most tests."""
    stage = Stage(served_by=guard)
    yield stage
    stage.close()


@pytest.fixture
def alone():
    """A stage with a guard of its own, for what harms it, or looks at all that it holds. A module whose tests all need
    one has it by ``stage = alone``.
    """
    stage = Stage()
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
