"""One connection: whole messages whatever the pieces, and who is at the other end. Real sockets, both ends ours."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import resource
import socket
import struct
import time
from pathlib import Path

import pytest

from sentinel_guard.core.wire_framing import MAX_CHUNK, encode
from sentinel_guard.daemon import peer_connection
from sentinel_guard.daemon.peer_connection import IN_A_ROW, OF_ONE, Connections, Link, Listener
from sentinel_guard.errors import PeerError
from tests.support.guard_in_memory import linked

MESSAGE = [(b"V", b"1 x"), (b"A", b"\xff\x00"), (b"A", b"")]
BYTES = encode(MESSAGE)


def play(story):
    """A story with a link and the raw end of its peer."""

    async def played():
        ours, theirs = socket.socketpair()
        link = Link(ours)
        _, peer = await asyncio.open_unix_connection(sock=theirs)
        try:
            return await story(link, peer)
        finally:
            peer.close()
            await link.close()

    return asyncio.run(played())


PIECES = (
    ([BYTES], "whole"),
    ([BYTES[i : i + 1] for i in range(len(BYTES))], "byte by byte"),
    ([BYTES[:7], BYTES[7:]], "cut inside a length"),
    ([b"", BYTES], "an empty write first"),
)


@pytest.mark.parametrize("pieces", [p[0] for p in PIECES], ids=[p[1] for p in PIECES])
def test_a_message_arrives_whole(pieces):
    async def story(link, peer):
        for piece in pieces:
            peer.write(piece)
            await peer.drain()
            await asyncio.sleep(0)
        return await link.receive(5)

    assert play(story) == MESSAGE


def test_messages_that_come_together_are_given_one_by_one():
    async def story(link, peer):
        peer.write(BYTES * 3)
        return [await link.receive(5) for _ in range(3)]

    assert play(story) == [MESSAGE] * 3


BROKEN = (
    (b"GET / HTTP/1.1\r\n\r\n", PeerError, "another protocol"),
    (b"V" + struct.pack("<I", MAX_CHUNK + 1), PeerError, "a chunk over the limit, refused before it has come"),
    (b"." + struct.pack("<I", 1) + b"x", PeerError, "an end that carries bytes"),
    (BYTES[:-1], EOFError, "half a message, then nothing"),
    (b"", EOFError, "nothing at all"),
)


@pytest.mark.parametrize(("data", "error"), [b[:2] for b in BROKEN], ids=[b[2] for b in BROKEN])
def test_what_is_no_message_is_an_error_never_a_guess(data, error):
    async def story(link, peer):
        peer.write(data)
        peer.write_eof()
        with pytest.raises(error):
            await link.receive(5)

    play(story)


def test_a_message_before_the_garbage_still_counts():
    async def story(link, peer):
        peer.write(BYTES + b"\xff" * 9)
        assert await link.receive(5) == MESSAGE
        with pytest.raises(PeerError):
            await link.receive(5)

    play(story)


def test_a_peer_that_says_nothing_is_not_waited_for_for_ever():
    async def story(link, peer):
        peer.write(BYTES[:5])
        with pytest.raises(TimeoutError):
            await link.receive(0.01)
        peer.write(BYTES[5:])
        return await link.receive(5)

    assert play(story) == MESSAGE, "what had come is not lost"


def test_who_is_there_is_what_the_kernel_says():
    async def story(link, peer):
        return link.pid, link.uid

    assert play(story) == (os.getpid(), os.getuid())


def test_objects_go_both_ways():
    async def story():
        async with linked() as (one, other):
            one.send_json({"op": "say", "text": "é\udcff\n"})
            return await other.receive_json()

    assert asyncio.run(story()) == {"op": "say", "text": "é\udcff\n"}


NO_OBJECT = (
    ([(b"J", b"[1]")], "a list"),
    ([(b"J", b"{")], "no JSON"),
    ([(b"J", b"\xff")], "no text"),
    ([(b"J", b"[" * 100_000)], "nested without end"),
    ([(b"K", b"{}")], "another chunk"),
    ([], "an empty message"),
)


@pytest.mark.parametrize("message", [n[0] for n in NO_OBJECT], ids=[n[1] for n in NO_OBJECT])
def test_what_is_no_object_is_a_peer_error(message):
    async def story(link, peer):
        peer.write(encode(message))
        with pytest.raises(PeerError):
            await link.receive_json()

    play(story)


def test_a_peer_that_has_gone_loses_what_it_is_sent():
    async def story():
        async with linked() as (one, other):
            await other.close()
            one.send(MESSAGE)
            one.send(MESSAGE)
            with pytest.raises(EOFError):
                await one.receive()

    asyncio.run(story())


def test_who_waits_for_a_peer_learns_that_we_have_closed():
    async def story():
        async with linked() as (one, _):
            waiting = asyncio.create_task(one.receive())
            await asyncio.sleep(0)
            await one.close()
            with pytest.raises(EOFError):
                await waiting

    asyncio.run(story())


def test_a_peer_that_reads_slowly_gets_all_before_its_connection_is_closed():
    async def story():
        async with linked() as (one, other):
            for _ in range(3):
                one.send([(b"A", b"x" * MAX_CHUNK)])  # more than a socket holds
            closing = asyncio.create_task(one.close())
            await asyncio.sleep(0.01)
            assert not closing.done()
            got = [await other.receive(5) for _ in range(3)]
            await closing
            return [len(body) for message in got for _, body in message]

    assert asyncio.run(story()) == [MAX_CHUNK] * 3


def test_a_peer_that_reads_nothing_is_closed_all_the_same(monkeypatch):
    monkeypatch.setattr(peer_connection, "LAST_WORD", 0.05)

    async def story():
        async with linked() as (one, other):
            one.send([(b"A", b"x" * MAX_CHUNK)])
            await one.close()
            with pytest.raises(EOFError):
                await other.receive(5)

    asyncio.run(story())


def test_a_peer_that_reads_no_answer_is_not_heard_for_ever(monkeypatch):
    monkeypatch.setattr(peer_connection, "LAST_WORD", 0.05)
    monkeypatch.setattr(peer_connection, "UNREAD", MAX_CHUNK + 1)

    async def story():
        async with linked() as (one, other):
            for _ in range(2):
                other.send(MESSAGE)
                assert await one.receive(5) == MESSAGE
                one.send([(b"A", b"x" * MAX_CHUNK)])
            with pytest.raises(PeerError, match="were not read"):
                await one.receive(5)

    asyncio.run(story())


def test_a_daemon_that_stops_does_not_wait_for_who_reads_nothing():
    async def story():
        async with linked() as (one, other):
            one.send([(b"A", b"x" * MAX_CHUNK)])
            closing = asyncio.create_task(one.close())
            await asyncio.sleep(0)
            closing.cancel()
            began = time.monotonic()
            await asyncio.wait((closing,))
            assert time.monotonic() - began < peer_connection.LAST_WORD / 2
            with pytest.raises(EOFError):
                await other.receive(5)

    asyncio.run(story())


def test_what_was_not_read_of_a_peer_does_not_take_its_answer_away():
    async def story():
        async with linked() as (one, other):
            other.send(MESSAGE)
            one.send(MESSAGE)
            await one.close()
            assert await other.receive(5) == MESSAGE
            with pytest.raises(EOFError):
                await other.receive(5)

    asyncio.run(story())


def test_a_peer_that_never_stops_talking_lets_the_others_have_their_turn():
    async def story(link, peer):
        async def flood():
            while True:
                peer.write(BYTES * 1000)
                await peer.drain()

        heard = []

        async def listen():
            while True:
                heard.append(await link.receive())

        tasks = [asyncio.create_task(flood()), asyncio.create_task(listen())]
        turns = []
        while len(heard) < 1000:
            await asyncio.sleep(0)
            turns.append(len(heard))
        assert max(after - before for before, after in itertools.pairwise(turns)) <= IN_A_ROW
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    play(story)


def listening(tmp_path, story, serve):
    """A story with the path of a socket that is listened on."""

    async def played():
        path = tmp_path / "s"
        with contextlib.closing(Listener(str(path), serve)):
            return await story(path)

    return asyncio.run(played())


async def echo(link):
    link.send(await link.receive(5))
    await link.close()


def test_a_listener_is_its_owners_alone_and_serves_many_at_once(tmp_path):
    async def story(path):
        assert path.stat().st_mode & 0o777 == 0o600
        ends = [socket.socket(socket.AF_UNIX) for _ in range(40)]
        for end in ends:
            end.connect(str(path))
        links = [Link(end) for end in ends]
        for link in reversed(links):
            link.send(MESSAGE)
        got = [await link.receive(5) for link in links]
        for link in links:
            await link.close()
        return got

    assert listening(tmp_path, story, echo) == [MESSAGE] * 40


def test_a_listener_without_room_takes_the_next_when_there_is_room(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(peer_connection, "PAUSE", 0.05)

    async def story(path):
        end = socket.socket(socket.AF_UNIX)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files(), before[1]))
        try:
            fillers = list(filled())
            end.connect(str(path))
            await asyncio.sleep(0.02)
            assert "nobody is let in" in caplog.text
        finally:
            for filler in fillers:
                os.close(filler)
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        link = Link(end)
        link.send(MESSAGE)
        got = await link.receive(5)
        await link.close()
        return got

    assert listening(tmp_path, story, echo) == MESSAGE


def open_files() -> int:
    return max(int(file.name) for file in Path("/proc/self/fd").iterdir())


def filled():
    """Descriptors until there is none left."""
    with contextlib.suppress(OSError):
        while True:
            yield os.open("/dev/null", os.O_RDONLY)


def test_one_process_does_not_keep_the_others_out():
    connections = Connections(OF_ONE + 2)
    with contextlib.ExitStack() as greedy:
        said = [greedy.enter_context(connections.counted("process 1")) for _ in range(OF_ONE + 1)]
        assert said == [""] * OF_ONE + [f"process 1 has {OF_ONE} requests open already"]
        with connections.counted("process 2") as words:
            assert words == ""
    with connections.counted("process 1") as words:
        assert words == "", "they have ended"


def test_many_processes_have_a_limit_too():
    connections = Connections(2)
    with connections.counted("process 1"), connections.counted("process 2"), connections.counted("process 3") as words:
        assert words == "2 requests are open already"
