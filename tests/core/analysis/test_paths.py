"""Path text -> the one absolute name."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis import paths
from tests.fakes import FakeWorld

WORLD = FakeWorld(
    {"/w/real/file": "x"},
    links={"/w/link": "/w/real", "/w/loop": "/w/loop", "/w/up": "..", "/w/name": "real/file"},
)

LOCATED = [
    ("a", "/w/a", "relative"),
    ("/x/y", "/x/y", "absolute"),
    ("./a//b/.", "/w/a/b", "dots and slashes"),
    ("../x", "/x", "a folder up"),
    ("../../../x", "/x", "the root has no parent"),
    ("link/file", "/w/real/file", "a link on the way"),
    ("link", "/w/real", "a link at the end"),
    ("name", "/w/real/file", "a relative link"),
    ("link/..", "/w", "up from where the link leads"),
    ("up/x", "/x", "a link that leads up"),
    ("/proc/self/cwd/a", "/w/a", "the process's directory"),
    ("/proc/4711/cwd/a", "/w/a", "any process's directory"),
    ("//proc//self//root/etc", "/etc", "the process's root"),
    ("/proc/self/root", "/", "just the root"),
    ("", "/w", "nothing is the directory itself"),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*r[:2], id=r[2]) for r in LOCATED])
def test_locate(text, expected):
    assert paths.locate(text, "/w", WORLD) == expected


NAMED = [
    ("link", "/w/link", "the link itself"),
    ("link/", "/w/real", "a closing slash is what it points to"),
    ("link/.", "/w/real", "so is a dot"),
    ("link/file", "/w/real/file", "links on the way are followed"),
    ("/", "/", "the root"),
    ("/a", "/a", "below the root"),
    ("..", "/", "a folder up"),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*r[:2], id=r[2]) for r in NAMED])
def test_locate_the_name_itself(text, expected):
    assert paths.locate(text, "/w", WORLD, follow=False) == expected


def test_a_link_to_itself_ends():
    assert paths.locate("loop/x", "/w", WORLD).startswith("/")


DEVICES = [
    ("/dev/sda", True, "a disk"),
    ("/dev/mem", True, "memory"),
    ("/proc/sysrq-trigger", True, "the kernel's trigger"),
    ("/dev/null", False, "the bin"),
    ("/dev/fd/1", False, "a descriptor"),
    ("/dev/shm/x", False, "shared memory is a folder"),
    ("/dev/tcp/h/80", False, "a socket of bash"),
    ("/device", False, "another folder"),
]


@pytest.mark.parametrize(("path", "expected"), [pytest.param(*r[:2], id=r[2]) for r in DEVICES])
def test_devices(path, expected):
    assert paths.is_device(path) is expected


EMPTIED = [
    ("build/*", "build/*", True, "build", "a glob that matched nothing"),
    ("/*", "/*", True, "/", "the root"),
    ("*", "*", True, ".", "here"),
    ("/w/a", "/w/*", False, "/w", "one match of it"),
    ("a", "*", False, ".", "one match here"),
    ("a/", "*/", False, ".", "folders only"),
    (".env", ".*", False, ".", "hidden names"),
    ("a.py", "*.py", False, None, "a part of them"),
    ("*", '"*"', False, None, "a quoted star is a name"),
    ("a", "a", False, None, "no glob"),
    ("x", "$x", False, None, "a variable"),
]


@pytest.mark.parametrize(("text", "source", "unmatched", "expected"), [pytest.param(*r[:4], id=r[4]) for r in EMPTIED])
def test_emptied(text, source, unmatched, expected):
    assert paths.emptied(text, source, unmatched=unmatched) == expected


@pytest.mark.parametrize(("path", "expected"), [("/a/./b//../c/", "/a/c"), ("/..", "/"), ("/", "/")])
def test_normal(path, expected):
    assert paths.normal(path) == expected
