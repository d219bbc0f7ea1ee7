"""What a later session's baseline takes over from an earlier one is what a look at everything finds. Real git."""

from __future__ import annotations

import time

import pytest

from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import folder_survey, session_baseline, take_baseline
from sentinel_guard.host.recovery.baseline.walk_again import walk_again
from sentinel_guard.host.recovery.baseline.worktree_inventory import RECENT
from tests.support.recovery.repository import Repo, dirty_template, shell

PERSON = """mkdir -p node_modules/own src/node_modules build/deep empty odd; echo 1 > node_modules/own/i.js
echo 2 > src/node_modules/j.js; git init -q inner; echo 3 > inner/x; mkfifo build/pipe; mkdir lost
echo gitdir: x > lost/.git
chmod 640 g.txt; ln h.txt odd/twin; chmod 555 empty"""

ACTS = (
    ("true", "nothing"),
    ("chmod 600 h.txt", "a mode that git does not see"),
    ("chmod 644 g.txt", "an odd mode taken back"),
    ("echo x >> g.txt", "a change"),
    ("echo x > aside; mv aside g.txt", "written aside and renamed"),
    ("git commit -qam all; chmod 600 a.txt", "a commit, and a mode after it"),
    ("git rm -q --cached g.txt; git commit -qm gone", "tracked no more"),
    ("git add notes.txt untracked; git commit -qm all", "what was untracked is tracked"),
    ("git config core.fileMode false; git update-index --chmod=+x h.txt; git commit -qm x", "executable for git alone"),
    ("git update-index --assume-unchanged h.txt; chmod 600 h.txt", "a mode where git is told not to look"),
    ("mkdir -p new/er; echo x > new/er/x; chmod 700 new", "new folders"),
    ("rm -rf src", "a folder is gone"),
    ("mv src lib", "a folder has another name"),
    ("mv src lib; ln -s lib src", "a link to where a folder was moved, in its place"),
    ("chmod 700 empty; echo x > empty/x", "an empty folder that is none any more"),
    ("rm -r odd; mkdir odd", "one that is empty now"),
    ("rm build/pipe", "a pipe is gone"),
    ("mkfifo src/pipe", "a pipe is new"),
    ("(echo x > build/pipe) & cat build/pipe", "a pipe was written to"),
    ("rm lost/.git", "a file called .git is gone"),
    ("echo gitdir: y > src/.git", "such a file is new"),
    ("rm odd/twin", "a hard link is gone"),
    ("ln a.txt src/twin", "a hard link is new"),
    ("chmod 000 src/deep", "a folder was shut"),
    ("rm .git/index; git reset -q", "an index of its own"),
)  # fmt: skip


SETTLED = 0.1
"""Seconds after which a change time is old enough to be believed."""


def restricts(path: str) -> bool:
    return path.endswith("/.env")


@pytest.fixture
def begun(tmp_path):
    """A repository in which a session has ended; nothing of it is recent."""
    repo = dirty_template(tmp_path / "repo")
    shell(repo, PERSON)
    time.sleep(RECENT + 0.1)
    api.take(str(repo.root), tmp_path / "1" / "baseline", restricts, "s1")
    yield repo
    shell(repo, "chmod -R u+rwX .")


def completed(repo: Repo, monkeypatch, *, again: bool) -> session_baseline.Completion:
    taken = []
    monkeypatch.setattr(
        take_baseline, "walk_again", lambda *words: taken.append(walk_again(*words) if again else None) or taken[0]
    )
    baseline = api.begin(str(repo.root), repo.root.parent / ("3" if again else "2") / "baseline", restricts, "s")
    done = api.complete(baseline)
    assert (taken[0] is not None) is again
    assert session_baseline.load(done.folder).rest == done.rest
    return done.rest


@pytest.mark.parametrize("script", [row[0] for row in ACTS], ids=[row[1] for row in ACTS])
def test_it_finds_what_the_whole_walk_finds(begun, monkeypatch, script):
    if not folder_survey.keeps_times(str(begun.root)):
        pytest.skip("a file system that is not known to keep the times of folders")
    shell(begun, script)
    time.sleep(SETTLED)
    whole = completed(begun, monkeypatch, again=False)
    (begun.root.parent / "2").rename(begun.root.parent / "0")  # the session before it is the earlier one again
    assert told(completed(begun, monkeypatch, again=True)) == told(whole)


@pytest.mark.parametrize(
    "script", ["echo '!build/' >> .gitignore", "echo src/ >> .gitignore", "touch *.txt", "rm -rf inner/.git"]
)
def test_where_git_looks_elsewhere_or_much_was_touched_all_is_looked_at(begun, monkeypatch, script):
    shell(begun, script)
    taken = []
    monkeypatch.setattr(take_baseline, "walk_again", lambda *words: taken.append(walk_again(*words)) or taken[0])
    monkeypatch.setattr("sentinel_guard.host.recovery.baseline.walk_again.MOST", 7)
    api.take(str(begun.root), begun.root.parent / "2" / "baseline", restricts, "s2")
    assert taken == [None]


def told(rest: session_baseline.Completion) -> dict[str, object]:
    """What was recent apart, and the times of folders: the one was taken later."""
    parts = ("empty", "modes", "folders", "usual", "special", "pipes", "git_files", "links", "shut", "notes")
    found = {part: getattr(rest, part) for part in parts}
    return {k: v if isinstance(v, dict) else sorted(v) for k, v in found.items()} | {"seen": sorted(rest.stamps)}
