"""The MCP server, message by message; its tools where no session is. With real agents: ``tests/real_agents``."""

from __future__ import annotations

import io
import json
import queue
import threading

import pytest

from sentinel_guard.commands.for_agents import mcp_server, mcp_tools
from sentinel_guard.commands.for_agents.mcp_server import Server
from sentinel_guard.commands.for_agents.mcp_tools import Tool
from sentinel_guard.errors import SentinelError
from tests.support.time_limits import limit


class Client:
    """The other end: what it writes is taken at once, what the server writes is read in order."""

    def __init__(self, **capabilities) -> None:
        self.said: queue.Queue[dict] = queue.Queue()
        self.server = Server(self)
        self.hello = self.ask("initialize", protocolVersion="2025-06-18", capabilities=capabilities)["result"]

    def write(self, text: str) -> None:
        self.said.put(json.loads(text))

    def flush(self) -> None:
        """Nothing is kept back."""

    def tell(self, **message) -> None:
        self.server.take(json.dumps({"jsonrpc": "2.0", **message}))

    def next(self) -> dict:
        return self.said.get(timeout=limit(10))

    def ask(self, method: str, ident: object = 1, **params) -> dict:
        self.tell(id=ident, method=method, params=params)
        return self.next()

    def call(self, name: str, **arguments) -> tuple[str, bool]:
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        return result["content"][0]["text"], result["isError"]


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    monkeypatch.delenv("SENTINEL_SESSION", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


VERSIONS = (
    ("2025-11-25", "2025-11-25", "the newest"),
    ("2024-11-05", "2024-11-05", "the oldest"),
    ("2099-01-01", "2025-11-25", "a later one: ours"),
    (None, "2025-11-25", "none"),
)


@pytest.mark.parametrize(("asked", "given"), [v[:2] for v in VERSIONS], ids=[v[2] for v in VERSIONS])
def test_the_version_that_is_agreed_on(asked, given):
    result = Client().ask("initialize", protocolVersion=asked, capabilities={})["result"]
    assert result["protocolVersion"] == given
    assert result["serverInfo"]["name"] == "sentinel-guard" and result["capabilities"] == {"tools": {}}


def test_the_tools_are_listed_with_their_arguments():
    tools = {tool["name"]: tool["inputSchema"] for tool in Client().ask("tools/list")["result"]["tools"]}
    assert set(tools) == {"request_human_help", "report_token_usage", "guard_status", "explain_block"}
    assert tools["request_human_help"]["required"] == ["context"]
    assert set(tools["report_token_usage"]["properties"]) == {"input", "output", "cache_read", "cache_write"}


ERRORS = (
    ("no json", -32700, "no JSON"),
    ("[" * 100_000, -32700, "nested too deeply"),
    ("[]", -32600, "a list"),
    ('{"id": 7, "method": "resources/list"}', -32601, "what it does not have"),
    ('{"id": 7, "method": "server/discover"}', -32601, "how later versions begin"),
    ('{"id": 7, "method": "tools/call", "params": {"name": "rm"}}', -32602, "no tool of ours"),
    ('{"id": 7, "method": "tools/call", "params": [1]}', -32602, "no parameters"),
)


@pytest.mark.parametrize(("line", "code"), [e[:2] for e in ERRORS], ids=[e[2] for e in ERRORS])
def test_what_is_not_understood_is_answered_with_an_error(line, code):
    client = Client()
    client.server.take(line)
    assert client.next()["error"]["code"] == code
    assert client.ask("ping")["result"] == {}, "and it goes on"


@pytest.mark.parametrize(
    "line",
    [
        '{"method": "notifications/initialized"}',
        '{"method": "notifications/cancelled", "params": {"requestId": [1]}}',
        '{"id": "ask-9", "result": {}}',
        '{"id": {}, "result": {}}',
    ],
    ids=["a notification", "an odd id", "an answer to nothing", "an odd answer"],
)
def test_what_wants_no_answer_gets_none(line):
    client = Client()
    client.server.take(line)
    assert client.ask("ping", ident="p") == {"jsonrpc": "2.0", "id": "p", "result": {}}


ARGUMENTS = (
    ("request_human_help", {}, "context is missing"),
    ("request_human_help", {"context": 5}, "context is not right"),
    ("request_human_help", {"context": "  "}, "Say what you need help with"),
    ("report_token_usage", {"input": "5"}, "input is not right"),
    ("report_token_usage", {"input": True}, "input is not right"),
    ("report_token_usage", {"tokens": 5}, "tokens is not right"),
    ("guard_status", {"session": "x"}, "session is not right"),
)


@pytest.mark.parametrize(("tool", "given", "words"), ARGUMENTS, ids=[f"{a[0]} {a[1]}" for a in ARGUMENTS])
def test_arguments_that_are_not_right_are_told_to_the_model(tool, given, words):
    text, failed = Client().call(tool, **given)
    assert failed and words in text


def test_outside_of_a_session_it_says_so_and_starts_no_daemon(tmp_path, monkeypatch):
    for name in ("HOME", "SENTINEL_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    client = Client()
    assert json.loads(client.call("guard_status")[0])["guarded"] is False
    for tool in ("report_token_usage", "explain_block"):
        text, failed = client.call(tool)
        assert failed and "no guarded session" in text and "sentinel-guard run" in text
    text, failed = client.call("request_human_help", context="stuck")
    assert failed and text.startswith("Nobody answered")
    assert not [*tmp_path.rglob("*.sock")]


def test_a_command_is_explained_anywhere():
    text, failed = Client().call("explain_block", command="rm -rf /")
    assert not failed and text.startswith("kill, L4 (")
    assert "it would run" in Client().call("explain_block", command="ls")[0]


FORMS = (
    ({"elicitation": {}}, "forms, without modes"),
    ({"elicitation": {"form": {}, "url": {}}}, "both modes"),
)


@pytest.mark.parametrize("declared", [f[0] for f in FORMS], ids=[f[1] for f in FORMS])
@pytest.mark.parametrize(
    ("answer", "words", "failed"),
    [
        ({"action": "accept", "content": {"words": "use a raw string"}}, "The user says: use a raw string", False),
        ({"action": "accept"}, "The user said nothing, and lets you go on.", False),
        ({"action": "decline"}, mcp_tools.NOBODY, True),
        ({"action": "cancel"}, mcp_tools.NOBODY, True),
        ({}, mcp_tools.NOBODY, True),
    ],
    ids=["accepted", "accepted without words", "declined", "nobody there", "an empty answer"],
)
def test_r8_the_clients_dialog_where_the_guard_reaches_nobody(declared, answer, words, failed):
    client = Client(**declared)
    asked = client.ask("tools/call", name="request_human_help", arguments={"context": "the regex\x1b[2J"})
    assert asked["method"] == "elicitation/create" and "the regex" in asked["params"]["message"]
    assert "\x1b" not in asked["params"]["message"], "it is shown on a terminal"
    assert client.ask("ping", ident="p")["id"] == "p", "others are answered meanwhile"
    client.tell(id=asked["id"], result=answer)
    result = client.next()["result"]
    assert (result["content"][0]["text"], result["isError"]) == (words, failed)


def test_a_client_that_only_opens_pages_is_not_asked():
    text, failed = Client(elicitation={"url": {}}).call("request_human_help", context="stuck")
    assert (text, failed) == (mcp_tools.NOBODY, True)


def test_a_call_that_waits_when_the_client_goes_ends():
    client = Client(elicitation={})
    client.ask("tools/call", name="request_human_help", arguments={"context": "stuck"})
    client.server.run(io.StringIO(""))
    assert client.next()["result"]["isError"]


def slow(go: threading.Event) -> Tool:
    def wait(_arguments, _dialog) -> str:
        assert go.wait(10)
        return "done"

    return Tool("slow", "", {}, (), wait)


def test_a_client_that_waits_is_told_that_the_call_goes_on(monkeypatch):
    go = threading.Event()
    monkeypatch.setattr(mcp_server, "TOOLS", (slow(go),))
    monkeypatch.setattr(mcp_server, "PROGRESS", 0.01)
    client = Client()
    told = [client.ask("tools/call", name="slow", _meta={"progressToken": "t"}), client.next()]
    assert [t["params"]["progress"] for t in told] == [1, 2] and told[0]["params"]["progressToken"] == "t"
    go.set()
    while "result" not in (last := client.next()):
        assert last["method"] == "notifications/progress"
    assert last["result"]["content"][0]["text"] == "done"


def test_a_call_that_was_cancelled_is_not_answered(monkeypatch):
    go = threading.Event()
    monkeypatch.setattr(mcp_server, "TOOLS", (slow(go),))
    client = Client()
    client.tell(id=5, method="tools/call", params={"name": "slow"})
    client.tell(method="notifications/cancelled", params={"requestId": 5})
    go.set()
    client.tell(id=6, method="tools/call", params={"name": "slow"})
    assert client.next()["id"] == 6


@pytest.mark.parametrize(
    ("error", "words"),
    [(SentinelError("It is so.", "Do this."), "It is so. Do this."), (ZeroDivisionError(), "The guard failed")],
    ids=["ours", "a bug"],
)
def test_a_tool_that_fails_tells_the_model(monkeypatch, error, words):
    def fail(_arguments, _dialog) -> str:
        raise error

    monkeypatch.setattr(mcp_server, "TOOLS", (Tool("fails", "", {}, (), fail),))
    text, failed = Client().call("fails")
    assert failed and text.startswith(words) and "Traceback" not in text


PATHS = (
    ("/s/sessions/20261126-1-ab/shims:/usr/bin", "20261126-1-ab"),
    ("/usr/bin:/s/sessions/x/shims", "x"),
    ("/usr/bin:/s/sessions/x/shims/other", ""),
    ("", ""),
)


@pytest.mark.parametrize(("path", "session"), PATHS)
def test_the_session_is_told_by_path_where_a_client_passes_on_no_more(monkeypatch, path, session):
    monkeypatch.setenv("PATH", path)
    assert mcp_tools.session_id() == session
    monkeypatch.setenv("SENTINEL_SESSION", "told")
    assert mcp_tools.session_id() == "told"
