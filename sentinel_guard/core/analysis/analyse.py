"""Predicts the effects of an agent's action without running it. The only entry point: ``analyse(action, world)``.

Every simple command gives one ``EXECUTE`` with its ``Command``, plus the effects of its program, in the order in which
they would happen; conditional commands count as if they ran, but for what a script's own tests leave out
(``evaluation/conditions.py``). The words, for those who write rules:

===================  =================================================================================================
EXECUTE program      how: forkbomb | typed (its commands are what the agent types on a terminal later), else none
                     "container NAME", "port NUMBER", "database NAME": makes (once the action has succeeded it is the
                     session's own: its making fails where it was there)
WRITE path           how: truncate append inplace | mode (chmod; shut: unreadable; open: to others) | owner (chown) |
                     recursive (the tree below) |
                     over (with truncate, move: a file outside of the repository was there before) |
                     empty (nothing is left in it) | unpack (over what is in a folder) |
                     sweep (a folder from which git clean -x, git stash -a take what is ignored) |
                     link (the new name) | move (came by mv) | raw (a device, by dd, cp, >) | mkfs (mkfs, fdisk, wipefs)
DELETE path          how: recursive force | contents (all that is in it) | move (moved away) |
                     out (with move: out of the guarded repository) | many (one of MANY or more files that were there) |
                     truncate (shred: the data is written over, whether the name stays or not)
READ path            how: link (another name for it is made) | shown (what is read comes before the agent, or into a
                     copy: output_visibility.py) | stage (by name into git's index) | key (one is cut out by its
                     name, into a variable or a word of curl), else none
GIT_REWRITE          "worktree" (uncommitted changes are lost; move: stashed), "untracked", "ignored" (files are lost
                     by clean; move: stashed), "index" (only the index changes)
                     "branch NAME", "tag NAME", "ref NAME": force (deleted though not merged, forced) | move (renamed,
                     set elsewhere), else deleted; "branch HEAD" is the current one
                     "history": commits are rewritten (rebase, --amend); force: all of it (filter-branch, filter-repo)
                     "stash", "reflog", "objects": lost for good
                     "hooks": passed by (--no-verify, commit -n)
                     "config key": set for one command (-c) | inplace: in a file | inplace delete: taken out of it
                     elsewhere: of the files of a repository other than the session's, which no snapshot of ours holds
PUBLISH remote       or registry; how: force (--force, +ref, --mirror, --prune) | delete (--delete, :ref, unpublish) |
                     snapshots (refs/sentinel/...: what people have not committed) |
                     unwatched (by git's plumbing, for which no hook runs) |
                     elsewhere (from a repository other than the session's, and what it may send is not known to be
                     harmless: pushes_elsewhere.py) | new (a remote that this text set)
DATABASE statement   (its first 80 characters) or name; how: delete (DROP; DELETE, UPDATE without WHERE) | truncate
DEPLOY where to      how: delete (destroy, delete, down -v, rb, rm), else none (apply, up, deploy)
PRIVILEGE            "sudo", "doas", "su", "pkexec" (a command as somebody else), "root shell" (an open one), "setpriv"
                     "container --privileged", "container host mount", "container host namespace", "docker.sock"
                     "mounted keys" (into a container of nobody known),
                     "nsenter", "chroot", "unshare", "mount", "kernel module", "kernel setting", "firewall", "power",
                     "setuid", "capabilities", "ptrace", "users", "remote shell", "typing", "volume",
                     "session bus", "ssh agent" (their sockets)
                     "network", "security" (SELinux, audit), "service" (stopped), "packages" (removed), "clock", "logs",
                     "boot", "endless" (a file that grows until the disk is full), "open access" (to other machines),
                     "served secrets" (files of secrets that a file server shows to these)
                     how: documented (sudo that installs packages which the project's own files name)
                     "environment NAME" (PATH, LD_PRELOAD, BASH_ENV, GIT_CONFIG_GLOBAL ... are set); append: PATH keeps
                     what it was
NETWORK url or host  how: data (sends something of this machine; value: in the address or a header) |
                     delete (curl -X DELETE; not on this machine) | foreign (a credential of another service) |
                     login (all that is not known in it is a key, where services take theirs)
SIGNAL pid           or "%job", or the name of a process or service; how: force (KILL) |
                     others (whom a name, pattern or port reaches beside the session's own)
OPAQUE text          how: name (a command word) | verb (of a program that can destroy) |
                     code (text for an interpreter: curl | sh) | delete | write (the target
                     of one) | parse (syntax, depth, size) | data (anything else that is not known; may pass) |
                     error (the analysis itself failed; always refused)
===================  =================================================================================================

``sure`` is False where the analysis guesses: an unknown current directory, a partly known path, another machine (ssh).
Deleting ``dir/*`` gives a DELETE of each match and a DELETE of ``dir`` with ``recursive contents``.
A link's own name counts for DELETE and moves (``rm link``); what it points to counts for everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import held_calls, lost_after_move
from sentinel_guard.core.analysis.agent_tools import command_of, tool_effects
from sentinel_guard.core.analysis.evaluation import made_names, simple_command
from sentinel_guard.core.analysis.evaluation.autoloaded_files import on_opening
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext
from sentinel_guard.core.analysis.evaluation.walk_syntax_tree import Walk
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.programs.git import pushes_elsewhere
from sentinel_guard.core.analysis.programs.system import other_peoples_processes
from sentinel_guard.core.analysis.step_budget import MAX_STEPS, TOO_MUCH, BudgetExceeded
from sentinel_guard.core.analysis.world import World
from sentinel_guard.core.model import Action, Effect, Kind, Layer

_REPLACES = frozenset(("move", "link", "recursive"))
"""The old file keeps its other names, or it is no file."""


def analyse(action: Action, world: World, own: Collection[str] = ()) -> tuple[Effect, ...]:
    """The effects of an action, in order. Never raises; runs nothing; reads only through ``world``. ``own``: what the
    session made that is no file (``Session.made``).

    Where the analysis itself fails its last effect is OPAQUE, how ``error``, which the judge refuses.
    """
    try:
        effects = _effects(action, world, frozenset(own))
        return (*effects, *other_peoples_processes.reached(effects, world))
    except Exception as e:  # noqa: BLE001 - as above
        return (_failure(e),)


def _failure(e: Exception) -> Effect:
    return Effect(Kind.OPAQUE, f"{type(e).__name__}: {e}"[:200], sure=False, how=frozenset(("error",)))


def _effects(action: Action, world: World, own: frozenset[str]) -> tuple[Effect, ...]:
    overlay = Overlay(world)
    overlay.proven = own
    overlay.root, overlay.typed = action.root, action.typed
    arguments = action.arguments
    if action.layer is Layer.KERNEL and "object" in arguments:
        held = held_calls.effects(action.tool, str(arguments["object"]), str(arguments.get("gives", "")))
        return _by_all_names(held, overlay)
    if action.tool == "shell" or "argv" in arguments:
        asked = arguments.get("command", arguments.get("argv"))
    else:
        asked = command_of(action.tool, arguments)
    if isinstance(asked, str):
        return _shell(asked, action, overlay)
    if isinstance(asked, list | tuple):
        return _argv([str(item) for item in asked], action, overlay)
    done = (_read(effect) for effect in tool_effects(action.tool, arguments, action.cwd, overlay))
    return _by_all_names(done, overlay)


def _read(effect: Effect) -> Effect:
    """A tool hands its agent what it reads."""
    return replace(effect, how=effect.how | {"shown"}) if effect.kind is Kind.READ else effect


def _place(action: Action, world: Overlay) -> WalkContext:
    cwd = world.folder_at(action.cwd) if action.cwd else None
    scope = Scope(world, cwd, world.environ, world.home, budget=world.budget)
    return WalkContext(scope, scope.cwd or action.root or "/")


def _shell(text: str, action: Action, world: Overlay) -> tuple[Effect, ...]:
    def start(walk: Walk, place: WalkContext) -> str:
        if action.definitions:
            walk.text(action.definitions.replace("\0", ""), place)
            walk.effects.clear()
        return walk.text(text.replace("\0", ""), place)

    return _walked(action, world, start, text)


def _argv(argv: list[str], action: Action, world: Overlay) -> tuple[Effect, ...]:
    return _walked(
        action, world, lambda walk, place: simple_command.command(walk, [Field(text) for text in argv], place)
    )


def _walked(
    action: Action, world: Overlay, start: Callable[[Walk, WalkContext], str], text: str | None = None
) -> tuple[Effect, ...]:
    walk, place = Walk(world), _place(action, world)
    try:
        start(walk, place)
        walk.finish(place)
        for path in on_opening(world):
            walk.opaque(f"what runs by itself: {path}", "code", place)
    except (BudgetExceeded, RecursionError) as e:
        world.budget.left = MAX_STEPS  # for saying so
        walk.opaque(TOO_MUCH if isinstance(e, BudgetExceeded) else "nested too deeply", "parse", place)
    except Exception as e:  # noqa: BLE001 - whatever goes wrong is told, and what was found before it
        walk.effects.append(_failure(e))
    world.settle()
    if world.own:
        walk.effects.extend(made_names.effects(world, text))
    if world.unmade or world.proven:
        walk.effects.extend(made_names.lost({*world.unmade, *made_names.replaced(world.proven, walk.effects)}))
    effects = _with_texts(lost_after_move.with_origins(pushes_elsewhere.looked_at(walk.effects, world)), world)
    return _by_all_names(_counted(effects, world), world)


MANY = 3
"""Files whose loss in one go is more than the deletion of a file or two."""


def _counted(effects: Sequence[Effect], world: Overlay) -> Sequence[Effect]:
    """Deletions of files that were there, each with the word ``many`` where there are many of them."""
    lost = {
        e.target
        for e in effects
        if e.kind is Kind.DELETE and "recursive" not in e.how and world.kind(e.target) == "file"
    }
    if len(lost) < MANY:
        return effects
    return [replace(e, how=e.how | {"many"}) if e.kind is Kind.DELETE and e.target in lost else e for e in effects]


def _with_texts(effects: Sequence[Effect], world: Overlay) -> Sequence[Effect]:
    """What the action itself wrote goes along with its writing, and with its reading that again."""
    made, moves = world.made(), (Kind.WRITE, Kind.READ)
    if not made:
        return effects
    return [_with_text(e, world.texts(e.target)) if e.target in made and e.kind in moves else e for e in effects]


def _with_text(e: Effect, text: str) -> Effect:
    """``replace``, in a sixth of the time: a text may write hundreds of files."""
    return Effect(e.kind, e.target, e.sure, e.how, e.command, text, e.written, e.file, e.folder, e.found)


def _by_all_names(effects: Iterable[Effect], world: Overlay) -> tuple[Effect, ...]:
    """What is done to a file is done to it under all its names: the link that led there, and its hard links."""
    effects = tuple(effects)
    linked: Mapping[str, tuple[str, ...]] = {}
    if world.root and (written := [e.target for e in effects if e.kind is Kind.WRITE and not e.how & _REPLACES]):
        linked = world.names(written, world.root)
    return tuple(_each_name(effects, linked, world)) if linked or world.has_names() else effects


def _each_name(effects: Iterable[Effect], linked: Mapping[str, tuple[str, ...]], world: Overlay) -> Iterator[Effect]:
    write, read = Kind.WRITE, Kind.READ
    for effect in effects:
        yield effect
        kind = effect.kind
        if kind is write or kind is read:
            for name in world.called(effect.target):
                yield replace(effect, target=name)
        if kind is write and not effect.how & _REPLACES:
            for name in linked.get(effect.target, ()):
                yield replace(effect, target=name)
