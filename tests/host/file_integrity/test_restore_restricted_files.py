"""The guardian: whose word counts, several of them in one tree, what a crash, a full disk and a flood leave behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.file_integrity import restore_restricted_files as module
from sentinel_guard.host.file_integrity import tampered_versions
from sentinel_guard.host.file_integrity.file_change import ChangeDecision
from sentinel_guard.host.file_integrity.restore_restricted_files import WHOLE, RestrictedFileRestorer
from sentinel_guard.host.machine.content_addressed_store import ContentAddressedStore
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

GOOD, EVIL = b"KEY=1\n", b"KEY=evil\n"


class Room:
    """A tree with one restricted file, and guardians over it."""

    def __init__(self, top: Path) -> None:
        self.top, self.root = top, top / "root"
        self.env = self.root / "conf/.env"
        self.env.parent.mkdir(parents=True)
        self.env.write_bytes(GOOD)
        self.word, self.asked = ChangeDecision.PUT_BACK, []
        self.guardians = []

    def judge(self, path, since, _keys):
        self.asked.append((path, since))
        return self.word

    def guardian(self, name="s1"):
        vault = ContentAddressedStore(self.top / name / "vault")
        kept = {"conf/.env": vault.keep(SymlinkSafeFolder(str(self.root), self.top / name), "conf/.env")}
        made = RestrictedFileRestorer(
            str(self.root), vault, kept, self.top / name, judge=self.judge, sisters=lambda: self.guardians
        )
        self.guardians.append(made)
        return made


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


def twice(guardian, path):
    """What is told of a change that has stood for a moment."""
    assert guardian.check(str(path)) is None
    time.sleep(WHOLE)
    return guardian.check(str(path))


def test_what_is_the_persons_becomes_the_original(room):
    guardian, room.word = room.guardian(), ChangeDecision.TAKE
    room.env.write_bytes(b"KEY=mine\n")
    found = twice(guardian, room.env)
    assert (found.word, found.kind, found.kept) == (ChangeDecision.TAKE, "changed", "")
    assert guardian.versions(found) == (GOOD, b"KEY=mine\n")
    room.word = ChangeDecision.PUT_BACK
    room.env.write_bytes(EVIL)
    assert guardian.versions(guardian.check(str(room.env))) == (b"KEY=mine\n", EVIL)
    assert room.env.read_bytes() == b"KEY=mine\n"


def test_a_file_that_is_being_written_is_judged_once_and_taken_whole(room):
    guardian, room.word = room.guardian(), ChangeDecision.TAKE
    room.env.write_bytes(b"")
    assert guardian.check(str(room.env)) is None
    room.env.write_bytes(b"KEY=mine\n")
    assert guardian.check(str(room.env)) is None
    time.sleep(WHOLE)
    [found] = guardian.sweep()
    assert guardian.versions(found)[1] == b"KEY=mine\n"
    assert guardian.sweep() == []


def test_the_judge_knows_after_which_moment_it_changed(room):
    guardian = room.guardian()
    room.env.write_bytes(EVIL)
    guardian.check(str(room.env))
    before = time.time()
    guardian.check(str(room.env))
    room.env.write_bytes(EVIL)
    guardian.check(str(room.env))
    assert [since >= before for _, since in room.asked] == [False, True]
    assert room.asked[0] == (str(room.env), 0.0), "never seen to be good: nothing is known"


def test_what_was_just_taken_is_known_from_then_on(room):
    guardian, room.word = room.guardian(), ChangeDecision.TAKE
    new, before = room.env.parent / ".env.new", time.time()
    new.write_bytes(b"")
    twice(guardian, new)
    new.write_bytes(b"a program makes the file, works, and writes it then")
    guardian.check(str(new))
    assert len(room.asked) == 2 and room.asked[1][1] >= before, "else it could have happened at any time"


ANSWERS = [
    (True, EVIL, ChangeDecision.TAKE, "a yes keeps it"),
    (False, GOOD, ChangeDecision.PUT_BACK, "a no puts it back"),
]


@pytest.mark.parametrize(("yes", "stays", "word", "why"), ANSWERS, ids=[row[3] for row in ANSWERS])
def test_what_is_in_question_stands_until_it_is_settled(room, yes, stays, word, why):
    guardian, room.word = room.guardian(), ChangeDecision.ASK
    room.env.write_bytes(EVIL)
    assert guardian.check(str(room.env)).word is ChangeDecision.ASK
    assert guardian.check(str(room.env)) is None and guardian.sweep() == [], "it is asked about once"
    assert guardian.in_question == (str(room.env),) and room.env.read_bytes() == EVIL
    assert guardian.settle(str(room.env), yes=yes).word is word
    assert room.env.read_bytes() == stays and guardian.in_question == ()
    assert guardian.settle(str(room.env), yes=yes) is None


def test_a_yes_is_for_what_was_shown(room):
    guardian, room.word = room.guardian(), ChangeDecision.ASK
    room.env.write_bytes(b"KEY=shown\n")
    guardian.check(str(room.env))
    room.env.write_bytes(EVIL)
    room.word = ChangeDecision.PUT_BACK
    assert guardian.settle(str(room.env), yes=True).word is ChangeDecision.PUT_BACK
    assert room.env.read_bytes() == GOOD


def test_what_was_undone_meanwhile_is_in_question_no_more(room):
    guardian, room.word = room.guardian(), ChangeDecision.ASK
    room.env.write_bytes(EVIL)
    guardian.check(str(room.env))
    room.env.write_bytes(GOOD)
    assert guardian.check(str(room.env)) is None and guardian.in_question == ()


def test_guardians_of_one_tree_do_not_fight(room):
    first, second = room.guardian("s1"), room.guardian("s2")
    room.word = ChangeDecision.TAKE
    room.env.write_bytes(b"KEY=mine\n")
    assert twice(first, room.env).word is ChangeDecision.TAKE
    room.word = ChangeDecision.PUT_BACK
    assert second.check(str(room.env)) is None, "its sister has taken it"
    time.sleep(WHOLE)
    assert second.sweep() == [] and first.sweep() == []
    room.env.write_bytes(EVIL)
    assert second.check(str(room.env)).word is ChangeDecision.PUT_BACK
    assert first.check(str(room.env)) is None and room.env.read_bytes() == b"KEY=mine\n"


def test_a_closed_window_is_closed(room):
    guardian = room.guardian()
    guardian.announce(str(room.env.parent), time.time() + 60)
    assert list(guardian.windows()) == [str(room.env.parent)]
    assert guardian.close(str(room.env.parent)) and not guardian.close(str(room.env.parent))
    time.sleep(0.01)
    room.env.write_bytes(EVIL)
    assert guardian.check(str(room.env)).word is ChangeDecision.PUT_BACK


def test_folders_are_those_of_the_originals(room):
    guardian = room.guardian()
    assert guardian.folders() == [str(room.root), str(room.root / "conf")]
    assert guardian.knows(str(room.env)) and not guardian.knows(str(room.root / "other"))
    room.env.unlink()
    assert [t.kind for t in guardian.check_below(str(room.env.parent))] == ["deleted"]


def test_a_full_disk_loses_nothing_and_is_tried_again(room, monkeypatch):
    guardian = room.guardian()
    room.env.write_bytes(EVIL)
    with monkeypatch.context() as full:
        full.setattr(
            SymlinkSafeFolder, "_move_in", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left"))
        )
        found = guardian.check(str(room.env))
        assert found.problem.startswith("No space left; it is tried again")
        assert room.env.read_bytes() == EVIL and [p.name for p in room.env.parent.iterdir()] == [".env"]
        assert guardian.check(str(room.env)) is None, "told once"
    monkeypatch.setattr(module, "RETRY", 0.0)
    assert guardian.check(str(room.env)).problem == "" and room.env.read_bytes() == GOOD


def test_what_cannot_be_remembered_is_not_taken(room, monkeypatch):
    guardian, room.word = room.guardian(), ChangeDecision.TAKE
    room.env.write_bytes(b"KEY=mine\n")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left")

    with monkeypatch.context() as context:
        context.setattr(module, "remember", full)
        assert "No space left" in twice(guardian, room.env).problem
    assert room.env.read_bytes() == b"KEY=mine\n"
    assert guardian.check(str(room.env)).word is ChangeDecision.TAKE


FLOOD = 60


def test_a_flood_of_versions_keeps_the_first_and_the_last(room):
    guardian = room.guardian()
    for n in range(FLOOD):
        room.env.write_bytes(b"%d" % n)
        found = guardian.check(str(room.env))
    kept = sorted(int(p.read_bytes()) for p in (room.top / "s1/tampered").rglob(".env"))
    assert kept == [*range(tampered_versions.FIRST), *range(FLOOD - tampered_versions.LAST, FLOOD)]
    assert found.dropped == FLOOD - len(kept) and Path(found.kept).read_bytes() == b"%d" % (FLOOD - 1)
    again = tampered_versions.Quarantine(room.top / "s1/tampered")
    again.add("conf/.env", found.kept)
    assert again.dropped == {"conf/.env": 1}, "after a restart it goes on counting"


def test_large_versions_are_counted_by_their_size(room, monkeypatch):
    monkeypatch.setattr(tampered_versions, "MOST", 100)
    guardian = room.guardian()
    for n in range(4):
        room.env.write_bytes(b"%d" % n * 60)
        guardian.check(str(room.env))
    assert [p.read_bytes()[:1] for p in (room.top / "s1/tampered").rglob(".env")] == [b"3"], "the newest stays"


KILLED = """
import os, sys
from pathlib import Path
from sentinel_guard.host.file_integrity.restore_restricted_files import RestrictedFileRestorer
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.machine.content_addressed_store import ContentAddressedStore
root, folder, at = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
vault = ContentAddressedStore(folder / "vault")
kept = {"conf/.env": vault.keep(SymlinkSafeFolder(root, folder), "conf/.env")}
guardian = RestrictedFileRestorer(root, vault, kept, folder)
Path(root, "conf/.env").write_bytes(b"KEY=evil\\n")
calls = 0
def counted(function):
    def call(*args, **named):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), 9)
        return function(*args, **named)
    return call
for name in ("open", "rename", "link", "unlink", "fchmod", "utime", "close", "mkdir"):
    setattr(os, name, counted(getattr(os, name)))
guardian.check(f"{root}/conf/.env")
"""


def test_a_guard_killed_at_any_step_leaves_nothing_half_done(room):
    ends = set()
    vault = ContentAddressedStore(room.top / "s1/vault")
    kept = {"conf/.env": vault.keep(SymlinkSafeFolder(str(room.root), room.top / "s1"), "conf/.env")}
    for at in (*range(8, 36, 4), 999):
        room.env.write_bytes(GOOD)
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(room.root), str(room.top / "s1"), str(at)], check=False
        )
        ends.add(done.returncode)
        again = RestrictedFileRestorer(str(room.root), vault, kept, room.top / "s1")
        again.sweep()
        assert room.env.read_bytes() == GOOD, at
        assert [p.name for p in room.env.parent.iterdir()] == [".env"], "no copy of a secret lies about"
    assert ends == {-9, 0}


def test_what_lies_outside_is_nobodys(room):
    guardian = room.guardian()
    for path in (str(room.root), str(room.top), "/etc/passwd"):
        assert guardian.check(path) is None
    with pytest.raises(HostError):
        (room.top / "s1/accepted.json").write_text("{")
        RestrictedFileRestorer(str(room.root), ContentAddressedStore(room.top / "v"), {}, room.top / "s1")
    assert os.path.lexists(room.env)


# What the session may make where nothing was.


def making(room, allowed=True):
    vault = ContentAddressedStore(room.top / "s" / "vault")
    return RestrictedFileRestorer(
        str(room.root), vault, {}, room.top / "s", judge=room.judge, lets_create=lambda _path: allowed
    )


def test_what_the_session_made_stays_and_is_its_own(room):
    guardian = making(room)
    assert guardian.check(str(room.env)) is None and room.env.read_bytes() == GOOD
    assert len(room.asked) == 1
    assert guardian.check(str(room.env)) is None and len(room.asked) == 1, "it is judged once"
    room.env.write_bytes(EVIL)
    assert guardian.check(str(room.env)) is None and room.env.read_bytes() == EVIL
    assert not guardian.knows(str(room.env))


def test_what_the_person_changed_since_is_theirs(room):
    guardian = making(room)
    guardian.check(str(room.env))
    room.word = ChangeDecision.TAKE
    room.env.write_bytes(b"KEY=mine\n")
    assert twice(guardian, room.env).word is ChangeDecision.TAKE
    room.word = ChangeDecision.PUT_BACK
    room.env.write_bytes(EVIL)
    assert guardian.check(str(room.env)).kind == "changed" and room.env.read_bytes() == b"KEY=mine\n"
    room.env.unlink()
    assert guardian.check(str(room.env)).kind == "deleted" and room.env.read_bytes() == b"KEY=mine\n"


def test_where_the_policy_does_not_let_it_be_made_it_is_moved_away_but_once_said_it_stays(room):
    guardian = making(room, allowed=False)
    assert guardian.check(str(room.env)).kind == "created" and not room.env.exists()
    guardian.let_create(str(room.env))
    room.env.write_bytes(GOOD)
    assert guardian.check(str(room.env)) is None and room.env.exists()


def test_what_is_in_question_is_no_file_of_the_sessions(room):
    guardian, room.word = making(room), ChangeDecision.ASK
    assert guardian.check(str(room.env)).word is ChangeDecision.ASK
    assert guardian.settle(str(room.env), yes=True).word is ChangeDecision.TAKE
    assert guardian.knows(str(room.env))
