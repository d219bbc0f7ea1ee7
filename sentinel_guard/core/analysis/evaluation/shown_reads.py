"""Whether what a command reads comes before whoever asked (READ, how: shown), where the command stands."""

from __future__ import annotations

from dataclasses import replace

from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.output_visibility import COPIERS, exposes_content
from sentinel_guard.core.analysis.programs.secret_stores import ENVIRONMENT
from sentinel_guard.core.analysis.secret_names import STORE
from sentinel_guard.core.model import Effect


def as_seen(effect: Effect, place: WalkContext) -> Effect:
    """A read with the word ``shown`` where its content comes before whoever asked."""
    world = place.scope.world
    if isinstance(world, Overlay) and effect.target in world.secrets:
        shown = _is_shown(effect, place)
        return replace(effect, target=f"{STORE}{effect.target}", how=effect.how | ({"shown"} if shown else set()))
    if effect.target.startswith(STORE):
        hidden = not place.shown or (place.harmless and effect.target == ENVIRONMENT)
        return replace(effect, how=effect.how - {"shown"}) if hidden else effect
    return replace(effect, how=effect.how | {"shown"}) if _is_shown(effect, place) else effect


def _is_shown(effect: Effect, place: WalkContext) -> bool:
    """Of what runs inside of another command, its own place has said so before."""
    command = effect.command
    if command is None or place.disk or effect.target.startswith("/dev/fd/") or len(command.via) > len(place.via):
        return False
    return (place.shown or command.program in COPIERS) and exposes_content(command, effect.target)
