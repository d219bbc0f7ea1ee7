"""Files: whole or not at all, modes kept, TOML that says what is wrong with it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.machine import atomic_files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private(tmp_path: Path) -> None:
    atomic_files.write(tmp_path / "a", b"x")
    assert ((tmp_path / "a").read_bytes(), mode(tmp_path / "a")) == (b"x", 0o600)


def test_the_mode_is_kept_or_given(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    atomic_files.write(path, b"new")
    assert mode(path) == 0o640
    atomic_files.write(path, b"newer", 0o755)
    assert (path.read_bytes(), mode(path)) == (b"newer", 0o755)


def test_nothing_is_left_aside(tmp_path: Path) -> None:
    atomic_files.write(tmp_path / ("n" * 250), b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["n" * 250]


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "link").symlink_to("dotfiles/real")
    atomic_files.write(tmp_path / "link", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dotfiles" / "real").read_bytes() == b"x"


def test_a_failure_says_what_to_do_and_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x").touch()
    with pytest.raises(HostError, match="Cannot write") as caught:
        atomic_files.write(tmp_path / "folder", b"x")
    assert caught.value.hint
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder"]
    with pytest.raises(HostError, match="No such file"):
        atomic_files.write(tmp_path / "none" / "x", b"x")


BROKEN = [
    (b"a = ", "not TOML", "half a line"),
    (b"a = [" * 5000, "not TOML", "nesting without end"),
    (b"a = 1" + b"1" * 5000, "not TOML", "a number over the interpreter's limit"),
    (b"\xff\xfe", "is not UTF-8 at byte 0", "another encoding"),
    (b"#" * (atomic_files.MAX_TOML + 1), "over the limit", "a huge file"),
    (b"a" + b".a" * 16_000 + b" = 1", "more than 8 dots", "a key that takes seconds to parse"),
    (b"[" + b"a . " * 9 + b"a]", "more than 8 dots", "a table of that name, with blanks"),
    (b"x = {" + b"'a'." * 9 + b"a = 1}", "more than 8 dots", "quoted parts, inside of a table"),
]


@pytest.mark.parametrize(("data", "words"), [b[:2] for b in BROKEN], ids=[b[2] for b in BROKEN])
def test_what_is_no_toml_is_said(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "sentinel.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=words) as caught:
        atomic_files.read_toml(path)
    assert str(path) in caught.value.message


DOTS = (
    "a.b.c.d.e.f.g.h.i = 1",
    'x = "1.2.3.4.5.6.7.8.9.10.11"',
    'x = """\na.b.c.d.e.f.g.h.i.j.k = 1\n"""',
    "x = '''\n\"a.b.c.d.e.f.g.h.i.j.k\n'''",
    "x = 1 # a.b.c.d.e.f.g.h.i.j.k",
    "x = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5]",
)


@pytest.mark.parametrize("text", DOTS)
def test_dots_in_texts_and_comments_are_no_key(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sentinel.toml"
    path.write_text(text)
    assert atomic_files.read_toml(path)[1] == text


def test_strings_are_counted_before_the_file_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "sentinel.toml"
    path.write_text("x = ['a', \"b\", '''c'''] # 'd'")
    assert atomic_files.read_toml(path, most=atomic_files.Size(strings=3))
    with pytest.raises(ConfigError, match="holds 3 patterns and texts; 2 are possible"):
        atomic_files.read_toml(path, most=atomic_files.Size(strings=2))


def test_what_is_no_file_is_said_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, words in (
        (tmp_path, "directory|not a file"),
        (tmp_path / "pipe", "not a file"),
        (tmp_path / "no", "No such"),
    ):
        with pytest.raises(ConfigError, match=words):
            atomic_files.read_toml(path)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfversion = 1\n")
    assert atomic_files.read_toml(tmp_path / "a")[0] == {"version": 1}


APPENDED = [
    (b"", b'[[rule]]\nid = "x"\n', "an empty file"),
    (b"# mine\nversion = 1\n", b'# mine\nversion = 1\n\n[[rule]]\nid = "x"\n', "after a closed line"),
    (b"# mine", b'# mine\n\n[[rule]]\nid = "x"\n', "after an open line"),
    (b"[loop]\nwindow = 3\n", b'[loop]\nwindow = 3\n\n[[rule]]\nid = "x"\n', "after a table, and not into it"),
    (b"a = 1\r\n", b'a = 1\r\n\n[[rule]]\nid = "x"\n', "line ends of another system"),
]


@pytest.mark.parametrize(("before", "after"), [a[:2] for a in APPENDED], ids=[a[2] for a in APPENDED])
def test_tables_are_added_below_what_a_person_wrote(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "sentinel.toml"
    path.write_bytes(before)
    atomic_files.append_toml(path, {"rule": [{"id": "x"}]})
    assert path.read_bytes() == after


def test_tables_that_do_not_fit_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "sentinel.toml"
    path.write_bytes(b"[loop]\nwindow = 3\n")
    with pytest.raises(ConfigError, match="does not fit"):
        atomic_files.append_toml(path, {"loop": {"window": 4}})
    assert path.read_bytes() == b"[loop]\nwindow = 3\n"


def test_tables_make_a_new_file(tmp_path: Path) -> None:
    atomic_files.append_toml(tmp_path / "new", {"loop": {"strict": True}})
    assert atomic_files.read_toml(tmp_path / "new")[0] == {"loop": {"strict": True}}
