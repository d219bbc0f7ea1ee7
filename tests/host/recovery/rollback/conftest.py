"""A repository in which a person has just worked."""

from __future__ import annotations

import pytest

from tests.support.recovery.repository import Repo, dirty_template


@pytest.fixture
def repo(tmp_path) -> Repo:
    return dirty_template(tmp_path / "repo")
