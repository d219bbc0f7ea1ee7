"""Repositories to roll back: made once, copied for each test."""

from __future__ import annotations

import pytest

from tests.support.recovery.repository import copied, dirty_template, template


@pytest.fixture(scope="session")
def templates(tmp_path_factory):
    top = tmp_path_factory.mktemp("templates")
    return {"clean": template(top / "clean"), "dirty": dirty_template(top / "dirty")}


@pytest.fixture
def clean(templates, tmp_path):
    return copied(templates["clean"], tmp_path / "repo")


@pytest.fixture
def mine(templates, tmp_path):
    return copied(templates["dirty"], tmp_path / "repo")
