"""Merge policy layers into the policy in force: built-in, then the user's, then the project's where it is stricter.

Rules of this file:
1. The user may loosen, disable and replace what is built in.
2. A project can only tighten. What would loosen is left out and named in ``Policy.warnings``, never taken silently.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace

from sentinel_guard.core.policy import presets
from sentinel_guard.core.policy.file_schema import Layer, Value
from sentinel_guard.core.policy.policy import Paths, Policy, Rule
from sentinel_guard.core.policy.settings_table import SETTINGS, Setting, Tighter

_SECTIONS = {f.name for f in fields(Policy) if is_dataclass(getattr(Policy(), f.name))}
_EMPTY = Layer("")


def merge(builtin: Layer, user: Layer = _EMPTY, project: Layer = _EMPTY, warnings: tuple[str, ...] = ()) -> Policy:
    """The policy that the three layers make. ``warnings`` come first in ``Policy.warnings``."""
    said = list(warnings)
    preset = str(user.settings.get(presets.PLACE, presets.STANDARD))
    values = _over({**builtin.settings, **presets.SETTINGS[preset]}, user.settings)
    rules = _user_rules(builtin, user, said)
    _tighten(values, _with_preset(values, project), said)
    rules += project.rules
    restricted, hidden = (_words(project.settings.get(("paths", key), ())) for key in ("restricted", "hidden"))
    confirm = _confirm(builtin, user, project)
    policy = Policy(
        common=_common(builtin, user),
        project=Paths(restricted, hidden),
        confirm=confirm,
        shims=_shims(_words(values.get(("shims", "names"), ())), confirm),
        rules=rules,
        warnings=tuple(said),
        sources=tuple(layer.source for layer in (user, project) if layer.source),
    )
    return _with_sections(policy, values)


def _common(builtin: Layer, user: Layer) -> frozenset[str]:
    """The built-in restricted patterns, but those of the guard's own files at the repository's top."""
    place = ("paths", "restricted")
    own = {p for p in _words(builtin.settings.get(place, ())) if not p.startswith("/")}
    return frozenset(own.difference(_words(user.settings.get(place, ()))))


def _over(base: dict[tuple[str, str], Value], user: Mapping[tuple[str, str], Value]) -> dict[tuple[str, str], Value]:
    """The user's values over the built-in ones; lists of patterns and names go on, so that ``!`` takes back."""
    for place, value in user.items():
        if SETTINGS[place[0]][place[1]].tighter is Tighter.MORE:
            value = (*_words(base.get(place, ())), *_words(value))  # noqa: PLW2901 - the list, gone on
        base[place] = value
    return base


def _tighten(values: dict[tuple[str, str], Value], project: Layer, said: list[str]) -> None:
    for place, value in project.settings.items():
        setting = SETTINGS[place[0]][place[1]]
        if place[0] == "paths" and setting.tighter is Tighter.MORE:
            continue  # Policy.project: evaluated apart
        if setting.tighter is Tighter.MORE:
            values[place] = (*_words(values.get(place, ())), *_words(value))
        elif _looser(setting, value, _in_force(values, place)):
            said.append(_not_taken(project.source, place, value, _in_force(values, place)))
        else:
            values[place] = value


def _with_preset(values: Mapping[tuple[str, str], Value], project: Layer) -> Layer:
    """A project's layer with what its preset sets, as far as that tightens."""
    preset = presets.SETTINGS[str(project.settings.get(presets.PLACE, presets.STANDARD))]
    taken = {
        place: value
        for place, value in preset.items()
        if (setting := SETTINGS[place[0]][place[1]]).tighter is not Tighter.USER
        and not _looser(setting, value, _in_force(values, place))
    }
    return replace(project, settings={**taken, **project.settings})


def _not_taken(source: str, place: tuple[str, str], value: Value, in_force: Value) -> str:
    users = SETTINGS[place[0]][place[1]].tighter is Tighter.USER
    why = "only the user's own policy may set it" if users else f"{_toml(in_force)} is in force"
    return f"{source}: [{place[0]}] {place[1]} = {_toml(value)} is not taken: a project can only tighten, and {why}."


def _in_force(values: Mapping[tuple[str, str], Value], place: tuple[str, str]) -> Value:
    if place in values:
        return values[place]
    default: Value = getattr(getattr(Policy(), place[0], None), place[1], ())
    return default


def _looser(setting: Setting, value: Value, in_force: Value) -> bool:
    if setting.tighter is Tighter.USER:
        return value != in_force
    if setting.tighter is Tighter.LATER:
        return setting.choices.index(str(value)) < setting.choices.index(str(in_force))
    if isinstance(value, tuple | str) or isinstance(in_force, tuple | str):
        return False
    if setting.tighter is Tighter.TRUE:
        return value is False and in_force is True
    if setting.tighter is Tighter.WAIT:
        return (value or math.inf) > (in_force or math.inf)
    return value > in_force if setting.tighter is Tighter.LOWER else value < in_force


def _user_rules(builtin: Layer, user: Layer, said: list[str]) -> tuple[Rule, ...]:
    """The built-in rules that the user leaves in force, then the user's; a rule of the same id takes the place."""
    disabled = set(_words(user.settings.get(("rules", "disable"), ())))
    known = {r.id for r in builtin.rules}
    said += [f"{user.source}: [rules] disable names {i}, which is no rule." for i in sorted(disabled - known)]
    gone = disabled | {r.id for r in user.rules}
    return (*(r for r in builtin.rules if r.id not in gone), *user.rules)


def _confirm(builtin: Layer, user: Layer, project: Layer) -> dict[str, tuple[str, ...]]:
    """The user's patterns replace the built-in ones of that name, the project's come on top."""
    confirm = {**builtin.confirm, **user.confirm}
    for name, patterns in project.confirm.items():
        confirm[name] = (*confirm.get(name, ()), *patterns)
    return confirm


def _shims(names: tuple[str, ...], confirm: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Names that PATH is to catch: the default, the named ones, and the plain programs of the two-key gate."""
    gated = [p.split()[0] for patterns in confirm.values() for p in patterns]
    plain = [n for n in (*Policy().shims, *names, *gated) if n and not set(n) & set("/*?[")]
    return tuple(dict.fromkeys(plain))


def _with_sections(policy: Policy, values: Mapping[tuple[str, str], Value]) -> Policy:
    """The policy with its sections (``loop``, ``cost``, ...) as the values say."""
    sections: dict[str, object] = {}
    for (name, key), value in values.items():
        if name in _SECTIONS:
            sections[name] = replace(sections.get(name) or getattr(policy, name), **{key: value})  # type: ignore[type-var]
    whole = replace(policy, **sections)  # type: ignore[arg-type]
    window = max(whole.loop.window, whole.loop.repeats)  # a window shorter than the loop would never see one
    return replace(whole, loop=replace(whole.loop, window=window))


def _words(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _toml(value: Value) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).lower() if isinstance(value, bool) else str(list(value) if isinstance(value, tuple) else value)
