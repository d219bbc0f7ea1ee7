"""The repository that ``judge`` is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.hook_repositories import made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made(tmp_path / "repo")
