"""The tools of the MCP server: what each asks for, and plain functions that return what the model is told.

What takes long to load is loaded when it is asked for: an agent that starts waits for its servers, or goes on without.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sentinel_guard.client import Operator, ask_agent
from sentinel_guard.commands.for_agents.request_human_help import MAX_CONTEXT
from sentinel_guard.commands.local_time import when
from sentinel_guard.core.model import Entry, Response
from sentinel_guard.core.response_phrases import NOBODY_HERE, UNGUARDED
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import DaemonError, NoDaemonError, SentinelError
from sentinel_guard.host.session_environ import places_of_session

LOOKED_AT = 500
"""Entries of a session among which its last refusal is looked for."""
SHIMS = re.compile(r"(?:^|:)[^:]*/sessions/(?P<session>[\w-]+)/shims(?::|$)")
METRICS = ("seconds_left", "reason", "loop_count", "error_rate", "tokens_per_minute", "tokens_unread", "cooldowns")
COUNTS = ("input", "output", "cache_read", "cache_write")
NOBODY = (
    "Nobody answered: no user can be reached from here, or they declined. Do not go on with what you asked about: "
    "do what is safe without an answer, or end your turn with your question."
)
START = "the user starts the agent with: sentinel-guard run -- AGENT"
Arguments = Mapping[str, object]
Dialog = Callable[[str], str | None]
"""Puts a message to the client's user; what they wrote, None where there is no dialog or no answer."""


class Tool(NamedTuple):
    name: str
    description: str
    properties: Mapping[str, Mapping[str, object]]
    """JSON Schema of each argument."""
    required: tuple[str, ...]
    call: Callable[[Arguments, Dialog], str]
    """Its text. Raises SentinelError with words for the model."""


def session_id() -> str:
    """The session that this process stands in, by its environment; empty where that tells of none.

    A client may start servers with PATH and little else; where only its hooks ask the guard, nothing tells.
    """
    found = SHIMS.search(os.environ.get("PATH", ""))
    return os.environ.get("SENTINEL_SESSION", "") or (found["session"] if found else "")


def _look() -> tuple[str, list[dict[str, Any]]]:
    """The session that this process stands in, empty outside of one, and all live ones. Starts no daemon."""
    try:
        with Operator(places_of_session(), start=False) as operator:
            told = operator.request("status")
    except NoDaemonError:
        return session_id(), []
    return session_id() or str(told.get("inside") or ""), list(told["sessions"])


def request_human_help(arguments: Arguments, dialog: Dialog) -> str:
    """What a person says: on the guard's own terminal until they type /resume (R8), else in the client's dialog."""
    context = str(arguments["context"]).strip()
    if not context:
        raise SentinelError("Say what you need help with.", 'context: "I am stuck on the regex"')
    words = _on_terminal(context[:MAX_CONTEXT])
    if words is None:
        words = dialog(f"The agent asks for help: {visible(context[:MAX_CONTEXT])}")
    if words is None:
        raise SentinelError(NOBODY, "")
    return f"The user says: {words}" if words else "The user said nothing, and lets you go on."


def _on_terminal(context: str) -> str | None:
    """None where no person can be reached so."""
    if not _look()[0]:
        return None
    try:
        said, code = ask_agent(places_of_session(), "help", [context], show=lambda _stream, _text: None)
    except DaemonError:
        return None
    if code and (NOBODY_HERE in said or UNGUARDED in said):
        return None
    if code:
        raise SentinelError(said.strip(), "")
    lines = (line for line in said.splitlines() if not line.startswith("SENTINEL: the human was called."))
    return "\n".join(lines).strip()


def report_token_usage(arguments: Arguments, _dialog: Dialog) -> str:
    if not _look()[0]:
        raise SentinelError("This is no guarded session.", START)
    counts = {name: arguments.get(name, 0) for name in COUNTS}
    said, code = ask_agent(places_of_session(), "usage", [json.dumps(counts)], show=lambda _stream, _text: None)
    if code:
        raise SentinelError(said.strip(), "")
    return said.strip()


def guard_status(_arguments: Arguments, _dialog: Dialog) -> str:
    """The session's state and health as JSON, named as ``status --json`` does; ``guarded`` is false outside of one."""
    ident, sessions = _look()
    mine = next((s for s in sessions if s["session"] == ident), None)
    if mine is None:
        return json.dumps({"guarded": False, "how": START})
    health = {name: mine[name] for name in METRICS}
    return json.dumps({"guarded": True, "session": ident, "state": mine["state"], **health})


def explain_block(arguments: Arguments, _dialog: Dialog) -> str:
    """Why a command would be refused, or, where none is given, why the session's last one was."""
    if command := str(arguments.get("command", "")).strip():
        return _would_be_said(command)
    refused = _last_refusal()
    if refused is None:
        return "Nothing was refused in this session."
    from sentinel_guard.core.decode_entries import finding_from  # noqa: PLC0415 - see above
    from sentinel_guard.core.response_text import sentence  # noqa: PLC0415
    from sentinel_guard.core.text.entry_summary import decisive, summary  # noqa: PLC0415

    found = finding_from(decisive(refused.data))
    told = _words(found.response, found.rule or found.check, sentence(found))
    return f"{when(refused.at)}: {visible(summary(refused))}\n{told}"


def _would_be_said(command: str) -> str:
    from sentinel_guard.commands.check import Checker  # noqa: PLC0415
    from sentinel_guard.core.response_text import sentence  # noqa: PLC0415

    verdict = Checker(places_of_session()).verdict(command, str(Path.cwd()))
    findings = sorted(verdict.findings, key=lambda found: -found.response)
    told = (_words(found.response, found.rule or found.check, sentence(found)) for found in findings)
    return "\n".join(told) or "Nothing would be said about it in a new session: it would run."


def _last_refusal() -> Entry | None:
    from sentinel_guard.audit.sqlite import SqliteReader  # noqa: PLC0415
    from sentinel_guard.core.text.entry_summary import decisive  # noqa: PLC0415

    ident, _ = _look()
    if not ident:
        raise SentinelError("This is no guarded session.", START)
    with contextlib.closing(SqliteReader(places_of_session().database)) as reader:
        entries = [*reader.entries(session=ident, kinds=("verdict", "observation"), last=LOOKED_AT)]
    return next((e for e in reversed(entries) if e.level in ("L2", "L3", "L4") and decisive(e.data)), None)


def _words(response: Response, rule: str, sentence: str) -> str:
    level = f", {response.level}" if response.level else ""
    return f"{response.word}{level} ({rule}): {sentence}"


COUNT = {"type": "integer", "minimum": 0}
TOOLS = (
    Tool(
        "request_human_help",
        "Ask the user for help and wait for their answer. Use it when you are stuck or in doubt.",
        {"context": {"type": "string", "description": "What you tried, and what you need to know"}},
        ("context",),
        request_human_help,
    ),
    Tool(
        "report_token_usage",
        "Report the tokens of your last response. Not needed where the guard reads them itself.",
        dict.fromkeys(COUNTS, COUNT),
        (),
        report_token_usage,
    ),
    Tool(
        "guard_status",
        "Tell the state of this guarded session: loops, error rate, tokens a minute, and why it is held, if it is.",
        {},
        (),
        guard_status,
    ),
    Tool(
        "explain_block",
        "Tell why the last command was refused and what to do instead; or what would be said about a command.",
        {"command": {"type": "string", "description": "A shell command; leave it out for the last refusal"}},
        (),
        explain_block,
    ),
)
