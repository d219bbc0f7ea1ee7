"""Folders of the guard's own."""

from __future__ import annotations

import pytest

from sentinel_guard.host.machine.state_paths import places


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})
