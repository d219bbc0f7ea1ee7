"""Summarise an audit entry in one line. Make it visible before a terminal sees it: it holds an agent's words."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from sentinel_guard.core.model import Entry, Response


def summary(entry: Entry) -> str:
    """What an entry says. Never raises: an entry of an unknown shape shows its keys and values."""
    try:
        return _SUMMARIES.get(entry.kind, _pairs)(entry.data)
    except (KeyError, TypeError, ValueError, AttributeError):
        return _pairs(entry.data)


def _pairs(data: Mapping[str, object]) -> str:
    return " ".join(f"{key}={value}" for key, value in data.items() if value not in ("", None, [], {}))


def decisive(data: Mapping[str, object]) -> Mapping[str, object]:
    """Of the findings on record the one that decided: the strictest that nobody granted, the first of equals.

    Where all were granted, the strictest. Empty where there is none that can be read.
    """
    findings, granted = data.get("findings"), data.get("granted")
    if not isinstance(findings, list | tuple):
        return {}
    known = [f for f in findings if isinstance(f, Mapping)]
    standing = [f for f in known if not isinstance(granted, list | tuple) or f not in granted]
    return max(standing or known, key=_strictness, default={})


def _strictness(finding: Mapping[str, object]) -> int:
    return Response.__members__.get(str(finding.get("response", "")).upper(), Response.ALLOW)


def _session(data: Mapping[str, object]) -> str:
    command = data["command"]
    words = shlex.join(map(str, command)) if isinstance(command, list) else str(command)
    return f"{words} in {data['root']} from {str(data['start_hash'])[:12] or 'no commit'}"


def _verdict(data: Mapping[str, object]) -> str:
    by = f" (authorized_by: {data['authorized_by']})" if data.get("authorized_by") else ""
    return f"{data['response']}: {_command(data)}{by}{_finding(data)}"


def _observation(data: Mapping[str, object]) -> str:
    return f"{data['response']}{_finding(data)}"


def _command(data: Mapping[str, object]) -> str:
    arguments = data["arguments"]
    if not isinstance(arguments, Mapping):
        return str(arguments)
    argv = arguments.get("argv")
    if isinstance(argv, list):
        return shlex.join(str(word) for word in argv)
    return str(arguments["command"]) if "command" in arguments else f"{data['tool']} {_pairs(arguments)}"


def _finding(data: Mapping[str, object]) -> str:
    found = decisive(data)
    return f" [{found['rule'] or found['check']}] {found['what']}" if found else ""


def _outcome(data: Mapping[str, object]) -> str:
    excerpt = str(data.get("excerpt", "")).strip().splitlines()
    return f"exit {data['code']} after {data['duration']} s" + (f": {excerpt[0]}" if excerpt else "")


def _human(data: Mapping[str, object]) -> str:
    said = "Y" if data["yes"] else "N"
    by = data.get("authorized_by") or data.get("why") or "refused"
    grant = f", {data['grant']}" if data.get("grant") else ""
    return f"{said} to {data['action']} on {data['target']} ({by}, {data['assurance']}{grant})"


def _chat(data: Mapping[str, object]) -> str:
    return f"{data['text']}{_by(data)}"


def _state(data: Mapping[str, object]) -> str:
    asked = " ".join(str(data[key]) for key in ("action", "target") if data.get(key))
    said = [str(text) for text in (data.get("reason"), asked) if text]
    return ": ".join([str(data["event"]), *said]) + _by(data)


def _by(data: Mapping[str, object]) -> str:
    """By whose word it was, and how sure that is."""
    words = [str(data[key]) for key in ("authorized_by", "assurance") if data.get(key)]
    return f" ({', '.join(words)})" if words else ""


def _recovery(data: Mapping[str, object]) -> str:
    start = str(data["start_hash"])[:12] or "its unborn branch"
    problems = data.get("problems") or data.get("notes")
    told = [f"put back to {start}, and verified" if data["ok"] else "not put back as a whole"]
    told += map(str, problems) if isinstance(problems, list | tuple) else []
    told += [f"the agent's work is kept at {data['rescue']}"] if data.get("rescue") else []
    return "; ".join(told)


def _incident(data: Mapping[str, object]) -> str:
    return f"{data['path']}: {data['headline']}"


def _end(data: Mapping[str, object]) -> str:
    reason = str(data.get("reason") or "")
    if reason and data["code"] == -1:
        return reason  # nobody saw an exit code
    return f"exit {data['code']}" + (f": {reason}" if reason else "")


def _watch(data: Mapping[str, object]) -> str:
    return f"{data['what']} ({data['path']})"


def _usage(data: Mapping[str, object]) -> str:
    if "unread" in data:
        return f"tokens of {data['source']} are not known: {data['unread']}" if data["unread"] else "tokens known again"
    numbers = ((name, data.get(name)) for name in ("input", "output", "cache_read", "cache_write"))
    counts = (f"{value:,} {name.replace('_', ' ')}" for name, value in numbers if isinstance(value, int) and value)
    by = " ".join(str(data[name]) for name in ("source", "model") if data.get(name))
    wrote = "; its record was written anew with lower counts, which do not count" if "lowered" in data else ""
    return "tokens: " + (", ".join(counts) or "none") + (f" ({by})" if by else "") + wrote


def _note(data: Mapping[str, object]) -> str:
    return str(data["what"])


_SUMMARIES: Mapping[str, Callable[[Mapping[str, object]], str]] = {
    "session": _session,
    "verdict": _verdict,
    "observation": _observation,
    "outcome": _outcome,
    "human": _human,
    "chat": _chat,
    "daemon": _note,
    "state": _state,
    "recovery": _recovery,
    "incident": _incident,
    "end": _end,
    "watch": _watch,
    "usage": _usage,
}
