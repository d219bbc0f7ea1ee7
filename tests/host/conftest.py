"""Repositories to roll back: made once, copied for each test."""

from __future__ import annotations

import pytest

from tests.support.recovery.repository import copied, dirty, template


@pytest.fixture(scope="session")
def templates(tmp_path_factory):
    top = tmp_path_factory.mktemp("templates")
    made = {"clean": template(top / "clean"), "dirty": template(top / "dirty")}
    dirty(made["dirty"])
    return made


@pytest.fixture
def clean(templates, tmp_path):
    return copied(templates["clean"], tmp_path / "repo")


@pytest.fixture
def mine(templates, tmp_path):
    return copied(templates["dirty"], tmp_path / "repo")
