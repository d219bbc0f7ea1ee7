"""Pushes from another repository than the session's, of which the machine can tell what they may send (ADR 0053).

What is there now says it only where the whole text does nothing but commit that, and look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.expansion.file_overlay import WAITED, Overlay
from sentinel_guard.core.analysis.programs.git.changes_repository import only_looks
from sentinel_guard.core.model import Command, Effect, Kind

LED = "led git"
"""Stirred where a text leads git elsewhere: by an option, a variable, or by words that nobody knows."""
ELSEWHERE = "elsewhere"
_READERS = frozenset((
    "cd", "pwd", "echo", "true", "false", ":", "test", "[", "[[", "cat", "head", "tail", "wc", "grep", "egrep", "rg",
    "cut", "tr", "ls", "sleep", "date", "jq", "printf",
))  # fmt: skip
"""Programs that write nothing but to files that are told as written."""
_GITHUB = frozenset(("create", "view", "list", "checks", "status", "watch"))
"""What the client of a forge does there alone, to a pull request or a run."""
_LOOKS = frozenset(("status", "log", "diff", "show", "rev-parse", "ls-files", "describe", "rev-list", "merge-base"))
_FLAGS = {
    "add": frozenset(("-A", "--all", "-u", "--update", "-v", "--verbose")),
    "commit": frozenset((
        "-m", "--message", "-a", "--all", "-q", "--quiet", "-s", "--signoff", "-S", "--amend", "--no-edit",
        "--allow-empty",
    )),
    "push": frozenset(("-u", "--set-upstream", "-q", "--quiet", "-v", "--verbose", "--porcelain", "--progress")),
    "checkout": frozenset(("-b", "-q", "--quiet")),
    "switch": frozenset(("-c", "--create", "-q", "--quiet")),
}  # fmt: skip
"""Subcommands that put what is there now into a commit, or send it, and options with which they do no more."""
_NEW_BRANCH = frozenset(("-b", "-c", "--create"))


def looked_at(effects: Sequence[Effect], world: Overlay) -> Sequence[Effect]:
    """The effects, each such push as the machine tells of it: from another repository no more where all that it may
    send was looked at and nothing was found, else with what was found.
    """
    last = max((n for n, effect in enumerate(effects) if _is_meant(effect)), default=None)
    if last is None or world.is_stirred(LED) or not all(map(_may_stand, effects)):
        return effects
    if world.is_stirred(WAITED) or any(map(_waits, effects[:last])):
        return effects  # what another call does meanwhile is not looked at
    given = [(e.folder, e.command) for e in effects if e.kind is Kind.EXECUTE and e.command and e.target == "git"]
    if len({(folder, *command.argv[1 : 3 if command.argv[1] == "-C" else 1]) for folder, command in given}) > 1:
        return effects  # in another work tree, too, which is not looked at
    said = "\n".join(word for _, command in given for word in command.argv[1:])
    return [_told(e, said, world) if _is_meant(e) else e for e in effects]


def _is_meant(effect: Effect) -> bool:
    """Whether it is such a push, and nothing worse."""
    return effect.kind is Kind.PUBLISH and effect.how == {ELSEWHERE}


def _told(effect: Effect, said: str, world: Overlay) -> Effect:
    words = effect.command.operands if effect.command else ()
    found = world.push(effect.folder, words[0] if words else "", words[1:], said) if effect.folder else None
    if found is None:
        return effect
    return replace(effect, found=found) if found else effect.with_how(frozenset())


def _may_stand(effect: Effect) -> bool:
    """Whether a text may have this effect and still send nothing but what is there now."""
    command = effect.command
    if command is None or effect.kind is Kind.READ:
        return effect.kind is Kind.READ
    if effect.kind is Kind.EXECUTE:
        plain = not command.via and command.argv[0] == command.program
        return plain and (_is_git(command) if command.program == "git" else _only_looks(command))
    amends = effect.kind is Kind.GIT_REWRITE and effect.target == "history" and command.subcommand == "commit"
    return amends or (effect.kind in (Kind.PUBLISH, Kind.NETWORK) and command.subcommand == "push")


def _waits(effect: Effect) -> bool:
    """Whether it may take as long as a text likes."""
    command = effect.command
    if effect.kind is not Kind.EXECUTE or command is None:
        return False
    follows = command.program == "tail" and any(
        flag[:2] in ("-f", "-F") or flag == "--follow" for flag in command.flags
    )
    watches = command.program == "gh" and ("watch" in command.argv or "--watch" in command.flags)
    return command.program == "sleep" or follows or watches


def _only_looks(command: Command) -> bool:
    if command.program == "gh":
        return command.argv[1:2] in (("pr",), ("run",)) and not _GITHUB.isdisjoint(command.argv[2:3])
    return command.program in _READERS and command.argv[1:2] != ("-v",)


def _is_git(command: Command) -> bool:
    name, flags = command.subcommand, command.flags - {"-C"}
    if name in _LOOKS or command.argv[1:] in (("remote",), ("remote", "-v")):
        return True
    if name == "branch":
        return only_looks(name, command.argv[command.argv.index(name) + 1 :])
    if not flags <= _FLAGS.get(name, frozenset()) or (name not in _FLAGS):
        return False
    if name not in ("checkout", "switch"):
        return True
    words = [word for word in command.argv[command.argv.index(name) :] if word[:1] != "-"]
    return bool(flags & _NEW_BRANCH) and len(words) == 2  # from where it stands, which is looked at
