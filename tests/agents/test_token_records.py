"""What each coding agent writes of its tokens, line by line; the shapes are those that the real ones wrote."""

from __future__ import annotations

import hashlib
import json

import pytest

from sentinel_guard.agents.registry import AGENTS
from sentinel_guard.agents.token_records import claude_telemetry, registry
from sentinel_guard.agents.token_records.base import Conversation, Form
from sentinel_guard.core.session.token_ledger import TELEMETRY

AT = "2026-11-26T19:50:15.974Z"


def claude(ident="msg_1", output=20, **more):
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 40,
        "cache_read_input_tokens": 1000,
        "output_tokens": output,
    }
    message = {"id": ident, "model": "opus", "usage": usage, **more}
    return {"type": "assistant", "timestamp": AT, "message": message}


def counts(taken=1100, output=20, cached=1000):
    names = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    return dict(zip(names, (taken, cached, 0, output), strict=True))


def codex_reply(ident, **fields):
    payload = {"response_id": ident, "usage": counts(**fields)}
    return {"type": "token_usage_record", "timestamp": AT, "payload": payload}


def codex_total(total, last):
    info = {"total_token_usage": counts(**total), "last_token_usage": counts(**last)}
    return {"type": "event_msg", "timestamp": AT, "payload": {"type": "token_count", "info": info}}


def gemini(ident="g1", **more):
    tokens = {"input": 1100, "output": 15, "cached": 1000, "thoughts": 5, "tool": 0, "total": 1120}
    return {"id": ident, "timestamp": AT, "type": "gemini", "tokens": {**tokens, **more}, "model": "pro"}


def qwen(candidates, total):
    used = {"promptTokenCount": 1100, "candidatesTokenCount": candidates, "thoughtsTokenCount": 5}
    used |= {"totalTokenCount": total, "cachedContentTokenCount": 1000}
    return {"uuid": "q1", "timestamp": AT, "type": "assistant", "model": "m", "usageMetadata": used}


def copilot(**more):
    usage = {"model": "gpt", "inputTokens": 1100, "outputTokens": 20, "cacheReadTokens": 1000, "cacheWriteTokens": 0}
    return {"type": "session.usage_record", "id": "c1", "timestamp": AT, "data": {"usage": {**usage, **more}}}


def cline(*replies):
    said = {"id": "u1", "role": "user", "ts": 1795722643878}
    reply = {"role": "assistant", "ts": 1795722643979, "modelInfo": {"id": "x"}}
    return {"messages": [said, *({**reply, "id": f"m{n}", "metrics": used} for n, used in enumerate(replies))]}


def metrics(taken=1100, output=20, cached=1000, written=0):
    return {"inputTokens": taken, "outputTokens": output, "cacheReadTokens": cached, "cacheWriteTokens": written}


def opencode(*counts, **more):
    names = ("input", "output", "reasoning")
    tokens = {**dict(zip(names, counts, strict=False)), "cache": {"read": counts[3], "write": counts[4]}}
    told = {"role": "assistant", "tokens": tokens, "modelID": "x", "time": {"completed": 1795722633545}, **more}
    return {"id": "o1", "updated": 1795722633546, "data": told}


def telemetry(output=20, sequence=6, agent="", source="sdk", at=1795768697.745, **more):
    """What Claude Code 2.1.330 sends after a reply, with another event beside it."""
    told = {"session.id": "s", "model": "opus", "query_source": source, "input_tokens": 100, "output_tokens": output}
    told |= {"event.sequence": sequence, "cache_read_tokens": 1000, "cache_creation_tokens": 40, **more}
    told |= {"agent_id": agent} if agent else {}
    kinds = {int: "intValue", str: "stringValue"}
    attributes = [{"key": name, "value": {kinds[type(value)]: value}} for name, value in told.items()]
    reply = {"timeUnixNano": f"{round(at * 1000)}000000", "body": {"stringValue": "claude_code.api_request"}}
    other = {**reply, "body": {"stringValue": "claude_code.tool_result"}, "attributes": []}
    records = [other, {**reply, "attributes": attributes}]
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": records}]}]}


READ = (
    ("claude", [claude()], [("msg_1", 100, 20, 1000, 40)], "a reply"),
    (
        "claude",
        [claude(output=1), claude(output=20)],
        [("msg_1", 100, 1, 1000, 40), ("msg_1", 100, 20, 1000, 40)],
        "two parts of one reply: the later one has the whole",
    ),
    ("claude", [claude(model="<synthetic>")], [], "what the client wrote itself"),
    ("claude", [{"type": "user", "message": {"usage": {}}}, {"type": "summary"}], [], "other lines"),
    ("codex", [codex_reply("r1"), codex_reply("r2")], [("r1", 100, 20, 1000, 0), ("r2", 100, 20, 1000, 0)], "replies"),
    (
        "codex",
        [codex_reply("r1"), codex_total({}, {}), codex_total({}, {})],
        [("r1", 100, 20, 1000, 0)],
        "a total behind the record of a reply is no second reply",
    ),
    (
        "codex",
        [codex_total({}, {}), codex_total({}, {}), codex_total({"taken": 2300, "cached": 2050, "output": 45}, {})],
        [("total 2120", 100, 20, 1000, 0), ("total 4395", 150, 25, 1050, 0)],
        "totals alone, of an older version: what they have grown by",
    ),
    (
        "codex",
        [codex_total({"taken": 9100, "cached": 8000, "output": 500}, {})],
        [("total 17600", 100, 20, 1000, 0)],
        "the beginning was not read: the last reply",
    ),
    ("codex", [{"type": "event_msg", "payload": {"type": "token_count", "info": None}}], [], "a total of nothing yet"),
    ("gemini", [gemini()], [("g1", 100, 20, 1000, 0)], "cached is a part of the input, thoughts of nothing"),
    ("gemini", [gemini(tool=7)], [("g1", 107, 20, 1000, 0)], "what tools added"),
    ("gemini", [{"$set": {"lastUpdated": AT}}, {"type": "user", "id": "u"}], [], "other lines"),
    ("qwen", [qwen(20, 1120)], [("q1", 100, 20, 1000, 0)], "thoughts are a part of the candidates"),
    ("qwen", [qwen(15, 1120)], [("q1", 100, 20, 1000, 0)], "thoughts are apart from them"),
    ("copilot", [copilot()], [("c1", 100, 20, 1000, 0)], "cached is a part of the input"),
    ("copilot", [copilot(inputTokens=1140, cacheWriteTokens=40)], [("c1", 100, 20, 1000, 40)], "and what was written"),
    ("cline", [cline(metrics())], [("m0", 100, 20, 1000, 0)], "a message"),
    ("cline", [cline(metrics(1140, 5, 1000, 40))], [("m0", 100, 5, 1000, 40)], "cache writes"),
    ("opencode", [opencode(100, 15, 5, 1000, 40)], [("o1", 100, 20, 1000, 40)], "a reply"),
    ("opencode", [opencode(0, 0, 0, 0, 0)], [], "a reply that is not complete is not 0"),
    ("opencode", [{"id": "o", "updated": 1, "data": {"role": "user"}}], [], "a person's message"),
)  # fmt: skip


@pytest.mark.parametrize(("agent", "lines", "found"), [r[:3] for r in READ], ids=[f"{r[0]}: {r[3]}" for r in READ])
def test_what_is_read(agent, lines, found):
    record = registry.of_agent(agent)
    parse = record.parser()
    usages = [usage for line in lines for usage in parse(line)]
    assert [(u.key, u.input, u.output, u.cache_read, u.cache_write) for u in usages] == found
    assert {u.source for u in usages} <= {agent} and all(1.7e9 < u.at < 1.9e9 for u in usages)


SHORTENED = (("claude", [claude("a"), {"type": "system", "subtype": "compact_boundary"}, claude("b"), claude("c")]),)


@pytest.mark.parametrize(("agent", "lines"), SHORTENED, ids=[s[0] for s in SHORTENED])
def test_the_reply_that_reads_a_shortened_conversation_is_marked(agent, lines):
    parse = registry.of_agent(agent).parser()
    assert [(u.key, u.compaction) for line in lines for u in parse(line)] == [("a", False), ("b", True), ("c", False)]


def test_codex_names_the_model_with_each_turn():
    parse = registry.of_agent("codex").parser()
    lines = [{"type": "turn_context", "payload": {"model": name}} for name in ("gpt-a", "gpt-b")]
    told = [u.model for line in (lines[0], codex_reply("a"), lines[1], codex_reply("b")) for u in parse(line)]
    assert told == ["gpt-a", "gpt-b"]


def test_requests_for_a_summary_are_marked():
    codex = registry.of_agent("codex").parser()
    lines = [codex_reply("a"), codex_reply("summary"), {"type": "compacted"}, codex_reply("b"), codex_reply("c")]
    told = [(u.key, u.compaction) for line in lines for u in codex(line)]
    assert told == [("a", False), ("summary", False), ("summary", True), ("b", True), ("c", False)]
    [summary] = registry.of_agent("opencode").parser()(opencode(1, 1, 0, 0, 0, summary=True))
    [compaction] = registry.of_agent("copilot").parser()(copilot(interactionType="conversation-compaction"))
    assert summary.compaction and compaction.compaction


TOLD = (
    ([telemetry()], [("s 1795768697745000000 6", 100, 20, 1000, 40, False)], "a reply"),
    (
        [json.loads(json.dumps(telemetry()).replace(": 100}", ': "100"}'))],
        [("s 1795768697745000000 6", 100, 20, 1000, 40, False)],
        "64 bits as a text",
    ),
    (
        [telemetry(source="compact"), telemetry(sequence=7, agent="a"), telemetry(sequence=8), telemetry(sequence=9)],
        [(f"s 1795768697745000000 {n}", 100, 20, 1000, 40, n == 6) for n in (6, 7, 8, 9)],
        "a summary, and no reply besides: anybody who has the key can tell of a summary",
    ),
    ([{}, {"resourceLogs": [3, {"scopeLogs": {}}]}], [], "nothing of a reply"),
)


@pytest.mark.parametrize(("sent", "found", "why"), TOLD, ids=[row[-1] for row in TOLD])
def test_what_telemetry_tells(sent, found, why):
    usages = [usage for body in sent for usage in claude_telemetry.parse(body)]
    assert [(u.key, u.input, u.output, u.cache_read, u.cache_write, u.compaction) for u in usages] == found, why
    assert {(u.at, u.source, u.model) for u in usages} <= {(1795768697.745, TELEMETRY, "opus")}


@pytest.mark.parametrize("wrong", [{"input_tokens": "many"}, {"output": -1}, {"cache_read_tokens": 10**13}], ids=str)
def test_telemetry_that_is_not_understood_is_said_and_is_not_0(wrong):
    with pytest.raises((ValueError, KeyError, TypeError)):
        list(claude_telemetry.parse(telemetry(**wrong)))


STRANGE = (
    ("claude", claude(usage={"input_tokens": 5}), "no output"),
    ("claude", claude(usage={"input_tokens": -5, "output_tokens": 1}), "less than nothing"),
    ("claude", {**claude(), "timestamp": None}, "no time"),
    ("claude", {**claude(), "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}, "no name"),
    ("codex", {"type": "token_usage_record", "timestamp": AT, "payload": {"response_id": "r"}}, "no counts"),
    ("gemini", {**gemini(), "tokens": {}}, "no counts"),
    ("qwen", {"type": "assistant", "uuid": "q", "timestamp": AT, "usageMetadata": {}}, "no counts"),
    ("copilot", copilot(inputTokens="many"), "a word for a number"),
    ("copilot", copilot(outputTokens=True), "a truth value for a number"),
    ("cline", {"messages": "none"}, "no list"),
    ("cline", {}, "no messages"),
    ("opencode", {"id": "o", "updated": 1, "data": {"role": "assistant"}}, "no counts"),
)


@pytest.mark.parametrize(("agent", "line"), [s[:2] for s in STRANGE], ids=[f"{s[0]}: {s[2]}" for s in STRANGE])
def test_what_is_not_understood_is_said_and_is_not_0(agent, line):
    with pytest.raises((ValueError, KeyError, TypeError)):
        list(registry.of_agent(agent).parser()(line))


HASH = hashlib.sha256(b"/r/a").hexdigest()
CONVERSATIONS = (
    ("claude", "/h/projects/-r-a/id1.jsonl", {}, ({"id1"}, "-r-a")),
    ("claude", "/h/projects/-r-a/id1/subagents/agent-x.jsonl", {}, ({"id1", "agent-x"}, "-r-a")),
    ("codex", "/x", {"payload": {"id": "t", "session_id": "s", "cwd": "/r/a"}}, ({"t", "s"}, "/r/a")),
    ("gemini", "/x", {"sessionId": "s", "projectHash": HASH}, ({"s"}, HASH)),
    ("qwen", "/h/chats/id1.jsonl", {"sessionId": "id1", "cwd": "/r/a"}, ({"id1"}, "/r/a")),
    ("qwen", "/h/subagents/id1/agent-x.jsonl", {"cwd": "/r/a"}, ({"id1"}, "/r/a")),
    (
        "copilot",
        "/h/session-state/id1/events.jsonl",
        {"data": {"sessionId": "id1", "context": {"cwd": "/r/a"}}},
        ({"id1"}, "/r/a"),
    ),
    ("cline", "/x", {"session_id": "s", "cwd": "/r/a"}, ({"s"}, "/r/a")),
    ("opencode", "", {"conversation": "s", "folder": "/r/a", "parent": None}, ({"s"}, "/r/a")),
    ("opencode", "", {"conversation": "s", "parent": "m", "grandparent": "t", "folder": "/r/a"}, ({*"smt"}, "/r/a")),
)


@pytest.mark.parametrize(
    ("agent", "path", "first", "held"), CONVERSATIONS, ids=[f"{c[0]} {c[1]}" for c in CONVERSATIONS]
)
def test_whose_conversation_a_record_holds(agent, path, first, held):
    conversation = registry.of_agent(agent).conversation(path, first)
    assert (conversation.names, conversation.folder) == held
    assert registry.belongs(conversation, {*held[0]}, ()), "by an id that its tools were told"
    assert not registry.belongs(conversation, {"another"}, {"/r/a"}), "which says more than the folder"
    assert registry.belongs(conversation, (), {"/r/a"}) and not registry.belongs(conversation, (), {"/r/a-b", "/r/b"})


def test_a_conversation_of_which_nothing_is_told_belongs_to_nobody():
    assert not registry.belongs(Conversation(frozenset({""})), {"x"}, {"/r"})


def test_where_records_lie():
    codex, cline = registry.of_agent("codex"), registry.of_agent("cline")
    assert codex.folder({"HOME": "/h", "CODEX_HOME": "/c/"}) == "/c/sessions"
    assert codex.folder({"HOME": "/h"}) == "/h/.codex/sessions"
    assert codex.folder({}) == ""
    assert cline.folder({"HOME": "/h", "CLINE_DATA_DIR": "/d", "CLINE_SESSION_DATA_DIR": "/s"}) == "/s"
    assert cline.about("/s/1/1.messages.json") == "/s/1/1.json"


def test_each_coding_agent_that_is_known_has_a_record():
    assert {record.agent for record in registry.RECORDS} == {agent.name for agent in AGENTS} - {"cursor"}
    for record in registry.RECORDS:
        assert (record.form is Form.LINES) == bool(record.marks)
        assert (record.form is Form.ROWS) == bool(record.query)


def test_the_marks_are_in_every_line_that_counts():
    lines = {
        "claude": claude(),
        "codex": codex_reply("r"),
        "gemini": gemini(),
        "qwen": qwen(1, 2),
        "copilot": copilot(),
    }
    for agent, line in lines.items():
        text = json.dumps(line).encode()
        assert any(mark in text for mark in registry.of_agent(agent).marks), agent
