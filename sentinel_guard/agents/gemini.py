"""Gemini CLI: its wrapper runs the command in a subshell that notes its background jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sentinel_guard.agents.base import CodingAgent, Framed
from sentinel_guard.agents.hook_dialect import CallEnd, HookDialect, Moment, Places, Word, ended

_FRAME = (
    r"(?s)"
    r"(?:shopt -u promptvars nullglob extglob nocaseglob dotglob; )?_bgpids_file=/tmp/gemini-shell-\w+/bgpids\.tmp\n"
    r"\(\n  trap 'jobs -p > \"\$_bgpids_file\"' EXIT\n(?P<command>.*)\n\)\n__code=\$\?\nexit \$__code"
)


def _unwrap(text: str) -> Framed | None:
    match = re.fullmatch(_FRAME, text)
    return Framed(match["command"], text) if match else None


class _Hooks(HookDialect):
    """Its limits are milliseconds; a call has no id."""

    client = "gemini"
    events = {  # noqa: RUF012 - a table that nobody changes
        "SessionStart": Moment.BEGINS,
        "BeforeTool": Moment.CALL,
        "AfterTool": Moment.RESULT,
        "BeforeAgent": Moment.RESTS,
        "AfterAgent": Moment.RESTS,
    }
    places = Places(".gemini/settings.json", ".gemini/settings.json", "/etc/gemini-cli/settings.json")
    managed_settings = {"hooksConfig": {"enabled": True}}  # noqa: RUF012 - a table that nobody changes

    shell = "run_shell_command"
    fails_open = (
        "a hook program that crashes lets the call run, --skip-trust drops the hooks of a project, and hooksConfig in "
        "any settings file that it reads switches hooks off: those of --managed only where it names their command"
    )

    def end(self, name: str, payload: Mapping[str, object]) -> CallEnd:
        del name
        response = payload.get("tool_response")
        said = response if isinstance(response, Mapping) else {}
        return ended(said.get("llmContent"), failed=bool(said.get("error")))

    def hook(self, command: str, name: str) -> dict[str, object]:
        # Without a name: by one that everybody knows, a repository's settings could switch it off.
        return {**super().hook(command, name), "timeout": int(self.waits * 1000)}

    def disarmed(self, settings: object, *, managed: bool = False) -> str:
        switches = settings.get("hooksConfig") if isinstance(settings, Mapping) else None
        if not isinstance(switches, Mapping):
            return ""
        named = switches.get("disabled")
        if isinstance(named, list) and any(self.is_ours(name) for name in named if isinstance(name, str)):
            return "hooksConfig.disabled names a hook of ours"
        off = not managed and switches.get("enabled") is False
        return "hooksConfig.enabled switches off every hook" if off else ""

    def _said(self, moment: Moment, name: str, word: Word) -> Mapping[str, object]:
        if moment in (Moment.CALL, Moment.RESULT) and word.blocked:
            stop = {"continue": False, "stopReason": word.text} if word.over else {}
            return {"decision": "deny", "reason": word.text, **stop}
        return super()._said(moment, name, word)


AGENT = CodingAgent(
    "gemini",
    frozenset({"gemini"}),
    _unwrap,
    marks=("_bgpids_file=",),
    patience=280.0,  # ends a call that has been silent for 300
    hooks=_Hooks(),
)
