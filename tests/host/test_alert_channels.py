"""Alerts: sent by Apprise to a real HTTP listener, limited in number, and never waited for."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sentinel_guard.core.model import Entry
from sentinel_guard.core.policy.policy import AlertChannels
from sentinel_guard.host import alert_channels
from sentinel_guard.host.alert_channels import Alerts
from tests.support.wait_until import until

# Of a module that Apprise loads for attachments.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")


class Listener:
    """What was posted to a port of this machine."""

    def __init__(self) -> None:
        self.posts: list[dict] = []
        self.held = threading.Event()
        self.held.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.held.wait(30)
                outer.posts.append(json.loads(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"json://127.0.0.1:{self.server.server_port}/"

    def close(self) -> None:
        self.held.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def listener():
    made = Listener()
    yield made
    made.close()


def refused(level: str, what: str = "x") -> Entry:
    data = {"response": "deny", "tool": "shell", "arguments": {"command": what}}
    return Entry(1.0, "20261125-070000-ab12", "verdict", data, level)


def state(event: str) -> Entry:
    return Entry(1.0, "20261125-070000-ab12", "state", {"event": event, "reason": "the regex"})


class Sender:
    """The alerts of one daemon."""

    def __init__(self, *urls: str, level: str = "L3", pause: float = 0.0) -> None:
        self.failed: list[str] = []
        self.alerts = Alerts(lambda: AlertChannels(urls, level), self.failed.append, pause=pause)

    def see(self, *entries: Entry) -> None:
        for entry in entries:
            self.alerts.see(entry)
        self.alerts.close()


WORTH = (
    (refused("L3"), "L3", "sentinel-guard: L3 (session ab12)", "a breaker"),
    (refused("L2"), "L3", "", "a refusal is of the agent's everyday life"),
    (refused("L2"), "L2", "sentinel-guard: L2 (session ab12)", "unless one asks for it"),
    (refused("L4"), "L4", "sentinel-guard: L4 (session ab12)", "the kill switch"),
    (state("help"), "L3", "sentinel-guard: the agent calls for help (session ab12)", "a call for help"),
    (state("ask"), "L3", "sentinel-guard: the agent waits for your yes or no (session ab12)", "a question"),
    (state("ask"), "L4", "", "which one need not hear"),
    (state("answered"), "L2", "", "another step"),
    (Entry(1.0, "", "daemon", {"event": "x", "what": "y"}, "L2"), "L2", "", "the guard's own affairs"),
)


@pytest.mark.parametrize(("entry", "level", "title", "why"), WORTH, ids=[w[3] for w in WORTH])
def test_what_is_told(listener, entry, level, title, why):
    sender = Sender(listener.url, level=level)
    sender.see(entry)
    assert [post["title"] for post in listener.posts] == ([title] if title else []), why
    assert not sender.failed


def test_the_words_are_those_of_the_record(listener):
    Sender(listener.url).see(refused("L3", "deploy \x1b[2J now"))
    [post] = listener.posts
    assert post["message"] == r"deny: deploy \x1b[2J now"


def test_many_of_a_level_are_one_and_another_level_is_not_held_up(listener):
    sender = Sender(listener.url, pause=60.0)
    sender.see(*(refused("L3", str(n)) for n in range(9)), refused("L4", "the end"))
    titles = [post["title"] for post in listener.posts]
    assert titles[0] == "sentinel-guard: L3 (session ab12)"
    assert sorted(titles[1:]) == ["sentinel-guard: L3 (session ab12) and 7 more", "sentinel-guard: L4 (session ab12)"]
    [many] = [post["message"] for post in listener.posts if "more" in post["title"]]
    assert many.endswith("- deny: 8\nand 3 before these")


def test_after_the_pause_what_came_meanwhile_is_told(listener):
    sender = Sender(listener.url, pause=0.5)
    sender.alerts.see(refused("L3", "first"))
    sender.alerts.see(refused("L3", "second"))
    until(lambda: len(listener.posts) == 2)
    assert [post["message"] for post in listener.posts] == ["deny: first", "deny: second"]


def test_a_slow_channel_delays_nobody(listener):
    listener.held.clear()
    sender = Sender(listener.url)
    began = time.thread_time()
    for _ in range(2000):
        sender.alerts.see(refused("L3"))
    assert not listener.posts and time.thread_time() - began < 5
    listener.held.set()
    until(lambda: listener.posts)


BROKEN = (
    ("json://127.0.0.1:1/", "address 1 (json) did not take it", "nobody listens"),
    ("nonsense://secret-token", "address 1 (nonsense) is none that Apprise knows", "an unknown kind"),
)


@pytest.mark.parametrize(("url", "words", "why"), BROKEN, ids=[b[2] for b in BROKEN])
def test_a_channel_that_fails_is_told_once_and_the_others_get_it(listener, url, words, why):
    sender = Sender(url, listener.url)
    sender.see(refused("L3"), refused("L4"))
    assert len(listener.posts) == 2, why
    assert sender.failed == [f"An alert was not sent: {words}."]
    assert "secret" not in sender.failed[0]


def test_without_apprise_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "apprise", None)
    assert alert_channels.send(["json://x"], "t", "b") == [alert_channels.MISSING]


SHOWN = (
    (0, [], "a desktop that shows it"),
    (1, ["An alert was not sent: notify-send ended with 1 (no desktop there?)."], "no desktop"),
    (None, ["An alert was not sent: notify-send is not installed (libnotify)."], "no such program"),
)


@pytest.mark.parametrize("row", SHOWN, ids=[s[2] for s in SHOWN])
def test_the_desktop_is_an_address_too(listener, tmp_path, monkeypatch, row):
    code, failed, why = row
    said = tmp_path / "said"
    if code is not None:
        program = tmp_path / "notify-send"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {said}\nexit {code}\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin" if code is not None else str(tmp_path))
    sender = Sender("desktop:", listener.url)
    sender.see(refused("L4", "echo <b>x</b> & y"))
    assert sender.failed == failed, why
    assert len(listener.posts) == 1, "the others get it all the same"
    if code is not None:
        lines = said.read_text().splitlines()
        assert lines[-2:] == ["sentinel-guard: L4 (session ab12)", "deny: echo &lt;b&gt;x&lt;/b&gt; &amp; y"]


def test_without_an_address_nothing_begins():
    sender = Sender()
    sender.see(refused("L4"))
    assert sender.alerts._thread is None
