"""What a rollback says of damage that it cannot undo: never ok, and never a reason to leave the rest undone."""

from __future__ import annotations

import pytest

from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import gitdir_backup, object_backup
from tests.support.recovery import agent_scripts as agents
from tests.support.recovery.repository import EVIL, Repo, files, overwrite, settle, state, taken

OBJECTS = [
    ("HEAD:g.txt", EVIL, "a blob becomes another"),
    ("HEAD:g.txt", b"Z", "a blob becomes junk"),
    ("HEAD:g.txt", b"", "a blob is emptied"),
    ("HEAD^{tree}", b"Z", "the tree"),
    ("HEAD", b"Z", "the commit"),
]


@pytest.mark.parametrize(("what", "data"), [r[:2] for r in OBJECTS], ids=[r[2] for r in OBJECTS])
@pytest.mark.parametrize("also", [True, False], ids=["with its file", "alone"])
def test_46_an_object_damaged_in_place_comes_back_from_its_copy(clean, what, data, also):
    baseline = taken(clean)
    overwrite(clean, what, data)
    if also:
        clean.write("g.txt", "evil\n")
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert (clean.root / "g.txt").read_text() == "g one\n" * 5
    assert clean.git("fsck", "--no-dangling") == ""


@pytest.mark.parametrize(("what", "data"), [r[:2] for r in OBJECTS], ids=[r[2] for r in OBJECTS])
@pytest.mark.parametrize("also", [True, False], ids=["with its file", "alone"])
def test_46_an_object_damaged_in_place_is_never_called_ok(clean, monkeypatch, what, data, also):
    monkeypatch.setattr(object_backup, "COPIES", 0)
    baseline = taken(clean)
    overwrite(clean, what, data)
    if also:
        clean.write("g.txt", "evil\n")
    report = api.rollback(baseline)
    assert not report.ok
    assert any("1 objects of the repository were overwritten" in problem for problem in report.problems)


def test_only_the_starts_commit_and_trees_are_copied_where_there_are_many(clean, monkeypatch):
    monkeypatch.setattr(object_backup, "COPIES", 4)
    baseline = taken(clean)
    for what in ("HEAD:src/deep", "HEAD:src", "HEAD^{tree}", "HEAD"):
        overwrite(clean, what, b"Z")
    assert api.rollback(baseline).ok
    assert clean.git("fsck", "--no-dangling") == ""


PACKS = [
    (".pack", lambda data: data[:40] + b"Z" + data[41:], "a byte of a pack"),
    (".pack", lambda data: data[:-30], "a pack cut short"),
    (".idx", lambda _: b"Z", "an index"),
]


@pytest.mark.parametrize(("suffix", "change"), [r[:2] for r in PACKS], ids=[r[2] for r in PACKS])
@pytest.mark.parametrize("copied", [64 << 20, 0], ids=["there is a copy", "too large to be copied"])
def test_a_damaged_pack_comes_back_from_its_copy_or_is_not_called_ok(clean, monkeypatch, suffix, change, copied):
    monkeypatch.setattr(object_backup, "PACKS", copied)
    clean.git("gc", "-q")
    baseline = taken(clean)
    (pack,) = (clean.root / ".git/objects/pack").glob(f"*{suffix}")
    pack.chmod(0o644)
    pack.write_bytes(change(pack.read_bytes()))
    report = api.rollback(baseline)
    assert report.ok == bool(copied)
    assert any("overwritten" in problem for problem in report.problems) != report.ok
    assert not copied or clean.git("fsck", "--no-dangling") == ""


def test_a_pack_is_copied_once_for_all_sessions(clean, tmp_path):
    clean.git("gc", "-q")
    folders = [tmp_path / "sessions" / name / "baseline" for name in ("1", "2", "3")]
    for folder in folders:
        folder.parent.mkdir(parents=True)
        api.take(str(clean.root), folder, lambda _: False, "s")
    (pack,) = (clean.root / ".git/objects/pack").glob("*.pack")
    copies = {(folder / "objects/pack" / pack.name).stat().st_ino for folder in folders}
    assert len(copies) == 1 and pack.stat().st_ino not in copies


def test_what_is_gone_from_the_farm_too_is_never_called_ok(clean):
    baseline = taken(clean)
    blob = clean.git("rev-parse", "HEAD:g.txt")
    for top in (clean.root / ".git/objects", baseline.farm):
        (top / blob[:2] / blob[2:]).unlink()
    report = api.rollback(baseline)
    assert not report.ok
    assert any("missing or unreadable" in problem for problem in report.problems)


def junk_vault(baseline: api.Baseline) -> None:
    for path in (baseline.folder / "vault").rglob("*"):
        if path.is_file():
            path.write_bytes(b"Z")


def junk_copy(baseline: api.Baseline, digest: str) -> None:
    path, at, size = baseline.vault.packs.place(digest)
    with path.open("r+b") as f:
        f.seek(at)
        f.write(b"Z" * size)


def test_a_damaged_copy_costs_its_own_file_only(mine):
    before = state(mine)
    baseline = taken(mine)
    junk_copy(baseline, baseline.files["c.txt"].content)
    agents.edits_and_commits(mine)
    report = api.rollback(baseline)
    assert not report.ok
    assert all("c.txt" in problem for problem in report.problems)
    after = state(mine)
    assert after["refs"] == before["refs"]
    assert {n for n, was in before["files"].items() if after["files"].get(n) != was} == {"c.txt"}


@pytest.mark.parametrize("agent", [agents.edits_and_commits, agents.junks_metadata, agents.deletes_git])
def test_a_vault_of_junk_stops_nothing_else(clean, agent):
    before = files(clean.root)
    baseline = taken(clean)
    junk_vault(baseline)
    agent(clean)
    report = api.rollback(baseline)
    assert not report.ok
    assert any(".git/" in problem and "damaged" in problem for problem in report.problems)
    after = files(clean.root)
    assert {n for n, was in before.items() if after.get(n) != was} == set()
    now = gitdir_backup.refs(baseline.where.git_dir)
    assert {n: now.get(n) for n in baseline.refs} == baseline.refs
    assert (clean.root / ".git/HEAD").read_text() == f"ref: {baseline.branch}\n"


def test_a_damaged_copy_of_the_index_leaves_the_persons_work(mine):
    before = files(mine.root)
    baseline = taken(mine)
    junk_copy(baseline, baseline.own["index"].content)
    agents.resets_and_cleans(mine)
    report = api.rollback(baseline)
    assert {p.split(" ")[0] for p in report.problems} == {".git/index"}
    assert files(mine.root) == before


PACKED = [
    ("HEAD:g.txt", "HEAD:a.txt", "a file of START"),
    ("HEAD~1:h.txt", "HEAD:a.txt", "a file of the history"),
]


def becomes(repo: Repo, one: str, other: str) -> None:
    """A loose object gets the content of another one, as a new file."""
    path, source = (repo.root / ".git/objects" / digest[:2] / digest[2:] for digest in (one, other))
    path.unlink()
    path.write_bytes(source.read_bytes())


@pytest.mark.parametrize(("what", "other"), [r[:2] for r in PACKED], ids=[r[2] for r in PACKED])
def test_a_pack_that_holds_something_else_under_a_true_name_is_taken_apart(clean, what, other):
    baseline, found, evil = taken(clean), clean.git("rev-parse", what), clean.git("rev-parse", other)
    sound = clean.git("cat-file", "-p", found)
    clean.write("mine.txt", "the agent's\n")
    clean.git("add", "mine.txt")
    clean.git("commit", "-qm", "the agent's")
    made = clean.git("rev-parse", "HEAD")
    becomes(clean, found, evil)
    clean.git("gc", "-q", "--prune=now")
    assert clean.git("cat-file", "-p", found) != sound, "the pack is believed"
    report = api.rollback(baseline)
    assert report.problems == ()
    assert clean.git("cat-file", "-p", found) == sound
    assert clean.git("fsck", "--no-dangling") == ""
    assert clean.git("cat-file", "blob", f"{made}:mine.txt") == "the agent's"
    assert made in clean.git("rev-list", "--all")
    assert api.plan(baseline) == []


def test_a_pack_of_an_honest_gc_stays_and_an_index_over_packs_goes(clean):
    baseline = taken(clean)
    clean.commit("the agent's")
    clean.git("gc", "-q", "--prune=now")
    (pack,) = (clean.root / ".git/objects/pack").glob("*.pack")
    clean.git("multi-pack-index", "write")
    index = pack.with_name("multi-pack-index")
    index.chmod(0o644)
    index.write_bytes(index.read_bytes()[:-200] + b"Z" * 200)
    assert api.plan(baseline)
    assert api.rollback(baseline).ok
    assert pack.exists() and not index.exists(), "git would believe it"
    assert clean.git("fsck", "--no-dangling") == ""


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "begun only"])
@pytest.mark.parametrize("there", [True, False], ids=["the person's own", "moved in"])
def test_an_index_over_packs_that_is_moved_in_goes_and_the_persons_own_stays(clean, tmp_path, there, whole):
    """It keeps its time of birth."""
    clean.git("gc", "-q")
    clean.git("multi-pack-index", "write")
    index, aside = clean.root / ".git/objects/pack/multi-pack-index", tmp_path / "aside"
    if not there:
        index.chmod(0o644)
        index.write_bytes(index.read_bytes()[:-200] + b"Z" * 200)
        index.rename(aside)
    settle()
    baseline = taken(clean) if whole else api.begin(str(clean.root), tmp_path / "session", lambda _: False, "s1")
    settle()
    clean.write("a.txt", "the agent's\n")
    if not there:
        aside.rename(index)
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert index.exists() == there
    assert clean.git("fsck", "--no-dangling") == ""


def test_one_ref_that_git_refuses_does_not_cost_the_others(clean):
    baseline = taken(clean)
    made = []
    for name in ("one", "two", "three"):
        clean.git("checkout", "-q", "-b", name)
        clean.commit(name)
        made.append(clean.git("rev-parse", "HEAD"))
    becomes(clean, made[1], clean.git("rev-parse", "HEAD:g.txt"))
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert made[0] in clean.git("rev-list", "--all")
    assert any(f"({made[1]}) is not kept" in note for note in report.notes)


def test_a_commit_is_kept_whose_lost_content_still_lies_in_the_work_tree(clean):
    """The rescue snapshot brings it back: so it is taken before it is seen which commits are whole."""
    baseline = taken(clean)
    clean.write("mine.txt", "the agent's\n")
    clean.commit("the agent's")
    made, blob = clean.git("rev-parse", "HEAD"), clean.git("rev-parse", "HEAD:mine.txt")
    (clean.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert made in clean.git("rev-list", "--all")
    assert clean.git("cat-file", "blob", f"{made}:mine.txt") == "the agent's"
