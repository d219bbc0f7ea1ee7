"""What a commit adds, read from real repositories: nothing that one can set in them blinds or breaks it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from sentinel_guard.core.secrets.model import Grade, Piece, SecretFind
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.secrets import added_lines, text_chunks
from tests.support.hook_repositories import committed, git, head, made, put

UGLY = os.fsdecode(b"a b\n'\"\t$x\\ \xe9.txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = made(tmp_path / "repo")
    put(folder, "old.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n")
    committed(folder)
    return folder


def new_lines(found: added_lines.Added) -> dict[str, list[str]]:
    """Path -> its new lines."""
    told: dict[str, list[str]] = {}
    for piece in found.texts().pieces:
        if piece.raw:
            told.setdefault(f"{piece.path}, read", []).extend(piece.text.split())
            continue
        numbers = found.new[piece.commit, piece.path]
        lines = enumerate(piece.text.removesuffix("\n").split("\n"), piece.line)
        told.setdefault(piece.path, []).extend(f"{n}:{line}" for n, line in lines if n in numbers)
    return told


def index(root: Path) -> dict[str, list[str]]:
    return new_lines(added_lines.added_lines(root, commit_contents.staged(root)))


def put_all(root: Path, name: str, text: str | bytes, *before: tuple[str, ...]) -> None:
    for command in before:
        git(root, *command)
    put(root, name, text)
    git(root, "add", "-f", "-A", ".")


def change(root: Path) -> None:
    put_all(root, "old.txt", "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten")


def move(root: Path) -> None:
    git(root, "mv", "old.txt", "new.txt")


def move_and_change(root: Path) -> None:
    git(root, "mv", "old.txt", "new.txt")
    put_all(root, "new.txt", "one\ntwo\nthree\nnew\nfour\n")


def copy(root: Path) -> None:
    put_all(root, "copy.txt", (root / "README.md").read_bytes())


def link(root: Path) -> None:
    (root / "link").symlink_to("somewhere else")
    git(root, "add", "link")


def submodule(root: Path) -> None:
    made(root / "sub")
    put_all(root, ".gitmodules", '[submodule "sub"]\n\tpath = sub\n')


def partly(root: Path) -> None:
    put_all(root, "old.txt", "one\nstaged\n")
    put(root, "old.txt", "one\nnot staged\n")


def only_meant(root: Path) -> None:
    put(root, "meant.txt")
    git(root, "add", "-N", "meant.txt")


def executable(root: Path) -> None:
    git(root, "update-index", "--chmod=+x", "old.txt")


def attributes(root: Path) -> None:
    put(root, ".git/info/attributes", "* -diff -text binary\n")
    put_all(root, "a.txt", "x\n")


def driver(root: Path) -> None:
    put(root, ".gitattributes", "*.txt diff=mine\n")
    committed(root)
    put_all(root, "a.txt", "x\n", ("config", "diff.mine.textconv", "false"), ("config", "diff.mine.command", "false"))


def conflict(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "side")
    put(root, "old.txt", "side\n")
    committed(root)
    git(root, "checkout", "-q", "main")
    put(root, "old.txt", "main\n")
    committed(root)
    git(root, "merge", "-q", "side", check=False)


def merge(root: Path) -> None:
    conflict(root)
    put_all(root, "old.txt", "main\nside\nonly of the merge\n")


def changed_binary(root: Path) -> None:
    put(root, "a.db", b"\0\1\2" * 40 + b"TOKEN=old\0")
    committed(root)
    put_all(root, "a.db", b"\0\1\2" * 50 + b"TOKEN=new\0TOKEN=old\0")


def half_wide(root: Path) -> None:
    put_all(root, "a", ("x" * 40_000 + "\n").encode("utf-16-le") + b"TOKEN=abc\n")


HALF = {"a": ["1:" + "x" * 40_000, "2:\u4f54\u454b\u3d4e\u6261\u0a63"], "a, read": ["TOKEN=abc"]}
READ = {"a.db, read": ["TOKEN=abc"]}
LONG = "".join(f"{n}\n" for n in range(40))
INDEX = [
    (lambda r: put_all(r, "a/b.py", "x\n\n y \n"), {"a/b.py": ["1:x", "3: y "]}, "a new file; blank lines are none"),
    (change, {"old.txt": ["2:TWO", "10:ten"]}, "changed lines with their numbers, the last without an end"),
    (lambda r: git(r, "rm", "-q", "old.txt"), {}, "a deletion"),
    (move, {}, "a file that moves"),
    (move_and_change, {"new.txt": ["4:new"]}, "a file that moves and changes"),
    (copy, {"copy.txt": ["1:hello"]}, "a copy of a file that does not change"),
    (executable, {}, "a change of mode"),
    (link, {"link": ["1:somewhere else"]}, "a link: where it points to"),
    (submodule, {".gitmodules": ['1:[submodule "sub"]', "2:\tpath = sub"]}, "a submodule: what .gitmodules says"),
    (partly, {"old.txt": ["2:staged"]}, "partial staging: the index counts"),
    (only_meant, {}, "intent to add: nothing of it is committed"),
    (lambda r: put_all(r, UGLY, "x\n"), {UGLY: ["1:x"]}, "a name with all that a name can have"),
    (lambda r: put_all(r, "old.txt", (r / "old.txt").read_bytes().replace(b"\n", b"\r\n")), {}, "other line ends"),
    (lambda r: put_all(r, "a.txt", b"x\r\ny\r\n"), {"a.txt": ["1:x", "2:y"]}, "CRLF"),
    (lambda r: put_all(r, "a.txt", "x\ny\n".encode("utf-16")), {"a.txt": ["1:x", "2:y"]}, "UTF-16 with its mark"),
    (lambda r: put_all(r, "a.txt", "text\n".encode("utf-16-be")), {"a.txt": ["1:text"]}, "UTF-16 without a mark"),
    (lambda r: put_all(r, "a.txt", b"caf\xe9\n"), {"a.txt": ["1:caf\ufffd"]}, "Latin-1"),
    (lambda r: put_all(r, "a.env", b"TOKEN=abc\n\0"), {"a.env": ["1:TOKEN=abc"]}, "text with a NUL to hide it"),
    (lambda r: put_all(r, "a.bin", b"\0\1\2" * 40), {}, "no text, and nothing to be read in it"),
    (lambda r: put_all(r, "a.db", b"\0\1\2" * 40 + b"TOKEN=abc" + b"\0"), READ, "what can be read in no text"),
    (lambda r: put_all(r, "a.db", "TOKEN=abc\n".encode("utf-32")), READ, "UTF-32"),
    (lambda r: put_all(r, "a.db", b"\0\1" * 40 + "TOKEN=abc".encode("utf-16")), READ, "UTF-16 in no text"),
    (changed_binary, {"a.db, read": ["TOKEN=new"]}, "what could be read in it before is no news"),
    (lambda r: put_all(r, "a", b"\xff\xfeTOKEN=abc\n"), {"a": ["1:\ufffd\ufffdTOKEN=abc"]}, "a mark of UTF-16 alone"),
    (lambda r: put_all(r, "a", b"\xff\xfe\0\0TOKEN=abc\n"), {"a": ["1:\ufffd\ufffd  TOKEN=abc"]}, "of UTF-32 alone"),
    (half_wide, HALF, "UTF-16 to begin with"),
    (attributes, {"a.txt": ["1:x"]}, "attributes that say there is no difference to show"),
    (driver, {"a.txt": ["1:x"]}, "a driver and a converter of the repository's"),
    (lambda r: put_all(r, "a", "x\n", ("config", "diff.external", "false")), {"a": ["1:x"]}, "an external diff"),
    (lambda r: put_all(r, "a", "x\n", ("config", "diff.noprefix", "true")), {"a": ["1:x"]}, "diff.noprefix"),
    (lambda r: put_all(r, "a", "x\n", ("config", "diff.mnemonicPrefix", "1")), {"a": ["1:x"]}, "diff.mnemonicPrefix"),
    (lambda r: put_all(r, "a", "x\n", ("config", "color.ui", "always")), {"a": ["1:x"]}, "colours"),
    (lambda r: put_all(r, "a", "x\n", ("config", "diff.orderFile", "/none")), {"a": ["1:x"]}, "an order that is gone"),
    (lambda r: put_all(r, "a", "x\n", ("config", "core.fsmonitor", "false;")), {"a": ["1:x"]}, "a file system monitor"),
    (lambda r: put_all(r, "a", LONG), {"a": [f"{n + 1}:{n}" for n in range(40)]}, "many lines"),
    (conflict, {}, "a conflict that is not resolved"),
    (merge, {"old.txt": ["3:only of the merge"]}, "the end of a merge: only what no side had"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "expected"), [r[:2] for r in INDEX], ids=[r[2] for r in INDEX])
def test_what_is_staged(root: Path, act, expected) -> None:
    act(root)
    assert index(root) == expected


def test_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "repo")
    put_all(tmp_path / "repo", "a", "x\n")
    assert index(tmp_path / "repo") == {"a": ["1:x"]}


def test_a_replaced_object_does_not_stand_for_the_real_one(root: Path) -> None:
    put_all(root, "a", "real\n")
    harmless = put(root, "harmless", "harmless\n")
    other = git(root, "hash-object", "-w", str(harmless)).stdout.strip()
    git(root, "replace", git(root, "rev-parse", ":a").stdout.strip(), other)
    assert index(root)["a"] == ["1:real"]


def test_a_linked_work_tree_has_its_own_merge(root: Path, tmp_path: Path) -> None:
    git(root, "branch", "side")
    git(root, "worktree", "add", "-q", str(tmp_path / "wt"), "side")
    merge(made(tmp_path / "other"))
    put(root, "old.txt", "main\n")
    committed(root)
    put(tmp_path / "wt", "old.txt", "wt\n")
    committed(tmp_path / "wt")
    git(tmp_path / "wt", "merge", "-q", "main", check=False)
    put_all(tmp_path / "wt", "old.txt", "main\nwt\nnew\n")
    assert index(tmp_path / "wt") == {"old.txt": ["3:new"]}


def test_lines_around_new_ones_are_looked_at_and_do_not_count(root: Path) -> None:
    change(root)
    found = added_lines.added_lines(root, commit_contents.staged(root))
    assert [(p.line, p.text) for p in found.pieces] == [
        (1, "one\nTWO\nthree\nfour\n"),
        (8, "eight\nnine\nten\n"),
    ]

    piece = found.pieces[0]

    def holds(value: str) -> bool:
        start = piece.text.index(value)
        return found.holds(piece, SecretFind("x", "secret", "x", Grade.BLOCK, start, start + len(value), value))

    assert [holds(value) for value in ("one", "TWO", "three")] == [False, True, False]
    assert holds("one\nTWO"), "its second line is new"


def test_commits_are_read_together_each_against_its_parents(root: Path) -> None:
    start = head(root)
    put(root, "a", "first\n")
    one = committed(root)
    put(root, "a", "first\nsecond\n")
    two = committed(root)
    git(root, "checkout", "-q", "-b", "side", start)
    put(root, "b", "side\n")
    three = committed(root)
    git(root, "merge", "-q", "--no-commit", "--no-ff", "main")
    put(root, "b", "side\nmerge\n")
    four = committed(root)
    commits = commit_contents.between(root, [four], [start])
    assert set(commits.ids) == {one, two, three, four}
    found = added_lines.added_lines(root, commit_contents.changed(root, commits.ids))
    told = {(p.commit, p.path): sorted(found.new[p.commit, p.path]) for p in found.texts().pieces}
    assert told == {(one, "a"): [1], (two, "a"): [2], (three, "b"): [1], (four, "b"): [2]}


def test_the_size_is_bounded_in_words_and_small_files_come_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(added_lines, "MAX_FILE", 100)
    monkeypatch.setattr(added_lines, "MAX_ALL", 120)
    monkeypatch.setattr(added_lines, "LARGEST", 101)
    put(root, "1 large", "x" * 102)
    put(root, "2 beyond", "y" * 90)
    put_all(root, "3 small", "z" * 80)
    found = added_lines.added_lines(root, commit_contents.staged(root))
    assert [p.path for p in found.texts().pieces] == ["3 small"]
    assert found.notes == (
        "1 large is over 101 bytes and was not searched for secrets",
        "1 file beyond the first 120 bytes of a commit or push: not searched for secrets",
    )


def test_whole_files_as_the_index_has_them(root: Path) -> None:
    put(root, "old.txt", "not staged\n")
    put(root, "loose.txt", "not tracked\n")
    found = added_lines.files(root, ["README.md", "old.txt", "loose.txt", "gone.txt"])
    assert {p.path: p.text[:11] for p in found.pieces} == {
        "README.md": "hello\n",
        "old.txt": "one\ntwo\nthr",
        "loose.txt": "not tracked",
    }


SCISSORS = "# ------------------------ >8 ------------------------\n"
MESSAGES = [
    ("a\n# b\nc\n", True, "a\n# b\nc\n\n", "comments may be kept, by commit.cleanup or core.commentChar"),
    ("a\n# b\nc\n", False, "a\n# b\nc\n\n", "what came by -m stays"),
    (f"a\n{SCISSORS}diff\n", True, "a\n", "below the scissors line"),
    (f"a\n{SCISSORS}diff\n", False, f"a\n{SCISSORS}diff\n\n", "-m may not hide below it"),
    (f"a\n; b\n{SCISSORS.replace('#', ';')}diff\n", True, "a\n; b\n", "another comment character"),
]


@pytest.mark.parametrize(("text", "edited", "expected"), [m[:3] for m in MESSAGES], ids=[m[3] for m in MESSAGES])
def test_a_message_is_read_as_git_takes_it(text: str, edited: bool, expected: str) -> None:
    assert added_lines.message(text.encode(), edited=edited).pieces[0].text == expected


def test_messages_of_commits_and_tags(root: Path) -> None:
    one = committed(root, "of a commit\n\nbody")
    git(root, "tag", "-a", "-m", "of a tag", "v1")
    tag = head(root, "v1")
    found = added_lines.messages(root, [one], [tag, head(root, "HEAD^")])
    assert {p.commit: p.text for p in found.texts().pieces} == {one: "of a commit\n\nbody\n", tag: "of a tag\n"}
    people = {p.commit: p.text for p in found.pieces if p.raw}
    assert people[one].startswith("author Test <test@example.com>") and "committer Test" in people[one]
    assert people[tag].startswith("tag v1 tagger Test <test@example.com>")


def test_names_of_new_files_and_of_no_others(root: Path) -> None:
    put(root, "old.txt", "changed\n")
    put_all(root, "new/name.txt", "x\n")
    found = added_lines.added_lines(root, commit_contents.staged(root))
    assert [(p.text, p.path, p.raw) for p in found.pieces if not p.line] == [("new/name.txt\n", "new/name.txt", True)]


def test_the_ends_of_a_large_file_are_searched_and_its_middle_is_one_part(root: Path, monkeypatch) -> None:
    monkeypatch.setattr(added_lines, "MAX_FILE", 100)
    monkeypatch.setattr(text_chunks, "LONGEST", 120)
    monkeypatch.setattr(text_chunks, "END", 20)
    monkeypatch.setattr(text_chunks, "OVERLAP", 10)
    put(root, "large", "".join(f"line {n:02}\n" for n in range(30)))
    committed(root)
    put_all(root, "large", "".join(f"line {n:02}\n" for n in range(40)))
    found = added_lines.added_lines(root, commit_contents.staged(root))
    assert [(p.line, p.text) for p in found.pieces] == [
        (1, "\n\n"),
        (38, "line 37\nline 38\nline 39\n"),
        (3, "".join(f"line {n:02}\n" for n in range(2, 37))),
    ]
    assert found.notes == ("large is over 100 bytes: only its ends were searched for forms of secrets",)


def test_a_long_text_is_cut_behind_lines_and_its_parts_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_chunks, "LONGEST", 50)
    monkeypatch.setattr(text_chunks, "OVERLAP", 10)
    text = "".join(f"{n:08}\n" for n in range(20)) + "x" * 60 + " " + "y" * 60
    found = list(text_chunks.parts(text, 5))
    assert all(len(part) <= 50 for part, _ in found)
    assert all(part.startswith(f"{line - 5:08}\n") for part, line in found[:4])
    assert all(any(text[at : at + 9] in part for part, _ in found) for at in range(len(text) - 8))


def test_many_finds_in_one_line_are_told_new_in_no_time() -> None:
    piece = Piece("x" * 4_000_000 + "\n", "a")
    found = added_lines.Added((piece,), new={("", "a"): frozenset([1])})
    leak = SecretFind("x", "secret", "x", Grade.BLOCK, 3_999_000, 3_999_010, "x" * 10)
    begun = time.process_time()
    assert all(found.holds(piece, leak) for _ in range(20_000))
    assert time.process_time() - begun < 1
