"""Rollback where the machine or the agent is out of the ordinary (recovery.md 1.5, and beyond)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import content_addressed_store as vaults
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import object_backup
from sentinel_guard.host.recovery.rollback.restore_objects import LOST
from sentinel_guard.host.recovery.rollback.rollback import NOT_CONVERGED
from tests.host.recovery.test_unusual_repositories import edits_filtered, filters
from tests.support.recovery import agent_scripts as agents
from tests.support.recovery.repository import EVIL, Repo, files, overwrite, state, taken
from tests.support.recovery.without_rights import AS_A_USER, MISSING
from tests.support.time_limits import limit


def test_50_pushed_commits_are_foretold(clean, tmp_path):
    clean.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    clean.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    clean.git("push", "-q", "origin", "main:stays")
    baseline = taken(clean)
    agents.edits_and_commits(clean)
    clean.git("push", "-q", "origin", "main")
    assert api.plan_rollback(baseline).pushed == ("refs/remotes/origin/main",)
    there = clean.git("ls-remote", "origin")
    assert api.rollback(baseline).ok
    assert clean.git("ls-remote", "origin") == there, "no remote is touched"


# 44: modes of folders. Root may do anything: the rollback runs without that power.

PROGRAM = """
import sys
from pathlib import Path
from typing import Self
from sentinel_guard.host.recovery import api as snapshots
report = snapshots.rollback(snapshots.load(Path(sys.argv[1])))
sys.exit("; ".join(report.problems) if not report.ok else 0)
"""


def shuts(r: Repo, mode: int) -> None:
    r.write("src/y.py", "evil\n")
    r.write("untracked/dir/new", "evil\n")
    for name in ("src/deep", "src", "untracked/dir", "untracked"):
        (r.root / name).chmod(mode)
    (r.root / "c.txt").chmod(0)


@pytest.mark.skipif(MISSING, reason="without setpriv root can do everything")
@pytest.mark.parametrize("mode", [0o500, 0], ids=["44 folders that cannot be written", "44 that cannot be read"])
def test_44_folders_are_opened_again(mine, mode):
    before = state(mine), {p: p.stat().st_mode for p in mine.root.rglob("*") if p.is_dir()}
    baseline = taken(mine)
    shuts(mine, mode)
    done = subprocess.run(
        [*AS_A_USER, sys.executable, "-c", PROGRAM, str(baseline.folder)], capture_output=True, check=False, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    modes = {p: p.stat().st_mode for p in before[1]}
    assert (state(mine), modes) == before


# 46, 55: objects that are gone, and the independent pack.


@pytest.mark.parametrize("what", ["HEAD:g.txt", "HEAD^{tree}", "HEAD"])
def test_46b_an_object_damaged_in_place_comes_back_from_the_pack(clean, monkeypatch, what):
    monkeypatch.setattr(object_backup, "COPIES", 0)
    baseline = taken(clean, deep=True)
    overwrite(clean, what, EVIL)
    clean.write("g.txt", "evil\n")
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert (clean.root / "g.txt").read_text() == "g one\n" * 5
    assert clean.git("fsck", "--no-dangling") == ""
    assert api.rollback(baseline).ok


def elsewhere(monkeypatch):
    """As if the guard's folder were on another file system, and the objects too many to be copied."""

    def refuse(*_args, **_more):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(object_backup.os, "link", refuse)
    monkeypatch.setattr(object_backup, "COPIED", 0)
    monkeypatch.setattr(object_backup, "COPIES", 0)


def test_55_no_farm_and_git_deleted_comes_back_shallow(mine, monkeypatch):
    mine.git("stash", "push", "-q", "-u")
    for text in ("three", "four"):
        mine.write("h.txt", text)
        mine.commit(text)
    mine.git("stash", "pop", "-q", "--index")
    before = state(mine)
    with monkeypatch.context() as patched:
        elsewhere(patched)
        baseline = taken(mine)
    assert baseline.rest.farmed == 0
    agents.deletes_git(mine)
    report = api.rollback(baseline)
    assert report.problems == (LOST,)
    after = state(mine)
    assert {k for k in before if after[k] != before[k]} <= {"special"}
    assert mine.git("rev-parse", "HEAD") == baseline.head
    assert mine.git("fsck", "--no-dangling", "--no-reflogs", "--connectivity-only", ok=False) == ""
    assert not api.rollback(baseline).ok, "it stays said"


def test_55_a_shallow_clone_stays_one_where_only_the_pack_is_left(clean, tmp_path, monkeypatch):
    clean.git("clone", "-q", "--depth=1", f"file://{clean.root}", str(tmp_path / "shallow/repo"))
    shallow = Repo(tmp_path / "shallow/repo")
    for text in ("one", "two"):
        shallow.write("new.txt", text)
        shallow.commit(text)
    with monkeypatch.context() as patched:
        elsewhere(patched)
        baseline = taken(shallow)
    agents.deletes_git(shallow)
    assert api.rollback(baseline).problems == (LOST,)
    assert shallow.git("rev-list", "--count", "origin/main") == "1", "where it ended before"
    assert shallow.git("fsck", "--no-dangling", "--no-reflogs", "--connectivity-only", ok=False) == ""


def test_a_reset_that_git_refuses_leaves_no_file_as_the_agent_wrote_it(clean, monkeypatch):
    with monkeypatch.context() as patched:
        elsewhere(patched)
        baseline = taken(clean)
    shutil.rmtree(baseline.deep)
    overwrite(clean, "HEAD", EVIL)
    clean.write("a.txt", "evil\n")
    assert not api.rollback(baseline).ok
    assert (clean.root / "a.txt").read_text() == "a one\n" * 5


def test_55_without_the_pack_the_loss_is_reported(mine, monkeypatch):
    with monkeypatch.context() as patched:
        elsewhere(patched)
        baseline = taken(mine)
    shutil.rmtree(baseline.deep)
    before = files(mine.root)
    agents.resets_and_cleans(mine)
    agents.deletes_git(mine)
    report = api.rollback(baseline)
    assert any("START" in problem for problem in report.problems)
    lost = {n for n, was in before.items() if files(mine.root).get(n) != was}
    assert lost <= {"a.txt"} | {n for n in before if n in "e.txt f.txt g.txt h.txt"} | {"a.txt"}


# 48: the user's own settings.


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / ".config/git").mkdir(parents=True)
    (home / "dotfiles").mkdir()
    (home / "dotfiles/gitconfig").write_text("[core]\n\texcludesFile = ~/.ignored\n[include]\n\tpath = more\n")
    (home / "dotfiles/more").write_text("[alias]\n\tco = checkout\n")
    (home / "more").write_text("[alias]\n\tco = checkout\n")
    (home / ".gitconfig").symlink_to("dotfiles/gitconfig")
    (home / ".ignored").write_text("*.mine\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


def test_48_the_users_own_settings_come_back(clean, home, tmp_path):
    clean.write("kept.mine", "ignored by the user's own list\n")
    before = files(home), files(clean.root)
    baseline = taken(clean)
    (home / ".ignored").write_text("*\n")
    (home / "dotfiles/gitconfig").write_text(
        f"[core]\n\thooksPath = {tmp_path}/hooks\n\tfsmonitor = touch {tmp_path}/ran\n"
    )
    (home / ".gitconfig").unlink()
    (home / ".gitconfig").write_text("[alias]\n\tst = !evil\n")
    (home / ".config/git/config").write_text("[core]\n\tpager = evil\n")
    clean.write("hidden.txt", "evil\n")
    planned = {c.path for c in api.plan(baseline)}
    assert {f"{home}/.gitconfig", f"{home}/.config/git/config", f"{home}/.ignored", "hidden.txt"} <= planned
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert (files(home), files(clean.root)) == before
    assert not (tmp_path / "ran").exists()
    kept = dict(report.versions)
    assert Path(kept[f"{home}/.config/git/config"]).read_text() == "[core]\n\tpager = evil\n"


# 52, 53: who still writes.


WRITES = """
import contextlib, itertools, sys
for n in itertools.count():
    with contextlib.suppress(OSError), open(sys.argv[1], "w") as file:  # a rollback may stand in its way for a moment
        file.write(str(n))
"""


class Writer:
    """Writes to a file as fast as it can, from a process of its own."""

    def __init__(self, path: Path) -> None:
        self._run = subprocess.Popen([sys.executable, "-c", WRITES, path])
        while not path.exists() or "one" in path.read_text():
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._run.kill()
        self._run.wait()


@pytest.mark.parametrize("name", ["g.txt", "brand-new"])
def test_53_who_still_writes_is_told(clean, name):
    baseline = taken(clean)
    with Writer(clean.root / name):
        # On a busy machine the writer may not have its turn while a rollback looks.
        end = time.monotonic() + limit(10)
        while (report := api.rollback(baseline)).ok and time.monotonic() < end:
            pass
    assert any(name in problem and NOT_CONVERGED in problem for problem in report.problems)
    assert api.rollback(baseline).ok, "52 once it has ended"
    assert (clean.root / "g.txt").read_text() == "g one\n" * 5


# What was not completed, not kept, not there.


@pytest.mark.parametrize("agent", [agents.edits_and_commits, agents.forges_times, agents.swaps_file_and_folder])
def test_a_rollback_before_the_baseline_is_complete(mine, agent):
    before = state(mine)
    baseline = api.begin(str(mine.root), mine.root.parent / "session", lambda p: p.endswith("/.env"), "s1")
    agent(mine)
    report = api.rollback(api.load(baseline.folder))
    assert report.ok, report.problems
    assert state(mine) == before


def test_what_the_agent_does_before_the_baseline_is_complete_is_not_the_start(clean):
    before = state(clean)
    baseline = api.begin(str(clean.root), clean.root.parent / "session", lambda _: False, "s1")
    threading.Event().wait(0.02)
    clean.write("a.txt", "evil\n")
    clean.write("new/x", "evil\n")
    (clean.root / "g.txt").chmod(0o600)
    (clean.root / "hollow").mkdir()
    overwrite(clean, "HEAD:h.txt", EVIL)
    baseline = api.complete(baseline)
    assert "hollow" not in baseline.rest.empty
    report = api.rollback(baseline)
    assert state(clean)["files"] == before["files"]
    assert not report.ok, "h.txt's object was damaged before it was copied"
    assert "Changed before all of the baseline was kept: ./" in str(report.notes)
    assert report.unkept


def test_a_file_too_large_is_named_and_what_it_became_too(clean, monkeypatch):
    clean.write("large.bin", "x" * 100)
    monkeypatch.setattr(vaults, "MAX_FILE", 50)
    baseline = taken(clean)
    clean.write("large.bin", "y" * 101)
    assert api.plan_rollback(baseline).beyond == ("large.bin",)
    report = api.rollback(baseline)
    assert any("large.bin was changed and had not been kept" in p for p in report.problems)


def test_a_filter_that_is_gone_is_told_and_the_rest_comes_back(clean):
    filters(clean)
    clean.git("config", "filter.rot.required", "true")
    baseline = taken(clean)
    edits_filtered(clean)
    clean.write("a.txt", "evil\n")
    (clean.root.parent / "tool").unlink()
    report = api.rollback(baseline)
    assert any("rot" in problem for problem in report.problems)
    assert (clean.root / "changed.rot").read_text() == "untracked\n"
    assert (clean.root / "a.txt").read_text() == "a one\n" * 5
    assert ".gitattributes" in files(clean.root)


def test_a_shallow_and_a_partial_clone(clean, tmp_path):
    source = clean
    source.git("config", "uploadpack.allowFilter", "true")
    for number, flags in enumerate((("--depth=1",), ("--filter=blob:none",))):
        root = tmp_path / str(number) / "repo"
        source.git("clone", "-q", *flags, f"file://{source.root}", str(root))
        repo = Repo(root)
        before = state(repo)
        baseline = taken(repo)
        agents.edits_and_commits(repo)
        agents.deletes_git(repo)
        report = api.rollback(baseline)
        assert report.ok, report.problems
        assert state(repo) == before


@pytest.mark.skipif("reftable" not in subprocess.getoutput("git init -h"), reason="this git has no reftable")
def test_reftable(tmp_path):
    repo = Repo(tmp_path / "repo")
    repo.root.mkdir()
    repo.git("init", "-q", "--ref-format=reftable")
    repo.write("a.txt", "a\n")
    repo.commit()
    before = state(repo)
    baseline = taken(repo)
    agents.edits_and_commits(repo)
    assert api.rollback(baseline).ok
    assert state(repo) == before


# A full disk.


@pytest.fixture
def small(tmp_path):
    """A file system of a few megabytes."""
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(mount)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not permitted here")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


FULL = re.compile("No space left|Out of diskspace")


def fill(folder: Path, spare: int) -> Path:
    ballast = folder / "ballast"
    room = shutil.disk_usage(folder).free - spare
    ballast.write_bytes(b"\0" * max(0, room))
    return ballast


def test_a_disk_that_is_full_when_a_baseline_is_taken(mine, small):
    before = state(mine)
    ballast = fill(small, 16 << 10)
    with pytest.raises(HostError, match="No space left") as refused:
        api.take(str(mine.root), small / "session", lambda _: False, "s1")
    assert "Make room" in str(refused.value)
    assert state(mine) == before
    ballast.unlink()
    shutil.rmtree(small / "session")
    assert api.take(str(mine.root), small / "session", lambda _: False, "s1").rest.complete


@pytest.mark.parametrize("spare", [0, 40 << 10, 120 << 10], ids=["at once", "in quarantine", "in the middle"])
def test_a_disk_that_is_full_at_a_rollback(mine, small, spare):
    before = state(mine)
    baseline = api.take(str(mine.root), small / "session", lambda p: p.endswith("/.env"), "s1")
    for n in range(20):
        mine.write(f"made/{n}.bin", f"{n}" * 8000)
    agents.edits_and_commits(mine)
    made = files(mine.root)
    ballast = fill(small, spare)
    try:
        report = api.rollback(baseline)
        assert not report.ok
        assert any(FULL.search(p) for p in report.problems)
    except HostError as e:
        assert FULL.search(str(e))
    kept = {
        *(p.read_bytes() for p in (small / "session").rglob("*.bin")),
        *(v[2] for v in files(mine.root).values() if len(v) > 2),
    }
    assert {v[2] for n, v in made.items() if n.startswith("made/")} <= kept, "nothing of the agent's is lost"
    ballast.unlink()
    again = api.rollback(api.load(baseline.folder))
    assert again.ok, again.problems
    assert state(mine) == before
