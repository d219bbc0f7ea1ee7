"""The overlay finds a path where the world does, though it asks for each folder once."""

from __future__ import annotations

import os

import pytest

from sentinel_guard.core.analysis.expansion.file_overlay import MAX_GLOBS, Overlay
from sentinel_guard.host.world import HostWorld

PATHS = [
    ("src/main.py", "a file"),
    ("src/none/x", "nothing there"),
    ("link", "a link to a folder"),
    ("link/main.py", "through a link"),
    ("link/", "a closing slash"),
    ("link/..", "the folder above the link's target"),
    ("src/./main.py", "a dot within"),
    ("src/up/link/main.py", "a link through a link"),
    ("dangling", "a link to nothing"),
    ("dangling/x", "below a link to nothing"),
    ("loop", "a link to itself"),
    ("loop/x", "below a link to itself"),
    ("src/main.py/x", "below a file"),
    ("", "the folder itself"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    top = tmp_path_factory.mktemp("overlay")
    (top / "src").mkdir()
    (top / "src" / "main.py").write_text("")
    for name, target in (("link", "src"), ("src/up", ".."), ("dangling", "gone"), ("loop", "loop")):
        (top / name).symlink_to(target)
    return HostWorld({"HOME": str(top)}), str(top)


@pytest.mark.parametrize(("path", "why"), PATHS, ids=[why for _, why in PATHS])
def test_a_path_lies_where_the_world_says(world, path, why):
    host, top = world
    overlay = Overlay(host)
    for known in ("", "src", "link/x", path):
        overlay.resolve(f"{top}/{known}")
    assert overlay.resolve(f"{top}/{path}") == os.path.realpath(f"{top}/{path}"), why


def test_what_the_text_links_is_followed_from_then_on(world):
    host, top = world
    overlay = Overlay(host)
    assert overlay.resolve(f"{top}/new/x") == f"{host.resolve(top)}/new/x"
    overlay.link(f"{host.resolve(top)}/new", "/etc")
    assert overlay.resolve(f"{top}/new/x") == "/etc/x"


def test_one_text_does_not_search_for_ever(world):
    real, top = world
    overlay = Overlay(real)
    for n in range(MAX_GLOBS):
        assert overlay.glob(f"{top}/s*{'*' * n}") == (f"{top}/src",)
    assert not overlay.cut
    assert overlay.glob(f"{top}/sr*") == ()
    assert overlay.cut
    assert overlay.glob(f"{top}/s*") == (f"{top}/src",), "what was looked up is known"
    assert not overlay.cut


def test_the_outermost_link_of_the_text_is_followed_first(world):
    host, top = world
    overlay, real = Overlay(host), host.resolve(top)
    overlay.link(f"{real}/a/b", "/etc")
    overlay.link(f"{real}/a", "/usr")
    assert overlay.resolve(f"{real}/a/b/x") == "/usr/b/x"
    assert overlay.resolve(f"{real}/ab/x") == f"{real}/ab/x"


def test_an_operand_that_was_located_leads_elsewhere_once_the_text_links_it(world):
    below, top = world
    overlay = Overlay(below)
    assert overlay.located("none/x", top) == f"{top}/none/x"
    overlay.link(f"{top}/none", f"{top}/src")
    assert overlay.located("none/x", top) == f"{top}/src/x"
    assert overlay.located("/dev/fd/3", top) == "/dev/fd/3"
    overlay.open("3", f"{top}/src/main.py")
    assert overlay.located("/dev/fd/3", top) == f"{top}/src/main.py"


STDIN = [
    ("/dev/stdin", "/", True, "its name"),
    ("/x/../dev/./stdin", "/", True, "the same in a roundabout way"),
    ("fd/0", "/dev", True, "from where it lies"),
    ("fd/0", "/proc/self", True, "by the process"),
    ("mine", "/r", True, "a link that the text made"),
    ("stdin", "/r", False, "a file that is called so"),
    ("devices/stdin", "/r", False, "another folder"),
]


@pytest.mark.parametrize(("text", "cwd", "wanted"), [row[:3] for row in STDIN], ids=[row[3] for row in STDIN])
def test_standard_input_is_known_by_all_its_names(world, text, cwd, wanted):
    overlay = Overlay(world[0])
    if text == "mine":
        overlay.link("/r/mine", "/dev/stdin")
    assert overlay.is_stdin(text, cwd) is wanted
