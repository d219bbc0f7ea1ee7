"""A folder that the text copied holds what the folder held that it is a copy of, and what was put there since."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from tests.support.fakes import FakeWorld

FILES = {
    "/p/a/x.py": "x",
    "/p/a/sub/y.py": "y",
    "/p/a/.env": "TOKEN=1",
    "/p/a/big.bin": "\0",
    "/p/b/x.py": "other",
    "/q/x.py": "old",
    "/q/z.py": "z",
}
READ = [
    ("/n/x.py", "x", "at its new name"),
    ("/n/sub/y.py", "y", "below it"),
    ("/n/none.py", None, "nothing there"),
    ("/n/.env", None, "a secret, by its name"),
    ("/n/led.py", None, "behind a link, which may lead elsewhere from there"),
    ("/n/made.py", "made", "what the text had put into it"),
    ("/n/later.py", None, "what the text put into it later"),
    ("/nx/x.py", None, "another folder"),
    ("/m/a/x.py", "x", "a copy of a copy"),
    ("/p/a/x.py", "x", "the old one"),
    ("/q/x.py", "x", "over what was there"),
    ("/q/z.py", "z", "beside what was there"),
    ("/q/w.py", "w", "beside what the text had put there"),
    ("/q/sub/y.py", "y", "over what the text had put there"),
    ("/r/x.py", "x", "the last copy counts"),
    ("/s/x.py", "mine", "what was written into a copy"),
]


@pytest.fixture
def overlay() -> Overlay:
    found = Overlay(FakeWorld(FILES, links={"/p/a/led.py": "../b/x.py"}))
    found.write("/p/a/made.py", "made")
    found.write("/q/w.py", "w")
    found.write("/q/sub/y.py", "mine")
    for source, target in (
        ("/p/a", "/n"),
        ("/n", "/m/a"),
        ("/p/a", "/q"),
        ("/p/b", "/r"),
        ("/m/a", "/r"),
        ("/r", "/s"),
    ):
        found.copy(source, target)
    found.write("/s/x.py", "mine")
    found.write("/p/a/later.py", "later")
    return found


@pytest.mark.parametrize(("path", "text", "why"), READ, ids=[row[2] for row in READ])
def test_what_a_file_of_a_copy_holds(overlay: Overlay, path: str, text: str | None, why: str) -> None:
    assert overlay.read(path) == text, why


def test_what_lies_in_a_copy(overlay: Overlay) -> None:
    kinds = {"/n": "dir", "/n/sub": "dir", "/n/x.py": "file", "/n/.env": "file", "/n/led.py": "link", "/n/no": ""}
    assert {path: overlay.kind(path) for path in kinds} == kinds
    assert sorted(overlay.glob("/n/*.py")) == ["/n/led.py", "/n/made.py", "/n/x.py"]
    assert sorted(overlay.glob("/n/*/*.py")) == ["/n/sub/y.py"]
    assert overlay.glob("/[n]/sub/*") == ()
    assert overlay.fulfils("/n/.env", "TOKEN=1".__eq__)


def test_a_copy_is_a_change_that_a_loop_sees(overlay: Overlay) -> None:
    before = overlay.changes()
    overlay.copy("/p/a", "/t")
    assert overlay.changes() != before


def test_what_came_from_the_network_is_so_in_a_copy() -> None:
    overlay = Overlay(FakeWorld(FILES))
    overlay.fetched = {"/p/a/x.py", "/p/b"}
    for source, target in (("/p/a", "/n"), ("/p/b/sub", "/m"), ("/q", "/o")):
        overlay.copy(source, target)
    fetched = {"/n/x.py": True, "/n/sub/y.py": False, "/m/x": True, "/o/x.py": False}
    assert {path: overlay.is_fetched(path) for path in fetched} == fetched
