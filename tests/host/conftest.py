"""Repositories to roll back."""

from __future__ import annotations

import pytest

from tests.support.recovery.repository import dirty_template, template


@pytest.fixture
def clean(tmp_path):
    return template(tmp_path / "repo")


@pytest.fixture
def mine(tmp_path):
    return dirty_template(tmp_path / "repo")
