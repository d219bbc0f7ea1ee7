"""A model that plays a script, for driving real agent programs: four wire protocols on one loopback port.

What a request asks for follows from the tool results that it carries: the next step is the one after as many. What
ends a turn is said once; the next request that brings no more results begins the next turn. A request without a shell
among its tools is a side request (titles, probes) and gets a short text.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

Step = tuple[str, ...]
"""``("shell", command)``; ``("patient", command)``, for which the agent waits longer; ``("background", command)``;
``("parallel", command, ...)`` for shell calls of one reply; ``("bare", command)``, without the agent's wrapper;
``("terminal", command)``, on a terminal of its own, and ``("type", keys)`` into the last one;
``("write", absolute path, content)``, ``("edit", path, old, new)``, ``("read", path)`` and ``("grep", word, path)`` by
the agent's own tools; ``("mcp", tool, input as JSON)``, of an MCP server; ``("subagent",)``, which
does the steps before and no more; or ``("say", text)``, which ends a turn.
"""
Call = tuple[str, str, object]
"""Id, tool name and input."""


class Tokens(NamedTuple):
    """What one reply says that it took."""

    input: int
    """Neither read from the cache nor written to it."""
    output: int
    """With what it was thinking."""
    cache_read: int = 0
    cache_write: int = 0
    thinking: int = 0
    """Of the output, where the protocol tells them apart."""


def counted(reply: int) -> Tokens:
    """Other counts for each reply, so that a sum of them tells which were counted."""
    return Tokens(100 + 7 * reply, 20 + 3 * reply, 1000 + 11 * reply, 40 + 13 * reply, 5)


TOOLS = {
    "shell": {
        "Bash": lambda c: {"command": c, "description": "a step"},  # Claude Code
        "exec_command": lambda c: {"cmd": c},  # Codex
        "run_shell_command": lambda c: {"command": c, "description": "a step", "is_background": False},  # Gemini, Qwen
        "bash": lambda c: {"command": c, "description": "a step"},  # opencode, Copilot
        "run_commands": lambda c: {"commands": [c]},  # Cline
    },
    "patient": {
        "Bash": lambda c: {"command": c, "description": "a step", "timeout": 600_000},
        "exec_command": lambda c: {"cmd": c, "yield_time_ms": 30_000},
        "run_shell_command": lambda c: {"command": c, "description": "a step", "is_background": False},
        "bash": lambda c: {"command": c, "description": "a step", "timeout": 600_000},
    },
    "terminal": {
        "exec_command": lambda c: {"cmd": c, "tty": True, "yield_time_ms": 3000},
    },
    "type": {
        "write_stdin": lambda c, session: {"session_id": session, "chars": c, "yield_time_ms": 2000},
    },
    "bare": {
        "exec_command": lambda c: {"cmd": c, "login": False},
    },
    "background": {
        "Bash": lambda c: {"command": c, "description": "a step", "run_in_background": True},
        "exec_command": lambda c: {"cmd": c, "yield_time_ms": 250},
        "run_shell_command": lambda c: {"command": c, "description": "a step", "is_background": True},
        "bash": lambda c: {"command": f"{c} &", "description": "a step"},
        "run_commands": lambda c: {"commands": [f"{c} &"]},
    },
    "subagent": {
        "Agent": lambda: {"description": "a step", "prompt": "do it", "subagent_type": "general-purpose"},
        "agent": lambda: {"description": "a step", "prompt": "do it", "subagent_type": "general-purpose"},  # Qwen
        "invoke_agent": lambda: {"agent_name": "generalist", "prompt": "do it"},  # Gemini
        "task": lambda: {  # opencode, Copilot
            "description": "a step",
            "prompt": "do it",
            "subagent_type": "general",
            "agent_type": "task",
            "name": "one",
            "mode": "sync",
        },
    },
    "write": {
        "Write": lambda p, t: {"file_path": p, "content": t},
        "write_file": lambda p, t: {"file_path": p, "content": t},
        "write": lambda p, t: {"filePath": p, "content": t},
        "create": lambda p, t: {"path": p, "file_text": t},
        "write_to_file": lambda p, t: {"path": p, "content": t},
        "editor": lambda p, t: {"command": "create", "path": p, "file_text": t, "new_text": t},
        "apply_patch": lambda p, t: f"*** Begin Patch\n*** Add File: {p}\n+{t}\n*** End Patch\n",
    },
    "read": {
        "Read": lambda p: {"file_path": p},
        "read_file": lambda p: {"file_path": p},
        "read": lambda p: {"filePath": p},
        "view": lambda p: {"path": p},
        "read_files": lambda p: {"files": [{"path": p}]},
    },
    "edit": {
        "Edit": lambda p, o, n: {"file_path": p, "old_string": o, "new_string": n},
        "replace": lambda p, o, n: {"file_path": p, "old_string": o, "new_string": n, "instruction": "a step"},
        "edit": lambda p, o, n: {"file_path": p, "filePath": p, "path": p, **_replaced(o, n)},
        "editor": lambda p, o, n: {"path": p, "old_text": o, "new_text": n},
        "apply_patch": lambda p, o, n: f"*** Begin Patch\n*** Update File: {p}\n@@\n-{o}\n+{n}\n*** End Patch\n",
    },
    "grep": {
        "Grep": lambda w, p: {"pattern": w, "path": p, "output_mode": "content"},
        "grep_search": lambda w, p: {"pattern": w, "path": p, "dir_path": p},
        "search_file_content": lambda w, p: {"pattern": w, "path": p},
        "grep": lambda w, p: {"pattern": w, "path": p, "output_mode": "content"},
        "rg": lambda w, p: {"pattern": w, "path": p, "output_mode": "content"},
    },
}


def _replaced(old: str, new: str) -> dict[str, str]:
    """As Qwen Code, opencode and Copilot CLI call the two."""
    return {"old_string": old, "new_string": new, "oldString": old, "newString": new, "old_str": old, "new_str": new}


class ScriptedModel:
    """Serves until it is closed. ``told`` are the tool results that the agent has sent, in order; ``asked`` the times
    of its requests with tools (``time.monotonic``); ``used`` the tokens that its replies to those reported, and
    ``used_aside`` of the others. ``tokens``: number of a reply, from 0 -> what it reports.
    """

    def __init__(self, steps: Sequence[Step], port: int = 0, tokens: Callable[[int], Tokens] = counted) -> None:
        self.steps, self.told, self._said = steps, [], set()
        self.asked: list[float] = []
        self.used: list[Tokens] = []
        self.used_aside: list[Tokens] = []
        self._tokens, self._replies, self._counting = tokens, itertools.count(), threading.Lock()
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def count(self, tools: Sequence[str], *, cache_writes: bool = False) -> tuple[str, Tokens]:
        """A new reply's number, as a part of its ids, and its tokens. ``cache_writes``: whether the protocol tells of
        them.
        """
        with self._counting:
            number = next(self._replies)
            tokens = self._tokens(number)
            tokens = tokens if cache_writes else tokens._replace(cache_write=0)
            (self.used if _has_shell(tools) else self.used_aside).append(tokens)
        return f"{number:03}", tokens

    def next(self, tools: Sequence[str], told: list[str]) -> tuple[str, list[Call]]:
        """What is said, and the calls of the next reply; no calls where a turn, the script, or a side request ends."""
        if not _has_shell(tools):
            return "done", []
        self.asked.append(time.monotonic())
        self.told = told if len(told) > len(self.told) else self.told
        left = len(told)
        for number, (kind, *arguments) in enumerate(self.steps):
            if kind == "say":
                if number in self._said or left:
                    continue
                self._said.add(number)
                return arguments[0], []
            calls = [(kind, arguments)] if kind != "parallel" else [("shell", [command]) for command in arguments]
            if left >= len(calls):
                left -= len(calls)
                continue
            if kind == "subagent" and not any(name in tools for name in TOOLS[kind]):
                break  # who asks is the subagent
            done = len(told) - left
            if kind == "type":
                calls = [(kind, [*arguments, _terminal(told)])]
            return "", [_call(done + n, tools, *call) for n, call in enumerate(calls)]
        return "done", []


def _has_shell(tools: Sequence[str]) -> bool:
    return any(name in tools for name in TOOLS["shell"])


def _terminal(told: Iterable[str]) -> int:
    """The terminal that was opened last, by what Codex says of it."""
    named = re.findall(r"session ID (\d+)", "\n".join(told))
    return int(named[-1]) if named else 0


def _call(number: int, tools: Sequence[str], kind: str, arguments: list[object]) -> Call:
    if kind == "mcp":  # each agent has a name of its own for it
        tool, given = map(str, arguments)
        return f"call_{number:03}", next(name for name in tools if name.endswith(tool)), json.loads(given)
    name = next(name for name in TOOLS[kind] if name in tools)
    return f"call_{number:03}", name, TOOLS[kind][name](*arguments)


class _Handler(BaseHTTPRequestHandler):
    model: ScriptedModel

    def log_message(self, *_):
        """Keep quiet."""

    def do_HEAD(self):
        self._send("application/json", b"")

    def do_GET(self):
        self._send("application/json", b'{"object": "list", "data": [], "models": []}')

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        dialect = next((d for end, d in DIALECTS.items() if end in path), None)
        if dialect is None:
            self._send("application/json", b'{"input_tokens": 10, "totalTokens": 10}')
            return
        events = dialect(self.model, body)
        whole = not body.get("stream") and ":stream" not in path
        if whole:
            self._send("application/json", json.dumps(events[-1][1]).encode())
        else:
            self._send("text/event-stream", b"".join(_event(*e) for e in events))

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _event(name: str, data: object) -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(data).encode() + b"\n\n"


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(map(_text, content))
    return str(content.get("text", content)) if isinstance(content, dict) else str(content)


def _in_order(results: Iterable[tuple[str, str]]) -> list[str]:
    """Tool results in the order of their calls: some agents send those of parallel calls as they end."""
    return [text for _, text in sorted(results, key=lambda result: result[0][-3:])]


def _anthropic(model: ScriptedModel, body: dict) -> list:
    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    told = _in_order((b["tool_use_id"], _text(b.get("content"))) for b in blocks if b.get("type") == "tool_result")
    tools = [t.get("name") for t in body.get("tools") or []]
    text, calls = model.next(tools, told)
    number, tokens = model.count(tools, cache_writes=True)
    cache = {"cache_read_input_tokens": tokens.cache_read, "cache_creation_input_tokens": tokens.cache_write}
    usage = {"input_tokens": tokens.input, "output_tokens": tokens.output, **cache}
    content = [{"type": "tool_use", "id": f"toolu_{i}", "name": n, "input": a} for i, n, a in calls]
    content = content or [{"type": "text", "text": text}]
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "usage": usage,
        **stop,
    }
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    return [
        ("message_start", {"type": "message_start", "message": start}),
        *(event for number, block in enumerate(content) for event in _block(number, block)),
        ("message_delta", {"type": "message_delta", "delta": stop, "usage": usage}),
        # The last one doubles as the answer to a request that does not stream.
        ("message_stop", {**message, "type": "message_stop" if body.get("stream") else "message", "content": content}),
    ]


def _block(number: int, block: dict) -> list:
    call = block["type"] == "tool_use"
    began = {**block, "input": {}} if call else {**block, "text": ""}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])} if call else {}
    delta = delta or {"type": "text_delta", "text": block["text"]}
    return [
        ("content_block_start", {"type": "content_block_start", "index": number, "content_block": began}),
        ("content_block_delta", {"type": "content_block_delta", "index": number, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": number}),
    ]


def _responses(model: ScriptedModel, body: dict) -> list:
    items = body.get("input") if isinstance(body.get("input"), list) else []
    told = _in_order(
        (i["call_id"], _text(i.get("output"))) for i in items if str(i.get("type")).endswith("call_output")
    )
    tools = [name for t in body.get("tools") or [] for name in _named(t)]
    text, calls = model.next(tools, told)
    number, tokens = model.count(tools)
    output = [_response_item(*call) for call in calls]
    part = {"type": "output_text", "text": text, "annotations": []}
    output = output or [
        {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [part]}
    ]
    taken = tokens.input + tokens.cache_read
    usage = {
        "input_tokens": taken,
        "input_tokens_details": {"cached_tokens": tokens.cache_read},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.thinking},
        "total_tokens": taken + tokens.output,
    }
    response = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": output, "usage": usage}
    return [
        (kind, {"type": kind, "sequence_number": n, **fields})
        for n, (kind, fields) in enumerate(
            (
                ("response.created", {"response": {**response, "status": "in_progress", "output": []}}),
                *(
                    (f"response.output_item.{word}", {"output_index": at, "item": item})
                    for at, item in enumerate(output)
                    for word in ("added", "done")
                ),
                ("response.completed", {"response": response}),
            )
        )
    ]


def _named(tool: dict) -> list[str]:
    """Its name; those of a namespace's tools behind that of the namespace."""
    name = tool.get("name") or tool.get("type")
    return [name, *(f"{name}/{inner.get('name')}" for inner in tool.get("tools") or [])]


def _response_item(ident: str, name: str, arguments: object) -> dict:
    if isinstance(arguments, str):
        return {"type": "custom_tool_call", "id": f"c_{ident}", "call_id": ident, "name": name, "input": arguments}
    space, _, name = name.rpartition("/")
    call = {"type": "function_call", "id": f"f_{ident}", "call_id": ident, "name": name, "status": "completed"}
    call |= {"namespace": space} if space else {}
    return {**call, "arguments": json.dumps(arguments)}


def _chat(model: ScriptedModel, body: dict) -> list:
    told = _in_order((m["tool_call_id"], _text(m.get("content"))) for m in body["messages"] if m["role"] == "tool")
    tools = [_called(t) for t in body.get("tools") or []]
    text, calls = model.next(tools, told)
    number, tokens = model.count(tools)
    given = [_chat_call(at, *call) for at, call in enumerate(calls)]
    message = {"role": "assistant", **({"content": None, "tool_calls": given} if given else {"content": text})}
    taken = tokens.input + tokens.cache_read
    usage = {
        "prompt_tokens": taken,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
        "completion_tokens": tokens.output,
        "completion_tokens_details": {"reasoning_tokens": tokens.thinking},
        "total_tokens": taken + tokens.output,
    }
    base = {"id": f"chat_{number}", "created": 1, "model": body.get("model"), "usage": usage}
    finish = "tool_calls" if calls else "stop"
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return [("", {**base, "object": "chat.completion", "choices": [choice]})]
    used = {**base, "object": "chat.completion.chunk"}
    chunk = {name: value for name, value in used.items() if name != "usage"}
    first, last = {"index": 0, "delta": message}, {"index": 0, "delta": {}, "finish_reason": finish}
    return [("", {**chunk, "choices": [{**first, "finish_reason": None}]}), ("", {**used, "choices": [last]})]


def _chat_call(at: int, ident: str, name: str, arguments: object) -> dict:
    if isinstance(arguments, str):
        return {"index": at, "id": ident, "type": "custom", "custom": {"name": name, "input": arguments}}
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": at, "id": ident, "type": "function", "function": function}


def _called(tool: dict) -> str:
    return (tool.get("function") or tool.get("custom") or {}).get("name", "")


def _gemini(model: ScriptedModel, body: dict) -> list:
    parts = [p for c in body.get("contents", []) for p in c.get("parts", [])]
    results = [p["functionResponse"] for p in parts if "functionResponse" in p]
    told = _in_order((r.get("id") or "", json.dumps(r.get("response"))) for r in results)
    tools = [f["name"] for t in body.get("tools") or [] for f in t.get("functionDeclarations") or []]
    text, calls = model.next(tools, told)
    number, tokens = model.count(tools)
    # A side request wants JSON by a schema; this one suits the question who speaks next.
    words = text if tools else '{"reasoning": "done", "next_speaker": "user", "model_choice": "flash"}'
    parts = [{"functionCall": {"id": ident, "name": name, "args": arguments}} for ident, name, arguments in calls]
    candidate = {"content": {"role": "model", "parts": parts or [{"text": words}]}, "finishReason": "STOP", "index": 0}
    taken = tokens.input + tokens.cache_read
    usage = {
        "promptTokenCount": taken,
        "cachedContentTokenCount": tokens.cache_read,
        "candidatesTokenCount": tokens.output - tokens.thinking,
        "thoughtsTokenCount": tokens.thinking,
        "totalTokenCount": taken + tokens.output,
    }
    said = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted", "responseId": f"r{number}"}
    return [("", said)]


DIALECTS = {
    "/count_tokens": None,
    "/messages": _anthropic,
    "/chat/completions": _chat,
    "/responses": _responses,
    "enerateContent": _gemini,
}
