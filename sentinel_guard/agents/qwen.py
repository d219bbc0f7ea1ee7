"""Qwen Code: it gives its shell the model's command as it is."""

from __future__ import annotations

from collections.abc import Mapping

from sentinel_guard.agents.base import CodingAgent
from sentinel_guard.agents.hook_dialect import CallEnd, HookDialect, Moment, Places, Word, ended, seconds


class _Hooks(HookDialect):
    """Whatever its settings say, a hook is waited for 60 s; after a call it reads hints alone."""

    client = "qwen"
    events = {  # noqa: RUF012 - a table that nobody changes
        "SessionStart": Moment.BEGINS,
        "PreToolUse": Moment.CALL,
        "PostToolUse": Moment.RESULT,
        "PostToolUseFailure": Moment.RESULT,
        "UserPromptSubmit": Moment.RESTS,
        "Stop": Moment.RESTS,
    }
    waits = 60.0
    shell = "run_shell_command"
    fails_open = (
        "a hook program that crashes or takes 60 s lets the call run; a folder that is not trusted has no hooks; "
        "disableAllHooks in any settings file that it reads switches all off but those of --managed"
    )
    places = Places(".qwen/settings.json", ".qwen/settings.json", "/etc/qwen-code/settings.json")
    managed_settings = {"disableAllHooks": False}  # noqa: RUF012 - a table that nobody changes

    def end(self, name: str, payload: Mapping[str, object]) -> CallEnd:
        failed = name == "PostToolUseFailure"
        response = payload.get("error") if failed else payload.get("tool_response")
        said = response.get("llmContent", response) if isinstance(response, Mapping) else response
        return ended(said, failed=failed, duration=seconds(payload))

    def disarmed(self, settings: object, *, managed: bool = False) -> str:
        off = not managed and isinstance(settings, Mapping) and settings.get("disableAllHooks")
        return "disableAllHooks switches off every hook" if off else ""

    def _said(self, moment: Moment, name: str, word: Word) -> Mapping[str, object]:
        return super()._said(moment, name, Word(word.text) if moment is Moment.RESULT else word)


AGENT = CodingAgent(
    "qwen",
    frozenset({"qwen", "qwen-code"}),
    patience=110.0,  # ends a call after 120
    servers=r"/(?:qwen|cli\.js)\0serve\0",
    hooks=_Hooks(),
)
