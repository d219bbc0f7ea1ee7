"""Which shells ask about their lines, and which line is which. Real processes where descent is the point."""

from __future__ import annotations

import os
import sys

import pexpect
import pytest

from sentinel_guard.core.model import Action, Layer
from sentinel_guard.core.peer import Peer
from sentinel_guard.daemon import interactive_shells
from sentinel_guard.daemon.live_sessions import Live, Place
from sentinel_guard.daemon.waiting_launcher import waiting
from sentinel_guard.daemon.wire_messages import Request
from sentinel_guard.errors import PeerError
from sentinel_guard.host.machine import processes
from tests.support.guard_in_memory import Stand
from tests.support.time_limits import limit

SITS = """
import os, subprocess, sys
other = os.openpty()[1]
for stdin in (None, other):
    print(subprocess.Popen(["sleep", "60"], stdin=stdin).pid, flush=True)
forks = "import os, pty, time; pid, fd = pty.fork(); pid and os.read(fd, 1); print(pid, flush=True); time.sleep(60)"
own = subprocess.Popen([sys.executable, "-c", forks])
sys.stdin.read()
"""


@pytest.fixture
def places():
    """Where three processes stand: one at the person's terminal, one that reads another, one that another controls."""
    client = pexpect.spawn(sys.executable, ["-c", SITS], echo=False, timeout=limit(10))
    pids = [int(client.readline()) for _ in range(3)]
    live: Live = Stand().begin("s2", owner=processes.identify(os.getpid()))
    live.agent = client.pid
    yield [Place(live, processes.identify(pid)) for pid in pids]
    client.close(force=True)


def asked(*argv: str, terminals: str = "012t") -> Request:
    return Request("shell", argv, "/w", {}, terminals)


STARTS = (
    (("bash",), "012", True, "a bash that prompts"),
    (("bash", "-i"), "", True, "by an option, on a pipe too"),
    (("-bash",), "012", True, "a login shell"),
    (("zsh",), "012", False, "another shell cannot"),
    (("bash", "x.sh"), "012", False, "a script asks nothing"),
    (("bash",), "12", False, "nor what reads a pipe"),
)


@pytest.mark.parametrize(("argv", "terminals", "asks"), [s[:3] for s in STARTS], ids=[s[3] for s in STARTS])
def test_which_shell_of_an_agent_asks_about_its_lines(places, argv, terminals, asks):
    request = asked(*argv, terminals=terminals)
    words, environ = interactive_shells.start(request, places[1], "/shims")
    assert bool(words) is asks
    assert ("SENTINEL_STARTUP" in dict(environ)) is asks


def test_at_the_persons_terminal_no_shell_asks_and_nothing_is_typed_unseen(places):
    person, reads, controlled = places
    for argv in (("bash",), ("bash", "-i"), ("zsh",)):
        assert interactive_shells.start(asked(*argv), person, "/shims") == ([], [])
        assert not interactive_shells.is_typed(asked(*argv), person)
    assert interactive_shells.is_typed(asked("zsh"), reads)
    assert interactive_shells.is_typed(asked("zsh"), controlled)
    assert not interactive_shells.is_typed(asked("zsh", terminals="12"), reads), "a pipe"
    assert not interactive_shells.is_typed(asked("bash"), reads), "each line of which is judged"


def test_a_question_is_asked_only_where_the_person_sits(places):
    channels = [waiting(None, asked("bash"), place).channel for place in places]
    assert [channel is not None for channel in channels] == [True, True, False]
    assert waiting(None, asked("bash", terminals="012"), places[0]).channel is None, "it cannot be shown there"


def test_a_line_comes_from_below_its_shell():
    shell = Peer(7, 1)
    place = Place(Stand().live, Peer(9, 1), above=(Peer(8, 1), shell, Peer(6, 1)))
    line = Request("line", ("sentinel-line", "7", "ls", ""), "/w")
    assert interactive_shells.shell(line, place) == shell
    with pytest.raises(PeerError, match="below"):
        interactive_shells.shell(Request("line", ("sentinel-line", "5", "ls", ""), "/w"), place)


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_a_line_without_a_text_is_refused(text):
    line = Action("1", "s", Layer.LINE, "shell", {"command": text}, "/w", 0.0)
    assert interactive_shells.unread(line) == (interactive_shells.UNREAD,)


def test_another_one_is_judged_by_its_text():
    assert interactive_shells.unread(Action("1", "s", Layer.LINE, "shell", {"command": "ls"}, "/w", 0.0)) == ()
    assert interactive_shells.unread(Action("1", "s", Layer.SHELL, "shell", {"command": ""}, "/w", 0.0)) == ()
