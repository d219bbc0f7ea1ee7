"""Where an installer's options lead what it installs: it is written there."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository

WORLD = repository({})
ROWS = [
    ("pip install --target / x && python3 -m x", "/", "Python's, and what is then run lies there"),
    ("pip install --target=/etc x", "/etc", "with an equals sign"),
    ("python3 -m pip install -t /usr/lib x", "/usr/lib", "by the interpreter"),
    ("uv pip install --prefix /usr/local x", "/usr/local", "another one for Python"),
    ("npm install -g --prefix /usr x", "/usr", "node's"),
    ("cargo install --root /usr ripgrep", "/usr", "Rust's"),
    ("gem install --install-dir /usr/lib/ruby x", "/usr/lib/ruby", "Ruby's"),
    ("pip install --target vendor x", "/home/ann/repo/vendor", "a folder of the repository is told as it is"),
    ("pip install x", "", "no folder is named"),
    ("npm --prefix frontend run build", "", "nothing is installed"),
    ("pip download -d /tmp/x x", "", "another verb"),
]


@pytest.mark.parametrize(("text", "folder"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_what_is_installed_is_written_into_the_folder(text, folder):
    assert [e.target for e in effects_of(text, WORLD) if e.kind is Kind.WRITE] == ([folder] if folder else [])
