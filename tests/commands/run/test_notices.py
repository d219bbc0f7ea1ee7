"""Notices, the beacon's chat (R8), the tail."""

from __future__ import annotations

import sys
import time

from tests.support.run_on_pty import ASK, BLOCK, ECHO
from tests.support.wait_until import settled


def test_a_notice_is_a_line_with_a_bell(daemon, terminal):
    child = terminal("sh", "-c", "echo ready; sleep 99")
    child.expect_exact("ready")
    daemon.tell("notice", level="L3", text="breaker \x1b[2J open")
    child.expect_exact("breaker \\x1b[2J open")
    child.expect_exact("\x07")


def test_a_notice_beside_a_full_screen_program_draws_nothing(daemon, terminal):
    child = terminal("sh", "-c", "printf '\\033[?10'; printf '49h'; echo ready; sleep 99")
    child.expect_exact("ready")
    daemon.tell("notice", level="L3", text="breaker open")
    child.expect_exact("\x1b]9;breaker open\x07")


def test_a_notice_waits_for_the_end_of_a_question(daemon, terminal):
    child = terminal("sleep", "99")
    daemon.wait("agent")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    daemon.tell("notice", level="L3", text="meanwhile")
    settled()
    child.send("n")
    child.expect_exact("\x1b[?1049l")
    child.expect_exact("meanwhile")


def test_the_beacons_chat_goes_both_ways_and_only_resume_ends_it(daemon, terminal):
    child = terminal(sys.executable, "-c", ECHO)
    child.expect_exact("ready")
    daemon.tell("chat", context="I am stuck on the regex")
    child.expect_exact("\x1b[?1049h")
    child.expect_exact("agent: I am stuck on the regex")
    child.expect_exact("\x1b]9;SENTINEL")
    settled()
    child.send("tr\u00e9\x7fy \u00e9\r")
    assert daemon.wait("say") == {"op": "say", "session": "s1", "text": "try \u00e9", "shared": False}
    daemon.tell("chat", context="still stuck")
    child.expect_exact("agent: still stuck")
    child.send("\x03\x1b[A\x1b")
    assert not [m for m in daemon.heard if m["op"] == "resume"]
    settled()
    child.send("\x15/resume\r")
    assert daemon.wait("resume") == {"op": "resume", "session": "s1", "shared": False}
    child.expect_exact("\x1b[?1049l")
    settled()
    child.sendline("free")
    child.expect_exact("got free")


def test_the_tail_is_what_was_printed_lately(daemon, terminal, tmp_path):
    go = tmp_path / "go"
    child = terminal("sh", "-c", f"echo OLD; while [ ! -e {go} ]; do sleep 0.02; done; echo NEW; sleep 99")
    child.expect_exact("OLD")
    since = time.monotonic()
    go.touch()
    child.expect_exact("NEW")
    daemon.tell("tail", id="t1", since=since)
    said = daemon.wait("tail")
    assert (said["id"], said["text"]) == ("t1", "NEW\r\n")
    daemon.tell("tail", id="t2", since=time.monotonic() - 60)
    assert daemon.wait("tail", 2)["text"] == "OLD\r\nNEW\r\n"


def test_the_tail_holds_what_waits_behind_a_question(daemon, terminal, tmp_path):
    go = tmp_path / "go"
    child = terminal("sh", "-c", f"echo ready; while [ ! -e {go} ]; do sleep 0.02; done; echo HELD; sleep 99")
    child.expect_exact("ready")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    go.touch()
    settled()
    daemon.tell("tail", id="t1", since=time.monotonic() - 60)
    assert daemon.wait("tail")["text"] == "ready\r\nHELD\r\n"
    child.send("n")
    child.expect_exact("\x1b[?1049l")
    child.expect_exact("HELD")
