"""Rollback on real git: whatever an agent did, the repository is byte by byte what it was (recovery.md 1.5)."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import worktree_diff
from sentinel_guard.host.recovery.baseline.worktree_inventory import RECENT
from tests.support.recovery import agent_scripts as agents
from tests.support.recovery.repository import Repo, copied, dirty_template, files, state, template


@pytest.fixture(scope="module")
def pools(tmp_path_factory):
    """Copies of a clean and of a dirty repository, left alone until their files are no longer recent."""
    top = tmp_path_factory.mktemp("recovery")
    made = {"clean": template(top / "clean"), "dirty": dirty_template(top / "dirty")}
    pools = {k: [copied(r, top / f"{k}{n}" / "repo") for n in range(COPIES)] for k, r in made.items()}
    time.sleep(RECENT + 0.1)
    return pools


@pytest.fixture
def clean(pools):
    return pools["clean"].pop()


@pytest.fixture
def mine(pools):
    return pools["dirty"].pop()


COPIES = 40


def restricts(path: str) -> bool:
    return path.rpartition("/")[2] == ".env"


def taken(repo: Repo) -> api.Baseline:
    return api.take(str(repo.root), repo.root.parent / "session", restricts, "s1")


CLEAN = [
    (agents.edits_and_commits, "1 edits and commits"),
    (agents.adds_files, "7 new files with odd names"),
    (agents.plants_worktree, "12 core.worktree elsewhere"),
    (agents.plants_programs, "13 fsmonitor, hooks and filters"),
    (agents.replaces_start, "15 git replace of the start"),
    (agents.switches_branch, "16 a branch created and switched to"),
    (agents.deletes_git, "23 .git deleted"),
    (agents.rewrites_and_collects, "27 amend, reflog expired, gc"),
    (agents.deletes_objects, "29 all objects deleted"),
    (agents.forges_times, "30 a change under a forged time and size"),
    (agents.changes_modes, "31 modes and link targets"),
    (agents.plants_sparse, "34 sparse checkout planted"),
    (agents.poisons_object, "47 a poisoned object as a new file"),
    (agents.renames_branch, "49 the branch renamed"),
]

DIRTY = [
    (agents.edits_and_commits, "2 rewrites the person's files and commits them"),
    (agents.resets_and_cleans, "3 reset --hard and clean"),
    (agents.cleans_ignored_too, "4 clean takes the ignored .env"),
    (agents.edits_env, "5 .env edited, mode widened"),
    (agents.links_env, "6 .env becomes a link"),
    (agents.adds_files, "7 new files beside untracked ones"),
    (agents.hides_by_ignoring, "8 .gitignore hides everything"),
    (agents.hides_by_exclude, "9 exclude files hide everything"),
    (agents.plants_flags, "10 index flags hide changes"),
    (agents.plants_programs, "13 programs planted"),
    (agents.leaves_locks, "14 lock files left"),
    (agents.switches_branch, "16 a branch created and switched to"),
    (agents.detaches_and_deletes, "17 HEAD detached, branches deleted, tag moved"),
    (agents.deletes_git, "23 .git deleted under a dirty tree"),
    (agents.reinitialises, "24 .git made anew"),
    (agents.points_git_elsewhere, "25 .git becomes a file"),
    (agents.links_git_elsewhere, "25 .git becomes a link"),
    (agents.junks_metadata, "26 metadata overwritten with junk"),
    (agents.rewrites_and_collects, "27 amend, gc: staged blobs are unreachable then"),
    (agents.changes_modes, "31 modes and link targets"),
    (agents.links_folder_outside, "32 a folder becomes a link to outside"),
    (agents.swaps_file_and_folder, "33 file and folder swapped"),
    (agents.embeds, "35 an embedded repository appears"),
    (agents.plants_alternates, "45 alternates planted"),
]


@pytest.mark.parametrize("agent", [a for a, _ in CLEAN], ids=[why for _, why in CLEAN])
def test_clean_start_is_reset_to_the_start_hash(clean, agent):
    check(clean, agent, reset=True)


@pytest.mark.parametrize("agent", [a for a, _ in DIRTY], ids=[why for _, why in DIRTY])
def test_a_persons_uncommitted_work_comes_back_bit_for_bit(mine, agent):
    check(mine, agent, reset=False)


def check(repo: Repo, agent: Callable[[Repo], None], *, reset: bool) -> api.Report:
    before = state(repo)
    baseline = taken(repo)
    agent(repo)
    report = api.rollback(baseline)
    assert state(repo) == before
    assert report.problems == ()
    assert report.ok
    assert report.reset is reset
    assert report.start_hash == repo.git("rev-parse", "HEAD")
    assert not (repo.root.parent / "ran").exists(), "a planted program ran"
    assert repo.git("fsck", "--connectivity-only", "--no-dangling", ok=False) == ""
    assert api.plan(baseline) == []
    return report


def test_a_new_restricted_file_goes_though_git_ignores_it(clean):
    baseline = taken(clean)
    new = ("src/.env", "brand/new/.env", "build/.env", "node_modules/x/.env")
    for name in (*new, "build/out.o"):
        clean.write(name, "mine now\n")
    planned = {c.path for c in api.plan_rollback(baseline, restricts=restricts).changes}
    assert planned == set(new[:3]), "what is generated is not searched"
    report = api.rollback(baseline, restricts=restricts)
    assert report.ok
    stays = [new[3], "build/out.o", ".env"]
    assert [name for name in (*new, *stays[1:]) if (clean.root / name).exists()] == stays
    assert {"src/.env", "brand/new/.env", "build/.env"} <= {name for name, _ in report.versions}


RECENTLY = [
    (agents.forges_times, "30 a change under a forged time, size and second"),
    (agents.changes_modes, "31 modes, in the second of the start"),
    (agents.edits_and_commits, "1 edits and commits"),
]


@pytest.mark.parametrize("agent", [a for a, _ in RECENTLY], ids=[why for _, why in RECENTLY])
@pytest.mark.parametrize("few", [0, 200], ids=["many", "few"])
def test_files_that_were_written_just_before_the_start(clean, tmp_path, monkeypatch, agent, few):
    monkeypatch.setattr(worktree_diff, "MANY", few)
    check(copied(clean, tmp_path / "repo"), agent, reset=True)


STARTS = [
    (agents.skip_worktree, agents.edits_hidden, False, "11 the person's own skip-worktree file is edited"),
    (agents.detach, agents.edits_and_commits, True, "18 detached at the start"),
    (agents.conflict, agents.resolves_and_commits, False, "20 a conflict is resolved and committed"),
    (agents.rebase, agents.aborts_rebase, False, "21 a rebase in progress is aborted"),
    (agents.stash, agents.drops_stash, True, "22 the stash is dropped, another made"),
    (agents.intend_to_add, agents.edits_hidden, False, "42 an intent-to-add entry"),
]


@pytest.mark.parametrize(("start", "agent", "reset", "why"), STARTS, ids=[row[3] for row in STARTS])
def test_what_was_going_on_at_the_start_goes_on(clean, start, agent, reset, why):
    start(clean)
    check(clean, agent, reset=reset)


def test_19_an_unborn_branch_is_unborn_again(tmp_path):
    repo = Repo(tmp_path / "repo")
    repo.root.mkdir()
    repo.git("init", "-q", "-b", "main")
    repo.write("staged.txt", "s")
    repo.git("add", "staged.txt")
    repo.write("loose.txt", "l")
    before = files(repo.root), repo.git("status", "--porcelain=v2", "--branch")
    baseline = taken(repo)
    assert baseline.head == ""
    agents.edits_and_commits(repo)
    report = api.rollback(baseline)
    assert report.ok
    assert not report.reset
    assert (files(repo.root), repo.git("status", "--porcelain=v2", "--branch")) == before


def test_39_a_linked_worktree_leaves_the_main_one_alone(clean, tmp_path):
    clean.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side")
    side.write("a.txt", "mine\n")
    baseline = taken(side)
    side.write("a.txt", "evil\n")
    side.commit()
    clean.write("b.txt", "the person goes on here\n")
    clean.commit()
    main = clean.git("rev-parse", "main")
    assert api.rollback(baseline).ok
    assert (side.root / "a.txt").read_text() == "mine\n"
    assert side.git("rev-parse", "HEAD") == baseline.head
    assert clean.git("rev-parse", "main") == main
    assert clean.git("status", "--porcelain") == ""


def test_40_nothing_changed_nothing_written(mine):
    baseline = taken(mine)
    agents.only_looks(mine)
    before = {p: p.lstat().st_mtime_ns for p in mine.root.rglob("*")}
    report = api.rollback(baseline)
    assert (report.ok, report.restored, report.rescue_ref) == (True, (), "")
    assert {p: p.lstat().st_mtime_ns for p in mine.root.rglob("*")} == before


def test_32_what_lies_outside_is_not_touched(mine):
    baseline = taken(mine)
    agents.links_folder_outside(mine)
    outside = mine.root.parent / "outside"
    before = files(outside)
    api.rollback(baseline)
    assert files(outside) == before


def test_what_the_agent_made_can_be_had_back(mine):
    baseline = taken(mine)
    agents.edits_and_commits(mine)
    made = mine.git("rev-parse", "HEAD")
    mine.write("brand new.txt", "agent's\n")
    mine.write("c.txt", "agent's c\n")
    report = api.rollback(baseline)
    assert mine.git("show", f"{report.rescue_ref}:brand new.txt") == "agent's"
    assert mine.git("rev-parse", "refs/sentinel/s1/1") == made
    kept = {str(Path(q).relative_to(baseline.quarantine)) for q in report.quarantined}
    assert {"worktree/brand new.txt", "worktree/c.txt", "worktree/a.txt"} <= kept
    assert (baseline.quarantine / "worktree/c.txt").read_text() == "agent's c\n"
    assert any("refs/sentinel/s1/1" in note for note in report.notes)


def test_what_two_rollbacks_keep_lies_under_two_names(clean):
    baseline, made = taken(clean), []
    for text in ("one\n", "two\n"):
        clean.write("a.txt", text)
        clean.commit(text)
        made.append(clean.git("rev-parse", "HEAD"))
        # As a file of refs, which the next rollback brings back without what came into it since.
        clean.git("pack-refs", "--all")
        assert api.rollback(baseline).ok
    kept = clean.git("for-each-ref", "--format=%(objectname)", "refs/sentinel/s1")
    assert {*kept.split()} >= {*made}


def test_a_report_names_only_what_its_own_rollback_moved_away(clean):
    baseline = taken(clean)
    clean.write("new.txt", "one\n")
    first = api.rollback(baseline)
    clean.write("newer.txt", "two\n")
    second = api.rollback(baseline)
    told = [{name for name, _ in report.versions} - {".git/ORIG_HEAD"} for report in (first, second)]
    assert told == [{"new.txt"}, {"newer.txt"}]
    assert {*first.quarantined}.isdisjoint(second.quarantined)


def test_pushed_commits_stay_known_as_pushed(clean, tmp_path):
    clean.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    clean.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    clean.git("push", "-q", "origin", "main")
    baseline = taken(clean)
    agents.edits_and_commits(clean)
    clean.git("push", "-q", "origin", "main")
    clean.git("pack-refs", "--all")
    pushed = clean.git("rev-parse", "origin/main")
    report = api.rollback(baseline)
    assert report.ok
    assert clean.git("rev-parse", "origin/main") == pushed
    assert any("origin/main was moved by a push" in note for note in report.notes)


def test_keep_is_passed_over(clean):
    baseline = taken(clean)
    clean.write("docs/incidents/INCIDENT-1.md", "kept")
    clean.write("docs/other.md", "not kept")
    report = api.rollback(baseline, lambda name: name.startswith("docs/incidents/"))
    assert report.ok
    assert (clean.root / "docs/incidents/INCIDENT-1.md").read_text() == "kept"
    assert not (clean.root / "docs/other.md").exists()


def test_plan_tells_and_changes_nothing(mine):
    baseline = taken(mine)
    agents.edits_and_commits(mine)
    mine.write("brand new.txt", "x")
    before = state(mine)
    told = {(c.path, c.what) for c in api.plan(baseline)}
    assert {("a.txt", "changed"), ("brand new.txt", "created"), (".git/index", "changed")} <= told
    assert state(mine) == before


KILLED = [
    (agents.edits_and_commits, 1, "before the journal"),
    (agents.edits_and_commits, 20, "metadata, a clean .git"),
    (agents.deletes_git, 60, "metadata, .git deleted"),
    (agents.junks_metadata, 30, "metadata, junk"),
    (agents.resets_and_cleans, 48, "the person's files"),
    (agents.edits_and_commits, 60, "the rescue snapshot"),
    (agents.swaps_file_and_folder, 40, "file and folder swapped"),
    (agents.links_folder_outside, 44, "a linked folder"),
]
PROGRAM = """
import os, signal, sys
from pathlib import Path
from sentinel_guard.host.recovery import api as snapshots
STEPS = {"os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.utime", "subprocess.Popen"}
left = int(sys.argv[2])
def count(event, args):
    global left
    if event in STEPS:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
baseline = snapshots.load(Path(sys.argv[1]))
sys.addaudithook(count)
snapshots.rollback(baseline)
print(int(sys.argv[2]) - left)
"""


@pytest.mark.parametrize(("agent", "step", "why"), KILLED, ids=[row[2] for row in KILLED])
def test_54_killed_at_a_step_and_run_again(mine, agent, step, why):
    before = state(mine)
    baseline = taken(mine)
    agent(mine)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(baseline.folder), str(step)], capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stdout
    report = api.rollback(api.load(baseline.folder))
    assert report.ok
    assert report.restored
    assert state(mine) == before


def test_a_deleted_root_comes_back(mine):
    before = state(mine)
    baseline = taken(mine)
    shutil.rmtree(mine.root / "build")
    (mine.root / "build").mkdir()
    shutil.copytree(mine.root / ".git", mine.root.parent / "unrelated")
    shutil.rmtree(mine.root)
    report = api.rollback(baseline)
    assert report.ok
    assert state(mine) == before


def test_taking_twice_or_inside_is_refused(clean):
    taken(clean)
    with pytest.raises(HostError, match="holds a baseline already"):
        taken(clean)
    with pytest.raises(HostError, match="lies inside"):
        api.take(str(clean.root), clean.root / "session", restricts)


def test_what_is_no_file_goes_if_it_came_and_stays_if_it_was_there(mine):
    os.mkfifo(mine.root / "src" / "mine.pipe")
    baseline = taken(mine)
    os.mkfifo(mine.root / "src" / "agents.pipe")
    os.mkfifo(mine.root / "untracked" / "kept.pipe")
    os.mkfifo(mine.root / "server.log")  # ignored: a person's own server may use it
    with socket.socket(socket.AF_UNIX) as server:
        # Bound by a relative name: a Unix socket path holds 107 bytes.
        here = Path.cwd()
        os.chdir(mine.root)
        server.bind("agents.sock")
        os.chdir(here)
    keep = {"untracked/kept.pipe"}.__contains__
    assert {"src/agents.pipe", "agents.sock"} <= {c.path for c in api.plan(baseline, keep)}
    assert api.rollback(baseline, keep).ok
    left = {n for n in ("src/mine.pipe", "src/agents.pipe", "untracked/kept.pipe", "agents.sock", "server.log")
            if os.path.lexists(mine.root / n)}  # fmt: skip
    assert left == {"src/mine.pipe", "untracked/kept.pipe", "server.log"}
    assert api.plan(baseline, keep) == []
