"""Messages of the wire <-> values: what is understood, and what is refused rather than guessed."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.model import Layer
from sentinel_guard.core.peer import Peer
from sentinel_guard.daemon import wire_messages
from sentinel_guard.errors import PeerError

ASKED = [
    (b"V", b"1 0.1.0"),
    (b"F", b"shim"),
    (b"A", b"git"),
    (b"A", b"st\xffatus"),
    (b"D", b"/w\xfe"),
    (b"E", b"PATH=/a:/b"),
    (b"E", b"IFS="),
    (b"T", b"02t"),
]


def u32(n: int) -> bytes:
    return struct.pack("<I", n)


def test_a_request_is_what_the_chunks_say():
    asked = wire_messages.request(ASKED)
    assert (asked.face, asked.argv, asked.cwd) == ("shim", ("git", "st\udcffatus"), "/w\udcfe")
    assert asked.environ == {"PATH": "/a:/b", "IFS": ""}
    assert (asked.terminals, asked.stdin) == ("02t", "")


def without(tag: bytes):
    return [c for c in ASKED if c[0] != tag]


REFUSED = (
    ([], "nothing at all"),
    (without(b"V"), "no version"),
    ([(b"V", b"2 9.9"), *without(b"V")], "another protocol"),
    ([(b"V", b"11 0.1"), *without(b"V")], "a protocol that only begins alike"),
    (without(b"F"), "no face"),
    ([(b"F", b"root"), *without(b"F")], "an unknown face"),
    (without(b"A"), "no argv"),
    ([*ASKED, *[(b"A", b"x")] * wire_messages.MAX_ARGS], "too many words"),
)


@pytest.mark.parametrize("message", [r[0] for r in REFUSED], ids=[r[1] for r in REFUSED])
def test_what_is_no_request_is_refused(message):
    with pytest.raises(PeerError):
        wire_messages.request(message)


def test_another_protocol_says_what_to_do():
    with pytest.raises(PeerError, match="daemon stop"):
        wire_messages.request([(b"V", b"2 9.9"), *without(b"V")])


def test_unknown_chunks_of_a_newer_launcher_are_passed_by():
    assert wire_messages.request([*ASKED, (b"q", b"new"), (b"7", b"")]) == wire_messages.request(ASKED)


@given(st.lists(st.tuples(st.sampled_from([b"V", b"F", b"A", b"D", b"E", b"T", b"I", b"z"]), st.binary(max_size=8))))
def test_any_chunks_are_a_request_or_a_peer_error(chunks):
    for message in (chunks, [*ASKED[:2], *chunks]):
        try:
            asked = wire_messages.request(message)
        except PeerError:
            continue
        assert asked.argv and asked.face in wire_messages.FACES


ENDED = (
    ([(b"X", u32(0))], (0, 0.0, None, None), "only a code: the outputs were not seen"),
    ([(b"X", u32(2)), (b"B", u32(1500)), (b"2", b"e"), (b"1", b"")], (2, 1.5, "", "e"), "seen, and empty"),
    ([(b"X", u32(256 + 9))], (137, 0.0, None, None), "death by a signal is 128 + n"),
    ([(b"X", u32(1)), (b"2", b"\xff")], (1, 0.0, None, "\ufffd"), "no UTF-8"),
)


@pytest.mark.parametrize(("message", "values"), [e[:2] for e in ENDED], ids=[e[2] for e in ENDED])
def test_how_it_ended(message, values):
    ended = wire_messages.ended(message)
    assert (ended.code, ended.seconds, ended.stdout, ended.stderr) == values
    assert (b"Z", message[0][1]) in wire_messages.leave("", ended.exit), "its launcher ends as it did"


UNREADABLE = (
    ([], "no code"),
    ([(b"B", u32(1))], "only a time"),
    ([(b"X", b"1")], "no number"),
    ([(b"X", u32(0)), (b"B", b"12345")], "a time that is no number"),
    ([(b"X", u32(256))], "by no signal"),
    ([(b"X", u32(256 + 65))], "by a signal that is none"),
    ([(b"X", u32(2**32 - 1))], "far too large"),
)


@pytest.mark.parametrize("message", [e[0] for e in UNREADABLE], ids=[e[1] for e in UNREADABLE])
def test_an_outcome_without_a_readable_code_is_refused(message):
    with pytest.raises(PeerError):
        wire_messages.ended(message)


REPLIES = (([(b"R", b"Y")], "Y"), ([(b"R", b"-")], "-"), ([(b"R", b"N")], "N"), ([], "N"), ([(b"x", b"Y")], "N"))


@pytest.mark.parametrize(("message", "word"), REPLIES, ids=["yes", "no terminal", "no", "empty is a no", "another tag"])
def test_the_reply_to_a_question(message, word):
    assert wire_messages.reply(message) == word


SCRIPTS = (
    (("sh", "-c", "ls"), "ls", "the plain one"),
    (("bash", "-lc", "ls"), "ls", "c among other letters"),
    (("bash", "-ec", "ls"), "ls", "c last"),
    (("bash", "-o", "pipefail", "-c", "ls"), "ls", "an option with a value before it"),
    (("bash", "--rcfile", "x", "-ic", "ls"), None, "a file that an interactive one reads before"),
    (("bash", "--init-file", "x", "-ic", "ls"), None, "its other name"),
    (("fish", "--init-command=date", "-c", "ls"), None, "a command that runs before"),
    (("fish", "-Cdate", "-c", "ls"), None, "its short name"),
    (("bash", "--norc", "-c", "ls"), "ls", "a long option without one"),
    (("-bash", "-c", "ls"), "ls", "a login shell"),
    (("sh", "-c", "ls", "name"), None, "positional parameters: the argv tells more"),
    (("sh", "-c"), None, "nothing to run"),
    (("sh", "x.sh", "-c", "ls"), None, "a script's own words"),
    (("sh", "--", "-c"), None, "the end of options"),
    (("sh",), None, "a shell that reads on"),
    (("bash", "-o", "-c", "ls"), None, "-c as a value"),
    (("bash", "-c", "-l", "ls"), "ls", "an option after -c"),
    (("bash", "-c", "--", "ls"), "ls", "the end of options after -c"),
    (("bash", "-c", "--", "ls", "name"), None, "positional parameters after it"),
    (("bash", "-c", "-l"), None, "nothing to run after it"),
)


@pytest.mark.parametrize(("argv", "text"), [s[:2] for s in SCRIPTS], ids=[s[2] for s in SCRIPTS])
def test_the_text_that_a_shell_was_given(argv, text):
    assert wire_messages.script(argv) == text


RUNS = (
    (("sh", "-c", "ls"), True, "a text"),
    (("sh", "x.sh"), True, "a script"),
    (("sh", "-e", "x.sh"), True, "a script after options"),
    (("bash", "--version"), True, "says its version"),
    (("bash",), False, "reads what is typed"),
    (("bash", "-i"), False, "an interactive one"),
    (("bash", "-s", "a"), False, "reads its standard input, whatever words follow"),
    (("bash", "-o", "vi"), False, "a value is no script"),
    (("bash", "--rcfile", "x"), False, "nor is a file of settings"),
    (("-zsh",), False, "a login shell"),
)


@pytest.mark.parametrize(("argv", "runs"), [r[:2] for r in RUNS], ids=[r[2] for r in RUNS])
def test_whether_a_shell_was_given_anything_to_run(argv, runs):
    assert wire_messages.runs_something(argv) is runs


PROMPTS = (
    (("bash",), "012t", True, "on a terminal"),
    (("bash", "-s", "a"), "012", True, "with words of its own"),
    (("bash",), "02", True, "whose output goes elsewhere"),
    (("bash",), "12t", False, "that reads a pipe"),
    (("bash",), "01t", False, "whose errors go elsewhere: bash does not prompt"),
    (("bash", "-il"), "", True, "that is told to"),
    (("bash", "-o", "vi"), "", False, "with a value that only looks so"),
    (("bash", "--init-file", "x"), "", False, "or an option"),
    (("bash", "-ic", "ls"), "012", False, "that has a text"),
    (("bash", "-i", "x.sh"), "012", False, "that has a script"),
)


@pytest.mark.parametrize(("argv", "terminals", "prompts"), [p[:3] for p in PROMPTS], ids=[p[3] for p in PROMPTS])
def test_whether_a_shell_prompts_for_lines(argv, terminals, prompts):
    assert wire_messages.reads_lines(wire_messages.Request("shell", argv, "/w", {}, terminals)) is prompts


NO_LINES = ((), ("7", "ls"), ("x", "ls", ""), ("7", "ls", "", "more"))


@pytest.mark.parametrize("words", NO_LINES)
def test_a_line_that_is_none(words):
    with pytest.raises(PeerError, match="line"):
        wire_messages.line(wire_messages.Request("line", ("sentinel-line", *words), "/w"))


def test_a_line_is_a_command_with_what_its_shell_knows():
    asked = wire_messages.Request("line", ("sentinel-line", "7", "cat $F", "F='.env'\n"), "/w")
    act = wire_messages.action(asked, ident="i", session="s", root="/w", parent="p", who=Peer(1, 2), at=5.0)
    assert (act.layer, act.tool, act.arguments) == (Layer.LINE, "shell", {"command": "cat $F"})
    assert act.definitions == "F='.env'\n"


ACTIONS = (
    ("shell", ("bash", "-c", "ls -l"), (Layer.SHELL, "shell", {"command": "ls -l"}), "a text is a command"),
    ("shell", ("/x/bash", "a.sh", "1"), (Layer.SHELL, "shell", {"argv": ["/x/bash", "a.sh", "1"]}), "a script is argv"),
    ("shim", ("/x/git", "status"), (Layer.SHIM, "git", {"argv": ["/x/git", "status"]}), "a shim is its program"),
    ("shim", ("-x", "y"), (Layer.SHIM, "x", {"argv": ["-x", "y"]}), "a leading dash is no part of the name"),
)


@pytest.mark.parametrize(("face", "argv", "wanted"), [a[:3] for a in ACTIONS], ids=[a[3] for a in ACTIONS])
def test_the_action_that_a_request_proposes(face, argv, wanted):
    who = Peer(1, 2)
    act = wire_messages.action(
        wire_messages.Request(face, argv, "/w"), ident="i", session="s", root="/w", parent="p", who=who, at=5.0
    )
    assert (act.layer, act.tool, act.arguments) == wanted
    assert (act.id, act.session, act.cwd, act.root, act.parent, act.who, act.at) == (
        "i",
        "s",
        "/w",
        "/w",
        "p",
        who,
        5.0,
    )


ANSWERS = (
    (wire_messages.refusal("no"), [(b"P", b"2no\n"), (b"Z", u32(126))], "a refusal: words and 126"),
    (wire_messages.refusal("no\udc9b"), [(b"P", b"2no\\x9b\n"), (b"Z", u32(126))], "a byte that some terminals obey"),
    (wire_messages.leave("a\x9b2J\x1b\tb", 0), [(b"P", b"2a\\x9b2J\\x1b\tb\n"), (b"Z", u32(0))], "C1 and C0"),
    (wire_messages.ask("\x9b?"), [(b"Q", b"\\x9b?")], "C1 in a question"),
    (wire_messages.leave("", 3), [(b"Z", u32(3))], "nothing to say"),
    (wire_messages.leave("hint\n", 3), [(b"P", b"2hint\n"), (b"Z", u32(3))], "one newline, not two"),
    (wire_messages.run("/bin/\udcff", supervise=False), [(b"X", b"/bin/\xff")], "becomes it"),
    (
        wire_messages.run("/bin/sh", supervise=False, argv=["sh", "\udcff"]),
        [(b"A", b"sh"), (b"A", b"\xff"), (b"X", b"/bin/sh")],
        "becomes it, with other arguments",
    ),
    (
        wire_messages.run("/bin/ls", supervise=True, environ=[("A", "1")], text="t"),
        [(b"P", b"2t\n"), (b"E", b"A=1"), (b"S", b"/bin/ls")],
        "watches it, with a setting",
    ),
    (wire_messages.hold("w", 5), [(b"P", b"2w\n"), (b"H", u32(5))], "goes on waiting"),
    (wire_messages.ask("Y? "), [(b"Q", b"Y? ")], "a question"),
    (wire_messages.prints("out", "1"), [(b"P", b"1out\n")], "standard output"),
)


@pytest.mark.parametrize(("message", "chunks"), [a[:2] for a in ANSWERS], ids=[a[2] for a in ANSWERS])
def test_answers_as_chunks(message, chunks):
    assert message == chunks
