"""Hooks of coding agents: payloads that the real clients sent, and answers as they read them.

Those of Cursor are written after its documentation, field by field: nobody ran it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.agents import registry
from sentinel_guard.agents.hook_dialect import HookReply, Moment, Word
from tests.support.agents.hook_readers import stopped

VECTORS = Path(__file__).parents[1] / "vectors" / "hooks"
DIALECTS = [agent.hooks for agent in registry.AGENTS if agent.hooks]
EVENTS = [(dialect, name) for dialect in DIALECTS for name in dialect.events]
STOPPING = [(d, n) for d, n in EVENTS if d.moment(n) in (Moment.CALL, Moment.SETTINGS)]
each_event = pytest.mark.parametrize(("dialect", "name"), EVENTS, ids=[f"{d.client} {n}" for d, n in EVENTS])
each_stop = pytest.mark.parametrize(("dialect", "name"), STOPPING, ids=[f"{d.client} {n}" for d, n in STOPPING])
words = st.text(min_size=1, max_size=300)


def read(dialect, name, reply: HookReply) -> bool:
    return stopped(dialect.client, name, reply.stdout, reply.stderr, reply.code)


@each_stop
def test_no_dialect_renders_a_refusal_that_its_client_reads_as_a_go_ahead(dialect, name):
    # Cline's form goes by the tool.
    @given(words, st.booleans(), st.sampled_from((dialect.shell, "read_files", "editor", "fetch_web_content", "")))
    def holds(text, over, tool):
        assert read(dialect, name, dialect.render(name, Word(text, blocked=True, over=over), tool))

    holds()


@each_event
def test_without_an_objection_nothing_is_refused_and_nothing_is_allowed(dialect, name):
    @given(st.text(max_size=300))
    def holds(text):
        reply = dialect.render(name, Word(text))
        assert not read(dialect, name, reply) and "allow" not in reply.stdout.replace(text, "") + reply.stderr
        assert not reply.code and "approve" not in reply.stdout.replace(text, "")
        assert '"ask"' not in reply.stdout, "the client's own dialog may be answered by a hook of the repository's"

    holds()


@each_event
def test_what_the_launcher_says_alone_is_a_refusal_where_something_can_be_stopped(dialect, name):
    form = dialect.form(name)
    stops = dialect.moment(name) in (Moment.CALL, Moment.SETTINGS)
    assert bool(form) == stops
    said = form.replace("@words@", "403 SENTINEL BLOCKED: it's not there")
    assert not stops or (read(dialect, name, HookReply(said)) and "it's not there" in said)
    seconds, _, rest = registry.hook_forms()[f"hook.{dialect.client}.{name}"].partition(" ")
    assert rest == form and 0 < int(seconds) < dialect.waits and "\n" not in form


CALLS = [
    ("claude", "PreToolUse.Bash.env", "Bash", "cat .env", "a command"),
    ("claude", "PreToolUse.Read.env", "Read", "/.env", "its read tool"),
    ("claude", "PreToolUse.Edit.env", "Edit", "/.env", "its edit tool"),
    ("claude", "PreToolUse.Agent", "Agent", "general-purpose", "a subagent"),
    ("claude", "PreToolUse.mcp__sentinel__request_human_help", "mcp__sentinel__request_human_help", "", "an MCP tool"),
    ("codex", "PreToolUse.Bash.env", "Bash", "cat .env", "a command"),
    ("codex", "PreToolUse.apply_patch.env", "apply_patch", "*** Update File: .env", "a patch"),
    ("gemini", "BeforeTool.run_shell_command.env", "run_shell_command", "cat .env", "a command"),
    ("gemini", "BeforeTool.read_file.app", "read_file", "app.py", "its read tool"),
    ("qwen", "PreToolUse.run_shell_command.env", "run_shell_command", "cat .env", "a command"),
    ("qwen", "PreToolUse.read_file.env", "read_file", "/.env", "its read tool"),
    ("qwen", "PreToolUse.edit.env", "edit", "/.env", "its edit tool"),
    ("copilot", "preToolUse.bash.env", "bash", "cat .env", "a command"),
    ("copilot", "preToolUse.view.env", "view", "/.env", "its read tool"),
    ("copilot", "preToolUse.apply_patch.env", "apply_patch", "*** Update File: .env", "a patch, given as a text"),
    ("cursor", "preToolUse.Shell.env", "Shell", "cat .env", "a command, as documented"),
    ("cursor", "preToolUse.Read.env", "Read", "/.env", "its read tool, as documented"),
    ("cline", "PreToolUse.run_commands.env", "run_commands", "cat .env", "a list of commands"),
    ("opencode", "tool.execute.before.bash.env", "bash", "cat .env", "a command"),
    ("opencode", "tool.execute.before.read.env", "read", "/.env", "its read tool"),
    ("opencode", "tool.execute.before.edit.env", "edit", "/.env", "its edit tool"),
]
ENDS = [
    ("claude", "PostToolUse.Bash.ok", 0, "hello", "a success"),
    ("claude", "PostToolUse.Read.app", 0, "", "a read"),
    ("claude", "PostToolUseFailure.Bash.exit7", 7, "out\nerr", "a failure has an event of its own"),
    ("codex", "PostToolUse.Bash.exit7", None, "out\nerr", "it does not tell the exit code"),
    ("codex", "PostToolUse.apply_patch.app", None, "", "a patch"),
    ("gemini", "AfterTool.run_shell_command.ok", 0, "hello", "a success"),
    ("gemini", "AfterTool.run_shell_command.exit7", 7, "out\nerr", "the code stands in the text"),
    ("gemini", "AfterTool.read_file.app", 0, "", "a read"),
    ("qwen", "PostToolUse.run_shell_command.ok", 0, "hello", "a success"),
    ("qwen", "PostToolUse.edit.app", 0, "", "an edit"),
    ("qwen", "PostToolUseFailure.run_shell_command.exit7", 7, "out\nerr", "the code stands in the text"),
    ("copilot", "postToolUse.bash.ok", 0, "hello", "a success"),
    ("copilot", "postToolUse.bash.exit7", 7, "err\nout", "a failure that is called a success"),
    ("copilot", "postToolUse.view.app", 0, "", "a read"),
    ("cursor", "postToolUse.Shell.ok", 0, "hello", "a success, as documented"),
    ("cursor", "postToolUse.Shell.exit7", 7, "out\nerr", "a failure, as documented"),
    ("cursor", "postToolUse.Read.app", 0, "", "a read, as documented"),
    ("cursor", "postToolUseFailure.Shell", 1, "a reason", "what was refused, as documented"),
    ("cline", "PostToolUse.run_commands.ok", 0, "hello", "a success"),
    ("opencode", "tool.execute.after.bash.exit7", 7, "out\nerr", "a failure"),
    ("opencode", "tool.execute.after.read.app", 0, "", "a read"),
]


def vector(client: str, name: str):
    dialect = registry.hooks_of(client)
    if dialect is None:
        pytest.skip(f"no dialect of {client}")
    payload = json.loads((VECTORS / client / f"{name}.json").read_text())
    event = max((e for e in dialect.events if name.startswith(e)), key=len)
    return dialect.parse(event, payload)


@pytest.mark.parametrize(("client", "name", "tool", "within", "why"), CALLS, ids=[f"{r[0]}: {r[-1]}" for r in CALLS])
def test_a_call_is_parsed(client, name, tool, within, why):
    event = vector(client, name)
    assert (event.moment, event.tool) == (Moment.CALL, tool)
    assert within in json.dumps(dict(event.arguments)) and event.session and event.end is None
    assert event.call or client in ("gemini", "copilot"), "the others give each call an id"


SUBAGENTS = [
    ("qwen", "PreToolUse.run_shell_command.subagent", "general-purpose-call_001", "", "a mark"),
    ("copilot", "preToolUse.bash.subagent", "SESSION", "e9c64c7e-b9f9-494d-a6d4-3c702099c53f", "an id of its own"),
    ("opencode", "tool.execute.before.bash.subagent", "SESSION", "ses_parent", "an id of its own: the plugin asks"),
    (
        "cline",
        "PreToolUse.run_commands.subagent",
        "agent_1795770499984_8o7h6h",
        "",
        "a task of its own, in the session",
    ),
    ("opencode", "tool.execute.before.bash.env", "", "", "the main agent"),
    ("copilot", "preToolUse.bash.env", "", "", "the main agent"),
]


@pytest.mark.parametrize(
    ("client", "name", "sub", "parent", "why"), SUBAGENTS, ids=[f"{r[0]}: {r[-1]}" for r in SUBAGENTS]
)
def test_a_subagent_is_told_from_the_main_agent(client, name, sub, parent, why):
    event = vector(client, name)
    assert (event.subagent, event.parent) == (event.session if sub == "SESSION" else sub, parent)


def test_clines_runs_and_subagents_are_one_session():
    names = ("run_commands.env", "run_commands.subagent")
    assert {vector("cline", f"PreToolUse.{name}").session for name in names} == {"1795295447375_lpw5m"}
    older = registry.hooks_of("cline").parse("TaskStart", {"taskId": "conv_1", "workspaceRoots": ["/r"]})
    assert older.session == "conv_1", "where no session is told"


@pytest.mark.parametrize(("client", "name", "code", "said", "why"), ENDS, ids=[f"{r[0]}: {r[-1]}" for r in ENDS])
def test_an_end_is_parsed(client, name, code, said, why):
    event = vector(client, name)
    assert event.moment is Moment.RESULT and event.end.code == code
    assert said in event.end.stdout + event.end.stderr
    assert not code or said in event.end.stderr, "of a failure it is the error"


@pytest.mark.parametrize("path", sorted(VECTORS.glob("*/*.json")), ids=lambda p: f"{p.parent.name} {p.stem}")
def test_each_payload_that_a_client_sent_is_understood(path):
    dialect = registry.hooks_of(path.parent.name)
    names = [e for e in dialect.events if path.stem.startswith(e)] if dialect else []
    if names:
        event = dialect.parse(max(names, key=len), json.loads(path.read_text()))
        assert event.session
        assert event.cwd.startswith("/") or dialect.client == "opencode"


WRONG = [
    ({}, "nothing at all"),
    ({"session_id": 7}, "an id that is no text"),
    ({"session_id": "s"}, "no tool"),
    ({"session_id": "s", "tool_name": ["Bash"], "tool_input": {}}, "a tool's name that is no text"),
    ({"session_id": "s", "tool_name": ""}, "an empty one"),
    ({"sessionId": "", "toolName": "bash"}, "an empty id"),
    ({"input": 3, "tool_call": [], "toolArgs": None}, "other kinds of values"),
]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.client)
@pytest.mark.parametrize(("payload", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_payload_that_is_not_understood_is_said(dialect, payload, why):
    name = next(n for n in dialect.events if dialect.moment(n) is Moment.CALL)
    with pytest.raises(ValueError):
        dialect.parse(name, payload)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.client)
def test_an_event_of_another_client_is_none(dialect):
    with pytest.raises(ValueError):
        dialect.render("Nonsense", Word("x", blocked=True))


BY_NAME = {"hooksConfig": {"enabled": True, "disabled": ["/x/sentinel-hook gemini BeforeTool"]}}
DISARMING = [
    ("claude", {"disableAllHooks": True}, True, False, "claude: all of them off"),
    ("claude", {"disableAllHooks": False, "model": "x"}, False, False, "claude: on"),
    ("claude", [], False, False, "claude: no settings at all"),
    ("qwen", {"disableAllHooks": True}, True, False, "qwen: all of them off"),
    ("qwen", {}, False, False, "qwen: on"),
    ("gemini", {"hooksConfig": {"enabled": False}}, True, False, "gemini: all of them off"),
    ("gemini", BY_NAME, True, True, "gemini: ours by its command, wherever it stands"),
    ("gemini", {"hooksConfig": {"disabled": ["mine", 7]}}, False, False, "gemini: somebody else's"),
    ("gemini", {"hooksConfig": []}, False, False, "gemini: nothing that it reads"),
]


@pytest.mark.parametrize(("client", "settings", "off", "managed", "why"), DISARMING, ids=[row[-1] for row in DISARMING])
def test_settings_that_switch_the_hooks_off_are_known(client, settings, off, managed, why):
    disarmed = registry.hooks_of(client).disarmed
    assert (bool(disarmed(settings)), bool(disarmed(settings, managed=True))) == (off, managed)


@pytest.mark.parametrize("dialect", [d for d in DIALECTS if not d.scripts(".")], ids=lambda d: d.client)
def test_a_hook_that_does_not_stand_as_it_was_installed_is_missing(dialect):
    command = "/x/sentinel-hook"

    def settings(change=lambda element: element, *more):
        value = {}
        for edit in dialect.edits(command):
            at = value
            for name in edit.path[:-1]:
                at = at.setdefault(name, {})
            at.setdefault(edit.path[-1], []).extend([change(edit.element), *more])
        return json.loads(json.dumps(value))

    every = [edit.path[-1] for edit in dialect.edits(command)]
    assert dialect.missing(settings(), command) == []
    assert dialect.missing(settings(lambda e: e, {"hooks": []}), command) == [], "somebody else's beside it"
    for wrong in ([], {}, None, {"hooks": []}, {"hooks": dict.fromkeys(every, "x")}):
        assert dialect.missing(wrong, command) == every, wrong
    assert dialect.missing(settings(lambda e: {**e, "matcher": "Nope"}), command) == every
    assert dialect.missing(settings(), "/y/sentinel-hook") == every
