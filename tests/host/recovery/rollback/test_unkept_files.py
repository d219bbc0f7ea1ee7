"""What had not been kept is named where it is changed or gone: "verified" is never said of it.

The rollbacks run without root's rights over modes.
"""

from __future__ import annotations

import os
import struct
import time

import pytest

from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import borrowed_objects, session_baseline
from tests.support.recovery.repository import Repo, settle, shell, state, template
from tests.support.recovery.without_rights import rolled_back, taken

MANY = "mkdir build/many; touch build/many/{1..5100}"
LONG = "d" * 200
NAMED = (
    (
        "truncate -s 51M big; touch -d 2020-01-01 big",
        "printf evil | dd of=big conv=notrunc status=none; touch -d 2020-01-01 big",
        "big was changed and had not been kept: too large or not readable.",
        "too large, with the same size and time",
    ),
    (
        MANY,
        "rm build/many/77",
        "build/many/77 was changed and had not been kept: too large or not readable.",
        "one of too many",
    ),
    (
        "mkdir -p node_modules/p; echo 1 > node_modules/p/i.js; echo node_modules/ >> .git/info/exclude",
        "rm -rf node_modules",
        "node_modules/ was generated, had not been kept, and is gone.",
        "a generated folder",
    ),
    ("mkfifo pipe", "rm pipe", "pipe was a named pipe or a device, and is gone.", "a named pipe"),
    (
        "mkdir shut; echo own > shut/own; chmod 0 shut",
        "chmod 700 shut; rm -rf shut",
        "shut could not be read when the session began, and was touched since.",
        "a folder that the person had shut",
    ),
    (
        "mkdir shut; echo own > shut/own; chmod 0 shut",
        "chmod 700 shut; echo evil > shut/own; chmod 0 shut",
        "shut could not be read when the session began, and was touched since.",
        "the same, shut again",
    ),
    (
        f"cd build; for i in {{1..25}}; do mkdir {LONG}; cd {LONG}; done; echo own > own",
        f"rm -rf build/{LONG}",
        "{deepest} could not be read when the session began, and was touched since.",
        "folders whose paths no system call takes",
    ),
    (
        "git worktree add -q ../wt -b wt; echo own > ../wt/own",
        "git worktree remove --force ../wt",
        "{top}/wt was the folder of another worktree, which is not kept from here, and is gone.",
        "the folder of another worktree",
    ),
)


@pytest.mark.parametrize(("before", "harm", "named"), [row[:3] for row in NAMED], ids=[row[3] for row in NAMED])
def test_what_had_not_been_kept_is_named_where_it_is_lost_and_only_there(repo, before, harm, named):
    shell(repo, before)
    settle()
    baseline = taken(repo)
    assert rolled_back(baseline)["ok"]
    shell(repo, harm)
    report = rolled_back(baseline)
    assert not report["ok"]
    # A path holds 4095 bytes and a closing zero.
    deepest = "/".join(["build", *[LONG] * ((4095 - len(f"{repo.root}/build")) // (len(LONG) + 1))])
    assert report["problems"] == [named.format(top=repo.root.parent, deepest=deepest)]
    assert not [n for n in report["restored"] if report["problems"][0].startswith((f"{n} ", f"{n}:"))], "no, it is not"


CACHES = "mkdir -p build/__pycache__ .mypy_cache; touch build/__pycache__/x.pyc .mypy_cache/x build/x.o"


def test_caches_that_tools_fill_anew_are_no_loss(repo):
    shell(repo, f"{CACHES}; echo .mypy_cache/ >> .git/info/exclude")
    baseline = taken(repo)
    shell(repo, "rm -rf build/__pycache__ .mypy_cache build/x.o")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]


IN_PLACE = (
    ("SHA1-s100000--{sha1}", "a hash in the name"),
    ("WORM-s100000-m1--name", "no hash in it"),
)


@pytest.mark.parametrize("key", [row[0] for row in IN_PLACE], ids=[row[1] for row in IN_PLACE])
def test_an_annexed_file_that_was_overwritten_in_place_comes_back_or_is_named(repo, key):
    data = b"x" * 100_000
    name = f".git/annex/objects/K/{key.format(sha1='b5cf1ac83ce5ecd7ad5ef2a6eb6d9f4d5ac5f8b3')}"
    repo.write(name, data.decode())
    settle()
    baseline = taken(repo)
    (repo.root / name).write_bytes(b"evil")
    report = rolled_back(baseline)
    assert (repo.root / name).read_bytes() == data or report["problems"] == [
        f"{name} was overwritten in place: no copy of it is left."
    ]


NOBODY = 0xFFFFFFFF
"""What stands for a name in the rows of an access control list that are nobody's in particular (acl(5))."""


def test_attributes_and_hard_links_come_back(repo):
    for name in ("notes.txt", "g.txt"):
        os.setxattr(repo.root / name, "user.origin", b"example.org")
    rows = ((1, 6, NOBODY), (2, 6, 12345), (4, 4, NOBODY), (16, 6, NOBODY), (32, 4, NOBODY))
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)
    os.setxattr(repo.root / "c.txt", "system.posix_acl_access", acl)
    shell(repo, "ln notes.txt twin.txt; ln untracked/dir/* build/other; ln a.txt build/tracked")
    settle()
    start, baseline = state(repo), taken(repo)
    shell(repo, "rm notes.txt g.txt c.txt; echo evil > twin.txt; rm -r untracked; echo evil > a.txt")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert state(repo) == start
    assert [os.getxattr(repo.root / n, "user.origin") for n in ("notes.txt", "g.txt")] == [b"example.org"] * 2
    assert os.getxattr(repo.root / "c.txt", "system.posix_acl_access") == acl
    odd = next((repo.root / "untracked/dir").iterdir())
    pairs = (("notes.txt", "twin.txt"), (odd, "build/other"), ("a.txt", "build/tracked"))
    assert all((repo.root / one).samefile(repo.root / other) for one, other in pairs)
    assert api.plan(baseline) == []


def test_a_log_that_is_written_to_as_the_session_begins_comes_back_if_it_is_gone(repo):
    repo.write("dev.log", "one\n")
    settle()
    folder = repo.root.parent / "session"
    baseline = api.begin(str(repo.root), folder, lambda _: False, "s1")
    (repo.root / "dev.log").write_text("one\ntwo\n")
    baseline = api.complete(baseline)
    (repo.root / "dev.log").unlink()
    report = rolled_back(baseline)
    assert report["ok"] and report["unkept"], report["problems"]
    assert (repo.root / "dev.log").read_text() == "one\ntwo\n"
    assert "dev.log was written to as the session began: it is kept as it was then." in report["notes"]
    (repo.root / "dev.log").write_text("three\n")
    assert rolled_back(baseline)["problems"] == [
        "dev.log was written to as the session began, and differs from what it was then."
    ]


def test_a_converted_file_that_was_changed_before_its_bytes_were_kept_is_named(tmp_path):
    repo = template(tmp_path / "repo")
    repo.write(".gitattributes", "*.txt text eol=lf\n")
    for name in ("early.txt", "late.txt"):
        (repo.root / name).write_bytes(b"a\r\n")
    repo.commit("odd")
    settle()
    baseline = api.begin(str(repo.root), repo.root.parent / "session", lambda _: False, "s1")
    (repo.root / "early.txt").unlink()
    baseline = api.complete(baseline)
    (repo.root / "late.txt").unlink()
    report = rolled_back(baseline)
    assert [(repo.root / n).read_bytes() for n in ("early.txt", "late.txt")] == [b"a\n", b"a\r\n"]
    assert report["unkept"]
    assert "early.txt was changed before its bytes were kept: it comes back as git writes it." in report["notes"]
    assert "late.txt" not in "".join(report["notes"])


def test_a_repository_that_borrows_objects_is_not_sound_without_them(repo, tmp_path):
    shell(repo, "git clone -q --shared . ../clone; cd ../clone; git commit -q --allow-empty -m own")
    clone = Repo(tmp_path / "clone")
    baseline = taken(clone)
    shell(repo, "git repack -adq; git prune-packed -q")
    assert rolled_back(baseline)["ok"], "they lie elsewhere, and all are there"
    shell(repo, "git unpack-objects -q < $(mv .git/objects/pack/*.pack ..; ls ../*.pack); rm .git/objects/pack/*")
    old, other = repo.git("rev-parse", "HEAD~1:h.txt"), repo.git("rev-parse", "HEAD:a.txt")
    objects = repo.root / ".git/objects"
    sound = (objects / old[:2] / old[2:]).read_bytes()
    shell(repo, f"cd .git/objects; chmod u+w {old[:2]}/{old[2:]}; cat {other[:2]}/{other[2:]} > {old[:2]}/{old[2:]}")
    assert rolled_back(baseline)["problems"] == [borrowed_objects.MISREAD.format(1, old)]
    (objects / old[:2] / old[2:]).write_bytes(sound)
    assert rolled_back(baseline)["ok"]
    many = "".join(f"{objects}\n" for _ in range(60))
    (objects / "info/alternates").write_text(many)
    assert rolled_back(baseline)["ok"], "each store is looked at once"
    (repo.root / ".git/objects" / old[:2] / old[2:]).unlink()
    assert rolled_back(baseline)["problems"] == [borrowed_objects.LOST]
    shell(repo, "rm -rf .git/objects/??")
    report = rolled_back(baseline)
    assert not report["ok"] and "START cannot be read" in report["problems"][0]


def test_refs_and_objects_that_lie_elsewhere_come_back(repo):
    shell(repo, "git stash push -q a.txt; for n in refs objects; do mv .git/$n ../$n; ln -s ../../$n .git/$n; done")
    start, baseline = state(repo), taken(repo)
    shell(repo, "git branch -D other; git tag -d v1; git tag new; git commit -qam evil; git stash drop -q")
    shell(repo, "rm -rf .git/objects ../objects/??; mkdir .git/objects")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert state(repo) == start
    assert "refs/tags/new" not in repo.git("for-each-ref")


def test_a_later_baseline_shares_the_table_of_files_and_knows_its_own(repo):
    (repo.root / "many").mkdir()
    for number in range(session_baseline.TABLED):
        (repo.root / f"many/{number}").write_text(str(number))
    time.sleep(0.1)  # their change times are to be settled
    sessions = repo.root.parent / "sessions"
    first = api.take(str(repo.root), sessions / "1/baseline", lambda _: False)
    shell(repo, "rm many/7; echo other > many/8; echo new > many/new")
    second = api.take(str(repo.root), sessions / "2/baseline", lambda _: False)
    tables = [baseline.folder / session_baseline.TABLE for baseline in (first, second)]
    assert tables[0].samefile(tables[1])
    loaded = [api.load(baseline.folder) for baseline in (first, second)]
    assert [dict(b.files) for b in loaded] == [dict(b.files) for b in (first, second)]
    assert {n: n in loaded[0].files for n in ("many/7", "many/new")} == {"many/7": True, "many/new": False}
    shell(repo, "rm -r many")
    assert api.rollback(loaded[1]).ok
    assert not (repo.root / "many/7").exists()
    assert [(repo.root / f"many/{n}").read_text() for n in ("8", "9", "new")] == ["other\n", "9", "new\n"]
