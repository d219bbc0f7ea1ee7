"""What an agent says besides commands: the beacon (R8) and its token usage (R6)."""

from __future__ import annotations

import asyncio
import json
import struct

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Usage
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.session.session import Event, State
from sentinel_guard.daemon.help_and_usage_requests import AgentRequests
from sentinel_guard.daemon.live_sessions import Place
from sentinel_guard.daemon.token_usage.report import usage
from sentinel_guard.daemon.wire_messages import Request
from sentinel_guard.errors import PeerError, SentinelError
from sentinel_guard.humans.help_dialogue import CALLS, SECONDS
from tests.support.guard_in_memory import Stand, linked

ZERO = struct.pack("<I", 0)

COUNTS = (
    ('{"input": 1, "output": 2, "cache_read": 3, "cache_write": 4}', (1, 2, 3, 4), "every kind"),
    ('{"tokens": 9}', (0, 9, 0, 0), "a total counts as output"),
    ('{"tokens": 9, "output": 2}', (0, 2, 0, 0), "details beat the total"),
    ('{"input": "7"}', (7, 0, 0, 0), "a number as text"),
    ('{"input": null, "tokens": 5}', (0, 5, 0, 0), "an unknown part"),
    ("{}", (0, 0, 0, 0), "nothing"),
)


@pytest.mark.parametrize(("text", "counts"), [c[:2] for c in COUNTS], ids=[c[2] for c in COUNTS])
def test_reported_tokens(text, counts):
    assert usage(text, 5.0) == Usage(5.0, *counts, source="report")


NO_COUNTS = (
    ("", "nothing"),
    ("no json", "no JSON"),
    ("[1]", "a list"),
    ("7", "a bare number"),
    ('{"input": "many"}', "a word"),
    ('{"input": []}', "a list for a number"),
    ('{"tokens": -1}', "less than nothing: it would buy time"),
    ('{"tokens": 1e400}', "no finite number"),
    (f'{{"tokens": {10**13}}}', "more than there can be"),
    ('{"input": ' + "9" * 5000 + "}", "more digits than a number may have"),
)


@pytest.mark.parametrize("text", [n[0] for n in NO_COUNTS], ids=[n[1] for n in NO_COUNTS])
def test_what_is_no_count_is_refused_with_the_way_to_say_it(text):
    with pytest.raises(PeerError, match="usage report"):
        usage(text, 5.0)


class Desk:
    """A face before a link whose other end is the agent's."""

    def __init__(self, stand: Stand) -> None:
        self.stand, self.faces = stand, AgentRequests(stand.sessions, stand.now)

    def ask(self, face: str, text: str) -> list:
        """The messages that come until the exit, the person's side played by ``self.person``."""
        return asyncio.run(self._ask(Request(face, (face, text), "/")))

    async def _ask(self, request: Request) -> list:
        async with linked() as (ours, theirs):
            serving = asyncio.create_task(self.faces.serve(request, Place(self.stand.live, Peer(1, 1)), ours))
            await asyncio.sleep(0)
            if self.stand.live.session.state is State.AWAITING_HUMAN:
                self.person()
            await serving
            said: list = []
            while not said or said[-1][0] != b"Z":
                said += await theirs.receive(5)
            return said

    def person(self) -> None:
        live = self.stand.live
        waits = {"event": "state", "state": "AWAITING_HUMAN"}
        assert self.stand.human.told[-2:] == [waits, {"event": "chat", "context": "the regex"}]
        live.dialogue.say("try a raw string")
        self.stand.sessions.note(live, [encode_entries.state(live.id, self.stand.now(), Event.RESUME)])
        live.dialogue.end()


def test_r8_the_beacon_pauses_calls_and_brings_the_persons_words_until_resume():
    stand = Stand()
    stand.live.dialogue.say("said before")
    said = Desk(stand).ask("help", "the regex")
    printed = [body for tag, body in said if tag == b"P"]
    assert printed[0].startswith(b"2SENTINEL: the human was called.")
    assert printed[1:] == [b"1said before\n", b"1try a raw string\n"], "what nobody had heard, too"
    assert said[-1] == (b"Z", ZERO)
    assert stand.live.session.state is State.ACTIVE
    assert stand.kinds() == ["session", "help", "resume"]


def test_r8_who_calls_again_and_again_is_told_to_work_on():
    stand = Stand()
    for _ in range(CALLS):
        Desk(stand).ask("help", "the regex")
    before = len(stand.store.log)
    with pytest.raises(SentinelError, match="called 3 times within a minute"):
        Desk(stand).ask("help", "the regex")
    assert len(stand.store.log) == before and stand.live.session.state is State.ACTIVE
    stand.now.now += SECONDS
    assert Desk(stand).ask("help", "the regex")[-1] == (b"Z", ZERO)


def test_r8_without_a_person_it_says_so_and_nothing_is_paused():
    stand = Stand(interactive=False)
    with pytest.raises(SentinelError, match="No human can be reached"):
        Desk(stand).ask("help", "the regex")
    stand = Stand()
    stand.live.runner = None
    with pytest.raises(SentinelError, match="sentinel-guard run"):
        Desk(stand).ask("help", "the regex")
    assert stand.live.session.state is State.ACTIVE


def test_r8_who_looks_at_the_open_questions_can_be_reached():
    """``sentinel-guard console`` shows the call, and chats."""
    stand = Stand(interactive=False)
    stand.sessions.other_terminals.look()
    desk = Desk(stand)
    desk.person = lambda: (stand.live.dialogue.say("use a raw string"), stand.live.dialogue.end())
    assert (b"P", b"1use a raw string\n") in desk.ask("help", "the regex")
    assert "chat" not in {told["event"] for told in stand.human.told}, "the runner has no terminal to show it on"


def test_r6_a_report_is_in_the_ledger_when_it_is_answered():
    stand = Stand()
    stands = b"115 tokens in the last minute; over 50,000 there is a cool-down.\n"
    for given in ({"output": 100}, {"input": 10, "cache_write": 5, "cache_read": 99}):
        said = Desk(stand).ask("usage", json.dumps(given))
    assert said == [(b"P", b"1" + stands), (b"Z", ZERO)]
    assert [use.work for use in stand.live.session.usage] == [100, 15]
    assert stand.kinds()[-1] == "usage"


@pytest.mark.parametrize("face", ["help", "usage"])
def test_a_session_that_is_over_takes_nothing(face):
    stand = Stand()
    stand.sessions.note(stand.live, [encode_entries.state("s1", stand.now(), Event.KILL)])
    before = len(stand.store.log)
    with pytest.raises(SentinelError, match="This session is KILLED"):
        Desk(stand).ask(face, "{}")
    assert len(stand.store.log) == before


def test_a_hook_without_a_dialect_is_refused():
    with pytest.raises(PeerError, match="no such request"):
        Desk(Stand()).ask("hook", "{}")
