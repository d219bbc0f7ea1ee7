"""Files of data that Python code reads (``json.load``): what they hold, as values that the rest of the code uses."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    UNRESOLVED,
    File,
    PathValue,
    constant,
    flat,
    text_of,
)
from sentinel_guard.core.model import Kind


def parsed(deeds: EffectCollector, values: Sequence[object]) -> object:
    """``json.load(file)``, ``json.loads(text)``: dicts, lists, texts and numbers."""
    value = values[0] if values else UNRESOLVED
    text = _held(deeds, value.path) if isinstance(value, File) else constant(value)
    if not text:
        return UNRESOLVED
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return UNRESOLVED


def notebook(deeds: EffectCollector, values: Sequence[object]) -> object:
    """``nbformat.read(path)``: as the file holds it, the lines of each cell joined."""
    path = values[0] if values else UNRESOLVED
    deeds.do("read", [path])
    found = parsed(deeds, [path if isinstance(path, File) else File(path)])
    cells = found.get("cells") if isinstance(found, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict) and isinstance(cell.get("source"), list):
            cell["source"] = "".join(map(text_of, flat(cell["source"])))
    return found


def _held(deeds: EffectCollector, path: object) -> str | None:
    """The text of a file, unless this code itself has changed it."""
    name = path.text if isinstance(path, PathValue) else constant(path)
    if not name:
        return None
    place = deeds.call.locate(name)
    if any(e.kind is Kind.WRITE and e.target == place for e in deeds.effects):
        return None
    return deeds.call.world.read(place)


def put(owner: object, key: object, value: object) -> None:
    """``owner[key] = value`` on a value that is known: where the key is not, nothing in it is any more."""
    if isinstance(owner, dict):
        name = constant(key)
        if name is None:
            owner.update(dict.fromkeys(owner, UNRESOLVED))
        else:
            owner[name] = value
    elif isinstance(owner, list):
        if isinstance(key, int) and -len(owner) <= key < len(owner):
            owner[key] = value
        else:
            owner[:] = [UNRESOLVED] * max(len(owner), 1)


def changed(owner: object, name: str, values: Sequence[object]) -> bool:
    """A method that changes a dict or a list in place was called; False where this is none."""
    if isinstance(owner, dict) and name in ("update", "setdefault"):
        given = values[0] if values else UNRESOLVED
        if name == "setdefault" and constant(given) is not None:
            owner.setdefault(text_of(given), values[1] if len(values) > 1 else UNRESOLVED)
        elif name == "update" and isinstance(given, dict):
            owner.update(given)
        else:
            owner.update(dict.fromkeys(owner, UNRESOLVED))
        return True
    if isinstance(owner, list) and name in ("insert", "__setitem__"):
        owner.append(values[1] if len(values) > 1 else UNRESOLVED)
        return True
    return False
