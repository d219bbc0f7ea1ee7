"""The face of an agent's hook: what the launcher says by itself has the client's form, and is said in time."""

from __future__ import annotations

import json
import re
import struct
import time

import pytest

from sentinel_guard.agents import registry
from tests.support.agents.hook_readers import stopped
from tests.support.launcher_guard import Connection
from tests.support.time_limits import limit

HOOK = "sentinel-hook"
FORM = '{"decision":"deny","reason":"@words@"}'
"""As a dialect has it; the words are the launcher's."""
FORMS = {"hook.gemini.BeforeTool": f"3 {FORM}", "hook.gemini.AfterTool": "3 ", "hook.gemini.Odd": "x"}
BLOCKED = "403 SENTINEL BLOCKED: the agent's call was not run: "


def says(*chunks):
    return lambda connection: (connection.read(), connection.send(*chunks), connection.read())


def silent(connection: Connection) -> None:
    connection.read()
    time.sleep(limit(8))


def raw(data: bytes):
    return lambda connection: (connection.read(), connection.sock.sendall(data))


def code(number: int) -> tuple[bytes, bytes]:
    return b"Z", struct.pack("<I", number)


PATHS = [
    (None, "does not answer", "no daemon listens"),
    (silent, "gave no answer within", "the daemon is late"),
    (
        says((b"H", struct.pack("<I", 0))),
        "gave no answer within",
        "it holds without an end, and the client's time is over",
    ),
    (raw(b"nonsense"), "is not the protocol", "garbage"),
    (raw(b""), "(does not answer|gave no answer within [1-9])", "it hangs up again and again, until that time"),
    (
        says((b"P", b"2403 SENTINEL BLOCKED: the store is full.\n"), code(126)),
        "the store is full",
        "a refusal without a form",
    ),
    (says(code(126)), "the guard gave no reason", "a refusal without words"),
    (says((b"P", b'2403 SENTINEL BLOCKED: "x\\y" \x01\n'), code(126)), r"'x/y' \?", "words that JSON would read"),
    (says((b"X", b"/bin/true")), "does not judge it", "a program to run is no answer"),
    (says((b"S", b"/bin/true")), "does not judge it", "nor is one to watch"),
    (says((b"Q", b"Y?")), "does not judge it", "nor is a question"),
    (says((b"P", b"1{}")), "does not say what to do", "words alone"),
    (says((b"y", b"")), "is not understood", "an unknown verb"),
]


@pytest.mark.parametrize(("handler", "words", "why"), PATHS, ids=[row[-1] for row in PATHS])
def test_whatever_goes_wrong_is_a_refusal_in_the_clients_form(guard, handler, words, why):
    g = guard(handler, listen=handler is not None)
    g.settings(**FORMS)
    began = time.monotonic()
    done = g.run(HOOK, "gemini", "BeforeTool", input=b"{}")
    said = json.loads(done.stdout)
    assert (done.returncode, done.stderr, said["decision"]) == (0, b"", "deny")
    assert said["reason"].startswith(BLOCKED) and re.search(words, said["reason"])
    assert time.monotonic() - began < limit(5), "before the client would go on without it"


@pytest.mark.parametrize(("handler", "words", "why"), PATHS, ids=[row[-1] for row in PATHS])
def test_where_nothing_can_be_stopped_nothing_is_said(guard, handler, words, why):
    g = guard(handler, listen=handler is not None)
    g.settings(**FORMS)
    done = g.run(HOOK, "gemini", "AfterTool", input=b"{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


UNKNOWN = [
    (("gemini", "Other"), "an event that install did not know"),
    (("other", "BeforeTool"), "a client that it did not know"),
    (("gemini",), "no event"),
    ((), "no client"),
]


@pytest.mark.parametrize(("words", "why"), UNKNOWN, ids=[row[-1] for row in UNKNOWN])
def test_without_a_form_it_is_the_exit_code_that_most_clients_obey(guard, words, why):
    g = guard(says(code(126)))
    g.settings(**FORMS)
    done = g.run(HOOK, *words, input=b"{}")
    assert (done.returncode, done.stdout) == (2, b"") and done.stderr.startswith(BLOCKED.encode())


def test_input_that_is_too_large_is_refused_in_the_form(guard):
    g = guard(says(code(0)))
    g.settings(**FORMS)
    done = g.run(HOOK, "gemini", "BeforeTool", input=b"x" * ((4 << 20) + 1))
    assert "over 4 MiB" in json.loads(done.stdout)["reason"]


def test_what_the_daemon_says_passes_as_it_is(guard):
    g = guard(says((b"P", b'1{"a": 1}\n'), (b"P", b"2words\n"), code(3)))
    g.settings(**FORMS)
    done = g.run(HOOK, "gemini", "BeforeTool", input=b'{"tool": 1}')
    assert (done.returncode, done.stdout, done.stderr) == (3, b'{"a": 1}\n', b"words\n")
    assert dict(g.requests[0])[b"I"] == b'{"tool": 1}'


CLIENTS = [agent.hooks for agent in registry.AGENTS if agent.hooks]
STOPS = [(dialect, name) for dialect in CLIENTS for name in dialect.events if dialect.form(name)]


@pytest.mark.parametrize(("dialect", "event"), STOPS, ids=[f"{d.client} {n}" for d, n in STOPS])
@pytest.mark.parametrize("path", PATHS, ids=[row[-1] for row in PATHS])
def test_no_client_reads_a_failure_of_ours_as_a_go_ahead(guard, dialect, event, path):
    handler, *_ = path
    g = guard(handler, listen=handler is not None)
    forms = registry.hook_forms()
    g.settings(**{name: f"1 {value.partition(' ')[2]}" for name, value in forms.items()})
    done = g.run(HOOK, dialect.client, event, input=b"{}")
    assert stopped(dialect.client, event, done.stdout.decode(), done.stderr.decode(), done.returncode), done
