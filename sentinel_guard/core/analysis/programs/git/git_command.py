"""The git command: global options, ``-c`` settings and aliases, then the effects of the subcommand."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.git import (
    committed_files,
    git_config_files,
    git_index,
    git_refs,
    git_worktree,
    own_clones,
)
from sentinel_guard.core.analysis.programs.git.changes_repository import LOOKS, only_looks
from sentinel_guard.core.analysis.programs.git.git_config_files import HOOKS, variable
from sentinel_guard.core.analysis.programs.git.git_settings_changes import config, setting
from sentinel_guard.core.analysis.programs.git.pushes_elsewhere import ELSEWHERE, LED
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

# They run no hooks that anything rests on; agents ask them with other hooks switched off, for their own safety.
HOOKLESS = frozenset((
    "add", "blame", "cat-file", "check-ignore", "commit-tree", "config", "describe", "diff", "diff-index",
    "diff-tree", "for-each-ref", "grep", "hash-object", "log", "ls-files", "ls-tree", "merge-base",
    "name-rev", "read-tree", "remote", "rev-list", "rev-parse", "shortlog", "show", "show-ref", "status",
    "symbolic-ref", "update-index", "var", "version", "write-tree",
))  # fmt: skip

_HELD = ("worktree", "untracked", "ignored", "stash")
"""What is lost with them is held by a snapshot, or by nothing."""

_ASKS_GIT = frozenset(("--version", "--html-path", "--man-path", "--info-path"))
"""Options of git's own with which it runs no subcommand (git.c)."""

HELPER = "--helper"
"""Ends the names of programs in which git's scripts have a subcommand done (``git bisect--helper reset``)."""

_LEADING = (
    *("GIT_", "HOME", "XDG_CONFIG_HOME", "PATH", "LD_", "SSH_", "EDITOR", "VISUAL"),
    *("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
)
"""Beginnings of variables by which git, or what it starts, finds other settings, programs or repositories."""
_PUSHES = ("push", "send-pack", "http-push")

SUBCOMMANDS: dict[str, Callable[[Call], Effects]] = {
    **git_worktree.SUBCOMMANDS,
    **git_refs.SUBCOMMANDS,
    **git_index.SUBCOMMANDS,
    "config": config,
}

_BUILTINS = frozenset((
    "annotate", "backfill", "bugreport", "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "cherry",
    "citool", "column", "commit-graph", "count-objects", "credential", "credential-cache",
    "credential-store", "describe", "diagnose", "diff-pairs", "fast-export", "fmt-merge-msg",
    "for-each-ref", "for-each-repo", "fsck", "fsmonitor--daemon", "get-tar-commit-id", "gitk", "gui",
    "help", "hook", "http-fetch", "index-pack", "instaweb", "interpret-trailers", "last-modified", "ls-files",
    "ls-tree", "mailinfo", "mailsplit", "maintenance", "merge-base", "merge-index", "merge-tree",
    "mergetool", "mktag", "mktree", "multi-pack-index", "name-rev", "pack-objects", "pack-redundant",
    "pack-refs", "patch-id", "prune-packed", "quiltimport", "range-diff", "receive-pack", "refs", "repack", "replace",
    "replay", "repo", "request-pull", "rerere", "rev-list", "rev-parse", "scalar", "shell", "show-branch",
    "show-index", "show-ref", "sparse-checkout", "status", "stripspace", "unpack-file", "unpack-objects",
    "update-server-info", "upload-archive", "upload-pack", "var", "verify-commit", "verify-pack", "verify-tag",
    "version", "write-tree",
))  # fmt: skip
"""Subcommands of git's own that change nothing worth a word. No alias can take their place."""


def git(call: Call) -> Effects:
    """Global options first, then the subcommand, or what an alias makes of it."""
    for item in call.head.values("-C"):
        cwd = call.locate(item) if item.known else call.cwd
        call = replace(call, cwd=cwd, here=call.certain(item.text) and item.known)
    if call.head.value("--exec-path") is not None:
        yield call.effect(Kind.PRIVILEGE, "environment GIT_EXEC_PATH")
    settings = list(git_config_files.given(call)) if _may_be_given(call) else []
    name = call.command.subcommand
    if name.removesuffix(HELPER) in SUBCOMMANDS:
        name = name.removesuffix(HELPER)
    if len(call.fields) == 3 and call.fields[2].text in ("-h", "--help"):
        return
    if _is_led(call):
        call.world.unmake(LED)
    committed_files.note(call, name, [item.text for item in call.operands])
    folder, foreign = _repository(call), name in _PUSHES and _foreign(call)
    tree = call.head.value("--work-tree") or variable(call, "GIT_WORK_TREE") or _worktree(settings)
    if tree is not None and tree.known:
        call = replace(call, cwd=call.locate(tree))
    for key, value in settings:
        if not (key.lower() == HOOKS and _runs_no_hook(call, name)):
            yield from setting(call, key, value)
    program = SUBCOMMANDS.get(name)
    if program is None:
        yield from _other(call, name, settings)
        return
    away = _elsewhere(call, folder) or _elsewhere(call, call.cwd)
    root, home = call.world.root, call.world.home
    scratch = paths.is_temporary(folder, root, home) and paths.is_temporary(call.cwd, root, home)
    for effect in program(call):
        if scratch and effect.kind is Kind.GIT_REWRITE and effect.target == "ignored":
            continue  # of a clone among temporary files: nobody keeps anything there
        lost = away and effect.kind is Kind.GIT_REWRITE and effect.target in _HELD
        sent = foreign and effect.kind is Kind.PUBLISH
        told = replace(effect, how=effect.how | {ELSEWHERE}) if lost or sent else effect
        yield from own_clones.spared(call, told) if effect.kind is Kind.GIT_REWRITE else (told,)


def _runs_no_hook(call: Call, name: str) -> bool:
    """Whether no hook of the session's repository would look at it, whatever is set."""
    if not name and not call.operands and _ASKS_GIT & call.head.flags.keys():
        return True
    if name == "clone":
        place = call.operands[-1] if len(call.operands) > 1 else None
        keeps = {"-c", "--config"} & call.parsed.flags.keys()  # of the clone's own, not git's
        return place is not None and not keeps and _elsewhere(call, call.locate(place))
    looks = name in LOOKS and only_looks(name, [word.text for word in call.operands])
    return looks or (name in HOOKLESS and not _sets_head(call))


def _sets_head(call: Call) -> bool:
    """``git symbolic-ref HEAD refs/heads/x``: a reference changes, and a hook may look at it."""
    return call.command.subcommand == "symbolic-ref" and (len(call.operands) > 1 or call.has("-d", "--delete"))


def _is_led(call: Call) -> bool:
    """Whether it is not known from the words alone what git does, and in which repository."""
    given = call.scope.variables
    leads = any(name.startswith(_LEADING) and given[name] != (call.world.environ.get(name),) for name in given)
    return leads or not call.here or not {"-C"} >= call.head.flags.keys() or not all(item.known for item in call.fields)


def _may_be_given(call: Call) -> bool:
    """Whether something is set for this command alone."""
    made = call.scope.variables
    return bool(call.head.flags) or any(
        name.startswith("GIT_CONFIG") or name in git_config_files.HOMES for name in made
    )


def _worktree(settings: list[git_config_files.Entry]) -> Field | None:
    return next((Field(value) for key, value in settings if key.lower() == "core.worktree" and value), None)


def _repository(call: Call) -> str:
    """The folder whose repository git works on: the current one, or that which holds ``--git-dir``."""
    given = call.head.value("--git-dir") or variable(call, "GIT_DIR")
    return call.locate(given) if given is not None and given.known else call.cwd


def _foreign(call: Call) -> bool:
    """Whether git works on another repository than the session's, wherever it lies: hooks of ours guard only that one.
    A linked work tree has the hooks of its repository.
    """
    root = call.world.root
    if not root or not call.here:
        return False
    found = git_config_files.common_dir(call)
    if found is None:  # one that the same text makes, or none
        return not f"{call.cwd}/".startswith(f"{root.rstrip('/')}/")
    own = git_config_files.behind(f"{root.rstrip('/')}/.git", call.world)
    return call.world.resolve(found) != call.world.resolve(own)


def _elsewhere(call: Call, path: str) -> bool:
    """Whether a folder is known to lie neither in the session's repository nor among temporary files."""
    root = call.world.root
    if not root or not call.here or path == root or path.startswith(root.rstrip("/") + "/"):
        return False
    return not paths.is_temporary(path, root, call.world.home)


def _other(call: Call, name: str, settings: list[git_config_files.Entry]) -> Effects:
    """What is no subcommand that changes anything: an alias, else the program ``git-NAME``."""
    via = f"git {name}"
    if not name or name in _BUILTINS or via in call.command.via:
        return ()
    value = git_config_files.alias(call, name, settings)
    rest = call.head.operands[1:]
    if value is None:
        return call.runner.run([Field(f"git-{name}"), *rest], call, "git")
    if value.startswith("!"):
        positional = tuple(f.text for f in rest) if all(f.known for f in rest) else None
        text = f'{value[1:]} "$@"' if rest else value[1:]
        return call.runner.script(text, call, via, cwd=git_config_files.top(call) or "", positional=positional)
    return call.runner.run([*map(Field, ("git", *_words(value))), *rest], call, via)


def _words(value: str) -> list[str]:
    try:
        return shlex.split(value)
    except ValueError:
        return value.split()


PROGRAMS = {"git": git}
