"""Version control besides git: what reverting, cleaning, stripping and forcing means in each of them."""

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository

WORLD = repository({"src/app.py": "x\n"}, folders=("/home/ann/repo/src",))
ROWS = [
    ("bzr revert --no-backup", "git-rewrite worktree", "edits"),
    ("brz clean-tree --unknown --ignored --force", "git-rewrite ignored", "what nobody knows"),
    ("brz clean-tree --unknown --dry-run", "", "only tried"),
    ("bzr push --overwrite bzr+ssh://host/r", "publish default", "a forced push"),
    ("bzr status", "", "a look at it"),
    ("cvs -q update -C -d -P", "git-rewrite worktree", "clean copies over edits"),
    ("cvs -q -n update", "", "only tried"),
    ("darcs obliterate --last 3 -a", "git-rewrite history", "patches"),
    ("got revert -R .", "git-rewrite worktree", "Game of Trees"),
    ("tf vc undo . /recursive", "git-rewrite worktree", "TFVC, by its words"),
    ("tf status", "", "a look at it"),
    ("cm undo . -r", "git-rewrite worktree", "Plastic"),
    ("cm branch delete /main/x", "deploy repository", "for all"),
    ("svn update --accept theirs-full", "git-rewrite worktree", "an option with its value"),
    ("svn update --accept postpone", "", "another value"),
    ("hg shelve --delete x", "git-rewrite stash", "what was shelved"),
    ("hg merge --abort", "git-rewrite worktree", "edits of a merge"),
    ("jj undo", "", "can be undone itself"),
    ("but discard ab", "git-rewrite worktree", "GitButler"),
    ("repo sync --force-sync", "git-rewrite worktree", "many repositories"),
    ("repo forall -c 'git reset --hard'", "git-rewrite worktree", "a command in each"),
    ("repo status", "", "a look at them"),
    ("p4 client -d ws", "deploy repository", "a workspace"),
    ("p4 client -o", "", "printed"),
    ("git clear -f", "git-rewrite ignored", "git-extras"),
    ("git delete-branch x", "publish origin", "there, too"),
    (
        "git -C /tmp/copy clean -fdx",
        "!git-rewrite ignored",
        "a clone among temporary files: nobody keeps anything there",
    ),
    ("git -C ../other clean -fdx", "git-rewrite ignored", "another repository"),
]


@pytest.mark.parametrize(("command", "expected"), [row[:2] for row in ROWS], ids=[f"{r[2]}: {r[0][:40]}" for r in ROWS])
def test_what_version_control_loses(command: str, expected: str) -> None:
    kinds = (Kind.GIT_REWRITE, Kind.PUBLISH, Kind.DEPLOY)
    told = {f"{e.kind.value} {e.target}" for e in effects_of(command, WORLD) if e.kind in kinds}
    assert (expected.lstrip("!") in told) is (expected[:1] != "!") if expected else not told, told
