"""Convert the model's values to plain dicts and canonical JSON, for the audit log and ``--json`` output.

Rules of this file:
1. JSON is ASCII with sorted keys and no spaces: the same value gives the same text on every machine.
2. Bytes that are not UTF-8 (``surrogateescape`` text) survive the way there and back.
3. The shape of a noun is constant: a key is there even where its value is empty.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from json import encoder

from sentinel_guard.core.model import Effect, Entry, Finding, Verdict


def dumps(value: object) -> str:
    """Canonical JSON text. Raises TypeError, ValueError or RecursionError for what is not JSON-able."""
    return _ENCODER.encode(value)


quoted: Callable[[str], str] = encoder.encode_basestring_ascii
"""The same of a text."""


def as_stored(entry: Entry) -> Entry:
    """The entry with ``data`` as a log gives it back: tuples are lists, keys are strings. Raises as ``dumps`` does."""
    return stored_with_text(entry)[0]


def stored_with_text(entry: Entry) -> tuple[Entry, str]:
    """The same, and its data as JSON."""
    text = dumps(entry.data)
    data = json.loads(text)
    # Names that are no text, numbers for one, stand in another order once they are.
    text = text if data == entry.data else dumps(data)
    at = float(entry.at)
    return Entry(at, entry.session, entry.kind, data, entry.level, entry.seq, entry.prev, entry.hash), text


def finding_json(finding: Finding) -> dict[str, object]:
    ask = finding.ask
    return {
        "check": finding.check,
        "rule": finding.rule,
        "response": finding.response.word,
        "level": finding.response.level,
        "what": finding.what,
        "why": finding.why,
        "instead": finding.instead,
        "evidence": finding.evidence,
        "ask": {"action": ask.action, "target": ask.target, "risk": ask.risk} if ask else None,
        "operations": sorted(finding.operations),
    }


def effect_json(effect: Effect) -> dict[str, object]:
    """``command`` is the argv of the simple command that has the effect; ``via`` the wrappers around it."""
    command = effect.command
    return {
        "kind": effect.kind.value,
        "target": effect.target,
        "sure": effect.sure,
        "how": sorted(effect.how),
        "command": list(command.argv) if command else [],
        "via": list(command.via) if command else [],
    }


def verdict_json(verdict: Verdict) -> dict[str, object]:
    """What was decided, without the action: ``check --json`` prints it, the audit log keeps it."""
    return {
        "response": verdict.response.word,
        "level": verdict.response.level,
        "findings": [finding_json(f) for f in verdict.findings],
        "granted": [finding_json(f) for f in verdict.granted],
        "effects": [effect_json(e) for e in verdict.effects],
        "authorized_by": verdict.authorized_by,
    }


def entry_json(entry: Entry) -> dict[str, object]:
    return {
        "seq": entry.seq,
        "at": entry.at,
        "session": entry.session,
        "kind": entry.kind,
        "level": entry.level,
        "data": dict(entry.data),
        "prev": entry.prev,
        "hash": entry.hash,
    }


def entry_from(stored: Mapping[str, object]) -> Entry:
    """The entry that a store holds; ``data`` as a mapping or as its JSON text.

    Never raises: what cannot be read becomes an entry of the kind ``unreadable``, which no chain accepts.
    """
    try:
        return _entry(stored)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        seq = stored.get("seq")
        shown = {str(k): repr(v) for k, v in stored.items()}
        return Entry(0.0, "", "unreadable", shown, seq=seq if isinstance(seq, int) else 0)


def _entry(stored: Mapping[str, object]) -> Entry:
    data = stored["data"]
    data = _decode(data) if isinstance(data, str) else data
    at, seq = stored["at"], stored["seq"]
    if not (isinstance(data, Mapping) and isinstance(at, int | float) and isinstance(seq, int)):
        raise TypeError("not an entry")
    if not math.isfinite(at):
        raise ValueError("not a time")
    session, kind, level, prev, digest = (_text(stored[k]) for k in ("session", "kind", "level", "prev", "hash"))
    return Entry(float(at), session, kind, data, level, seq, prev, digest)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is not JSON")


_decode = json.JSONDecoder(parse_constant=_no_constant).decode


def _collection(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not JSON-able")


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, default=_collection)
