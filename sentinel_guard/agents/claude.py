"""Claude Code: its wrapper loads a snapshot of the person's shell, evaluates the command, and notes the folder.

Its hooks are the fullest: a failed call has an event of its own, a changed settings file can be kept out of the running
session, and a hook that fails stops the call where its settings say so (``onFailure``, 2.1.295).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sentinel_guard.agents.base import PATH, QUOTED, CodingAgent, Framed, Start, given, never, subcommand, unquoted
from sentinel_guard.agents.hook_dialect import CallEnd, Edit, HookDialect, Moment, Places, Word, deny, seconds

_UNSET = (
    r"\{ \\builtin unalias -- '(?:which|unsetenv)'; "
    r"\\builtin unset -f -- '(?:which|unsetenv)'; \} >/dev/null 2>&1 \|\| true && "
)
_TOO_OLD = re.escape(
    r"""{ case "${BASH_VERSINFO-}" in '2'|'3') \builtin printf '%s\n' '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"""
    r""""${BASH_VERSION-}" >&2; \builtin exit 126; \exit 126;; esac; } && """
)
_WORD = r"[\w./:@%+,-]+"
_FRAME = (
    rf"(?:{_TOO_OLD})?(?:source (?P<snapshot>{PATH}) 2>/dev/null \|\| true && )?"
    r"(?:(?:\\builtin )?(?:shopt -u extglob|setopt NO_EXTENDED_GLOB) 2>/dev/null \|\| true && )?"
    rf"(?:{_UNSET})*"
    rf"(?P<evaluated>eval (?P<command>{_WORD}|{QUOTED})(?: (?:\\)?< ?/dev/null)? && pwd -P >\| /tmp/claude-[\w-]+-cwd)"
)
_TAKES = rf"(?s)SNAPSHOT_FILE=(?P<snapshot>{PATH})\n.*"
_SNAPSHOT = r"/[^\n]*/shell-snapshots/snapshot-(?:bash|zsh)-[\w-]+\.sh"


def _unwrap(text: str) -> Framed | None:
    match = re.fullmatch(_FRAME, text)
    if match is None:
        return None
    snapshot = unquoted(match["snapshot"] or "")
    if snapshot and not re.fullmatch(_SNAPSHOT, snapshot):
        return None
    return Framed(unquoted(match["command"]), text[match.start("evaluated") :], snapshot)


def _snapshot_of(text: str) -> str:
    match = re.fullmatch(_TAKES, text)
    return unquoted(match["snapshot"]) if match else ""


def _start(words: tuple[str, ...]) -> Start:
    # Background agents run below a supervisor that precedes the session or outlives it; --tmux below tmux's own server.
    elsewhere = given(words, "--bg", "--background", "--tmux", "--desktop")
    return Start(words, refused=subcommand(words, ("agents", "attach", "respawn")) or elsewhere)


_CODE = re.compile(r"Exit code (\d+)\n?")


class _Hooks(HookDialect):
    client = "claude"
    events = {  # noqa: RUF012 - a table that nobody changes
        "SessionStart": Moment.BEGINS,
        "PreToolUse": Moment.CALL,
        "PostToolUse": Moment.RESULT,
        "PostToolUseFailure": Moment.RESULT,
        "ConfigChange": Moment.SETTINGS,
        "UserPromptSubmit": Moment.RESTS,
        "Stop": Moment.RESTS,
    }
    # The local file of a project is the user's own; what is committed to the repository would name a path of theirs.
    places = Places(
        ".claude/settings.local.json",
        ".claude/settings.json",
        "/etc/claude-code/managed-settings.json",
        "CLAUDE_CONFIG_DIR",
    )

    least = (2, 1, 295)
    fails_open = (
        "before 2.1.295 a hook program that crashes or is too late lets the call run; disableAllHooks in "
        "any settings file that it reads at its start switches all off but those of --managed"
    )

    def end(self, name: str, payload: Mapping[str, object]) -> CallEnd:
        if name == "PostToolUseFailure":
            said = str(payload.get("error", ""))
            code = _CODE.match(said)
            return CallEnd(int(code[1]) if code else 1, "", said[code.end() :] if code else said, seconds(payload))
        response, given = payload.get("tool_response"), seconds(payload)
        if isinstance(response, Mapping):
            return CallEnd(0, str(response.get("stdout", "")), str(response.get("stderr", "")), given)
        return CallEnd(0, response if isinstance(response, str) else "", "", given)

    def _said(self, moment: Moment, name: str, word: Word) -> Mapping[str, object]:
        if word.over and moment is Moment.CALL:
            # Without the refusal beside it the tool would still run.
            return {**deny(name, word.text), "continue": False, "stopReason": word.text}
        if word.blocked and name == "PostToolUseFailure":
            word = Word(word.text)  # a decision is not read there
        return super()._said(moment, name, word)

    def edits(self, command: str) -> Iterable[Edit]:
        for edit in super().edits(command):
            name = edit.path[1]
            matcher = {"matcher": "*"} if self.moment(name) in (Moment.CALL, Moment.RESULT) else {}
            stops = {"onFailure": "block"} if self.form(name) else {}
            yield Edit(edit.path, {**matcher, "hooks": [{**self.hook(command, name), **stops}]})

    def disarmed(self, settings: object, *, managed: bool = False) -> str:
        off = not managed and isinstance(settings, Mapping) and settings.get("disableAllHooks")
        return "disableAllHooks switches off every hook" if off else ""


AGENT = CodingAgent(
    "claude",
    frozenset({"claude", "claude-code"}),
    _unwrap,
    patience=110.0,  # moves to the background after 120
    marks=("/shell-snapshots/snapshot-", ">| /tmp/claude-"),
    snapshots=("CLAUDE_CONFIG_DIR", ".claude", "shell-snapshots"),
    snapshot_of=_snapshot_of,
    own=("env", _TAKES),
    is_call=never,
    start=_start,
    environ={"CLAUDE_CODE_DISABLE_AGENT_VIEW": "1"},
    servers=r"\0(?:daemon\0run|--bg-pty-host|--bg-spare)\0",
    hooks=_Hooks(),
)
