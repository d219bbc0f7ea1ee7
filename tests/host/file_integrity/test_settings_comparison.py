"""Settings files that are restored: by what counts in them, whole, and without a copy of every version."""

from __future__ import annotations

import json
import os
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from sentinel_guard.core.policy.agent_settings import SettingsFile
from sentinel_guard.core.policy.compare_settings import EVERYTHING, changed_keys
from sentinel_guard.host.file_integrity import settings_comparison
from sentinel_guard.host.file_integrity.file_change import ChangeDecision
from sentinel_guard.host.file_integrity.restore_restricted_files import WHOLE, RestrictedFileRestorer
from sentinel_guard.host.machine.content_addressed_store import ContentAddressedStore
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

FILE = SettingsFile("settings.json", ("hooks",))
HOOKS = ("hooks", "Stop")


def text(**values):
    return json.dumps(values)


class Room:
    """A tree with a settings file, and what restores it."""

    def __init__(self, top: Path) -> None:
        self.top, self.root = top, top / "root"
        self.file = self.root / ".agent/settings.json"
        self.file.parent.mkdir(parents=True)
        self.word, self.asked = ChangeDecision.PUT_BACK, []

    def begin(self, root=None):
        root = root or str(self.root)
        self.vault = ContentAddressedStore(self.top / "session/vault")
        names = [os.path.relpath(p, root) for p in self.file.parent.iterdir()]
        kept = {n: self.vault.keep(SymlinkSafeFolder(root, self.top / "session"), n) for n in names}
        return RestrictedFileRestorer(
            root, self.vault, kept, self.top / "session",
            judge=self.judge, changed=partial(changed_keys, FILE), tracks_git=root == str(self.root),
        )  # fmt: skip

    def judge(self, _path, _since, keys):
        self.asked.append(keys)
        return self.word

    def kept(self):
        return sorted(p.read_text() for p in self.vault.folder.rglob("*") if p.is_file())


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


def check(restorer, room):
    return restorer.check(str(room.file))


def test_what_the_agent_writes_of_its_own_is_kept_when_a_hook_is_undone(room):
    room.file.write_text(text(numStartups=1))
    restorer = room.begin()
    room.file.write_text(text(numStartups=2, trusted=True))
    assert check(restorer, room) is None and not room.asked
    room.file.write_text(text(numStartups=2, trusted=True, hooks={"Stop": ["evil"]}))
    found = check(restorer, room)
    assert (found.kind, found.keys, found.word) == ("changed", (HOOKS,), ChangeDecision.PUT_BACK)
    assert json.loads(room.file.read_text()) == {"numStartups": 2, "trusted": True}
    assert "evil" in Path(found.kept).read_text()


def test_a_file_that_is_rewritten_all_day_leaves_two_copies(room):
    room.file.write_text(text(numStartups=0))
    restorer = room.begin()
    for number in range(1, 30):
        room.file.write_text(text(numStartups=number))
        check(restorer, room)
    room.file.write_text(text(hooks={"Stop": [1]}))
    check(restorer, room)
    assert room.kept() == [text(numStartups=0), text(numStartups=29)], (
        "the start's, for a restart, and the last good one"
    )


HARMLESS = [
    (lambda f: f.write_text(text(theme="dark")), "another version"),
    (lambda f: f.chmod(0o600), "another mode that its owner can read"),
    (lambda f: f.unlink(), "removed, with nothing in it that counts"),
    (lambda f: _aside(f, text(theme="dark")).rename(f), "renamed over, as agents write"),
]


def _aside(file, content):
    aside = file.with_suffix(".tmp")
    aside.write_text(content)
    return aside


@pytest.mark.parametrize(("change", "why"), HARMLESS, ids=[h[1] for h in HARMLESS])
def test_a_change_that_does_not_count_is_no_change(room, change, why):
    room.file.write_text(text(theme="light"))
    restorer = room.begin()
    change(room.file)
    assert check(restorer, room) is None and restorer.sweep(by_content=True) == [] and not room.asked, why


COUNTS = [
    (lambda f: f.write_text(text(hooks={"Stop": [2]})), "changed", (HOOKS,), "another hook"),
    (lambda f: f.unlink(), "deleted", (HOOKS,), "removed, and the hooks with it"),
    (lambda f: _aside(f, "{}").rename(f), "changed", (HOOKS,), "renamed over"),
    (lambda f: f.chmod(0), "mode", (EVERYTHING,), "nobody can read it any more"),
    (lambda f: (f.unlink(), f.symlink_to("/dev/null")), "replaced by link", (EVERYTHING,), "a link to something else"),
    (lambda f: (f.unlink(), f.mkdir()), "replaced by folder", (EVERYTHING,), "a folder"),
    (lambda f: f.parent.rename(f.parent.with_name("x")), "deleted", (HOOKS,), "gone with its folder"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "kind", "keys", "why"), COUNTS, ids=[c[3] for c in COUNTS])
def test_a_change_that_counts_is_put_back(room, change, kind, keys, why):
    room.file.write_text(text(hooks={"Stop": [1]}))
    restorer = room.begin()
    change(room.file)
    found = check(restorer, room)
    assert (found.kind, found.keys, found.problem) == (kind, keys, ""), why
    assert room.file.read_text() == text(hooks={"Stop": [1]}) and not room.file.is_symlink()


def test_a_new_file_with_a_hook_is_moved_away_and_one_without_stays(room):
    restorer = room.begin()
    room.file.write_text(text(theme="dark"))
    assert check(restorer, room) is None
    room.file.unlink()
    assert check(restorer, room) is None
    room.file.write_text(text(hooks={"Stop": [1]}))
    assert check(restorer, room).kind == "created" and not room.file.exists()


def test_a_file_that_is_emptied_and_written_is_looked_at_when_it_is_whole(room, monkeypatch):
    room.file.write_text(text(theme="light"))
    restorer = room.begin()
    room.file.write_text("")
    assert check(restorer, room) is None and room.file.read_text() == ""
    room.file.write_text(text(theme="dark"))
    assert restorer.sweep() == [] and not room.asked
    room.file.write_text('{"theme": ')
    assert check(restorer, room) is None
    monkeypatch.setattr(settings_comparison, "HALF_WRITTEN", 0.0)
    [found] = restorer.sweep()
    assert found.keys == (EVERYTHING,) and room.file.read_text() == text(theme="dark"), (
        "the last one that could be read"
    )


def test_a_new_file_that_stays_half_written_is_looked_at_again_without_an_event(room, monkeypatch):
    restorer = room.begin()
    room.file.write_text("{")
    assert check(restorer, room) is None
    monkeypatch.setattr(settings_comparison, "HALF_WRITTEN", 0.0)
    assert [t.kind for t in restorer.sweep()] == ["created"]


def test_a_link_may_become_the_file_that_it_led_to_and_no_other(room):
    real = room.top / "dotfiles.json"
    real.write_text(text(hooks={"Stop": [1]}))
    room.file.symlink_to(real)
    restorer = room.begin()
    _aside(room.file, text(theme="dark", hooks={"Stop": [1]})).rename(room.file)
    assert check(restorer, room) is None, "an agent that writes aside and renames puts a file there"
    _aside(room.file, text(theme="dark")).rename(room.file)
    assert check(restorer, room).keys == (HOOKS,)


def test_a_link_that_goes_is_put_back_wherever_it_led(room):
    room.file.symlink_to(room.top)
    restorer = room.begin()
    room.file.unlink()
    assert check(restorer, room).kind == "deleted" and room.file.readlink() == room.top


def test_what_is_taken_tells_its_keys_and_is_the_original_after_a_restart(room):
    room.file.write_text(text(theme="light"))
    restorer, room.word = room.begin(), ChangeDecision.TAKE
    room.file.write_text(text(hooks={"Stop": ["mine"]}))
    assert check(restorer, room) is None
    time.sleep(WHOLE)
    assert check(restorer, room).keys == (HOOKS,)
    room.file.write_text(text(theme="dark", hooks={"Stop": ["mine"]}))
    check(restorer, room)
    again, room.word = room.begin(), ChangeDecision.PUT_BACK
    room.file.write_text(text(hooks={"Stop": ["evil"]}))
    assert check(again, room).keys == (HOOKS,)
    assert "mine" in room.file.read_text()


def test_files_of_the_whole_machine_are_restored_by_their_real_names(room):
    room.file.write_text(text(hooks={"Stop": [1]}))
    restorer = room.begin(root="/")
    room.file.unlink()
    found = check(restorer, room)
    assert found.path == str(room.file) and room.file.exists() and restorer.knows(str(room.file))
    restorer.announce(str(room.file), time.time() + 9)
    assert [*restorer.windows()] == [str(room.file)]
    room.file.write_text("{}")
    check(restorer, room)
    time.sleep(WHOLE)
    assert check(restorer, room).announced


def test_a_copy_that_is_gone_is_told_and_stops_nothing(room):
    room.file.write_text(text(hooks={"Stop": [1]}))
    restorer = room.begin()
    for copy in room.vault.folder.rglob("*"):
        if copy.is_file():
            copy.unlink()
    room.file.write_text("{}")
    found = check(restorer, room)
    assert "missing from the vault" in found.problem and check(restorer, room) is None, "once"


def test_what_git_checks_out_stays_and_is_told_where_it_counts(room):
    def git(*words):
        subprocess.run(["git", *words], cwd=room.root, check=True, capture_output=True)

    room.file.write_text(text(theme="light"))
    git("init", "-q"), git("add", "-A"), git("commit", "-qm", "start"), git("checkout", "-qb", "other")
    room.file.write_text(text(theme="dark", hooks={"Stop": [1]}))
    git("commit", "-qam", "hooks"), git("checkout", "-q", "-")
    restorer = room.begin()
    restorer.expect_git(time.time() + 9)
    git("checkout", "-q", "other")
    found = check(restorer, room)
    assert (found.word, found.by_git, found.keys) == (ChangeDecision.TAKE, True, (HOOKS,))
    git("checkout", "-q", "-")
    assert check(restorer, room).by_git and restorer.sweep() == []
