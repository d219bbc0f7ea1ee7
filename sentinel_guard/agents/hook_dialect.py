"""Hooks of coding agents: what a hook's payload says, and the guard's word in the form in which its client reads it.

Rules of this file:
1. A client reads as a go-ahead what it does not understand: a field that is not its own, an exit code, plain text. So a
   dialect writes what was measured with the real client (docs/agents.md), and nothing else.
2. No dialect ever says "allow": where the guard has no objection it is silent, and the client asks its person as usual.
3. What cannot be parsed raises ``ValueError``; whoever called refuses it in the form of the event.
"""

from __future__ import annotations

import enum
import json
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

NOTHING: Mapping[str, object] = MappingProxyType({})


class Moment(enum.Enum):
    """When a client calls a hook."""

    BEGINS = "a session begins, or goes on"
    CALL = "a tool is about to be called: it can be stopped"
    RESULT = "a tool call has ended"
    SETTINGS = "the client is about to take over settings that were changed: that can be stopped"
    RESTS = "the model's turn is over, or a person has spoken: no call is under way"


class CallEnd(NamedTuple):
    """How a tool call ended, as far as its client tells."""

    code: int | None
    """Exit code; 1 of a tool without one that failed; None where the client does not say."""
    stdout: str = ""
    stderr: str = ""
    """Where a client gives one text for both, it is this one of a failed call, else ``stdout``."""
    seconds: float = 0.0


class HookEvent(NamedTuple):
    """A payload, taken apart."""

    moment: Moment
    session: str
    """The client's own id of its session."""
    cwd: str = ""
    tool: str = ""
    arguments: Mapping[str, object] = NOTHING
    call: str = ""
    """The client's own id of the call; empty where it gives none."""
    subagent: str = ""
    """Its own id of the subagent that calls; empty for the main one."""
    end: CallEnd | None = None
    file: str = ""
    """Of SETTINGS: the file that was changed, absolute."""
    transcript: str = ""
    """The client's own record of the session: an absolute path; empty where it names none."""
    parent: str = ""
    """Of a subagent whose client gives it a session id of its own: that of the session that started it."""


class Word(NamedTuple):
    """What the guard has to say at a hook."""

    text: str = ""
    blocked: bool = False
    over: bool = False
    """True where the session has ended for good; such a word is blocked, too."""


class HookReply(NamedTuple):
    """What the hook program prints, and its exit code."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


class Places(NamedTuple):
    """Where a client reads its hooks."""

    project: str
    """Below the repository: a file that is not shared, where the client has one (our program's path is the user's)."""
    user: str
    """Below the home."""
    managed: str = ""
    """Absolute: what no agent that runs as the user can change; empty where there is no such place."""
    variable: str = ""
    """Of the environment: a folder in whose place ``user``'s own first folder stands."""


class Edit(NamedTuple):
    """One element that is put at the end of a list in a JSON file."""

    path: tuple[str, ...]
    """The names of the objects down to the list."""
    element: Mapping[str, object]


PROMPT = "UserPromptSubmit"
"""The event at which a person's words can be stopped."""
WORDS = "@words@"
"""Where the launcher puts its own words (launcher/base.c)."""
SPARE = 10.0
"""Seconds before the client's limit at which the guard answers at the latest."""


class HookDialect(ABC):
    """The protocol that most clients speak, after Claude Code's: each member says what differs."""

    client = ""
    events: Mapping[str, Moment] = MappingProxyType({})
    waits = 600.0
    """Seconds that the client waits for a hook, as ``install`` sets it; then it goes on without an answer."""
    places = Places("", "")
    program = "sentinel-hook"
    """Base name of the hook program: by it an edit of ours is known again."""
    settings: Mapping[str, object] = NOTHING
    """Members that the settings file needs beside the hooks."""
    managed_settings: Mapping[str, object] = NOTHING
    """Members that the machine's settings need, so that no settings of a user or a repository switch the hooks off."""
    shell = "Bash"
    """Its tool that runs commands."""
    fails_open = "a hook program that crashes, is gone or is killed lets the call run"
    """When a call runs although no hook has answered: a sentence for ``doctor`` and the documents."""
    mark = "sentinel-guard put this hook here"
    """Stands in a script of ours, and by it that is known again."""
    trusts = False
    """True where the client runs a hook only once its person has said that they trust it."""
    least: tuple[int, ...] = ()
    """The first version of the client that keeps a call from running where its hook fails; empty where none does."""
    notes: tuple[str, ...] = ()
    """What the person still has to do, or to know: sentences."""

    def parse(self, name: str, payload: Mapping[str, object]) -> HookEvent:
        """Raises ValueError."""
        moment = self.moment(name)
        arguments = payload.get("tool_input", {})
        return HookEvent(
            moment,
            text(payload, "session_id"),
            text(payload, "cwd", ""),
            text(payload, "tool_name", None if moment in (Moment.CALL, Moment.RESULT) else ""),
            arguments if isinstance(arguments, Mapping) else {"input": arguments},
            text(payload, "tool_use_id", ""),
            text(payload, "agent_id", ""),
            self.end(name, payload) if moment is Moment.RESULT else None,
            text(payload, "file_path", "") if moment is Moment.SETTINGS else "",
            text(payload, "transcript_path", ""),
        )

    def late_ends(self, lines: Iterable[str]) -> Mapping[str, CallEnd]:
        """Of a client that does not tell at once how a call ended: what its record says, by its own id of the call.

        ``lines``: of the file that ``HookEvent.transcript`` names.
        """
        del lines  # most clients tell it with the event
        return {}

    @abstractmethod
    def end(self, name: str, payload: Mapping[str, object]) -> CallEnd:
        """How a call ended, by the payload of a RESULT."""

    def render(self, name: str, word: Word, tool: str = "") -> HookReply:
        """The guard's word at an event. Raises ValueError for one that is not this client's.

        ``tool``: of the call that it is about, where that is known and the form goes by it.
        """
        said = self._instead(tool, word) or self._said(self.moment(name), name, word)
        return HookReply(json.dumps(said) + "\n") if said else HookReply()

    def in_place(self, tool: str, word: Word) -> str:
        """The shell text that runs in the place of a refused call; empty where none does."""
        del tool, word
        return ""

    def _instead(self, tool: str, word: Word) -> Mapping[str, object]:
        """A refusal that puts something harmless in the call's place; empty where the client takes a plain one."""
        del tool, word
        return {}

    def _said(self, moment: Moment, name: str, word: Word) -> Mapping[str, object]:
        if moment is Moment.CALL and word.blocked:
            return deny(name, word.text)
        if moment is Moment.RESULT and word.blocked:
            return {"decision": "block", "reason": word.text}
        if moment is Moment.SETTINGS:
            return {"decision": "block", "reason": word.text} if word.blocked else {}
        if moment is Moment.RESTS:
            # At the end of a turn the same word would have the model go on.
            return {"decision": "block", "reason": word.text} if word.over and name == PROMPT else {}
        if not word.text:
            return {}
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": word.text}}

    def form(self, name: str) -> str:
        """The refusal of a launcher without an answer, with ``WORDS`` in it; empty where nothing can be stopped."""
        if self.moment(name) not in (Moment.CALL, Moment.SETTINGS):
            return ""
        return self.render(name, Word(WORDS, blocked=True)).stdout.strip()

    def edits(self, command: str) -> Iterable[Edit]:
        """What ``install`` adds to the client's settings; ``command`` is the hook program, quoted for a shell."""
        for name in self.events:
            yield Edit(("hooks", name), {"hooks": [self.hook(command, name)]})

    def hook(self, command: str, name: str) -> dict[str, object]:
        """One hook as the client's settings name it."""
        return {"type": "command", "command": f"{command} {self.client} {name}", "timeout": int(self.waits)}

    def runs(self, script: str) -> str:
        """How ``doctor`` runs a script of ours, as the client would; shell text."""
        return shlex.quote(script)

    def commands(self, settings: object, name: str) -> list[str]:
        """The commands of ours that its settings (a JSON value) run at an event."""
        found = _texts(settings)
        return [text for text in found if text.replace("'", "").endswith(f"/{self.program} {self.client} {name}")]

    def sample(self, name: str, session: str, folder: str, command: str) -> dict[str, object]:
        """A payload with which the client would ask about a command."""
        given = {"tool_name": self.shell, "tool_input": {"command": command}, "tool_use_id": session}
        return {"session_id": session, "cwd": folder, "hook_event_name": name, **given}

    def is_refusal(self, name: str, stdout: str) -> bool:
        """Whether a hook program said the refusal of this client, whatever its words."""
        try:
            said = json.loads(stdout)
            words = next((text for text in _texts(said) if "SENTINEL" in text), "")
            return bool(words) and said == json.loads(self.form(name).replace(WORDS, json.dumps(words)[1:-1]))
        except ValueError:
            return False

    def scripts(self, command: str) -> Mapping[str, str]:
        """Of a client that runs the files in a folder (``places``): their names and texts; empty for any other."""
        del command
        return {}

    def is_ours(self, element: object) -> bool:
        """Whether an element of a list of hooks is one that ``install`` put there."""
        said = element if isinstance(element, str) else json.dumps(element)
        return f"{self.program} {self.client} " in said.replace("'", "")

    def missing(self, settings: object, command: str) -> list[str]:
        """The events whose hook does not stand in its settings (a JSON value) as ``install`` puts it there."""
        return [edit.path[-1] for edit in self.edits(command) if not _stands(settings, edit)]

    def disarmed(self, settings: object, *, managed: bool = False) -> str:
        """Why the hooks do not run with these settings (a JSON value), in words; empty where they do. ``managed``: the
        hooks stand in the machine's settings, and these are another file's.
        """
        del settings, managed  # not each client has such a switch
        return ""

    def moment(self, name: str) -> Moment:
        """Raises ValueError for an event that is not this client's."""
        found = self.events.get(name)
        if found is None:
            raise ValueError(f"{name!r} is no event of {self.client}'s hooks")
        return found


_EXIT = re.compile(r"(?m)^Exit Code: (\d+)$")
_OUTPUT = re.compile(
    r"(?s)(?:^|\n)Output: (.*?)(?:\nError: (.*?))?"
    r"(?=\n(?:Exit Code|Signal|Process Group|Background)\b|\Z)"
)


def ended(said: object, *, failed: bool, duration: float = 0.0) -> CallEnd:
    """How a call ended, by the words in which Gemini CLI and its kin tell their model."""
    words = said if isinstance(said, str) else json.dumps(said) if said else ""
    code, output = _EXIT.search(words), _OUTPUT.search(words)
    number = int(code[1]) if code else int(failed)
    body = output[1] if output else words
    error = output[2] if output and output[2] and output[2] != "(none)" else ""
    shown = "\n".join(filter(None, (body, error)))
    return CallEnd(number, "" if number else shown, shown if number else "", duration)


def _stands(settings: object, edit: Edit) -> bool:
    """Whether an element of ours is in its list; somebody else's hooks may stand beside those in it."""
    at, ours, hooks = settings, dict(edit.element), edit.element.get("hooks")
    ours.pop("hooks", None)
    for name in edit.path:
        at = at.get(name) if isinstance(at, Mapping) else None
    return isinstance(at, list) and any(
        isinstance(there, Mapping)
        and {k: v for k, v in there.items() if k != "hooks"} == ours
        and all(hook in there.get("hooks", ()) for hook in (hooks if isinstance(hooks, list) else ()))
        for there in at
    )


def _texts(value: object) -> list[str]:
    """The texts in a JSON value, at any depth."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for one in inner for text in _texts(one)]


def deny(name: str, reason: str) -> dict[str, object]:
    """The refusal of a tool call that Claude Code, Codex and Qwen Code read."""
    decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": name, **decision}}


def text(payload: Mapping[str, object], name: str, otherwise: str | None = None) -> str:
    """A text in a payload. Raises ValueError where there is none, and it has to be there."""
    value = payload.get(name)
    if isinstance(value, str) and (value or otherwise is not None):
        return value
    if value in (None, "") and otherwise is not None:
        return otherwise
    raise ValueError(f"{name} is {'missing' if value in (None, '') else 'no text'}")


def seconds(payload: Mapping[str, object], name: str = "duration_ms") -> float:
    """A duration in milliseconds, as seconds; 0 where there is none."""
    value = payload.get(name)
    return float(value) / 1000 if isinstance(value, int | float) else 0.0
