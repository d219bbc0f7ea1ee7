"""Where a test's log lies."""

from __future__ import annotations

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "audit.sqlite3"
