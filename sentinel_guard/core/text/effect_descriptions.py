"""Describe an effect in plain words: ``deletes src and all below``, ``sends data to HOST``.

Rules of this file:
1. Every kind has words, and every word of ``how`` that changes what happens changes them.
2. A path is told as the person knows it: from the folder the command runs in, below ``~``, else whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sentinel_guard.core.model import Effect, Kind


class PathContext(NamedTuple):
    """Where the command runs: what a path is told from."""

    cwd: str
    home: str = ""


_Words = Sequence[tuple[str, str]]
"""A word of ``how`` and the sentence it makes, the first that is there counts; ``""`` is always there."""

_DEEDS: Mapping[Kind, _Words] = {
    Kind.WRITE: (
        ("mkfs", "makes a new file system on {}"),
        ("raw", "writes to the device {} under its file system"),
        ("shut", "takes the rights to {} away"),
        ("mode", "changes the rights of {}"),
        ("owner", "changes the owner of {}"),
        ("link", "makes the link {}"),
        ("move", "moves a file to {}"),
        ("folder", "makes the folder {}"),
        ("append", "appends to {}"),
        ("inplace", "edits {}"),
        ("over", "overwrites {}"),
        ("", "writes {}"),
    ),
    Kind.DELETE: (
        ("contents", "deletes all that is in {}"),
        ("move", "moves {} away"),
        ("truncate", "overwrites the data of {}"),
        ("", "deletes {}"),
    ),
    Kind.READ: (
        ("link", "makes another name of {}"),
        ("stage", "stages {}"),
        ("shown", "shows {}"),
        ("", "reads {}"),
    ),
    Kind.GIT_REWRITE: (("", "git: {}"),),
    Kind.PUBLISH: (
        ("force", "overwrites at {}"),
        ("delete", "deletes at {}"),
        ("snapshots", "publishes rescue snapshots to {}"),
        ("", "publishes to {}"),
    ),
    Kind.DATABASE: (
        ("delete", "deletes in a database: {}"),
        ("truncate", "empties in a database: {}"),
        ("", "database: {}"),
    ),
    Kind.DEPLOY: (("delete", "destroys {}"), ("", "deploys to {}")),
    Kind.PRIVILEGE: (("", "gains rights: {}"),),
    Kind.NETWORK: (("data", "sends data to {}"), ("delete", "deletes at {}"), ("", "connects to {}")),
    Kind.SIGNAL: (("force", "kills {}"), ("", "signals {}")),
    Kind.EXECUTE: (
        ("forkbomb", "starts itself without end"),
        ("typed", "takes what the agent types later"),
        ("unmakes", "is no longer known to be the session's own"),
        ("makes", "is made here, and the session's own from then on"),
    ),
    Kind.OPAQUE: (
        ("name", "runs a command that is not known: {}"),
        ("verb", "does what is not known: {}"),
        ("code", "runs code that is not known: {}"),
        ("delete", "deletes what is not known: {}"),
        ("write", "writes to what is not known: {}"),
        ("parse", "cannot be read to its end: {}"),
        ("error", "the analysis failed: {}"),
        ("data", ""),  # it decides nothing
    ),
}

_PRIVILEGES = {
    "sudo": "runs as another user (sudo)",
    "doas": "runs as another user (doas)",
    "su": "runs as another user (su)",
    "pkexec": "runs as another user (pkexec)",
    "root shell": "opens a shell as root",
    "container host mount": "gives a container the host's files",
    "mounted keys": "gives a container keys of the user's",
    "container host namespace": "puts a container among the host's processes",
    "container --privileged": "gives a container the host's rights",
    "remote shell": "gives a shell on this machine to another one",
    "typing": "could type at the person's terminal",
}
_GIT = {
    "worktree": ("throws uncommitted changes away", "puts uncommitted changes aside"),
    "untracked": ("deletes files that git does not know", "puts files that git does not know aside"),
    "ignored": ("deletes ignored files", "puts ignored files aside"),
    "index": ("changes what is staged", "changes what is staged"),
    "history": ("rewrites commits", "rewrites commits"),
    "stash": ("drops stashed work", "drops stashed work"),
    "reflog": ("drops the way back to lost commits", "drops the way back to lost commits"),
    "objects": ("deletes commits that nothing names", "deletes commits that nothing names"),
    "hooks": ("passes the repository's hooks by", "passes the repository's hooks by"),
}
"""What is lost or changed: words, and words where ``how`` has ``move``."""

_PATHS = frozenset({Kind.WRITE, Kind.DELETE, Kind.READ})
_DEEP = " and all below"


def describe(effect: Effect, here: PathContext) -> str:
    """The effect in plain words; empty for one that decides nothing (a command that only runs, unknown data)."""
    words = _named(effect) or _deed(effect, here)
    guessed = words and not effect.sure and effect.kind not in (Kind.OPAQUE, Kind.EXECUTE)
    return f"{words} (not sure)" if guessed else words


def _named(effect: Effect) -> str:
    if effect.kind is Kind.PRIVILEGE:
        name = effect.target.removeprefix("environment ")
        return f"sets {name} in the environment" if name != effect.target else _PRIVILEGES.get(name, "")
    if effect.kind is not Kind.GIT_REWRITE:
        return ""
    elsewhere = " of another repository" if "elsewhere" in effect.how else ""
    if effect.target in _GIT:
        return _GIT[effect.target]["move" in effect.how] + elsewhere
    what, _, name = effect.target.partition(" ")
    verb = "sets" if what == "config" else "moves" if "move" in effect.how else "deletes"
    return f"{verb} the git {'setting' if what == 'config' else what} {name}{elsewhere}"


def _deed(effect: Effect, here: PathContext) -> str:
    sentence = next((words for word, words in _DEEDS[effect.kind] if not word or word in effect.how), "")
    if effect.kind is Kind.OPAQUE and not effect.target.strip("… "):
        return sentence.removesuffix(": {}")  # an empty expansion, a pipe: it left no text
    if effect.kind not in _PATHS:
        return sentence.format(effect.target.strip())
    deep = _DEEP if "recursive" in effect.how and "contents" not in effect.how else ""
    return sentence.format(near(effect.target, here)) + deep


def near(path: str, here: PathContext) -> str:
    """A path as the person at ``here`` knows it."""
    if path == here.cwd:
        return "this folder"
    if here.cwd not in ("", "/") and path.startswith(here.cwd + "/"):
        return path[len(here.cwd) + 1 :]
    if here.home not in ("", "/") and (path == here.home or path.startswith(here.home + "/")):
        return "~" + path[len(here.home) :]
    return path
