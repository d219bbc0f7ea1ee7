"""Reading what other programs write: added lines, documents, rows; nothing is waited for, nothing counts half."""

from __future__ import annotations

import json
import os
import sqlite3

import pytest

from sentinel_guard.host import client_records
from sentinel_guard.host.client_records import AddedLines, Document, Rows


def test_a_line_counts_once_and_when_its_end_is_there(tmp_path):
    file = tmp_path / "a.jsonl"
    lines = AddedLines(str(file))
    assert lines.read() == [], "not there yet"
    for text, new in (("one\ntw", [b"one"]), ("o", []), ("\nthree\n", [b"two", b"three"]), ("", [])):
        with file.open("a") as opened:
            opened.write(text)
        assert lines.read() == new


def test_a_file_that_is_another_one_or_shorter_is_read_anew(tmp_path):
    file = tmp_path / "a.jsonl"
    lines = AddedLines(str(file))
    file.write_text("one\ntwo\n")
    assert len(lines.read()) == 2
    file.write_text("x\n")
    assert lines.read() == [b"x"]
    (tmp_path / "b").write_text("y\nz\n")
    (tmp_path / "b").rename(file)
    assert lines.read() == [b"y", b"z"]


def test_of_a_long_file_the_end_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(client_records, "FIRST", 10)
    file = tmp_path / "a.jsonl"
    file.write_text("0123456789\nabc\ndef\n")
    assert AddedLines(str(file)).read() == [b"abc", b"def"], "the line that is cut in two is left out"


def test_a_pipe_is_no_record_and_is_not_waited_for(tmp_path):
    pipe = tmp_path / "a.jsonl"
    os.mkfifo(pipe)
    assert AddedLines(str(pipe)).read() == []
    assert Document(str(pipe)).read() is None
    assert Rows(str(pipe), "select 1 as id, 2 as data where ?").read(0.0) == []
    assert client_records.first_object(str(pipe)) == {}


def test_a_document_counts_when_it_was_written_and_is_whole(tmp_path):
    file = tmp_path / "a.json"
    document = Document(str(file))
    assert document.read() is None
    file.write_text('{"a": ')
    assert document.read() is None, "half written"
    file.write_text('{"a": 1}')
    assert document.read() == {"a": 1}
    assert document.read() is None, "as it was"
    file.write_text('{"a": 12}')
    assert document.read() == {"a": 12}
    file.write_text("[1]")
    with pytest.raises(ValueError, match="no JSON object"):
        document.read()


def test_rows_that_are_new_or_changed(tmp_path):
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as db:
        db.execute("create table m (id text primary key, at integer, data text)")
        db.executemany("insert into m values (?, ?, ?)", [("a", 1000, '{"n": 1}'), ("b", 5000, '{"n": 2}')])
    rows = Rows(str(path), "select id, data from m where at >= ?")
    assert rows.read(2.0) == [{"id": "b", "data": {"n": 2}}]
    assert rows.read(2.0) == []
    with sqlite3.connect(path) as db:
        db.execute("update m set data = '{\"n\": 3}' where id = 'b'")
    assert rows.read(2.0) == [{"id": "b", "data": {"n": 3}}]


def test_a_database_of_another_shape_is_said(tmp_path):
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as db:
        db.execute("create table other (id text)")
    with pytest.raises(ValueError, match="no such table"):
        Rows(str(path), "select id, data from m where at >= ?").read(0.0)
    path.write_text("no database, and long enough to be looked at as one" * 10)
    with pytest.raises(ValueError, match="not a database"):
        Rows(str(path), "select id, data from m where at >= ?").read(0.0)


def test_a_query_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(client_records, "QUERY", 0.05)
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as db:
        endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select x as id, x as data from n"
        db.execute(f"create view m as {endless}")
    with pytest.raises(ValueError, match="interrupted"):
        Rows(str(path), "select id, data from m where id >= ? order by data desc").read(0.0)


def test_files_that_have_changed_since(tmp_path):
    for name, at in (("a/x.jsonl", 100.0), ("b/x.jsonl", 200.0), ("b/x.txt", 200.0)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (at, at))
    assert client_records.find(str(tmp_path), ("*/*.jsonl",), 150.0) == [str(tmp_path / "b/x.jsonl")]
    assert client_records.find(str(tmp_path / "none"), ("*",), 0.0) == []


@pytest.mark.parametrize(
    ("text", "first"),
    [('{"a": 1}\n{"b": 2}\n', {"a": 1}), ('{\n "a": 1\n}', {"a": 1}), ("[1]", {}), ("{", {}), ("", {})],
    ids=["a line", "a document", "a list", "half an object", "nothing"],
)
def test_the_first_object(tmp_path, text, first):
    (tmp_path / "a").write_text(text)
    assert client_records.first_object(str(tmp_path / "a")) == first


def test_no_object_on_a_line():
    for line in (b"[1]", b"{", b"[" * 100_000):
        with pytest.raises(ValueError):
            client_records.parse_object(line)
    assert client_records.parse_object(json.dumps({"a": 1}).encode()) == {"a": 1}


@pytest.mark.parametrize("kind", ["missing", "fifo", "folder", "endless", "no path"])
def test_what_is_no_regular_file_is_not_read(tmp_path, kind):
    made = tmp_path / "it"
    path = {"endless": "/dev/zero", "no path": "a\0b"}.get(kind, str(made))
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        made.mkdir()
    assert client_records.last_lines(path, 10) == []
    with pytest.raises((OSError, ValueError)):
        client_records.text(path, 10)


def test_so_much_of_a_file_is_read_and_no_more(tmp_path):
    file = tmp_path / "it"
    file.write_text("one\ntwo\nthree\n")
    assert client_records.last_lines(str(file), 10) == ["two", "three"]
    assert client_records.text(str(file), 14) == "one\ntwo\nthree\n"
    with pytest.raises(ValueError, match="more than 13 bytes"):
        client_records.text(str(file), 13)
