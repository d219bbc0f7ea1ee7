"""What a text moves somewhere and loses there is lost from where it was: ``mv ~/docs /tmp/x && rm -rf /tmp/x``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.model import Effect, Kind

_MOVED = frozenset(("move", "out"))


def with_origins(effects: Sequence[Effect]) -> Iterator[Effect]:
    """The effects, and behind a loss of what was moved the same loss where it came from."""
    if not any(e.kind is Kind.DELETE and "move" in e.how for e in effects):
        yield from effects
        return
    leaving: list[Effect] = []
    landed: dict[str, list[Effect]] = {}
    for effect in effects:
        yield effect
        if "move" in effect.how:
            if effect.kind is Kind.DELETE:
                leaving = [e for e in leaving if e.command is effect.command] + [effect]
            elif effect.kind is Kind.WRITE:
                landed.setdefault(effect.target, []).extend(_sources(leaving, effect))
        elif _loses(effect):
            yield from (_lost(source, effect) for source in _at(landed, effect.target))


def _sources(leaving: Sequence[Effect], landing: Effect) -> list[Effect]:
    """What of all that left comes here: what bears the name, or all where nothing does."""
    came = [e for e in leaving if e.command is landing.command]
    name = paths.base(landing.target)
    same = [e for e in came if "contents" in e.how or paths.base(e.target) == name]
    return same or came


def _loses(effect: Effect) -> bool:
    emptied = effect.kind is Kind.WRITE and bool(effect.how & {"empty", "truncate"})
    return emptied or effect.kind is Kind.DELETE


def _at(landed: dict[str, list[Effect]], path: str) -> list[Effect]:
    """What was moved to this path, or below it."""
    return [e for place, came in landed.items() if f"{place}/".startswith(f"{path}/") for e in came]


def _lost(source: Effect, effect: Effect) -> Effect:
    how = (source.how - _MOVED) | (effect.how & {"recursive", "force"})
    return replace(effect, kind=Kind.DELETE, target=source.target, how=how, sure=source.sure and effect.sure)
