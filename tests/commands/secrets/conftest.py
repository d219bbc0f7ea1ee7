"""The repository that the tests of ``secrets`` look into."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    monkeypatch.delenv("SENTINEL_SESSION", raising=False)
    return root
