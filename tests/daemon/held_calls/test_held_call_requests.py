"""What a broker of held system calls asks, and whom the daemon takes for one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import struct
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.peer import Peer
from sentinel_guard.daemon.held_calls import held_call_requests as module
from sentinel_guard.daemon.held_calls.held_call_requests import HeldCall, HeldCallRequests, parse
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.errors import PeerError
from sentinel_guard.host.machine import processes
from tests.support.guard_in_memory import Stand, linked
from tests.support.time_limits import limit
from tests.support.wait_until import until
from tests.vectors.wire_vectors import message

WHO = struct.pack("<IQ", 7, 70)
HEAD = [(b"V", b"1 0"), (b"F", b"kernel")]
NOT_UNDERSTOOD = (
    ([(b"C", b"read"), (b"O", b"/x"), (b"W", WHO)], "no held call", "a call that is not held"),
    ([(b"O", b"/x"), (b"W", WHO)], "no held call", "no call"),
    ([(b"C", b"write"), (b"W", WHO)], "its object", "no object"),
    ([(b"C", b"write"), (b"O", b"/x")], "its process", "no process"),
    ([(b"C", b"write"), (b"O", b"/x"), (b"W", WHO[:-1])], "its process", "half a process"),
    ([(b"C", b"run"), (b"O", b"/x"), (b"W", WHO)], "its arguments", "a program without arguments"),
)


@pytest.mark.parametrize(("chunks", "words"), [r[:2] for r in NOT_UNDERSTOOD], ids=[r[2] for r in NOT_UNDERSTOOD])
def test_what_is_not_understood_is_refused(chunks, words):
    with pytest.raises(PeerError, match=words):
        parse([*HEAD, *chunks])


def test_a_question_and_a_request_of_rules():
    assert parse([*HEAD, (b"C", b"rules")]) is None
    run = [(b"C", b"run"), (b"O", b"/bin/\xff"), (b"W", WHO), (b"A", b"x"), (b"A", b"-y"), (b"D", b"/r")]
    assert parse([*HEAD, *run]) == HeldCall("run", "/bin/\udcff", Peer(7, 70), ("x", "-y"), "/r")


def test_what_the_vectors_say_is_understood():
    who = Peer(4711, 0x123456789)
    anew = message("a broker asks for rules anew")
    assert parse(message("a broker asks for rules")) is parse(anew) is None
    assert module._head(anew) == Head(42, "0f" * 32)
    assert parse(message("a change is held")) == HeldCall("write", "/home/u/r\udcff/.env", who)
    run = HeldCall("run", "/usr/bin/git", who, ("git", "push", ""), "/home/u/r\udcff")
    assert parse(message("a program is held")) == run
    assert parse(message("a connection to another machine is held")) == HeldCall("reach", "[2001:db8::1]:443", who)


@pytest.mark.parametrize("broker", [None, Peer(os.getpid(), 1), Peer(1, 1)], ids=["none", "its number", "another"])
def test_only_the_process_that_the_runner_announced_is_the_broker(broker, monkeypatch):
    monkeypatch.setattr(module, "BACK", 0.1)
    stand = Stand()
    stand.live.broker = broker
    requests = HeldCallRequests(
        sessions=stand.sessions, guard=stand.guard, reactions=stand.reactions, judge_program=None, now=stand.now
    )

    async def ask():
        async with linked() as (link, _):
            await requests.serve([*HEAD, (b"C", b"rules")], link)

    assert processes.identify(os.getpid()) != broker
    with pytest.raises(PeerError, match="the broker of no session"):
        asyncio.run(ask())


@pytest.mark.parametrize("back", [True, False], ids=["it comes back", "it does not"])
def test_behind_a_restart_a_broker_waits_for_its_runner_which_announces_it(back, monkeypatch):
    monkeypatch.setattr(module, "BACK", limit(5) if back else 0.1)
    stand = Stand()
    requests = HeldCallRequests(
        sessions=stand.sessions, guard=stand.guard, reactions=stand.reactions, judge_program=None, now=stand.now
    )

    async def found() -> bool:
        async with linked() as (link, _):
            asked = asyncio.create_task(requests._session_of(link))
            await asyncio.sleep(2 * module.LOOK_BACK)
            if back:
                assert not asked.done(), "it is waited for"
                stand.live.broker = link.peer
            return await asked is stand.live

    stand.live.runner = None
    stand.live.session = replace(stand.live.session, owner=processes.identify(os.getppid()))
    assert asyncio.run(found()) is back


@pytest.mark.parametrize("came_back", [False, True], ids=["its broker", "a broker that came back"])
def test_a_session_at_rest_is_looked_at_when_something_is_told(monkeypatch, tmp_path, came_back):
    monkeypatch.setattr(module, "SELDOM", limit(60))
    stand, secret = Stand(), tmp_path / ".env"
    secret.write_text("TOKEN=1")
    requests = HeldCallRequests(
        sessions=stand.sessions, guard=stand.guard, reactions=stand.reactions, judge_program=None, now=stand.now
    )
    stand.live.watch = SimpleNamespace(restricted=(str(secret),), rests=True, compares_keys=lambda _: False)

    async def begun(link: Link, broker: Link) -> tuple[asyncio.Task[None], int]:
        stand.live.broker = link.peer
        asked = asyncio.create_task(requests.serve([*HEAD, (b"C", b"rules")], link))
        rules, _head_of_the_log = await broker.receive(limit(5)), await broker.receive(limit(5))
        return asked, len(rules)

    async def ended(asked: asyncio.Task[None], broker: Link) -> None:
        await broker.close()
        with contextlib.suppress(EOFError):
            await asked

    async def course() -> None:
        async with linked() as first, linked() as second:
            (asked, count), broker = await begun(*first), first[1]
            if came_back:
                before = asked, broker
                (asked, count), broker = await begun(*second), second[1]
                stand.live.released.add("/var/another")
                with pytest.raises(TimeoutError):
                    await before[1].receive(6 * module.TOGETHER)  # the two do not wake each other
                await ended(*before)
                await broker.receive(limit(5))
                count += 1
            with pytest.raises(TimeoutError):
                await broker.receive(4 * module.TOGETHER)
            stand.live.released.add("/var/other")
            with pytest.raises(TimeoutError):
                await broker.receive(4 * module.TOGETHER)
            stand.live.renew_rules()
            stand.live.renew_rules()
            assert len(await broker.receive(limit(5))) == count + 1
            if stand.live.reads:
                await asyncio.to_thread(subprocess.run, ["cat", secret], check=True, capture_output=True)
                assert await asyncio.to_thread(until, lambda: stand.live.reads.seen)
            await ended(asked, broker)

    asyncio.run(course())
    assert [e.data["path"] for e in stand.store.entries(kinds=("watch",))] == [str(secret)]
