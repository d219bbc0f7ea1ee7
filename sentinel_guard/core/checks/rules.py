"""The check ``rules``: matches effects with the policy: restricted paths, rules, approvals, the guard's own files.

Rules of this file:
1. Every effect is looked at; no allow-list is consulted first (DESIGN section 3, rule 6).
2. KILL only where the effect is ``sure``; the same finding on a guess is a DENY.
3. What the guard itself needs is not policy: no file can take ``guard.*`` and ``paths.*`` away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from shlex import quote

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.held_calls import LOSSES
from sentinel_guard.core.checks import confirm_gates, git_hook_managers
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.chmod_modes import keeps_owner_rights, only_removes_access
from sentinel_guard.core.checks.finding_texts import evidence, near, says_nothing, short, shown
from sentinel_guard.core.checks.new_files import NewFiles
from sentinel_guard.core.checks.signals_to_guard import Aim, Lookups, connects_to_guard, names_guard
from sentinel_guard.core.model import Ask, Command, Effect, Finding, Kind, Layer, Response
from sentinel_guard.core.policy.held_call_rules import released_with
from sentinel_guard.core.policy.match_rules import Index
from sentinel_guard.core.policy.policy import Policy, Rule, last_matching_pattern
from sentinel_guard.core.policy.target_placeholders import TargetContext, inside, within

NAME = confirm_gates.NAME
SETTINGS_RULE = "guard.settings"
SECOND_FACTOR = "second-factor.json"
"""Name of the file in the guard's state that holds the secret of the person's codes."""
OPERATOR_RULE = "guard.operator"
OUTSIDE_RULES = frozenset(("filesystem.delete-outside", "filesystem.overwrite-outside"))
"""Of a held call, a yes to these holds for the folder that is shown, as long as the session lives."""
_SHOWS = "filesystem.show-secret"
_REHEARSAL = re.compile(r"\.envrc|\.env\.(?:test|testing|ci|dev|development)")
STRIKES = frozenset({SETTINGS_RULE, OPERATOR_RULE})
"""Findings that are strikes: the daemon keeps them in ``Session.strikes``, and the second one is fatal."""

_CREATE = "paths.create"
_PATHS = (Kind.WRITE, Kind.DELETE, Kind.READ)
_ANOTHER = "work on another file, for example .env.example, or ask the user: sentinel-guard help-me 'what you need'"
_NAMED_AGAIN = frozenset(("link", "stage"))
"""Reading that is more: the file gets another name, or goes into a commit."""
_WHOLE = ("find", "fd", "fdfind", "rsync")
"""To whom all that is in a folder is all: hidden files, too."""
_SEARCHERS = frozenset(("find", "fd", "xargs"))
_ALL = re.compile(r"(?:^|[\s/'\"])\*+(?:$|[\s;&|)'\"])")
"""A word that means all that is there."""
_SETUID = frozenset(("sudo", "doas", "su", "pkexec", "root shell"))
"""Privileges that the kernel gives to setuid programs alone."""
_POLICIES = 16
"""Policies whose index is kept."""


class Rules:
    """The check ``rules``."""

    name = NAME

    def __init__(self) -> None:
        self._indexes: dict[int, Index] = {}

    def __call__(self, case: Case) -> Iterator[Finding]:
        if case.outcome is not None:
            return
        own = NewFiles(case)
        ground, reading = target_context(case, own.is_new), target_context(case, own.was_made)
        index, lookups, told = self._index(case.policy), Lookups(case), set[str]()
        for effect in case.effects:
            if effect.kind is Kind.EXECUTE:
                yield from confirm_gates.before_command(case, effect, index)
                if connects_to_guard(case, effect):
                    why = "it speaks to the guard in the place of the person or of the launcher"
                    yield _attack(case, "guard.folders", effect, why, fatal=False)
            elif effect.kind in _PATHS:
                yield from _path_findings(case, effect, ground, told)
            elif effect.kind is Kind.SIGNAL and (aimed := names_guard(case, effect, lookups)):
                why = "it attacks the guard's own processes"
                yield _attack(case, "guard.process", effect, why, fatal=aimed is Aim.SURE)
            elif effect.kind is Kind.PRIVILEGE and case.held and effect.target in _SETUID:
                yield _without_rights(case, effect)
            for rule in index.rules(effect, reading if effect.kind is Kind.READ else ground):
                if _is_meant(case, rule, effect, ground):
                    yield _finding(case, rule, effect)
        yield from confirm_gates.before_tool(case)

    def _index(self, policy: Policy) -> Index:
        """The policy's index. Each holds its policy, so that no other one can come to bear the same ``id``."""
        index = self._indexes.get(id(policy))
        if index is None:
            if len(self._indexes) >= _POLICIES:
                self._indexes.clear()
            index = self._indexes[id(policy)] = Index(policy)
        return index


rules = Rules()


def target_context(case: Case, new: Callable[[str], bool]) -> TargetContext:
    """What the names in a rule's targets stand for in this case."""
    root = case.session.root or case.action.root
    return TargetContext(
        case.policy,
        root,
        case.home,
        case.guarded.folders,
        case.guarded.settings,
        case.action.cwd,
        new,
    )


def _is_meant(case: Case, rule: Rule, effect: Effect, ground: TargetContext) -> bool:
    """Of a held call by which a file loses its content only what was to be held: what a database does with its own
    journal is another matter than a command that deletes it. And no database that is a file of the session's own, nor
    what git tracks under a name for tests: whoever has the repository has it. To an agent itself nothing is shown.
    """
    if rule.id == _SHOWS and case.action.for_itself:
        return False
    if rule.id == _SHOWS and _REHEARSAL.fullmatch(paths.base(effect.target)):
        return effect.target not in case.tracked((effect.target,))
    if effect.file:
        return not ground.new(effect.file)
    if case.action.layer is not Layer.KERNEL or case.action.tool not in LOSSES:
        return True
    return rule.held or rule.id in OUTSIDE_RULES


def _finding(case: Case, rule: Rule, effect: Effect) -> Finding:
    response = rule.response
    if response is Response.KILL and not effect.sure:
        response = Response.DENY
    ask = Ask(rule.action, _asked(case, rule, effect), rule.risk) if response is Response.ASK else None
    why = "; ".join(filter(None, (rule.why.replace("{target}", effect.target), effect.found)))
    return Finding(NAME, response, f"`{shown(case, effect)}`", why, rule.instead, rule.id, evidence(effect), ask)


def _without_rights(case: Case, effect: Effect) -> Finding:
    """A yes of the person would lead to an error of ``sudo`` that nobody understands."""
    why = f"{effect.target} has no rights in this session, whose system calls are held (kernel layer)"
    way = (
        'let the user run it in a terminal of their own, or begin a session with [kernel] mode = "off" in their policy'
    )
    return Finding(NAME, Response.DENY, f"`{shown(case, effect)}`", why, way, "kernel.setuid", evidence(effect))


def _asked(case: Case, rule: Rule, effect: Effect) -> str:
    """What the gate shows as ``Target:``; the command where the target says nothing (``curl … | sh``)."""
    if says_nothing(effect):
        return shown(case, effect)
    if rule.id in OUTSIDE_RULES and case.action.layer is Layer.KERNEL:
        folder = released_with(effect.target, case.session.root, case.home)
        return folder + effect.target[len(folder) :].replace("/", "/ (now ", 1) + ")" * (folder != effect.target)
    if effect.kind is not Kind.EXECUTE or effect.command is None:
        return short(case, effect.target)
    return short(case, (effect.command.operands or (effect.command.program,))[0])


# The guard's own things


def _path_findings(case: Case, effect: Effect, ground: TargetContext, told: set[str]) -> Iterator[Finding]:
    settings, written = case.guarded.settings, effect.kind is not Kind.READ
    if written:
        yield from _folders(case, effect, ground)
    elif _takes_second_factor(case, effect):
        why = "who has read the secret of the second factor can say yes in the person's place"
        yield _path(case, "guard.second-factor", effect, why, "sentinel-guard status")
    if written and within(effect.target, settings):
        if found := git_hook_managers.asked(case, effect, NAME):
            yield found
            return
        if not _named(case, effect):
            yield from _swept(case, effect, effect.target, told)
            return
        yield _settings(case, effect)
    elif written and _reaches_below(effect) and (along := _takes_along(effect, settings, ground)):
        yield from _swept(case, effect, along, told)
    yield from _restricted(case, effect, ground)


def _takes_second_factor(case: Case, effect: Effect) -> bool:
    """Whether the secret would be read: by its name, or with all of the guard's folder that holds it."""
    return (paths.base(effect.target) == SECOND_FACTOR and within(effect.target, case.guarded.folders)) or (
        effect.target.rstrip("/") in case.guarded.folders
    )


def _folders(case: Case, effect: Effect, ground: TargetContext) -> Iterator[Finding]:
    folders = case.guarded.folders
    directly = within(effect.target, folders)
    if not (directly or _reaches_below(effect)):
        return
    if directly and _spares(effect, effect.target) and not _named(case, effect):
        return
    along = not directly and _takes_along(effect, folders, ground)
    if directly or (along and effect.kind is Kind.DELETE):
        yield _attack(case, "guard.folders", effect, "it attacks the guard's own files", fatal=directly)
    elif not directly and "mode" in effect.how and any(inside(f, effect.target) for f in folders) and _shuts(effect):
        yield _attack(case, "guard.folders", effect, "the guard could not reach its own files any more", fatal=False)


def _shuts(effect: Effect) -> bool:
    """Whether a chmod takes from a folder's owner the way through it."""
    command = effect.command
    return command is not None and command.program == "chmod" and not keeps_owner_rights(command, "rx")


def _named(case: Case, effect: Effect) -> bool:
    """Whether the agent wrote the path's name itself, as the one target: what a glob or a list brought along is none.

    The words of the action count, since those of the command have been expanded.
    """
    targets = {e.target for e in case.effects if e.kind is effect.kind and e.command is effect.command}
    return len(targets) == 1 and paths.base(effect.target) in str(case.action.arguments)


def _swept(case: Case, effect: Effect, path: str, told: set[str]) -> Iterator[Finding]:
    """A setting that is reached without being meant: refused, once, where it would change, and never a strike."""
    setting = next(s for s in case.guarded.settings if inside(path, s))
    if setting in told or _spares(effect, path):
        return
    told.add(setting)
    name = near(setting, case.session.root or case.action.root)
    why = f"it takes {name} along, which is restricted (the guard's settings)"
    yield _path(case, "paths.restricted", effect, why, f"name the files that you mean, without {name}")


def _spares(effect: Effect, path: str) -> bool:
    """Whether what is at a path stays as it is: its bytes, and that its owner can read (and run) it."""
    command = effect.command
    if effect.kind is Kind.DELETE or command is None:
        return False
    if effect.how & {"mode", "owner"} and path != effect.target:
        return True  # from a folder above: the watcher keeps the bytes
    if "owner" in effect.how or command.program == "touch":
        return True
    return command.program == "chmod" and keeps_owner_rights(command, "r" if path.endswith(".toml") else "rx")


def _stays_readable(effect: Effect) -> bool:
    """Whether an owner or a mode changes, and whose file it is can still read it: the watcher keeps the bytes."""
    command = effect.command
    if command is None or effect.how.isdisjoint(_RIGHTS):
        return False
    return "owner" in effect.how or (command.program == "chmod" and keeps_owner_rights(command, "r"))


def _along_with_all(effect: Effect, said: str) -> bool:
    """Whether a file was reached without being meant: by a search, by ``*``, by a name that is nowhere written.

    A mode is meant where the name was put together from pieces: ``.e*``, ``.e''nv``.
    """
    if paths.base(effect.target) in said:
        return False
    searched = effect.command is not None and not _SEARCHERS.isdisjoint(effect.command.via)
    return "mode" not in effect.how or searched or _ALL.search(said) is not None


def _settings(case: Case, effect: Effect) -> Finding:
    again = bool(case.session.strikes)
    count = "this is the second try" if again else "a second try ends the session"
    return _attack(
        case, SETTINGS_RULE, effect, f"the guard's settings are not the agent's to change; {count}", fatal=again
    )


def _attack(case: Case, rule: str, effect: Effect, why: str, *, fatal: bool = True) -> Finding:
    response = Response.KILL if fatal and effect.sure else Response.DENY
    instead = "ask the user to change it: sentinel-guard help-me 'what you need'"
    return Finding(NAME, response, f"`{shown(case, effect)}`", why, instead, rule, evidence(effect))


# Restricted and hidden paths


def _restricted(case: Case, effect: Effect, ground: TargetContext) -> Iterator[Finding]:
    policy, path = case.policy, effect.target
    if effect.kind is Kind.READ and not effect.how & _NAMED_AGAIN:
        if pattern := policy.hides(path, ground.root):
            yield _path(case, "paths.hidden", effect, f"{near(path, ground.root)} is hidden (pattern {pattern})")
    elif pattern := policy.restricts(path, ground.root):
        if only_removes_access(effect) or (
            _stays_readable(effect) and _along_with_all(effect, str(case.action.arguments))
        ):
            return
        said = f"{near(path, ground.root)} is restricted (pattern {pattern})"
        temporary = paths.is_temporary(path, ground.root, ground.home)
        if effect.kind is not Kind.READ and policy.lets_create(pattern) and (temporary or ground.new(path)):
            if policy.paths.create == "ask" and not temporary:
                yield _creation(case, effect, said)
            return
        way = f"echo {quote(f'/{near(path, ground.root)}')} >> .gitignore" if "stage" in effect.how else _ANOTHER
        yield _path(case, "paths.restricted", effect, said, way)
    elif (_reaches_below(effect) or "sweep" in effect.how) and (held := _held(case, effect, ground)):
        pattern = policy.restricts(held, ground.root) or near(held, ground.root)
        what = f"{near(path, ground.root)} holds {near(held, ground.root)}, which is restricted (pattern {pattern})"
        way = f"git clean -fdx -e {paths.base(held)}" if "sweep" in effect.how else _ANOTHER
        yield _path(case, "paths.restricted", effect, what, way)


def _creation(case: Case, effect: Effect, said: str) -> Finding:
    """Of a restricted path at which nothing was when the session began."""
    ask = Ask("CREATE_RESTRICTED", short(case, effect.target), "MEDIUM")
    why = f"{said}, and [paths] create asks"
    return Finding(NAME, Response.ASK, f"`{shown(case, effect)}`", why, _ANOTHER, _CREATE, evidence(effect), ask)


def _held(case: Case, effect: Effect, ground: TargetContext) -> str:
    """A restricted file that goes with the folder that an effect is about."""
    command = effect.command
    if "sweep" in effect.how:
        below = [p for p in case.restricted if inside(p, effect.target) and not _excluded(command, p, ground)]
        # What git tracks, clean and stash leave; another git command of the same text may end that.
        alone = {e.command for e in case.effects if e.command and e.command.program == "git"} == {command}
        spared = case.tracked(tuple(below)) if below and alone else frozenset[str]()
        return next((p for p in below if p not in spared), "")
    if "contents" in effect.how and (command is None or command.program not in _WHOLE):
        return ""  # by a glob, which leaves hidden names alone and tells of all others one by one
    if _stays_readable(effect):
        return ""
    return _takes_along(effect, case.restricted, ground, apart=case.guarded.settings)


def _excluded(command: Command | None, path: str, ground: TargetContext) -> bool:
    """Whether ``git clean -e PATTERN`` leaves a path out."""
    words = command.argv if command is not None else ()
    given = [after for word, after in pairwise(words) if word in ("-e", "--exclude")]
    given += [word.partition("=")[2] for word in words if word.startswith("--exclude=")]
    given += [word[2:] for word in words if word.startswith("-e") and len(word) > 2]
    return bool(last_matching_pattern(tuple(given), path, ground.root))


_RIGHTS = frozenset(("mode", "owner"))


def _reaches_below(effect: Effect) -> bool:
    """Whether what is below a path may go with it, or change its rights."""
    return effect.kind is Kind.DELETE or not effect.how.isdisjoint(_RIGHTS)


def _takes_along(effect: Effect, held: tuple[str, ...], ground: TargetContext, apart: tuple[str, ...] = ()) -> str:
    """The first of the paths that goes, or changes rights, with the folder that an effect is about."""
    if not _reaches_below(effect) or not effect.how & {"recursive", "move"}:
        return ""
    if effect.kind is Kind.DELETE and inside(ground.root, effect.target):
        return ""  # the rules on {root} speak, and more sharply
    return next((p for p in held if p != effect.target and inside(p, effect.target) and p not in apart), "")


def _path(case: Case, rule: str, effect: Effect, why: str, way: str = _ANOTHER) -> Finding:
    return Finding(NAME, Response.DENY, f"`{shown(case, effect)}`", why, way, rule, evidence(effect))
