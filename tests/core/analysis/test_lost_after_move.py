"""What is moved somewhere and lost there is lost from where it was."""

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import REPO, effects_of, repository

HOME = "/home/ann"
WORLD = repository(
    {f"{HOME}/docs/a.pdf": "x", f"{HOME}/docs/b.pdf": "x", "src/a.py": "x\n"},
    folders=(f"{HOME}/docs", f"{REPO}/src", "/tmp"),
)
ROWS = [
    ("mv ~/docs /tmp/x && rm -rf /tmp/x", [f"{HOME}/docs"], "a folder"),
    ("mv ~/docs/* /tmp/x; rm -rf /tmp/x", [f"{HOME}/docs", f"{HOME}/docs/a.pdf", f"{HOME}/docs/b.pdf"], "all in it"),
    ("mkdir /tmp/x; mv ~/docs/a.pdf ~/docs/b.pdf /tmp/x/; rm -r /tmp/x", [f"{HOME}/docs/a.pdf", f"{HOME}/docs/b.pdf"],
     "several, by the folder that they lie in now"),
    ("mkdir /tmp/x; mv ~/docs/a.pdf ~/docs/b.pdf /tmp/x/; rm /tmp/x/a.pdf", [f"{HOME}/docs/a.pdf"], "one of several"),
    ("mv ~/docs/a.pdf /tmp/a; : > /tmp/a", [f"{HOME}/docs/a.pdf"], "emptied there"),
    ("mv src/a.py /tmp/a.py; mv /tmp/a.py src/a.py", [], "there and back"),
    ("cp ~/docs/a.pdf /tmp/a; rm /tmp/a", [], "a copy"),
    ("rm /tmp/a; mv ~/docs/a.pdf /tmp/a", [], "lost before"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "lost"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_what_is_lost(text: str, lost: list[str]) -> None:
    found = effects_of(text, WORLD)
    targets = {e.target for e in found if e.kind is Kind.DELETE and "move" not in e.how}
    assert sorted(path for path in targets if path.startswith(HOME)) == lost
