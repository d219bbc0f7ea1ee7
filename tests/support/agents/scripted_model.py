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
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.support.agents.model_wires import DIALECTS

Step = tuple[str, ...]
"""``("shell", command)``; ``("patient", command)``, for which the agent waits longer; ``("background", command)``;
``("parallel", command, ...)`` for shell calls of one reply; ``("bare", command)``, without the agent's wrapper;
``("terminal", command)``, on a terminal of its own, and ``("type", keys)`` into the last one;
``("write", absolute path, content)``, ``("edit", path, old, new)``, ``("read", path)``, ``("grep", word, path)`` and
``("fetch", address)`` by the agent's own tools; ``("search", words)``, for tools that it does not name at once;
``("mcp", tool, input as JSON)``, of our MCP server; ``("subagent",)``, which does the steps before and no more;
``("delegate", command, ...)``, a subagent that runs these in its shell; or ``("say", text)``, which ends a turn.
"""
Call = tuple[str, str, object]
"""Id, tool name and input."""
MCP_SERVER = "mcp__sentinel"
DELEGATED = 500
"""From here on the calls of subagents are numbered."""


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
    "delegate": {
        "Agent": lambda *c: {"description": "a step", "prompt": delegated_by(c), "subagent_type": "general-purpose"},
        "agent": lambda *c: {"description": "a step", "prompt": delegated_by(c), "subagent_type": "general-purpose"},
        "invoke_agent": lambda *c: {"agent_name": "generalist", "prompt": delegated_by(c)},
        "task": lambda *c: {**TOOLS["subagent"]["task"](), "prompt": delegated_by(c)},
        "spawn_agent": lambda *c: {"systemPrompt": "do it", "task": delegated_by(c)},  # Cline
        "collaboration/spawn_agent": lambda *c: {"task_name": "one", "fork_turns": "none", "message": delegated_by(c)},
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
    "fetch": {
        "WebFetch": lambda u: {"url": u, "prompt": "what it says"},
        "webfetch": lambda u: {"url": u, "format": "text"},  # opencode
        "web_fetch": lambda u: {"prompt": f"what {u} says"},  # Gemini
        "fetch_web_content": lambda u: {"requests": [{"url": u, "prompt": "what it says"}]},  # Cline
        "tool_call": lambda u: {"name": "web_fetch", "arguments": {"url": u, "prompt": "what it says"}},  # Qwen
    },
    "search": {
        "tool_search": lambda words: {"query": words},
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

    @staticmethod
    def delegated_in(body: Mapping[str, Any]) -> list[str]:
        """The commands that the prompt of a request's conversation hands to a subagent; none in the main one."""
        for said in body.get("messages") or body.get("contents") or body.get("input") or []:
            parts = said.get("content") or said.get("parts")
            texts = [parts] if isinstance(parts, str) else [_part(part) for part in parts or []]
            asks = said.get("role") == "user" or said.get("type") == "agent_message"
            found = re.search(r"run (\[.*\]) and no more", "\n".join(texts)) if asks else None
            if found:
                return json.loads(found[1])
        return []

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

    def next(self, tools: Sequence[str], told: list[str], delegated: Sequence[str] = ()) -> tuple[str, list[Call]]:
        """What is said, and the calls of the next reply; no calls where a turn, the script, or a side request ends.

        ``delegated``: the commands that the request's conversation, a subagent's, is about.
        """
        if not _has_shell(tools):
            return "done", []
        if delegated:
            left = delegated[len(told) :]
            return "done", [_call(DELEGATED + len(told), tools, "shell", [left[0]])] if left else []
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


def _part(part: Mapping[str, Any]) -> str:
    """A text in a message; Codex hands one to a subagent as what the model's provider is to decrypt."""
    return str(part.get("text") or part.get("encrypted_content") or "")


def delegated_by(commands: Sequence[str]) -> str:
    """The prompt of a subagent that is to run these."""
    return f"run {json.dumps(list(commands))} and no more"


def _terminal(told: Iterable[str]) -> int:
    """The terminal that was opened last, by what Codex says of it."""
    named = re.findall(r"session ID (\d+)", "\n".join(told))
    return int(named[-1]) if named else 0


def _call(number: int, tools: Sequence[str], kind: str, arguments: list[object]) -> Call:
    if kind == "mcp":
        tool, given = map(str, arguments)
        return f"call_{number:03}", *_mcp_call(tools, tool, json.loads(given))
    name = next(name for name in TOOLS[kind] if name in tools)
    return f"call_{number:03}", name, TOOLS[kind][name](*arguments)


def _mcp_call(tools: Sequence[str], tool: str, given: object) -> tuple[str, object]:
    """How an agent has its model call a tool of our MCP server: each by a name of its own, by another tool of its own
    (Qwen Code), or by one that was found and stands in no request (Codex).
    """
    if name := next((name for name in tools if name.endswith(tool)), ""):
        return name, given
    if "tool_call" in tools:
        return "tool_call", {"name": f"{MCP_SERVER}__{tool}", "arguments": given}
    return f"{MCP_SERVER}/{tool}", given


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
