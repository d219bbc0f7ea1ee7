"""Ends of calls that a client tells only in its own record: each is taken once, whoever reads it first."""

from __future__ import annotations

import asyncio
import json
import time
from types import SimpleNamespace

from sentinel_guard.agents import registry
from sentinel_guard.agents.hook_dialect import Word
from sentinel_guard.daemon.agent_hooks.hook_requests import HookRequests
from sentinel_guard.daemon.agent_hooks.open_calls import OpenCall, OpenCalls


def test_two_hooks_of_one_reply_take_the_end_of_the_call_before_once(tmp_path, monkeypatch):
    record = tmp_path / "rollout.jsonl"
    output = {"type": "function_call_output", "call_id": "u1", "output": "Process exited with code 7\nOutput:\nno\n"}
    record.write_text(json.dumps({"type": "response_item", "payload": output}) + "\n")
    calls, taken = OpenCalls(), []
    calls.add(OpenCall(time.time(), "codex", "u1", "op", Word(), pending=time.time(), transcript=str(record)))
    hooks = SimpleNamespace(calls=lambda _: calls)
    requests = HookRequests(sessions=None, hooks=hooks, guard=None, reactions=None, outcomes=None, now=time.time)

    async def end(_live, call, told):
        taken.append((call.call, told.code))
        return SimpleNamespace(word=Word(), live=None, verdict=None)

    monkeypatch.setattr(requests, "_end", end)

    async def both():
        until = asyncio.get_running_loop().time() + 30
        looks = (requests._late_ends(registry.hooks_of("codex"), None, until) for _ in range(2))
        return await asyncio.gather(*looks)

    assert asyncio.run(both()) == [[], []]
    assert taken == [("u1", 7)]
    assert calls.pending() == []


def test_each_end_is_looked_for_in_the_record_of_who_made_the_call(tmp_path, monkeypatch):
    calls, taken = OpenCalls(), []
    for ident in ("main", "sub"):
        record = tmp_path / f"{ident}.jsonl"
        told = {"type": "function_call_output", "call_id": ident, "output": "Process exited with code 0\nOutput:\n"}
        record.write_text(json.dumps({"type": "response_item", "payload": told}) + "\n")
        made = OpenCall(time.time(), "codex", ident, "op", Word(), pending=time.time(), transcript=str(record))
        calls.add(made)
    calls.add(OpenCall(time.time(), "codex", "none", "op", Word(), pending=time.time()))
    hooks = SimpleNamespace(calls=lambda _: calls)
    requests = HookRequests(sessions=None, hooks=hooks, guard=None, reactions=None, outcomes=None, now=time.time)

    async def end(_live, call, _told):
        taken.append(call.call)
        return SimpleNamespace(word=Word(), live=None, verdict=None)

    monkeypatch.setattr(requests, "_end", end)

    async def look():
        return await requests._late_ends(registry.hooks_of("codex"), None, asyncio.get_running_loop().time() + 30)

    asyncio.run(look())
    assert taken == ["main", "sub"] and [call.call for call in calls.pending()] == ["none"]
