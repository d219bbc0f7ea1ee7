"""How the launcher obeys (docs/protocol.md, "Daemon to launcher")."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

import pytest

from sentinel_guard.core.wire_framing import MAX_CHUNK, encode
from tests.support.launcher_guard import AT_REST, BUSY, answers, executes, exit_code, number, real, says, value, values
from tests.support.time_limits import limit

BLOCKED = b"403 SENTINEL BLOCKED: git was not run: "

ENDS = [
    ([exit_code(0)], 0, b"", b"", "an exit code"),
    ([exit_code(255)], 255, b"", b"", "the largest exit code"),
    ([(b"P", b"1out"), (b"P", b"2err"), exit_code(126)], 126, b"out", b"err", "words on either stream"),
    ([(b"P", b"2"), exit_code(1)], 1, b"", b"", "empty words"),
    ([(b"P", b"2" + b"x" * 60_000), exit_code(1)], 1, b"", b"x" * 60_000, "many words"),
    ([exit_code(256 + signal.SIGKILL)], -signal.SIGKILL, b"", b"", "death by a signal"),
    ([exit_code(256 + signal.SIGSEGV)], -signal.SIGSEGV, b"", b"", "death by a signal that dumps core"),
    ([exit_code(3), (b"P", b"2no")], 3, b"", b"", "what stands after the end is not obeyed"),
]


@pytest.mark.parametrize(("chunks", "code", "out", "err"), [r[:-1] for r in ENDS], ids=[r[-1] for r in ENDS])
def test_ends(guard, chunks, code, out, err):
    done = guard(answers(chunks)).run("git")
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


REFUSALS = [
    ([], "no verb"),
    ([(b"P", b"1all is well")], "words alone do not say how it ends"),
    ([(b"E", b"A=b"), (b"A", b"x")], "collecting alone"),
    ([(b"P", b"1shown?"), (b"y", b""), exit_code(0)], "an unknown verb"),
    ([exit_code(0), (b"y", b"")], "an unknown verb after the end"),
    ([(b"X", b"/bin/true"), (b"c", b"confine")], "a verb of a later version"),
    ([(b"X", b"true")], "a program without its path"),
    ([(b"X", b"")], "no program"),
    ([(b"X", b"/bin/true\0/x")], "a path that ends early"),
    ([(b"A", b"a\0b"), (b"X", b"/bin/true")], "an argument that ends early"),
    ([(b"E", b""), exit_code(0)], "no variable"),
    ([(b"E", b"=x"), exit_code(0)], "a variable without a name"),
    ([(b"P", b"3x"), exit_code(0)], "a stream that is not 1 or 2"),
    ([(b"P", b""), exit_code(0)], "no stream"),
    ([(b"Z", b"\0")], "a number that is too short"),
    ([(b"Z", number(256))], "death by signal 0"),
    ([(b"Z", number(256 + 65))], "death by a signal that there is not"),
    ([(b"Z", number(1 << 31))], "an exit code that is none"),
    ([(b"H", b"")], "a hold without a time"),
]


@pytest.mark.parametrize(("chunks", "why"), REFUSALS, ids=[row[-1] for row in REFUSALS])
def test_an_answer_that_is_not_understood_is_a_refusal_and_nothing_of_it_is_obeyed(guard, chunks, why):
    g = guard(answers(chunks))
    done = g.run("git")
    assert (done.returncode, done.stdout) == (126, b"")
    assert done.stderr.startswith(BLOCKED)
    assert done.stderr.count(b"\n") == 1


GARBAGE = [
    (b"HTTP/1.1 400 Bad Request\r\n", "another protocol"),
    (b"Z" + number(MAX_CHUNK + 1), "a chunk over the limit"),
    (b"." + number(1) + b"x", "an end chunk with bytes"),
    (b"\0" * 64, "zeros"),
    ((b"P" + number(MAX_CHUNK) + b"1" * MAX_CHUNK) * 2 + b"P" + number(1), "a message over the limit"),
]


@pytest.mark.parametrize(("raw", "why"), GARBAGE, ids=[row[-1] for row in GARBAGE])
def test_garbage_is_a_refusal(guard, raw, why):
    done = guard(says(raw, then_wait=True)).run("git")
    assert (done.returncode, done.stdout) == (126, b"")
    assert done.stderr.startswith(BLOCKED)


def test_an_answer_byte_by_byte(guard):
    def handler(connection):
        connection.read()
        for byte in encode([(b"P", b"1slowly"), exit_code(4)]):
            connection.sock.sendall(bytes([byte]))
            time.sleep(0.001)

    done = guard(handler).run("git")
    assert (done.returncode, done.stdout) == (4, b"slowly")


def test_exec_keeps_arguments_and_environment(guard):
    g = guard(executes)
    done = g.run("sh", "-c", 'printf "%s|" "$0" "$@" "$KEPT"; exit 5', b"\xff", "", env={"KEPT": "yes", "PATH": "/bin"})
    assert (done.returncode, done.stdout) == (5, b"\xff||yes|")


def test_exec_with_arguments_and_environment_of_the_answer(guard):
    g = guard(
        answers(
            [
                (b"E", b"NEW=\xff=1"),
                (b"E", b"OLD"),
                (b"E", b"BOTH=after"),
                *[(b"A", a) for a in (b"sh", b"-c", b'echo "$NEW|${OLD-unset}|$BOTH|$1"', b"sh", b"\xfe")],
                (b"X", b"/bin/sh"),
            ]
        )
    )
    done = g.run("git", "ignored", env={"OLD": "1", "BOTH": "before"})
    assert done.stdout == b"\xff=1|unset|after|\xfe\n"


SCRIPTS = [(b"X", "exec"), (b"S", "supervise")]


@pytest.mark.parametrize(("verb", "why"), SCRIPTS, ids=[row[-1] for row in SCRIPTS])
def test_a_script_without_interpreter_is_run_by_sh(guard, tmp_path, verb, why):
    script = tmp_path / "deploy"
    script.write_text('echo "deployed $1"; exit 6\n')
    script.chmod(0o755)
    g = guard(answers([(verb, os.fsencode(script))], []))
    done = g.run("deploy", "now")
    assert (done.returncode, done.stdout) == (6, b"deployed now\n")


CANNOT = [
    (b"/no/such/program", b"No such file or directory", "it is not there"),
    (b"/etc/passwd", b"Permission denied", "it is no program"),
    (b"/", b"Permission denied", "it is a folder"),
]


@pytest.mark.parametrize("verb", [b"X", b"S"])
@pytest.mark.parametrize(("path", "reason", "why"), CANNOT, ids=[row[-1] for row in CANNOT])
def test_a_program_that_cannot_be_started(guard, verb, path, reason, why):
    done = guard(answers([(verb, path)])).run("git")
    assert done.returncode == 126
    assert done.stderr == BLOCKED + path + b" cannot be started: " + reason + b".\n"


def test_hold_waits_so_long_and_no_longer(guard, quick):
    program, load = quick

    def handler(connection):
        connection.read()
        connection.send((b"P", b"2asking\n"), (b"H", number(200)))
        load.write_text(AT_REST)
        connection.read()

    load.write_text(BUSY)  # the first answer may take its time
    began = time.monotonic()
    done = guard(handler, program=program).run("git")
    assert 0.19 < time.monotonic() - began < limit(5)
    assert done.returncode == 126
    assert done.stderr.startswith(b"asking\n" + BLOCKED)


def test_holds_follow_one_another(guard):
    def handler(connection):
        connection.read()
        for _ in range(3):
            connection.send((b"H", number(1000)))
        time.sleep(0.05)
        connection.send((b"X", os.fsencode(real("true"))))

    assert guard(handler).run("git").returncode == 0


def test_a_hold_can_be_interrupted(guard):
    held = threading.Event()

    def handler(connection):
        connection.read()
        connection.send((b"H", number(0)))
        held.set()
        connection.read()

    g = guard(handler)
    process = subprocess.Popen([g.shim("git")])
    assert held.wait(limit(5))
    process.send_signal(signal.SIGTERM)
    assert process.wait(limit(5)) == -signal.SIGTERM


def test_a_refusal_is_one_line_that_does_nothing_to_a_terminal(guard):
    g = guard(answers([]))
    done = g.run("a\x1b[2J\nb")
    assert done.stderr.startswith(b"403 SENTINEL BLOCKED: a?[2J?b was not run: ")


def test_a_question_without_a_terminal(guard):
    replies = []

    def handler(connection):
        connection.read()
        connection.send((b"Q", b"Confirm? (Y/N): "))
        replies.append(value(connection.read(), "R"))
        connection.send(exit_code(126))

    assert guard(handler).run("git", start_new_session=True).returncode == 126
    assert replies == [b"-"]


def test_no_descriptor_leaks_into_the_program(guard):
    def handler(connection):
        chunk = b"S" if values(connection.read(), "A")[1] == b"supervise" else b"X"
        listing = (b"A", b"ls"), (b"A", b"/proc/self/fd")
        connection.send(*listing, (chunk, os.fsencode(real("ls"))))

    g = guard(handler)
    for how in ("exec", "supervise"):
        assert g.run("git", how).stdout.split() == [b"0", b"1", b"2", b"3"], "3 is the listing itself"
