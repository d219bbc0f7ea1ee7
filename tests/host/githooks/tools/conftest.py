"""The repository into which the tools and we put hooks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.installed_hooks import Hooked


@pytest.fixture
def repo(tmp_path: Path):
    settings = Path(os.environ["HOME"], ".gitconfig")
    before = settings.read_bytes()
    yield Hooked(tmp_path)
    settings.write_bytes(before)
