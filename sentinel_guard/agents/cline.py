"""Cline CLI: it gives its shell the model's command as it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from sentinel_guard.agents.base import CodingAgent, Start, given, subcommand
from sentinel_guard.agents.hook_dialect import CallEnd, HookDialect, HookEvent, Moment, Places, Word, text

_ZEN = r"-[Vahipvyz]*z[Vahipvyz]*"
"""``-z``, alone or among other short options without a value."""


def _start(words: tuple[str, ...]) -> Start:
    zen = given(words, "--zen") or next((word for word in words if re.fullmatch(_ZEN, word)), "")
    return Start(words, refused=subcommand(words, ("connect", "dashboard", "hub", "schedule")) or zen)


# What is not a clear answer ends the run: its exit codes are not looked at.
_SCRIPT = """#!/bin/sh
# sentinel-guard put this hook here; `sentinel-guard uninstall --agent cline` takes it away.
if said=$(@command@ cline @event@); then
    [ -z "$said" ] || printf '%s\\n' "$said"
else
    printf %s '@form@'
fi
"""
LONGEST = 240
"""Bytes of a file's name: 255 are possible (limits.h, NAME_MAX)."""
_GONE = "403 SENTINEL BLOCKED: the hook program cannot be run. Run: sentinel-guard install --agent cline"


class _Hooks(HookDialect):
    """A plain no ends its run without a word to the model, so a refused command becomes one that says why."""

    client = "cline"
    events = {  # noqa: RUF012 - a table that nobody changes
        "TaskStart": Moment.BEGINS,
        "PreToolUse": Moment.CALL,
        "PostToolUse": Moment.RESULT,
        "UserPromptSubmit": Moment.RESTS,
        "TaskComplete": Moment.RESTS,
    }
    waits = 60.0  # 45 s were waited for; its limit was not found
    places = Places(".cline/hooks", ".cline/hooks")
    shell = "run_commands"
    fails_open = "a hook file that cannot be run lets the call run, and what its own limit is, nobody has found"

    def parse(self, name: str, payload: Mapping[str, object]) -> HookEvent:
        moment, roots = self.moment(name), payload.get("workspaceRoots")
        cwd = next((root for root in roots if isinstance(root, str)), "") if isinstance(roots, list) else ""
        sub = text(payload, "agent_id", "") if payload.get("parent_agent_id") else ""
        # A subagent has a task of its own, and so has each run that goes on with the session.
        context = payload.get("sessionContext")
        root = text(context, "rootSessionId", "") if isinstance(context, Mapping) else ""
        session = root or text(payload, "taskId")
        if moment not in (Moment.CALL, Moment.RESULT):
            return HookEvent(moment, session, cwd, subagent=sub)
        call = payload.get("tool_call" if moment is Moment.CALL else "tool_result")
        if not isinstance(call, Mapping):
            raise ValueError("it names no call")  # noqa: TRY004 - of a payload that a client sent
        given, end = call.get("input"), self.end(name, call) if moment is Moment.RESULT else None
        given = given if isinstance(given, Mapping) else {"input": given}
        return HookEvent(moment, session, cwd, text(call, "name"), given, text(call, "id", ""), sub, end)

    def end(self, name: str, payload: Mapping[str, object]) -> CallEnd:
        del name
        output, error = payload.get("output"), payload.get("error")
        rows = [row for row in output if isinstance(row, Mapping)] if isinstance(output, list) else []
        said = "\n".join(str(row.get("result", "")) for row in rows) or (output if isinstance(output, str) else "")
        code = int(bool(error) or any(row.get("success") is False for row in rows))
        errors = "\n".join(filter(None, (said, str(error or "")))) if code else ""
        return CallEnd(code, "" if code else said, errors)

    def sample(self, name: str, session: str, folder: str, command: str) -> dict[str, object]:
        del name
        call = {"id": session, "name": self.shell, "input": {"commands": [command]}}
        return {"taskId": session, "workspaceRoots": [folder], "tool_call": call}

    def scripts(self, command: str) -> Mapping[str, str]:
        found = {}
        for name in self.events:
            form = self.form(name).replace("@words@", _GONE)
            script = _SCRIPT.replace("@command@", command).replace("@event@", name).replace("@form@", form)
            found[f"{name}.sh"] = script
        return found

    def is_refusal(self, name: str, stdout: str) -> bool:
        return '"overrideInput"' in stdout and "SENTINEL BLOCKED" in stdout and bool(name)

    def in_place(self, tool: str, word: Word) -> str:
        return f"printf '%s\\n' {shlex.quote(word.text)} >&2; exit 126" if tool == self.shell else ""

    def _instead(self, tool: str, word: Word) -> Mapping[str, object]:
        if not word.blocked or word.over:
            return {}
        # One name in a folder where nobody can make a file: the error names it.
        name = word.text.replace("/", "\u2215").encode()[:LONGEST].decode(errors="ignore")
        instead: dict[str, object] = {
            self.shell: {"commands": [self.in_place(tool, word)]},
            "read_files": {"files": [{"path": f"/proc/{name}"}]},
            "editor": {"path": f"/proc/{name}", "new_text": ""},
        }
        return {"overrideInput": instead[tool]} if tool in instead else {}

    def _said(self, moment: Moment, name: str, word: Word) -> Mapping[str, object]:
        del name
        if moment is Moment.CALL and word.blocked:
            return {"cancel": True, "errorMessage": word.text}
        return {"context": word.text} if word.text and moment is not Moment.RESTS else {}


AGENT = CodingAgent(
    "cline",
    frozenset({"cline"}),
    patience=25.0,  # ends a call after 30
    start=_start,
    # Its full screen works in a hub that it finds here, and leaves one behind.
    environ={"CLINE_HUB_DISCOVERY_PATH": "{folder}/cline/hub.json"},
    servers=r"\0--cline-hub-daemon\0",
    hooks=_Hooks(),
)
