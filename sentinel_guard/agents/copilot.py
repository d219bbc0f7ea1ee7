"""GitHub Copilot CLI: it gives its shell the model's command as it is; of a detached one it notes the process first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sentinel_guard.agents.base import CodingAgent, Framed, Start, given, subcommand
from sentinel_guard.agents.hook_dialect import CallEnd, Edit, HookDialect, HookEvent, Moment, Places, Word, text

_DETACHED = r"(?s)echo \$\$ > '/tmp/copilot-detached-[\w-]+\.pid'; (?P<command>.*)"
_LOGIN = (
    r"printf %s '__copilot_login_env_snapshot_\w+__'; "
    + re.escape("if ! command env -0 2>/dev/null; then for __copilot_k in $(compgen -e); do ")
    + re.escape("""printf '%s=%s\\0' "$__copilot_k" "${!__copilot_k}"; done; fi""")
)


def _unwrap(text: str) -> Framed | None:
    match = re.fullmatch(_DETACHED, text)
    return Framed(match["command"], text) if match else None


_NO_SHELL = frozenset(
    (
        "completion", "config", "help", "instruction", "login", "lsp", "mcp", "memories", "plugin", "sandbox",
        "sessions", "skill", "update", "version",
    )
)  # fmt: skip
"""Subcommands in which no model runs commands."""
_OFF = {("--bash-env=off",), ("--bash-env", "off")}


def _start(words: tuple[str, ...]) -> Start:
    first = words[0] if words else ""
    if elsewhere := given(words, "--connect") or subcommand(words, ("app",)):
        return Start(words, refused=elsewhere)
    if first in _NO_SHELL or given(words, "-h", "--help", "-v", "--version"):
        return Start(words)
    pairs = (words[i : i + n] for i in range(len(words)) for n in (1, 2))
    if off := given(words, "--no-bash-env") or " ".join(next((pair for pair in pairs if pair in _OFF), ())):
        return Start(words, note="copilot is started without BASH_ENV: what its shell runs is not seen", unseen=off)
    if given(words, "--bash-env"):
        return Start(words)
    note = "copilot is started with --bash-env, so that its shell is seen; it keeps that as its setting"
    return Start(("--bash-env=on", *words), "--bash-env=on", note=note)


_EXITED = re.compile(r"\n?<shellId: \d+ completed with exit code (\d+)>\s*\Z")


class _Hooks(HookDialect):
    """Its own events, in camelCase. It runs Claude Code's hooks, too; a hook that fails stops the call. A subagent's
    payloads have a session id of its own.
    """

    client = "copilot"
    events = {  # noqa: RUF012 - a table that nobody changes
        "sessionStart": Moment.BEGINS,
        "preToolUse": Moment.CALL,
        "postToolUse": Moment.RESULT,
        "userPromptSubmitted": Moment.RESTS,
        "agentStop": Moment.RESTS,
    }
    places = Places(
        ".github/hooks/sentinel-guard.json",
        ".copilot/hooks/sentinel-guard.json",
        "/etc/github-copilot/policy.d/sentinel-guard.json",
        "COPILOT_HOME",
    )
    settings = {"version": 1}  # noqa: RUF012 - a table that nobody changes

    shell = "bash"
    fails_open = "a hook that takes longer than its limit lets the call run; a folder that is not trusted has no hooks"

    def sample(self, name: str, session: str, folder: str, command: str) -> dict[str, object]:
        del name
        return {"sessionId": session, "cwd": folder, "toolName": self.shell, "toolArgs": {"command": command}}

    def parse(self, name: str, payload: Mapping[str, object]) -> HookEvent:
        moment, given = self.moment(name), payload.get("toolArgs", {})
        return HookEvent(
            moment,
            text(payload, "sessionId"),
            text(payload, "cwd", ""),
            text(payload, "toolName", None if moment in (Moment.CALL, Moment.RESULT) else ""),
            given if isinstance(given, Mapping) else {"input": given},
            end=self.end(name, payload) if moment is Moment.RESULT else None,
            transcript=text(payload, "transcriptPath", ""),
            subagent=text(payload, "agentId", ""),
            parent=text(payload, "parentAgentId", ""),
        )

    def end(self, name: str, payload: Mapping[str, object]) -> CallEnd:
        del name
        result = payload.get("toolResult")
        result = result if isinstance(result, Mapping) else {}
        said = str(result.get("textResultForLlm", ""))
        exited = _EXITED.search(said)
        code = int(exited[1]) if exited else int(result.get("resultType", "success") != "success")
        shown = said[: exited.start()] if exited else said
        return CallEnd(code, "" if code else shown, shown if code else "")

    def hook(self, command: str, name: str) -> dict[str, object]:
        same = super().hook(command, name)
        return {"type": "command", "bash": same["command"], "timeoutSec": same["timeout"]}

    def edits(self, command: str) -> Iterable[Edit]:
        for name in self.events:
            yield Edit(("hooks", name), self.hook(command, name))

    def _said(self, moment: Moment, name: str, word: Word) -> Mapping[str, object]:
        del name
        if moment is Moment.CALL and word.blocked:
            return {"permissionDecision": "deny", "permissionDecisionReason": word.text}
        if moment is Moment.RESULT and word.blocked:
            return {"decision": "block", "reason": word.text}
        return {"additionalContext": word.text} if word.text and moment is not Moment.RESTS else {}


AGENT = CodingAgent(
    "copilot",
    frozenset({"copilot"}),
    _unwrap,
    marks=("/copilot-detached-",),
    patience=25.0,  # hands over what there is after 30
    own=(_LOGIN,),
    is_call=lambda argv, _environ: "-l" not in argv[1:-1],  # which its model cannot choose
    start=_start,
    hooks=_Hooks(),
)
