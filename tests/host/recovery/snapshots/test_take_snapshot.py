"""What a rescue snapshot holds besides the work tree, and what it says of itself. Real git."""

from __future__ import annotations

import os
import threading

import pytest

from sentinel_guard.host.git import ignored_files
from sentinel_guard.host.recovery.snapshots.take_snapshot import Occasion, manifest, take_snapshot
from tests.support.recovery.repository import Repo, files, template


def restricts(path):
    return path.rpartition("/")[2].startswith(".env")


@pytest.fixture
def fresh(tmp_path):
    return template(tmp_path / "repo")


def content(repo, ref):
    return set(filter(None, repo.git("ls-tree", "-r", "-z", "--name-only", ref).split("\0")))


def take(repo, *also, **more):
    targets = [str(repo.root / name) if name else str(repo.root) for name in also]
    return take_snapshot(str(repo.root), repo.root.parent / "session", "x", also=targets, restricts=restricts, **more)


IGNORED = [
    ((), set(), "nothing is in danger"),
    (("build",), {"build/out.bin", "build/sub/deep.bin"}, "an ignored folder"),
    (("build/sub",), {"build/sub/deep.bin"}, "a folder in an ignored folder"),
    (("build/sub/deep.bin",), {"build/sub/deep.bin"}, "a file in an ignored folder"),
    (("src",), {"src/x.log"}, "an ignored file in a folder that is not"),
    (("x.log", "nothing", "a.txt"), {"x.log"}, "an ignored file, one that is not there, one that git knows"),
    (("link",), set(), "a link that git knows"),
    (("",), {"build/out.bin", "build/sub/deep.bin", "src/x.log", "x.log"}, "everything"),
    (("node_modules",), set(), "generated files"),
    (("node_modules/x",), set(), "a folder of generated files"),
    ((".git",), set(), "git's own"),
    (("../elsewhere",), set(), "what is not in the repository"),
    (("[b]uild",), set(), "a name that would be a pattern"),
]


@pytest.fixture
def littered(fresh):
    fresh.write(".gitignore", ".env\nbuild/\n*.log\nnode_modules/\n")
    for name in ("build/sub/deep.bin", "src/x.log", "x.log", "node_modules/x/y.js"):
        fresh.write(name, name)
    fresh.git("commit", "-qam", "ignores")
    return fresh


@pytest.mark.parametrize(("also", "names", "why"), IGNORED, ids=[row[-1] for row in IGNORED])
def test_ignored_files_in_danger_are_in_it(littered, also, names, why):
    made = take(littered, *also)
    assert content(littered, made.ref) - content(littered, "HEAD") == names
    assert (littered.git("status", "--porcelain"), littered.git("stash", "list")) == ("", "")


def test_restricted_files_go_to_the_vault_and_into_no_object(littered):
    littered.write("plain/.env.local", "KEY=not ignored\n")
    littered.write("src/.env", "KEY=in danger\n")
    made = take(littered, "src")
    assert made.private == ("plain/.env.local", "src/.env")
    assert not {".env", "plain/.env.local", "src/.env"} & content(littered, made.ref)
    folder = littered.root.parent / "session"
    assert manifest(folder, made.commit).stat().st_mode & 0o077 == 0
    written = littered.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert not [o for o in written if "KEY=" in littered.git("cat-file", "-p", o, ok=False)]


def test_what_does_not_fit_is_named(littered, monkeypatch):
    monkeypatch.setattr(ignored_files, "MAX_ALL", 100)
    monkeypatch.setattr(ignored_files, "MAX_FILE", 50)
    littered.write("build/huge", "x" * 60)
    littered.write("build/many/0", "x" * 45)
    littered.write("build/many/1", "x" * 45)
    made = take(littered, "build", "node_modules")
    assert set(made.left_out) == {"build/huge", "build/many/1", "node_modules/"}
    text = littered.git("show", "-s", "--format=%B", made.ref)
    assert "Sentinel-Left-Out: build/huge" in text


def test_what_can_be_made_again_is_left_out_and_a_persons_file_beside_it_is_not(littered):
    littered.write("build/cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55")
    littered.write("build/cache/deep/x", "made")
    littered.write("build/sub/x.o", "compiled")
    littered.write("build/sub/y.o", "compiled")
    made = take(littered, "build")
    assert made.left_out == ("build/cache/", "build/**/*.o")
    assert content(littered, made.ref) - content(littered, "HEAD") == {"build/out.bin", "build/sub/deep.bin"}


def test_a_folder_of_too_many_files_is_left_out(littered, monkeypatch):
    monkeypatch.setattr(ignored_files, "MAX_NAMES", 1)
    made = take(littered, "build", "x.log")
    assert made.left_out == ("build/",)
    assert "x.log" in content(littered, made.ref)


def test_the_message_tells_the_occasion_in_one_redacted_visible_line(fresh):
    command = "rm -rf x \x1b[2J\n --token=ghp_abcdefghijklmnopqrstuvwxyz0123456789\nSentinel-Session: forged"
    made = take(fresh, occasion=Occasion("s1", "c7", command))
    text = fresh.git("show", "-s", "--format=%B", made.ref)
    title = text.splitlines()[0]
    assert title.startswith("sentinel-guard: rm -rf x \\x1b[2J --token=<redacted>")
    assert "\x1b" not in text
    trailers = fresh.git(
        "show", "-s", "--format=%(trailers:key=Sentinel-Session,key=Sentinel-Call,valueonly)", made.ref
    )
    assert trailers.split() == ["s1", "c7"]


def test_files_at_which_git_is_not_to_look_are_in_it(fresh):
    fresh.git("update-index", "--skip-worktree", "a.txt", "c.txt")
    fresh.git("update-index", "--assume-unchanged", "b.txt")
    fresh.write("a.txt", "a, mine\n")
    fresh.write("b.txt", "b, mine\n")
    fresh.remove("c.txt")
    index = (fresh.root / ".git/index").read_bytes()
    made = take(fresh)
    assert fresh.git("show", f"{made.ref}:a.txt") == "a, mine"
    assert fresh.git("show", f"{made.ref}:b.txt") == "b, mine"
    assert "c.txt" in content(fresh, made.ref), "what is left out of a checkout has not been deleted"
    assert (fresh.root / ".git/index").read_bytes() == index


HEADS = [
    (lambda r: None, "a branch"),
    (lambda r: r.git("checkout", "-q", "--detach"), "detached"),
    (lambda r: r.git("pack-refs", "--all"), "packed refs"),
    (lambda r: (r.root / ".git/index").unlink(), "no index"),
]


@pytest.mark.parametrize(("act", "why"), HEADS, ids=[row[-1] for row in HEADS])
def test_its_first_parent_is_head(fresh, act, why):
    act(fresh)
    made = take(fresh)
    assert fresh.git("rev-parse", f"{made.commit}^1") == fresh.git("rev-parse", "HEAD")


def test_in_a_linked_worktree_it_is_of_that_one(fresh, tmp_path):
    fresh.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"), "HEAD~1")
    side = Repo(tmp_path / "side")
    side.write("a.txt", "the side's\n")
    made = take(side)
    assert fresh.git("show", f"{made.ref}:a.txt") == "the side's"
    assert fresh.git("rev-parse", f"{made.commit}^1") == fresh.git("rev-parse", "side")


def test_snapshots_at_the_same_time_do_not_disturb_each_other(fresh):
    fresh.write("a.txt", "mine\n")
    made, failed = [], []

    def one(number):
        try:
            made.append(take_snapshot(str(fresh.root), fresh.root.parent / "session", f"p{number}"))
        except Exception as e:  # noqa: BLE001 - none is expected, and each is shown
            failed.append(e)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (failed, len(made)) == ([], 6)
    assert {fresh.git("rev-parse", f"{m.ref}^{{tree}}") for m in made} == {
        fresh.git("rev-parse", f"{made[0].ref}^{{tree}}")
    }


def test_a_lock_that_a_killed_daemon_left_holds_nothing_up(fresh):
    take(fresh)
    (fresh.root.parent / "session/rescue-index.lock").write_text("")
    assert take(fresh).ref.endswith("x-2")


def test_nothing_but_the_objects_and_the_ref_is_written(littered):
    littered.write("a.txt", "mine\n")
    before, inside = files(littered.root), {p for p in (littered.root / ".git").rglob("*") if "objects" not in p.parts}
    take(littered, "build")
    new = {p for p in (littered.root / ".git").rglob("*") if "objects" not in p.parts} - inside
    assert files(littered.root) == before
    assert {os.path.relpath(p, littered.root / ".git") for p in new} == {
        "refs/sentinel", "refs/sentinel/rescue", "refs/sentinel/rescue/x",
    }  # fmt: skip
