"""A repository with work in it, and folders of the guard's own."""

from __future__ import annotations

import pytest

from sentinel_guard.host.machine.state_paths import places
from tests.support.recovery.repository import copied, dirty_template


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return dirty_template(tmp_path_factory.mktemp("shelf") / "repo")


@pytest.fixture
def mine(shared, tmp_path):
    return copied(shared, tmp_path / "repo")


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})
