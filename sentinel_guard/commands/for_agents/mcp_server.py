"""``sentinel-guard mcp``: a server of the Model Context Protocol on standard input and output (docs/protocol.md).

Rules of this file:
1. JSON-RPC 2.0, a message a line; what is not understood is answered with an error, and nothing ends the server but the
   end of its input.
2. A call has a thread of its own, since a person may take their time: meanwhile others are answered, and the client is
   told that it goes on (progress), where it asked for that.
3. The user is asked by the client (elicitation) only if the client has declared that it can put forms to them.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Mapping
from typing import TextIO

from sentinel_guard import __version__
from sentinel_guard.commands.for_agents import mcp_tools
from sentinel_guard.commands.for_agents.mcp_tools import TOOLS, Tool
from sentinel_guard.errors import SentinelError

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Of the protocol, the newest first. A client of a later one that begins otherwise falls back to these."""
INSTRUCTIONS = (
    "sentinel-guard stands between you and this machine. Ask the user with request_human_help when you are stuck or in "
    "doubt; when a command was refused, explain_block tells why and what to do instead."
)
PROGRESS = 10.0
"""Seconds between two words to a client that waits for a call."""
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
FORM = {
    "type": "object",
    "properties": {"words": {"type": "string", "title": "Your answer", "description": "What the agent should do"}},
    "required": ["words"],
}
Json = Mapping[str, object]


def serve(read: TextIO, write: TextIO) -> int:
    """Answer a client until its end of the pipe is closed."""
    if ident := mcp_tools.session_id():
        os.environ["SENTINEL_SESSION"] = ident  # by which the session's folders are found
    Server(write).run(read)
    return 0


class Server:
    def __init__(self, write: TextIO) -> None:
        self._write, self._writing = write, threading.Lock()
        self._forms = False
        self._ids = itertools.count(1)
        self._asked: dict[str, tuple[threading.Event, list[Json]]] = {}
        """Id of a request of ours -> set when it is answered, and the answer."""
        self._cancelled: set[str] = set()
        """Ids of requests, as JSON."""

    def run(self, read: TextIO) -> None:
        for line in read:
            if line.strip():
                self.take(line)
        for answered, _ in [*self._asked.values()]:
            answered.set()

    def take(self, line: str) -> None:
        """One message."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._fail(None, PARSE_ERROR, "no JSON")
            return
        if not isinstance(message, dict):
            self._fail(None, INVALID_REQUEST, "a message is an object")
        elif "method" not in message:
            self._answered(message)
        elif "id" not in message:
            self._notified(message)
        else:
            self._requested(message["id"], str(message["method"]), _mapping(message.get("params")))

    def _requested(self, ident: object, method: str, params: Json) -> None:
        match method:
            case "initialize":
                self._send(ident, self._initialized(params))
            case "ping":
                self._send(ident, {})
            case "tools/list":
                self._send(ident, {"tools": [*map(_described, TOOLS)]})
            case "tools/call":
                tool = next((tool for tool in TOOLS if tool.name == params.get("name")), None)
                if tool is None:
                    self._fail(ident, INVALID_PARAMS, f"there is no tool {params.get('name')!r:.80}")
                else:
                    threading.Thread(target=self._call, args=(ident, tool, params), daemon=True).start()
            case _:
                self._fail(ident, NO_METHOD, f"{method:.80} is not known")

    def _initialized(self, params: Json) -> Json:
        declared = _mapping(params.get("capabilities")).get("elicitation")
        # A declaration without modes means forms.
        self._forms = isinstance(declared, Mapping) and ("form" in declared or "url" not in declared)
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "sentinel-guard", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    def _call(self, ident: object, tool: Tool, params: Json) -> None:
        given, token = _mapping(params.get("arguments")), _mapping(params.get("_meta")).get("progressToken")
        done = threading.Event()
        if token is not None:
            threading.Thread(target=self._tell_progress, args=(token, done), daemon=True).start()
        try:
            text, failed = _checked(tool, given) or tool.call(given, self._put_form), False
        except SentinelError as e:
            text, failed = f"{e.message} {e.hint}".strip(), True
        except Exception as e:  # noqa: BLE001 - a model is told, too, that the guard is at fault
            text, failed = f"The guard failed on this call ({type(e).__name__}). See 'sentinel-guard doctor'.", True
        finally:
            done.set()
        if json.dumps(ident) not in self._cancelled:
            self._send(ident, {"content": [{"type": "text", "text": text}], "isError": failed})

    def _tell_progress(self, token: object, done: threading.Event) -> None:
        for number in itertools.count(1):
            if done.wait(PROGRESS):
                return
            told = {"progressToken": token, "progress": number, "message": "waiting"}
            self._put({"method": "notifications/progress", "params": told})

    def _put_form(self, message: str) -> str | None:
        if not self._forms:
            return None
        ident, answered, answer = f"ask-{next(self._ids)}", threading.Event(), list[Json]()
        self._asked[ident] = answered, answer
        params = {"message": message, "requestedSchema": FORM}
        self._put({"id": ident, "method": "elicitation/create", "params": params})
        answered.wait()
        del self._asked[ident]
        result = _mapping(answer[0].get("result")) if answer else {}
        if result.get("action") != "accept":
            return None
        return str(_mapping(result.get("content")).get("words", "")).strip()

    def _answered(self, message: Json) -> None:
        answered, answer = self._asked.get(str(message.get("id")), (None, []))
        if answered:
            answer.append(message)
            answered.set()

    def _notified(self, message: Json) -> None:
        if message["method"] == "notifications/cancelled":
            self._cancelled.add(json.dumps(_mapping(message.get("params")).get("requestId")))

    def _send(self, ident: object, result: Json) -> None:
        self._put({"id": ident, "result": result})

    def _fail(self, ident: object, code: int, words: str) -> None:
        self._put({"id": ident, "error": {"code": code, "message": words}})

    def _put(self, message: Json) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message})
        with self._writing:
            self._write.write(f"{line}\n")
            self._write.flush()


def _described(tool: Tool) -> Json:
    schema = {"type": "object", "properties": tool.properties, "required": list(tool.required)}
    return {"name": tool.name, "description": tool.description, "inputSchema": schema}


def _checked(tool: Tool, given: Json) -> str:
    """Empty where the arguments are as the tool wants them. Raises SentinelError."""
    names = ", ".join(tool.properties) or "none"
    for name in tool.required:
        if name not in given:
            raise SentinelError(f"The argument {name} is missing.", f"{tool.name} takes: {names}")
    for name, value in given.items():
        kind = {"string": str, "integer": int}.get(str(tool.properties.get(name, {}).get("type")))
        if kind is None or not isinstance(value, kind) or isinstance(value, bool):
            raise SentinelError(f"The argument {name} is not right.", f"{tool.name} takes: {names}")
    return ""


def _mapping(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}
