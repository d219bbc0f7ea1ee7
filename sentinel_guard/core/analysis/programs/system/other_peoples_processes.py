"""Signals by name, pattern, lookup or port that would also reach processes which are not the session's (ADR 0052)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sentinel_guard.core.analysis.programs.system.process_selection import Lookups, signalled
from sentinel_guard.core.analysis.running_processes import OTHERS, Running, Selection
from sentinel_guard.core.analysis.world import World
from sentinel_guard.core.model import Effect, Kind

MAX_NAMED = 3
"""Processes that are told one by one."""
_ELSEWHERE = frozenset(("ssh", "mosh", "wsl", "chroot", "unshare", "nsenter", "machinectl", "vagrant"))
"""What runs a command where other processes are."""


def reached(effects: Sequence[Effect], world: World) -> Iterator[Effect]:
    """What the signals among the effects of a text would reach beside what is the session's and the repository's."""
    if not any(effect.kind is Kind.SIGNAL for effect in effects):
        return
    lookups, told = Lookups(), set[str]()
    for effect in effects:
        command = effect.command
        if command is None or (command.via and not _ELSEWHERE.isdisjoint(via.partition(" ")[0] for via in command.via)):
            continue
        if effect.kind is Kind.EXECUTE:
            lookups.add(command)
        elif effect.kind is Kind.WRITE:
            lookups.write(command, effect.target)
        elif effect.kind is Kind.READ:
            lookups.read(effect.target)
        elif effect.kind is Kind.SIGNAL and (words := _words(_found(effect, lookups, world), world.home)) not in told:
            told.add(words)
            if words:
                yield Effect(Kind.SIGNAL, words, how=frozenset((OTHERS,)), command=command, folder=effect.folder)


def _found(effect: Effect, lookups: Lookups, world: World) -> Iterable[Running]:
    chosen = _selections(effect, lookups)
    return {one.pid: one for by in chosen for one in world.others(by) if by.folder in one.folder}.values()


def _selections(effect: Effect, lookups: Lookups) -> Iterable[Selection]:
    command, target = effect.command, effect.target
    assert command is not None
    if command.program == "kill":
        return () if effect.sure or target == "$!" else lookups.named_in(target)
    if not effect.sure or target not in command.operands:
        return ()
    chosen = signalled(command, target)
    return (chosen,) if chosen else ()


def _words(found: Iterable[Running], home: str) -> str:
    """Those from which the session descends first. How many more there are changes from one moment to the next."""
    ordered = sorted(found, key=lambda one: (not one.above, one.pid))
    named = ", ".join(_named(one, home) for one in ordered[:MAX_NAMED])
    return f"{named} and others" if len(ordered) > MAX_NAMED else named


def _named(one: Running, home: str) -> str:
    where = f", in {one.folder}" if one.folder else ""
    if home and f"{one.folder}/".startswith(f"{home}/"):
        where = f", in ~{one.folder[len(home) :]}"
    return f"{one.name} (pid {one.pid}{', which this agent is or runs in' if one.above else where})"
