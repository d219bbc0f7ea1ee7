"""A look at the folders that have changed finds what a look at all of them does. Real git, real file systems."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import folder_survey, take_baseline
from sentinel_guard.host.recovery.baseline.baseline_diff import diff_baseline
from sentinel_guard.host.recovery.baseline.folder_survey import Survey, file_system, survey
from tests.support.recovery.repository import dirty_template, shell, template

PERSON = """mkdir -p node_modules/own src/node_modules build/deep empty; echo 1 > node_modules/own/i.js
echo 2 > src/node_modules/j.js; git init -q inner; echo 3 > inner/x; mkfifo build/pipe; chmod 555 empty"""
SESSION = 0.1
"""Seconds after which a change time is old enough to be believed."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A repository, and the baseline of a session in it that began when nothing of it was recent."""
    repo = dirty_template(tmp_path_factory.mktemp("survey") / "repo")
    shell(repo, PERSON)
    time.sleep(SESSION)
    return repo, api.take(str(repo.root), repo.root.parent / "s" / "baseline", restricts, "s1")


def restricts(path: str) -> bool:
    return path.endswith("/.env")


def test_what_nobody_touched_is_not_read(begun):
    repo, baseline = begun
    shell(repo, "echo edited >> src/deep/x.py")
    if not baseline.rest.stamps:
        pytest.skip("a file system that is not known to keep the times of folders")
    found = survey(baseline)
    assert found.files == []
    assert found.special == ["build/pipe"]
    assert (found.modes, found.new) == ({}, [])


ACTS = (
    ("true", "nothing"),
    ("echo x > new", "a new file at the top"),
    ("echo x > src/deep/new", "a new file deep down"),
    ("echo x > untracked/dir/new; touch -d 2020-01-01 untracked/dir", "the folder's modification time forged"),
    ("touch -r src/deep ../time; echo x > src/deep/new; touch -r ../time src/deep", "and put back as it was"),
    ("echo x > src/deep/aside; mv src/deep/aside src/deep/x.py", "written aside and renamed"),
    ("mkdir -p a/b; echo x > a/b/c", "new folders"),
    ("mkdir a", "an empty one"),
    ("echo x > build/deep/.env", "a restricted file that is ignored"),
    ("echo x > build/deep/x.o", "an ignored file"),
    ("echo x > src/deep/x.log", "another one"),
    ("mkfifo build/deep/pipe", "a pipe in an ignored folder"),
    ("mkfifo src/deep/.gitignore", "a pipe where git looks for rules"),
    ("rm build/pipe", "a pipe is gone"),
    ("git init -q src/deep/repo; echo x > src/deep/repo/x", "a repository in a folder of tracked files"),
    ("git init -q untracked/dir", "a folder of untracked files becomes a repository"),
    ("echo 'gitdir: ../x' > src/deep/.git", "a file that makes a repository of a folder"),
    ("echo x > node_modules/own/new", "in a folder of generated files that is not ignored"),
    ("mkdir src/deep/node_modules; echo x > src/deep/node_modules/k", "such a folder is new"),
    ("mv src lib", "a folder has another name"),
    ("mv src/deep aside; echo x > aside/new; mv aside src/deep", "moved away, changed, and back"),
    ("mv untracked/dir aside; mv build/deep untracked/dir; mv aside build/deep", "two folders changed places"),
    ("rm -rf src/deep; ln -s ../build src/deep", "a link in the place of a folder"),
    ("mv src lib; ln -s lib src; echo x > lib/deep/new", "a link to where a folder was moved, in its place"),
    ("rm src/y.py; mkdir src/y.py; echo x > src/y.py/z", "a folder in the place of a file"),
    ("rm -rf untracked; echo x > untracked", "a file in the place of a folder"),
    ("ln a.txt src/deep/hard", "a hard link"),
    ("chmod 700 empty src; echo x > empty/x", "a folder that was read-only"),
    ("echo x > inner/new", "in a repository of its own"),
    ("rm -rf inner/.git", "which is none any more"),
    ("for i in {1..300}; do echo $i > src/deep/$i; done", "more than git is asked about by name"),
    ("git rm -qrf src; mkdir -p src; echo x > src/y.py", "tracked files, one of them made anew"),
)


@pytest.mark.parametrize("script", [row[0] for row in ACTS], ids=[row[1] for row in ACTS])
def test_it_finds_what_a_look_at_all_finds(begun, tmp_path, script):
    repo = dirty_template(tmp_path / "repo")
    shell(repo, PERSON)
    time.sleep(SESSION)
    baseline = api.take(str(repo.root), tmp_path / "s" / "baseline", restricts, "s1")
    shell(repo, script)
    assert told(baseline) == told(replace(baseline, rest=replace(baseline.rest, stamps={})))
    report = api.rollback(baseline, restricts=restricts)
    assert report.ok or script.startswith("rm build/pipe"), report.problems
    assert told(baseline)["created"] == []


def told(baseline: api.Baseline) -> dict[str, object]:
    found = survey(baseline)
    diff = diff_baseline(baseline, lambda _: False, restricts, found)
    start = baseline.rest.folders
    lists: dict[str, object] = {"seen": {n: m for n, m in found.modes.items() if n and start.get(n) != m}}
    lists |= {part: getattr(diff, part) for part in ("files", "tracked", "modes", "folders", "folder_modes", "beyond")}
    return lists | {"created": sorted(diff.created), "new": sorted(found.new), "special": found.special}


@pytest.mark.parametrize("when", ["a moment before", "between start and completion"])
def test_a_folder_that_was_changed_lately_is_read(tmp_path, when):
    repo = template(tmp_path / "repo")
    time.sleep(SESSION)
    if when == "a moment before":
        repo.write("src/deep/lately", "x")
    baseline = api.begin(str(repo.root), tmp_path / "s" / "baseline", restricts, "s1")
    if when != "a moment before":
        repo.write("src/deep/lately", "x")
    done = api.complete(baseline)
    assert done.rest.stamps.get("src/deep", (0, 0)) == (0, 0)
    assert "src/deep/lately" in survey(done).files
    assert "src/deep/lately" in survey(api.load(done.folder)).files


def test_where_times_of_folders_are_not_kept_all_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(take_baseline.folder_survey, "KEEP_TIMES", frozenset())
    repo = template(tmp_path / "repo")
    time.sleep(SESSION)
    baseline = api.take(str(repo.root), tmp_path / "s" / "baseline", restricts, "s1")
    assert baseline.rest.stamps == {}
    assert "src/deep/x.py" in survey(baseline).files
    assert survey(replace(baseline, where=replace(baseline.where, root=f"{repo.root}/gone"))) == Survey()


MOUNTS = (
    "/dev/a / ext4 rw 0 0\nhost /home/u/with\\040space 9p rw 0 0\n/dev/b /home/u btrfs rw 0 0\nx /home/u fuse rw 0 0\n"
)


@pytest.mark.parametrize(
    ("path", "kind", "why"),
    [
        ("/etc", "ext4", "the root's"),
        ("/home/user", "ext4", "no mount: its name only begins alike"),
        ("/home/u", "fuse", "of two at one place the later one covers the other"),
        ("/home/u/with space/x", "9p", "the longest, and a name with an escape"),
    ],
)
def test_the_file_system_is_that_of_the_nearest_mount(tmp_path, monkeypatch, path, kind, why):
    (tmp_path / "mounts").write_text(MOUNTS)
    monkeypatch.setattr(folder_survey, "MOUNTS", str(tmp_path / "mounts"))
    assert file_system(path) == kind, why
    monkeypatch.setattr(folder_survey, "MOUNTS", str(tmp_path / "none"))
    assert file_system(path) == ""
