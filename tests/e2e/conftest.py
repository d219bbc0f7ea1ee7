from __future__ import annotations

import pytest

from tests.e2e.stage import Stage


@pytest.fixture
def stage():
    stage = Stage()
    yield stage
    stage.close()
