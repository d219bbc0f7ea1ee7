"""Repositories that the session made: a copy of a history may be rewritten, its logs emptied and its branches deleted;
work in a clone or linked work tree of its own may be thrown away.

A clone that the text makes is told by its folder; any other one by a file of git's own that is written once, when the
repository is made, and never again: ``description``. https://git-scm.com/docs/gitrepository-layout
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sentinel_guard.core.analysis import paths, places
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.git import git_config_files
from sentinel_guard.core.model import Effect

_WHAT = frozenset(("history", "reflog", "objects", "stash", "branch", "tag", "ref"))
"""First words of the targets that are of one repository alone."""
_OF_TREE = ("worktree", "untracked", "ignored", "index")
"""Targets that are of one work tree alone."""


def note(call: Call) -> None:
    """``git clone``: it fails where the folder holds anything."""
    source, target = [*call.operands, None, None][:2]
    if source is None or not call.here or call.has("--separate-git-dir", "--help", "-h"):
        return
    if places.is_away(call.command) or places.is_inside(call.command):
        return
    folder = paths.base(source.text.rstrip("/")).removesuffix(".git")
    target = target or Field(folder + ".git" * call.has("--bare", "--mirror"), source.known)
    if target.known and target.text.strip("./") and not call.world.kind(f"{call.locate(target)}/HEAD"):
        call.world.own.add(f"repository {call.locate(target)}")


def note_tree(call: Call) -> None:
    """``git worktree add``: it fails where the folder holds anything. What was fetched is so there, too."""
    verb, target = [*call.operands, Field(""), Field("")][:2]
    if verb.text == "add" and target.known and call.world.is_fetched(call.cwd):
        call.world.fetched.add(call.locate(target))
    if verb.text == "add" and target.text and target.known and call.here and not places.is_away(call.command):
        call.world.own.add(f"tree {call.locate(target)}")


def spared(call: Call, effect: Effect) -> Iterator[Effect]:
    """The effect of a command of git, with the file by whose age its repository is known; nothing of a clone that the
    text, or the session before it, made.
    """
    other = call.has("--source", "--target") or not (call.here and call.world.root)
    if not other and "elsewhere" in effect.how and effect.target in _OF_TREE:
        yield from _in_tree(call, effect)
        return
    if other or effect.file or effect.target.partition(" ")[0] not in _WHAT:
        yield effect
        return
    found = git_config_files.common_dir(call)
    if found is None:
        if not any(call.world.is_own(f"repository {folder}") for folder in _upwards(call.cwd)):
            yield effect
        return
    root = call.world.root.rstrip("/")
    session = git_config_files.behind(f"{root}/.git", call.world)
    if call.world.resolve(found) == call.world.resolve(session) or f"{root}/".startswith(f"{found.rstrip('/')}/"):
        yield effect
        return
    made = f"{found}/description"
    yield replace(effect, file=made) if call.world.kind(made) == "file" else effect


def _in_tree(call: Call, effect: Effect) -> Iterator[Effect]:
    """The same for a work tree, as old as the oldest of what is in it: a ``.git`` is soon made in any folder."""
    top = git_config_files.top(call)
    if top is None:
        if not any(call.world.is_own(f"{kind} {folder}") for folder in _upwards(call.cwd) for kind in _TREES):
            yield effect
        return
    yield replace(effect, file=call.world.resolve(top))


_TREES = ("repository", "tree")


def _upwards(folder: str) -> Iterator[str]:
    while folder not in ("", "/"):
        yield folder
        folder = paths.parent(folder)
