"""``run`` without a terminal: exit codes, pipes, signals, a daemon that goes."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sentinel_guard.host import session_proof
from tests.support.run_on_pty import ASK, DRIVER, plain
from tests.support.time_limits import limit

CODES = [
    (["true"], 0, "success"),
    (["sh", "-c", "exit 42"], 42, "a code of its own"),
    (["sh", "-c", "kill -TERM $$"], 143, "death by a signal"),
    (["sh", "-c", "kill -KILL $$"], 137, "death by the strongest"),
]


@pytest.mark.parametrize(("command", "expected"), [row[:2] for row in CODES], ids=[row[2] for row in CODES])
def test_the_exit_code_is_passed_through(daemon, command, expected):
    process = plain(*command)
    assert process.communicate()[1] == b""
    assert process.returncode == expected
    assert daemon.wait("end")["code"] == expected


def test_pipes_are_inherited_and_the_session_is_announced(daemon):
    daemon.replies["start"] = {"session": "s7", "environ": {"SENTINEL_SESSION": "s7", "SHELL": "/shims/bash"}}
    process = plain("sh", "-c", 'cat; echo "$SENTINEL_SESSION $SHELL"; echo err >&2')
    out, err = process.communicate(b"in\0\xff\n")
    assert out == b"in\0\xff\ns7 /shims/bash\n"
    assert err == b"err\n"
    started = daemon.wait("start")
    assert started["command"][0] == "sh"
    assert (started["interactive"], started["kind"], started["cwd"]) == (False, "run", str(Path.cwd()))
    assert started["pid"] == process.pid
    assert daemon.wait("agent")["session"] == "s7"
    assert [m["op"] for m in daemon.heard] == ["hello", "start", "agent", "end"]


def test_the_agent_starts_only_once_it_was_announced(daemon, tmp_path):
    mark = tmp_path / "mark"
    daemon.replies["agent"] = lambda asked: time.sleep(0.2) or {"early": mark.exists(), "pid": asked["pid"]}
    process = plain("sh", "-c", f"echo $$ > {mark}")
    process.communicate()
    assert int(mark.read_text()) == daemon.wait("agent")["pid"]


REFUSALS = [
    ([], 1, "no command to run", "no command"),
    (["no-such-program-here"], 127, "command not found", "not on PATH"),
    (["./no-such-file"], 127, "no such file", "no such path"),
    (["/"], 126, "is a directory", "a folder"),
    ([__file__], 126, "not executable", "a file without its bit"),
    ([""], 127, "command not found", "an empty name"),
]


@pytest.mark.parametrize(("command", "expected", "words"), [r[:3] for r in REFUSALS], ids=[r[3] for r in REFUSALS])
def test_what_cannot_run_is_said_before_a_session_begins(daemon, command, expected, words):
    process = plain(*command)
    assert words in process.communicate()[1].decode()
    assert process.returncode == expected
    assert daemon.heard == []


def test_what_fails_at_the_last_moment_is_said_too(daemon, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    process = plain(str(script))
    assert b"No such file" in process.communicate()[1]
    assert process.returncode == 126


def test_a_script_without_interpreter_runs_as_a_shell_would(daemon, tmp_path):
    script = tmp_path / "script"
    script.write_text("exit 7\n")
    script.chmod(0o755)
    process = plain(str(script))
    process.communicate()
    assert process.returncode == 7


def test_a_refusal_of_the_daemon_is_shown_in_its_words(daemon):
    daemon.replies["start"] = {"ok": False, "error": "Not a git repository.", "hint": "git init"}
    process = plain("true")
    assert process.communicate()[1].decode() == "Not a git repository.\n  git init\n"
    assert process.returncode == 1


def test_notes_of_the_start_are_shown_harmlessly(daemon):
    daemon.replies["start"] = {"session": "s1", "environ": {}, "notes": ["read-only \x1b[2J repository\n  line 2"]}
    assert plain("true").communicate()[1] == b"sentinel-guard: read-only \\x1b[2J repository\n  line 2\n"


def test_a_deleted_directory_is_said(daemon, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    process = subprocess.run(
        ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', gone, sys.executable, "-c", DRIVER, "true"],
        check=False, capture_output=True,
    )  # fmt: skip
    assert process.returncode == 1
    assert b"was it deleted?" in process.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1], ids=lambda n: n.name)
def test_signals_reach_the_agent_and_its_answer_counts(daemon, number):
    name = number.name.removeprefix("SIG")
    process = plain("sh", "-c", f"trap 'echo {name}; exit 9' {name}; echo ready; while :; do sleep 0.01; done")
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    out, _ = process.communicate()
    assert out == f"{name}\n".encode()
    assert process.returncode == 9


def test_the_agent_finds_signals_as_any_program_does(daemon):
    read = "import signal as s; print([n for n in (s.SIGTERM, s.SIGINT, s.SIGHUP) if s.getsignal(n) == s.SIG_IGN])"
    assert plain(sys.executable, "-c", read).communicate()[0] == b"[]\n"
    piped = plain("sh", "-c", "yes | head -1; exec 2>&-; cat /dev/zero", stdout=subprocess.PIPE)
    assert piped.stdout.readline() == b"y\n"
    piped.stdout.close()
    assert piped.wait(limit(10)) == 141, "SIGPIPE is not ignored"
    piped.stdin.close()
    piped.stderr.close()


def test_orphans_become_the_runners_children(daemon, tmp_path):
    mark = tmp_path / "mark"
    orphan = f"while [ ! -e {mark} ]; do sleep 0.01; done; ps -o ppid= -p $$ > {mark}.ppid; touch {mark}.done"
    process = plain("sh", "-c", f"(sh -c '{orphan}' &); touch {mark}; while [ ! -e {mark}.done ]; do sleep 0.01; done")
    process.communicate()
    assert int(Path(f"{mark}.ppid").read_text()) == process.pid


def test_without_a_terminal_a_question_is_a_no(daemon):
    process = plain("sleep", "5")
    daemon.wait("agent")
    daemon.tell("ask", **ASK)
    assert daemon.wait("answer") == {"op": "answer", "question": "q1", "yes": False}
    process.terminate()
    process.communicate()


def test_a_killed_session_ends_with_137_and_words(daemon):
    process = plain("sleep", "5")
    daemon.wait("agent")
    daemon.tell("killed", text="SENTINEL KILL SWITCH: rm -rf / was tried", incident="docs/incidents/I.md")
    _, err = process.communicate()
    assert process.returncode == 137
    assert err.decode() == "SENTINEL KILL SWITCH: rm -rf / was tried\nIncident report: docs/incidents/I.md\n"


def test_a_kill_that_is_still_being_carried_out_is_waited_for(daemon):
    def end(_):
        time.sleep(0.2)
        daemon.tell("killed", text="SENTINEL KILL SWITCH: late words", incident="")
        return {"state": "KILLED"}

    daemon.replies["end"] = end
    process = plain("sh", "-c", "kill -KILL $$")
    assert process.communicate()[1] == b"SENTINEL KILL SWITCH: late words\n"
    assert process.returncode == 137


def test_a_lost_daemon_is_found_again_and_the_session_taken_up(daemon):
    process = plain("sh", "-c", "read line; exit 3")
    agent = daemon.wait("agent")
    daemon.close()
    daemon.listen()
    assert daemon.wait("attach") == {"op": "attach", "session": "s1", "pid": process.pid}
    assert daemon.wait("agent", 2) == agent
    process.communicate(b"\n")
    assert process.returncode == 3
    assert daemon.wait("end")["code"] == 3


@pytest.mark.parametrize(("secret", "obeyed"), [("5" * 64, True), ("6" * 64, False)], ids=["it knows", "an impostor"])
def test_who_takes_the_daemons_place_must_know_the_sessions_secret(daemon, secret, obeyed):
    """One that does not would let the agent end, or answer for the person."""

    def attach(asked):
        said = f"attach s1 {asked['nonce']}".encode()
        return {"state": "KILLED", "proof": session_proof.prove(secret.encode(), said).hex()}

    daemon.replies["start"] |= {"secret": "5" * 64}
    process = plain("sh", "-c", "read line; exit 3")
    daemon.wait("agent")
    daemon.close()
    daemon.replies["attach"] = attach
    daemon.listen()
    daemon.wait("attach", 1 if obeyed else 3)
    daemon.replies["end"] = lambda asked: {"state": "ENDED"}
    said = process.communicate(b"\n")[1]
    assert process.returncode == (137 if obeyed else 3)
    assert (b"does not know this session's secret" in said) is not obeyed
    assert said.count(b"does not know") <= 1, "said once"


def test_a_session_that_was_killed_meanwhile_is_noticed(daemon):
    process = plain("sleep", "5")
    daemon.wait("agent")
    daemon.close()
    daemon.replies["attach"] = {"state": "KILLED"}
    daemon.listen()
    assert b"SENTINEL KILL SWITCH:" in process.communicate()[1]
    assert process.returncode == 137


@pytest.mark.parametrize("level", ["-", "0", "odd", "3"], ids=["none", "zero", "no number", "a shell's"])
def test_a_shell_whose_input_is_a_socket_reads_bash_env(daemon, tmp_path, monkeypatch, level):
    """Bash takes a first shell with a socket for a remote one, and would read ~/.bashrc instead."""
    monkeypatch.delenv("SHLVL", raising=False)
    if level != "-":
        monkeypatch.setenv("SHLVL", level)
    file = tmp_path / "env"
    file.write_text("echo read\n")
    daemon.replies["start"] = {"session": "s7", "environ": {"BASH_ENV": str(file)}}
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert plain("bash", "-c", "true", stdin=theirs).communicate()[0] == b"read\n"


def test_an_agent_does_not_wait_for_modules_that_its_runner_does_not_need():
    code = (
        "import sys; import sentinel_guard.__main__; from sentinel_guard.commands.run import guarded_agent; "
        "print([m for m in ('dataclasses', 'inspect', 'asyncio', 'hmac', 'click', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-Ic", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
