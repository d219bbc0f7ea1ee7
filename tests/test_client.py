"""The client against real sockets: a fake daemon in a thread, a real start on demand."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from sentinel_guard import __version__, client
from sentinel_guard.client import Operator, ask_agent
from sentinel_guard.core.wire_framing import Reader, encode
from sentinel_guard.errors import DaemonError, NoDaemonError, SentinelError
from sentinel_guard.host.machine.state_paths import StatePaths, places
from sentinel_guard.host.start_daemon import daemon_environ
from tests.support.fake_daemon import FakeDaemon
from tests.support.time_limits import limit
from tests.support.wait_until import until

NEVER = (sys.executable, "-c", "import sys; sys.exit('the words of a failed start')")
SERVE = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.support.fake_daemon import FakeDaemon
from sentinel_guard.host.machine.state_paths import places
with open({log!r}, "a") as log: log.write("started\\n")
daemon = FakeDaemon(places())
daemon.wait("stop", seconds=10)
time.sleep(0.1)
daemon.close()
"""


@pytest.fixture
def where():
    home = tempfile.mkdtemp(prefix="sg-")
    yield places({"SENTINEL_HOME": home})
    shutil.rmtree(home)


@pytest.fixture
def daemon(where):
    fake = FakeDaemon(where)
    yield fake
    fake.close()


def test_a_reply_comes_back_and_events_in_between_are_kept(where, daemon):
    def reply(_):
        daemon.tell("notice", level="L1", text="first")
        return {"sessions": [1]}

    daemon.replies["status"] = reply
    with Operator(where) as operator:
        assert operator.request("status")["sessions"] == [1]
        assert operator.waiting
        assert [e["text"] for e in operator.poll()] == ["first"]
        assert operator.poll() == []


def test_an_event_that_comes_along_with_a_reply_is_not_forgotten(where, daemon):
    both = encode([(b"J", b'{"ok": true}')]) + encode([(b"J", b'{"event": "killed"}')])
    daemon.replies["status"] = lambda _: daemon.peers[-1].sendall(both) or {}
    with Operator(where) as operator:
        operator.request("status")
        assert operator.waiting
        assert operator.poll() == [{"event": "killed"}]


def test_a_refusal_has_the_daemons_words_and_the_line_stays(where, daemon):
    daemon.replies["start"] = {"ok": False, "error": "Not a git repository.", "hint": "git init"}
    with Operator(where) as operator:
        with pytest.raises(SentinelError) as refused:
            operator.request("start")
        assert not isinstance(refused.value, DaemonError)
        assert (refused.value.message, refused.value.hint) == ("Not a git repository.", "git init")
        assert operator.request("status")["ok"]


def test_text_that_is_not_utf8_survives(where, daemon):
    with Operator(where) as operator:
        operator.request("start", command=[os.fsdecode(b"\xff\xfe")])
    assert os.fsencode(daemon.wait("start")["command"][0]) == b"\xff\xfe"


def test_a_request_over_the_limit_is_refused_before_it_is_sent(where, daemon):
    with Operator(where) as operator:
        with pytest.raises(SentinelError, match="limit is 4194304"):
            operator.request("start", command=["x" * (5 << 20)])
        assert operator.request("status")["ok"]


def test_a_daemon_that_hangs_up_is_an_error_in_words_and_can_come_back(where, daemon):
    with Operator(where) as operator:
        daemon.close()
        with pytest.raises(DaemonError, match="closed the connection"):
            operator.request("status")
        assert not operator.connected
        daemon.listen()
        assert operator.advance()
        assert operator.request("status")["ok"]


def test_a_stopped_daemon_is_said(where):
    where.make()
    serve = "import socket, sys\ns = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(flush=True)"
    serve += "; input()"
    program = [sys.executable, "-c", serve, str(where.operator_socket)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stopped:
        assert stopped.stdout.readline(), "it listens"
        stopped.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(DaemonError, match=rf"process {stopped.pid}\) is stopped") as caught:
            Operator(where).connect()
        stopped.kill()
    assert caught.value.hint == f"kill -CONT {stopped.pid}" and time.monotonic() - began < limit(4)


def test_a_silent_daemon_is_an_error_in_time(where, daemon):
    daemon.replies["status"] = lambda _: time.sleep(0.4) or {}
    with Operator(where) as operator, pytest.raises(DaemonError, match=r"did not answer within 0\.1"):
        operator.request("status", seconds=0.1)


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"\x00\x01\x02\x03\x04\x05", id="no tag"),
        pytest.param(b"J" + struct.pack("<I", 1 << 30), id="a huge chunk"),
        pytest.param(encode([(b"J", b"[1]")]), id="JSON that is no object"),
        pytest.param(encode([(b"J", b"{")]), id="half an object"),
        pytest.param(encode([(b"K", b"{}")]), id="another chunk"),
    ],
)
def test_what_is_not_the_protocol_is_said(where, daemon, garbage):
    with Operator(where) as operator:
        daemon.peers[-1].sendall(garbage)
        with pytest.raises(DaemonError, match="not the protocol"):
            operator.request("status")


def test_without_start_a_daemon_that_is_away_is_said_at_once(where):
    where.make()
    with pytest.raises(DaemonError, match="No guard daemon runs"), Operator(where, start=False):
        pass


def test_a_daemon_that_takes_its_time_is_not_taken_for_none(where, daemon, monkeypatch):
    monkeypatch.setattr(client, "HELLO_SECONDS", 0.05)
    hello, slow = daemon.replies["hello"], iter((0.2, 0.2))

    def late(_):
        time.sleep(next(slow, 0))
        return hello

    daemon.replies["hello"] = late
    with Operator(where, start=False) as operator:
        assert operator.request("status")
    daemon.replies["hello"] = lambda _: time.sleep(0.2) or hello
    with pytest.raises(DaemonError, match="did not answer within") as caught:
        Operator(where, start=False).connect(0.3)
    assert not isinstance(caught.value, NoDaemonError)


def test_a_start_that_fails_has_its_words(where):
    with pytest.raises(DaemonError, match="the words of a failed start"):
        Operator(where, command=NEVER).connect()


def test_two_clients_start_one_daemon(where, tmp_path, monkeypatch):
    log = tmp_path / "log"
    root = str(Path(__file__).parent.parent)
    command = (sys.executable, "-c", SERVE.format(root=root, log=str(log)))
    monkeypatch.setenv("SENTINEL_HOME", where.home)
    done = []

    def connect():
        with Operator(where, command=command) as operator:
            done.append(operator.request("hello")["version"])

    threads = [threading.Thread(target=connect) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Operator(where, start=False) as operator:
        operator.request("stop")
    assert done == [__version__] * 3
    assert log.read_text() == "started\n"


def test_a_daemon_that_starts_is_waited_for_while_it_lives(where, tmp_path, monkeypatch):
    root, log = str(Path(__file__).parent.parent), str(tmp_path / "log")
    slowly = f"import time; time.sleep(1); {SERVE.format(root=root, log=log).strip()}"
    monkeypatch.setenv("SENTINEL_HOME", where.home)
    operators = [Operator(where, command=(sys.executable, "-c", slowly)) for _ in range(2)]
    waiting = threading.Thread(target=lambda: operators[1].connect(0.1))
    assert not operators[0].advance()  # it has the lock, and the start is its own
    waiting.start()
    operators[0].connect(0.1)
    waiting.join()
    assert [o.request("hello")["version"] for o in operators] == [__version__] * 2
    operators[0].request("stop")
    for operator in operators:
        operator.close()


def test_a_daemon_that_is_ended_before_it_was_greeted_is_started_again(where, tmp_path, monkeypatch):
    """The first start went well; who killed that daemon must not leave a lock behind with which nobody starts one."""
    root, log, once = str(Path(__file__).parent.parent), str(tmp_path / "log"), tmp_path / "once"
    serve = SERVE.format(root=root, log=log).strip()
    program = f"import pathlib, sys; o = pathlib.Path({str(once)!r}); o.exists() or sys.exit(o.touch()); {serve}"
    monkeypatch.setenv("SENTINEL_HOME", where.home)
    with Operator(where, command=(sys.executable, "-c", program)) as operator:
        assert operator.request("hello")["version"] == __version__
        operator.request("stop")


def test_a_start_that_ends_is_waited_for_no_longer(where):
    began = time.monotonic()
    with pytest.raises(DaemonError, match="did not answer within"):
        Operator(where, command=(sys.executable, "-c", "")).connect(0.1)
    assert time.monotonic() - began < limit(4)


def test_a_stale_socket_is_no_daemon(where):
    where.make()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(where.operator_socket))
    with pytest.raises(DaemonError, match="failed start"):
        Operator(where, command=NEVER).connect()


def test_a_daemon_of_another_version_that_guards_somebody_stays(where):
    old = FakeDaemon(where, version="0.0.9", sessions=2)
    try:
        with pytest.raises(DaemonError, match=r"0\.0\.9.*guards 2 session"):
            Operator(where, command=NEVER).connect()
        assert [m["op"] for m in old.heard] == ["hello"]
    finally:
        old.close()


def test_a_daemon_of_another_version_without_sessions_is_replaced(where):
    old = FakeDaemon(where, version="0.0.9")
    fresh = []

    def stop(_):
        threading.Thread(target=lambda: (old.close(), fresh.append(FakeDaemon(where)))).start()
        return {}

    old.replies["stop"] = stop
    wait = (sys.executable, "-c", "")
    with Operator(where, command=wait) as operator:
        assert operator.request("hello")["version"] == __version__
    assert until(lambda: fresh), "it answers before its maker knows of it"
    fresh[0].close()


def test_a_daemon_is_started_in_a_clean_environment(where):
    given = {
        "HOME": "/h", "SENTINEL_HOME": "/s", "PYTHONPATH": "/evil", "GIT_DIR": "/evil", "LD_PRELOAD": "/evil",
        "BASH_ENV": "/evil", "SENTINEL_SESSION": "s1", "PATH": f"{where.state}/sessions/s1/shims:/usr/bin",
    }  # fmt: skip
    assert daemon_environ(where, given) == {"HOME": "/h", "SENTINEL_HOME": "/s", "PATH": "/usr/bin"}


# --- the agent's side ---


class AgentSocket:
    """Answers each connection on agent.sock with the next script: messages with pauses, then hangs up."""

    def __init__(self, where: StatePaths, *scripts: list[object]) -> None:
        where.make()
        self.asked: list[dict[bytes, list[bytes]]] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(where.agent_socket))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, args=(scripts,))
        self._thread.start()

    def _serve(self, scripts):
        for script in scripts:
            peer, _ = self._listener.accept()
            with peer:
                frames = Reader()
                while (message := frames.next_message()) is None:
                    frames.feed(peer.recv(1 << 16))
                asked: dict[bytes, list[bytes]] = {}
                for tag, body in message:
                    asked.setdefault(tag, []).append(body)
                self.asked.append(asked)
                for step in script:
                    if isinstance(step, float):
                        time.sleep(step)
                    else:
                        peer.sendall(encode(step))

    def close(self):
        self._thread.join(5)
        self._listener.close()


def number(n):
    return struct.pack("<I", n)


HOLD, LEAVE = (b"H", number(0)), (b"Z", number(0))
ANSWERS = [
    ([[(b"P", b"1hello\n"), LEAVE]], "hello\n", 0, "printed, then ended"),
    ([[HOLD], 0.05, [(b"P", b"1a\n"), HOLD], [(b"P", b"2b\n"), LEAVE]], "a\nb\n", 0, "held twice"),
    ([[(b"P", b"2no\n"), (b"Z", number(126))]], "no\n", 126, "refused"),
    ([[(b"Z", number(256 + 9))]], "", 137, "ended by a signal"),
    ([[(b"X", b"/bin/ls")]], "sentinel-guard: the daemon's verb 'X' is not known here\n", 126, "a launcher's verb"),
    ([[(b"P", b"1half\n")]], "half\nsentinel-guard: the daemon's answer is incomplete\n", 126, "neither end nor hold"),
]


@pytest.mark.parametrize(("script", "text", "code"), [row[:3] for row in ANSWERS], ids=[row[3] for row in ANSWERS])
def test_answers_to_an_agent_are_obeyed(where, script, text, code):
    agent = AgentSocket(where, script)
    shown = []
    assert ask_agent(where, "help", ["stuck"], lambda *said: shown.append(said)) == (text, code)
    assert b"".join(t for _, t in shown).decode() == text
    agent.close()


@pytest.mark.parametrize("code", [256, 256 + 65, 2**32 - 1])
def test_an_exit_code_that_is_none_is_no_answer(where, code):
    agent = AgentSocket(where, [[(b"Z", number(code))]])
    with pytest.raises(DaemonError, match="not the protocol"):
        ask_agent(where, "usage", ["{}"], lambda *_: None)
    agent.close()


def test_the_request_is_as_the_protocol_says(where):
    agent = AgentSocket(where, [[LEAVE]])
    ask_agent(where, "usage", [json.dumps({"tokens": 5})])
    agent.close()
    asked = agent.asked[0]
    assert asked[b"V"] == [f"1 {__version__}".encode()]
    assert asked[b"F"] == [b"usage"]
    assert asked[b"A"] == [b'{"tokens": 5}']
    assert asked[b"D"] == [bytes(Path.cwd())]
    assert any(e.startswith(b"PATH=") for e in asked[b"E"])


def test_a_cry_for_help_is_said_again_when_the_daemon_comes_back(where):
    agent = AgentSocket(where, [[HOLD]], [[(b"P", b"1try x\n"), LEAVE]])
    assert ask_agent(where, "help", ["stuck"], lambda *_: None) == ("try x\n", 0)
    agent.close()


def test_a_count_of_tokens_is_not_said_twice(where):
    agent = AgentSocket(where, [[HOLD]])
    with pytest.raises(DaemonError):
        ask_agent(where, "usage", ["{}"], lambda *_: None)
    agent.close()
