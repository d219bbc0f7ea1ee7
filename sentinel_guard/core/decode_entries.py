"""Decode audit entries: actions, findings and verdicts, read back from the log.

Never raises for an entry of another version: what is not there is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sentinel_guard.core.model import Action, Ask, Entry, Finding, Layer, Response, Verdict

BREAKS = frozenset({"break", "kill"})


def action_from(entry: Entry, root: str = "") -> Action:
    """The action of a ``verdict`` entry. Secrets in it are hidden, as they are on record."""
    d = entry.data
    arguments = d.get("arguments")
    return Action(
        str(d.get("id", "")),
        entry.session,
        Layer(layer) if (layer := str(d.get("layer", ""))) in {*Layer} else Layer.CLI,
        str(d.get("tool", "")),
        dict(arguments) if isinstance(arguments, Mapping) else {},
        str(d.get("cwd", "")),
        entry.at,
        root,
        str(d.get("parent", "")),
        for_itself=d.get("for_itself") is True,
    )


def finding_from(data: Mapping[str, object]) -> Finding:
    """The finding that ``json_codec.finding_json`` wrote down."""
    what, why, instead, rule, evidence = (str(data.get(k, "")) for k in ("what", "why", "instead", "rule", "evidence"))
    ask, operations = data.get("ask"), data.get("operations")
    return Finding(
        str(data.get("check", "")),
        response_from(data.get("response")),
        what,
        why,
        instead,
        rule,
        evidence,
        ask=Ask(*(str(ask.get(k, "")) for k in ("action", "target", "risk"))) if isinstance(ask, Mapping) else None,
        operations=frozenset(map(str, operations)) if isinstance(operations, list | tuple) else frozenset(),
    )


def response_from(word: object) -> Response:
    return Response.__members__.get(str(word).upper(), Response.ALLOW)


def unreported(entries: Iterable[Entry], root: str) -> Verdict | None:
    """The verdict of a session's newest breaker or kill, where no incident report of it is on record (R9)."""
    actions: dict[str, Entry] = {}
    decided: Entry | None = None
    stop: tuple[Entry, Entry | None] | None = None
    for e in entries:
        if e.kind in ("verdict", "observation"):
            decided = e
            actions |= {str(e.data.get("id")): e} if e.kind == "verdict" else {}
        elif e.kind == "state" and e.data.get("event") in BREAKS:
            stop = e, decided
        elif e.kind == "incident" and "event" not in e.data:
            stop = None
    return _verdict(*stop, actions, root) if stop else None


def _verdict(stopped: Entry, decided: Entry | None, actions: Mapping[str, Entry], root: str) -> Verdict:
    response = Response.BREAK if stopped.data.get("event") == "break" else Response.KILL
    said = decided.data if decided else {}
    findings, granted = (_findings(said.get(k)) for k in ("findings", "granted"))
    if not any(f.response is response for f in findings):
        findings = (Finding("state", response, str(stopped.data.get("reason", "")) or "the session was stopped"),)
    return Verdict(action_from(actions.get(str(said.get("id")), stopped), root), (), findings, granted)


def _findings(said: object) -> tuple[Finding, ...]:
    return tuple(finding_from(f) for f in said if isinstance(f, Mapping)) if isinstance(said, list | tuple) else ()
