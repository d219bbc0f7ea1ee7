"""What a text moves somewhere and loses there is lost from where it was: ``mv ~/docs /tmp/x && rm -rf /tmp/x``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.model import Command, Effect, Kind

_MOVED = frozenset(("move", "out"))


class _Leaving:
    """What one command moves away, by its name; all that is in a folder goes wherever any of it goes."""

    def __init__(self, command: Command | None) -> None:
        self.command = command
        self._all: list[Effect] = []
        self._whole: list[Effect] = []
        self._named: defaultdict[str, list[Effect]] = defaultdict(list)

    def add(self, effect: Effect) -> None:
        self._all.append(effect)
        if "contents" in effect.how:
            self._whole.append(effect)
        else:
            self._named[paths.base(effect.target)].append(effect)

    def to(self, landing: Effect) -> list[Effect]:
        """What of it comes to a place: what bears the name, or all where nothing does."""
        if landing.command is not self.command:
            return []
        named = self._named.get(paths.base(landing.target), [])
        return [*self._whole, *named] or self._all


def with_origins(effects: Sequence[Effect]) -> Sequence[Effect]:
    """The effects, and behind a loss of what was moved the same loss where it came from."""
    moves = [e for e in effects if "move" in e.how and e.kind is Kind.DELETE]
    return list(_with_origins(effects)) if moves else effects


def _with_origins(effects: Sequence[Effect]) -> Iterator[Effect]:
    leaving = _Leaving(None)
    landed: defaultdict[str, list[Effect]] = defaultdict(list)
    for effect in effects:
        yield effect
        if "move" not in effect.how:
            yield from _lost_at(landed, effect)
        elif effect.kind is Kind.DELETE:
            leaving = leaving if leaving.command is effect.command else _Leaving(effect.command)
            leaving.add(effect)
        elif effect.kind is Kind.WRITE:
            landed[effect.target].extend(leaving.to(effect))


def _lost_at(landed: dict[str, list[Effect]], effect: Effect) -> Iterator[Effect]:
    """What was moved to the path that this effect loses, or below it."""
    emptied = effect.kind is Kind.WRITE and bool(effect.how & {"empty", "truncate"})
    if not landed or not (emptied or effect.kind is Kind.DELETE):
        return
    path = effect.target
    if "recursive" not in effect.how:
        came = landed.get(path, [])
    else:
        came = [e for place, sources in landed.items() if f"{place}/".startswith(f"{path}/") for e in sources]
    for source in dict.fromkeys(came):
        how = (source.how - _MOVED) | (effect.how & {"recursive", "force"})
        yield replace(effect, kind=Kind.DELETE, target=source.target, how=how, sure=source.sure and effect.sure)
