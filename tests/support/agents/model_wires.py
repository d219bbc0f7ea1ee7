"""Wire protocols of models: a request -> what the agent told and its tools, and the events of the scripted reply."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.agents.scripted_model import ScriptedModel


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
    text, calls = model.next(tools, told, model.delegated_in(body))
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
    results = [i for i in items if str(i.get("type")).endswith(("call_output", "search_output"))]
    told = _in_order((i["call_id"], _text(i.get("output") or i.get("tools"))) for i in results)
    tools = [name for t in body.get("tools") or [] for name in _named(t)]
    text, calls = model.next(tools, told, model.delegated_in(body))
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
    if name == "tool_search":
        search = {"type": "tool_search_call", "id": f"s_{ident}", "call_id": ident, "status": "completed"}
        return {**search, "execution": "client", "arguments": arguments}
    space, _, name = name.rpartition("/")
    call = {"type": "function_call", "id": f"f_{ident}", "call_id": ident, "name": name, "status": "completed"}
    call |= {"namespace": space} if space else {}
    return {**call, "arguments": json.dumps(arguments)}


def _chat(model: ScriptedModel, body: dict) -> list:
    told = _in_order((m["tool_call_id"], _text(m.get("content"))) for m in body["messages"] if m["role"] == "tool")
    tools = [_called(t) for t in body.get("tools") or []]
    text, calls = model.next(tools, told, model.delegated_in(body))
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
    text, calls = model.next(tools, told, model.delegated_in(body))
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
