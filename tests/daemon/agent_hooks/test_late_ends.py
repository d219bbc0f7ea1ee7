"""Ends of calls that a client tells only in its own record: each is taken once, whoever reads it first."""

from __future__ import annotations

import asyncio
import json
import time
from types import SimpleNamespace

from sentinel_guard.agents import registry
from sentinel_guard.agents.hook_dialect import HookEvent, Moment, Word
from sentinel_guard.daemon.agent_hooks.hook_requests import HookRequests
from sentinel_guard.daemon.agent_hooks.open_calls import OpenCall, OpenCalls


def test_two_hooks_of_one_reply_take_the_end_of_the_call_before_once(tmp_path, monkeypatch):
    record = tmp_path / "rollout.jsonl"
    output = {"type": "function_call_output", "call_id": "u1", "output": "Process exited with code 7\nOutput:\nno\n"}
    record.write_text(json.dumps({"type": "response_item", "payload": output}) + "\n")
    calls, taken = OpenCalls(), []
    calls.add(OpenCall(time.time(), "codex", "u1", "op", Word(), pending=time.time()))
    hooks = SimpleNamespace(calls=lambda _: calls)
    requests = HookRequests(sessions=None, hooks=hooks, guard=None, reactions=None, outcomes=None, now=time.time)

    async def end(_live, call, told):
        taken.append((call.call, told.code))
        return SimpleNamespace(word=Word(), live=None, verdict=None)

    monkeypatch.setattr(requests, "_end", end)
    event = HookEvent(Moment.CALL, "s1", transcript=str(record))

    async def both():
        until = asyncio.get_running_loop().time() + 30
        looks = (requests._late_ends(registry.hooks_of("codex"), event, None, until) for _ in range(2))
        return await asyncio.gather(*looks)

    assert asyncio.run(both()) == [[], []]
    assert taken == [("u1", 7)]
    assert calls.pending() == []
