"""Cursor: its hooks alone are known, from its documentation; none of this was tried with the program itself.

Sources: cursor.com/docs/reference/hooks, and the runs of Cursor 3.9.16 in griddynamics/rosetta, docs/hooks/cursor.md
(d6f54aaf).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from sentinel_guard.agents.base import CodingAgent
from sentinel_guard.agents.hook_dialect import CallEnd, Edit, HookDialect, HookEvent, Moment, Places, Word, text


class _Hooks(HookDialect):
    """Answers are flat; a model reads ``user_message``. ``preToolUse`` comes before every tool, so the hooks for shell
    commands, reads and MCP tools, which come for the same call, too, are left alone. ``failClosed`` is not set: with it
    Cursor wants an "allow" where there is no objection, and whether that passes over its own question is not known.
    """

    client = "cursor"
    events = {  # noqa: RUF012 - a table that nobody changes
        "sessionStart": Moment.BEGINS,
        "preToolUse": Moment.CALL,
        "postToolUse": Moment.RESULT,
        "postToolUseFailure": Moment.RESULT,
        "beforeSubmitPrompt": Moment.RESTS,
        "stop": Moment.RESTS,
    }
    waits = 60.0
    places = Places(".cursor/hooks.json", ".cursor/hooks.json", "/etc/cursor/hooks.json")
    settings = {"version": 1}  # noqa: RUF012 - a table that nobody changes
    shell = "Shell"
    fails_open = "a hook program that crashes or is late lets the call run; none of it was tried with Cursor itself"
    notes = (
        "This follows Cursor's documentation. It was never tried with Cursor itself: look at 'sentinel-guard log'.",
    )

    def parse(self, name: str, payload: Mapping[str, object]) -> HookEvent:
        roots = payload.get("workspace_roots")
        root = next((r for r in roots if isinstance(r, str)), "") if isinstance(roots, list) else ""
        given = payload.get("tool_input")
        own = given.get("cwd") if isinstance(given, Mapping) else ""
        cwd = next((c for c in (payload.get("cwd"), own, root) if isinstance(c, str) and c.startswith("/")), "")
        session = text(payload, "conversation_id", "") or text(payload, "session_id")
        return super().parse(name, {**payload, "session_id": session, "cwd": cwd})

    def end(self, name: str, payload: Mapping[str, object]) -> CallEnd:
        took = payload.get("duration")
        given = float(took) / 1000 if isinstance(took, int | float) else 0.0
        if name == "postToolUseFailure":
            return CallEnd(1, "", text(payload, "error_message", ""), given)
        said = text(payload, "tool_output", "")
        output = _object(said)
        code = output.get("exitCode")
        number = code if isinstance(code, int) else 0
        shown = str(output.get("output", said if not output else ""))
        return CallEnd(number, "" if number else shown, shown if number else "", given)

    def hook(self, command: str, name: str) -> dict[str, object]:
        same = super().hook(command, name)
        return {"command": same["command"], "timeout": same["timeout"]}

    def edits(self, command: str) -> Iterable[Edit]:
        for name in self.events:
            yield Edit(("hooks", name), self.hook(command, name))

    def sample(self, name: str, session: str, folder: str, command: str) -> dict[str, object]:
        given = {"tool_name": self.shell, "tool_input": {"command": command}, "tool_use_id": session}
        return {"conversation_id": session, "workspace_roots": [folder], "hook_event_name": name, **given}

    def _said(self, moment: Moment, name: str, word: Word) -> Mapping[str, object]:
        if moment is Moment.CALL:
            return {"permission": "deny", "user_message": word.text, "agent_message": word.text} if word.blocked else {}
        if name == "beforeSubmitPrompt":
            return {"continue": False, "user_message": word.text} if word.over else {}
        reads = moment is Moment.BEGINS or name == "postToolUse"
        return {"additional_context": word.text} if reads and word.text else {}


def _object(said: str) -> Mapping[str, object]:
    """A JSON text that is an object; empty for any other."""
    try:
        value = json.loads(said)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


AGENT = CodingAgent("cursor", frozenset({"cursor-agent", "cursor"}), hooks=_Hooks())
