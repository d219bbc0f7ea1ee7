from __future__ import annotations

import pytest

from tests.support.guarded_repository import Stage


@pytest.fixture
def stage():
    stage = Stage()
    yield stage
    stage.close()
