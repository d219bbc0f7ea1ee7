"""A repository with one file, and a guard's home beside it."""

from __future__ import annotations

import pytest

from sentinel_guard.host.machine.state_paths import places
from tests.support.recovery.rollback_by_hand import repository


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


@pytest.fixture
def repo(tmp_path):
    return repository(tmp_path / "repo")
