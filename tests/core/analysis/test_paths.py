"""Path text -> the one absolute name."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.fakes import FakeWorld

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
    assert paths.emptied_folder(text, source, unmatched=unmatched) == expected


@pytest.mark.parametrize(("path", "expected"), [("/a/./b//../c/", "/a/c"), ("/..", "/"), ("/", "/")])
def test_normal(path, expected):
    assert paths.normal(path) == expected


def test_names_that_differ_in_case_only_are_one_where_the_file_system_says_so():
    for folds, expected in ((True, "/w/.env"), (False, "/w/.ENV")):
        world = FakeWorld({"/w/.env": "x", "/w/Secrets/k": "x"}, folds=folds)
        assert paths.locate(".ENV", "/w", world) == expected
        assert paths.locate(".ENV", "/w", world, follow=False) == expected
    assert paths.locate("secrets/new", "/w", FakeWorld({"/w/Secrets/k": "x"}, folds=True)) == "/w/Secrets/new"


def test_accents_are_one_name_in_both_encodings_there():
    world = FakeWorld({"/w/caf\u00e9": "x"}, folds=True)
    assert paths.locate("cafe\u0301", "/w", world) == "/w/caf\u00e9"


def test_a_letter_that_looks_alike_is_another_file():
    assert paths.locate(".\u0435nv", "/w", FakeWorld({"/w/.env": "x"}, folds=True)) == "/w/.\u0435nv"


def test_the_name_that_led_to_a_file_counts_as_well_as_the_file():
    world = FakeWorld(
        {"/w/a": "x", "/vault/env": "x", "/vault/k/x": "x"}, links={"/w/.env": "../vault/env", "/w/s": "/vault/k"}
    )
    for text, wanted in (
        ("echo x > .env", {"/vault/env", "/w/.env"}),
        ("mv a ./.env", {"/w/.env", "/vault/env"}),
        ("cat < .env", {"/vault/env", "/w/.env"}),
        ("echo x > s/x", {"/vault/k/x", "/w/s/x"}),
        ("echo x > /vault/env", {"/vault/env"}),
    ):
        effects = analyse(Action("a", "s", Layer.SHELL, "shell", {"command": text}, "/w", 0.0, "/w"), world)
        assert {e.target for e in effects if e.kind in (Kind.WRITE, Kind.READ)} == wanted


WRITTEN = [
    ("echo x > hard", {"/w/hard", "/w/.env"}, "under its other name too"),
    ("truncate -s 0 hard", {"/w/hard", "/w/.env"}, "by a program"),
    ("mv x hard", {"/w/hard"}, "another file takes the name"),
    ("rm hard", set(), "the other name stays"),
    ("echo x > other", {"/w/other"}, "a file with one name"),
    ("exec 3< a; echo x > /dev/fd/3", {"/w/a"}, "through a descriptor"),
    ("exec 3< a; echo x > /proc/self/fd/3", {"/w/a"}, "by its longer name"),
    ("exec 3< a; truncate -s 0 /dev/fd/3", {"/w/a"}, "by a program"),
    ("exec 3< a; echo x > /dev/fd/4", set(), "another descriptor"),
    ("exec 3> a; echo x >&3", {"/w/a"}, "opened to be written"),
]


@pytest.mark.parametrize(("text", "wanted"), [w[:2] for w in WRITTEN], ids=[w[2] for w in WRITTEN])
def test_what_is_written_is_written_to_a_file_and_not_to_a_name(text, wanted):
    world = FakeWorld({"/w/.env": "x", "/w/hard": "x", "/w/other": "x"}, twins=(("/w/.env", "/w/hard"),))
    effects = analyse(Action("a", "s", Layer.SHELL, "shell", {"command": text}, "/w", 0.0, "/w"), world)
    assert {e.target for e in effects if e.kind is Kind.WRITE} == wanted
