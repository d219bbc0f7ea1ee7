"""``run`` as a process of its own, on a real pty, against a daemon in a thread that speaks the real protocol."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import pexpect
import pyte
import pytest

from sentinel_guard.commands import run as run_module
from sentinel_guard.commands.shell_init import code, shell_init
from sentinel_guard.commands.usage import report
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.places import places
from tests.fake_daemon import FakeDaemon

ROOT = str(Path(__file__).parent.parent.parent)
# A runner that lost the fake daemon must not start the real one; five seconds of silence are too long for a test.
DRIVER = f"""
import functools, sys
sys.path.insert(0, {ROOT!r})
from sentinel_guard.commands import run, runner
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.places import places
run.Operator = functools.partial(run.Operator, command=(sys.executable, "-c", ""))
runner.SILENCE = 0.3
try:
    code = run.run(places(), sys.argv[1:])
except SentinelError as e:
    print(e, file=sys.stderr)
    code = 1
sys.exit(code)
"""
BLOCK = "[SENTINEL SECURITY]\r\nAction: DEPLOY\r\nTarget: PRODUCTION\r\nRisk: HIGH\r\nConfirm? (Y/N): "
ASK = {
    "question": "q1", "action": "DEPLOY", "target": "PRODUCTION", "risk": "HIGH",
    "detail": "./deploy --to prod", "why": "it cannot be undone", "seconds": 60,
}  # fmt: skip
# The program must see nothing of what was typed while a question stood there.
ECHO = "import sys\nprint('ready', flush=True)\nfor line in sys.stdin:\n    print('got ' + line.strip(), flush=True)\n"


@pytest.fixture
def daemon(monkeypatch):
    home = tempfile.mkdtemp(prefix="sg-")
    monkeypatch.setenv("SENTINEL_HOME", home)
    fake = FakeDaemon(places({"SENTINEL_HOME": home}))
    yield fake
    fake.close()
    shutil.rmtree(home)


@pytest.fixture
def terminal(daemon):
    """Starts a command under ``run`` on a pty of its own."""
    started = []

    def start(*command: str, cwd: Path | None = None) -> pexpect.spawn:
        child = pexpect.spawn(sys.executable, ["-c", DRIVER, *command], dimensions=(24, 80), timeout=10, cwd=cwd)
        child.delaybeforesend = None
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


def plain(*command: str, **more) -> subprocess.Popen[bytes]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # In a session of its own it has no controlling terminal, as under CI.
    return subprocess.Popen([sys.executable, "-c", DRIVER, *command], start_new_session=True, **{**pipes, **more})


def ended(child: pexpect.spawn) -> int:
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus if child.exitstatus is not None else 128 + child.signalstatus


def by_shell(line: str) -> bytes:
    """What a shell's line prints on its terminal; ``"$0" -c "$1"`` is the runner."""
    shell = pexpect.spawn("sh", ["-c", line, sys.executable, DRIVER], timeout=10)
    shell.expect(pexpect.EOF)
    shell.close()
    return shell.before


def settled() -> None:
    """Longer than a question that was just shown ignores its keyboard."""
    time.sleep(0.3)


# --- without a terminal ---

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
    ([str(Path(__file__).parent.parent / "conftest.py")], 126, "not executable", "a file without its bit"),
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
    assert piped.wait(10) == 141, "SIGPIPE is not ignored"
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


def test_a_session_that_was_killed_meanwhile_is_noticed(daemon):
    process = plain("sleep", "5")
    daemon.wait("agent")
    daemon.close()
    daemon.replies["attach"] = {"state": "KILLED"}
    daemon.listen()
    assert b"SENTINEL KILL SWITCH:" in process.communicate()[1]
    assert process.returncode == 137


# --- on a terminal ---


def test_nothing_of_ours_is_written_when_nothing_happens(daemon, terminal):
    child = terminal("sh", "-c", "printf 'a\\033[31mb\\033[0m\\nc'; exit 5")
    assert ended(child) == 5
    assert child.before == b"a\x1b[31mb\x1b[0m\r\nc"
    assert daemon.wait("start")["interactive"] is True


def test_the_agent_has_a_terminal_of_its_own_with_the_same_size(daemon, terminal):
    child = terminal("sh", "-c", "tty; stty size; test -t 0 -a -t 1 -a -t 2 && echo all; ps -o sid= -p $$; echo $$")
    assert ended(child) == 0
    tty, size, every, sid, pid = child.before.decode().split("\r\n")[:5]
    assert tty.startswith("/dev/pts/")
    assert (size, every) == ("24 80", "all")
    assert sid.strip() == pid


def test_keys_reach_the_agent_and_control_keys_act_there(daemon, terminal):
    child = terminal("sh", "-c", 'trap \'echo INT\' INT; read a; echo "<$a>"; read b; echo "[$b]"; exit 4')
    child.sendline("hello")
    child.expect_exact("<hello>")
    child.send("\x03")
    child.expect_exact("INT")
    child.sendline("more")
    assert ended(child) == 4


def test_a_stop_key_stops_a_job_of_the_inner_shell(daemon, terminal):
    child = terminal("bash", "--norc", "--noprofile", "-i")
    child.sendline("PS1='$ '; sleep 30")
    time.sleep(0.3)
    child.send("\x1a")
    child.expect_exact("Stopped")
    child.sendline("kill -KILL %1; sleep 0.1")
    child.expect_exact("Killed")
    child.sendline("exit 6")
    assert ended(child) == 6


def test_an_agent_that_stops_itself_gives_the_shell_back(daemon, tmp_path):
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER)
    shell = pexpect.spawn("bash", ["--norc", "--noprofile", "-i"], timeout=10, encoding="utf-8")
    shell.sendline("PS1='outer> '")
    agent = "echo ready; kill -STOP \\$\\$; echo resumed; read a; exit 3"
    shell.sendline(f'{sys.executable} {driver} sh -c "{agent}"')
    shell.expect_exact("ready")
    shell.expect_exact("Stopped")
    shell.sendline("fg")
    shell.expect_exact("resumed")
    shell.sendline("x")
    assert daemon.wait("end")["code"] == 3
    shell.sendline("exit")
    shell.expect(pexpect.EOF)
    shell.close()


def test_an_agent_that_a_kill_has_frozen_does_not_give_the_shell_back(daemon, terminal):
    daemon.replies["attach"] = {"state": "KILLED"}
    child = terminal("sh", "-c", "echo ready; kill -STOP $$")
    child.expect_exact("ready")
    daemon.wait("attach")
    daemon.tell("killed", text="SENTINEL KILL SWITCH: why", incident="")
    assert ended(child) == 137


def test_the_window_size_follows(daemon, terminal):
    child = terminal("sh", "-c", "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done")
    child.expect_exact("ready")
    child.setwinsize(30, 100)
    child.expect_exact("30 100")


def test_the_terminal_is_given_back_as_it_was(daemon):
    near, far = os.openpty()
    before = termios.tcgetattr(far)
    for number in (None, signal.SIGTERM):
        command = ["true"] if number is None else ["sleep", "5"]
        process = subprocess.Popen(
            ["setsid", "-c", "-w", sys.executable, "-c", DRIVER, *command], stdin=far, stdout=far, stderr=far
        )
        if number is not None:
            runner = daemon.wait("start", 2)["pid"]
            daemon.wait("agent", 2)
            limit = time.monotonic() + 5
            while termios.tcgetattr(far) == before and time.monotonic() < limit:
                time.sleep(0.01)
            os.kill(runner, number)
        process.wait(10)
        assert termios.tcgetattr(far) == before
    os.close(near)
    os.close(far)


def test_much_output_arrives_whole(daemon, terminal):
    child = terminal(sys.executable, "-c", "for n in range(40000): print('line', n)")
    assert ended(child) == 0
    assert child.before.count(b"\r\n") == 40000
    assert child.before.endswith(b"line 39999\r\n")


def test_output_into_a_file_stays_in_the_file(daemon, tmp_path):
    out = tmp_path / "out"
    assert by_shell(f'"$0" -c "$1" sh -c \'echo out; echo err >&2\' > {out}') == b"err\r\n"
    assert out.read_text() == "out\n"
    assert daemon.wait("start")["interactive"] is True


def test_into_a_pager_the_terminal_is_left_to_the_pager(daemon):
    assert by_shell('"$0" -c "$1" echo hi | cat') == b"hi\r\n"
    assert daemon.wait("start")["interactive"] is False


def test_a_terminal_that_hangs_up_ends_the_agent(daemon, terminal, tmp_path):
    mark = tmp_path / "mark"
    child = terminal("sh", "-c", f"trap 'echo HUP > {mark}; exit 3' HUP; echo ready; while :; do sleep 0.02; done")
    child.expect_exact("ready")
    child.close(force=False)
    assert daemon.wait("end")["code"] == 3
    assert mark.read_text() == "HUP\n"


# --- the gate ---


def test_the_prompt_is_word_for_word_and_yes_is_sent(daemon, terminal):
    child = terminal(sys.executable, "-c", ECHO)
    child.expect_exact("ready")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    for part in (b"./deploy --to prod", b"it cannot be undone", b"refused in 60 s"):
        assert part in child.before
    settled()
    child.send("y")
    assert daemon.wait("answer") == {"op": "answer", "question": "q1", "yes": True}
    child.expect_exact("\x1b[?1049l")
    settled()
    child.sendline("after")
    child.expect_exact("got after")


@pytest.mark.parametrize("key", ["n", "N", "\x03", "\x1b"], ids=["n", "N", "control-c", "escape"])
def test_no_is_sent(daemon, terminal, key):
    child = terminal(sys.executable, "-c", ECHO)
    child.expect_exact("ready")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    settled()
    child.send("x\r")
    child.send(key)
    time.sleep(0.05)
    child.send(key)
    assert daemon.wait("answer")["yes"] is False


def test_type_ahead_and_haste_are_no_answer_and_reach_nobody(daemon, terminal):
    child = terminal(sys.executable, "-c", ECHO)
    child.expect_exact("ready")
    child.send("half a line ")
    daemon.tell("ask", **ASK)
    child.send("yyyy\r")
    child.expect_exact(BLOCK)
    child.send("y\r")
    time.sleep(0.1)
    child.send("y\r")
    settled()
    assert not [m for m in daemon.heard if m["op"] == "answer"]
    child.send("n")
    assert daemon.wait("answer")["yes"] is False
    settled()
    child.sendline("clean")
    child.expect("got .*clean")
    assert b"y" not in child.after


def test_the_agents_output_waits_while_it_is_asked(daemon, terminal, tmp_path):
    go = tmp_path / "go"
    child = terminal("sh", "-c", f"echo ready; while [ ! -e {go} ]; do sleep 0.02; done; echo LATER; sleep 5")
    child.expect_exact("ready")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    go.touch()
    settled()
    with pytest.raises(pexpect.TIMEOUT):
        child.expect_exact("LATER", timeout=0.3)
    child.send("n")
    child.expect_exact("LATER")


def test_silence_is_a_no_and_the_countdown_is_seen(daemon, terminal):
    child = terminal("sleep", "9")
    daemon.wait("agent")
    daemon.tell("ask", **{**ASK, "seconds": 2})
    child.expect_exact("in 2 s")
    child.expect_exact("in 1 s")
    assert daemon.wait("answer")["yes"] is False
    child.expect_exact("\x1b[?1049l")


def test_questions_queue_and_can_be_taken_away(daemon, terminal):
    child = terminal("sleep", "9")
    daemon.wait("agent")
    for n, action in enumerate(("FIRST", "SECOND", "THIRD")):
        daemon.tell("ask", **{**ASK, "question": f"q{n}", "action": action})
    child.expect_exact("Action: FIRST")
    daemon.tell("unask", question="q0")
    child.expect_exact("Action: SECOND")
    settled()
    child.send("y")
    assert daemon.wait("answer") == {"op": "answer", "question": "q1", "yes": True}
    child.expect_exact("Action: THIRD")
    settled()
    child.send("n")
    assert daemon.wait("answer", 2) == {"op": "answer", "question": "q2", "yes": False}
    child.expect_exact("\x1b[?1049l")


def test_the_agents_mouse_and_paste_modes_are_off_meanwhile(daemon, terminal):
    child = terminal("sh", "-c", "printf '\\033[?2004h\\033[?1000h'; echo ready; sleep 9")
    child.expect_exact("ready")
    daemon.tell("ask", **ASK)
    child.expect_exact("\x1b[?1049h\x1b[?1000l\x1b[?2004l")
    child.expect_exact(BLOCK)
    settled()
    child.send("n")
    child.expect_exact("\x1b[?1000h\x1b[?2004h\x1b[?1049l")


def test_a_daemon_that_dies_takes_its_question_with_it(daemon, terminal):
    child = terminal("sleep", "9")
    daemon.wait("agent")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    daemon.close()
    child.expect_exact("\x1b[?1049l")
    daemon.listen()
    daemon.wait("attach")


def test_a_key_that_is_held_down_answers_nothing(daemon, terminal):
    child = terminal("sleep", "9")
    daemon.wait("agent")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)
    for _ in range(12):
        child.send("y")
        time.sleep(0.03)
    assert not [m for m in daemon.heard if m["op"] == "answer"]
    settled()
    child.send("y")
    assert daemon.wait("answer")["yes"] is True


def test_the_person_is_told_of_a_daemon_that_stays_away(daemon, terminal):
    child = terminal("sleep", "9")
    daemon.wait("agent")
    daemon.close()
    child.expect_exact("the guard daemon is away")
    daemon.listen()
    child.expect_exact("the guard daemon is back")
    daemon.tell("ask", **ASK)
    child.expect_exact(BLOCK)


def test_what_the_launcher_has_said_on_the_screen_is_not_said_twice(daemon, terminal):
    child = terminal("sh", "-c", "echo 'SENTINEL KILL SWITCH: why'; sleep 9")
    child.expect_exact("SENTINEL KILL SWITCH: why")
    daemon.tell("killed", text="SENTINEL KILL SWITCH: why", incident="docs/I.md")
    child.expect_exact("Incident report: docs/I.md")
    assert b"SWITCH" not in child.before
    assert ended(child) == 137


def test_a_kill_takes_the_screen_back_and_says_why(daemon, terminal):
    child = terminal("sh", "-c", "printf '\\033[?1049h\\033[?25lfull screen'; sleep 9")
    child.expect_exact("full screen")
    daemon.tell("killed", text="SENTINEL KILL SWITCH: why", incident="docs/I.md")
    child.expect_exact("\x1b[?25h\x1b[?1049l\x1b[0m")
    child.expect_exact("SENTINEL KILL SWITCH: why")
    child.expect_exact("Incident report: docs/I.md")
    assert ended(child) == 137
    assert b"\x07" in child.before


# --- screens ---


class TwoScreens(pyte.Screen):
    """pyte with an alternate screen, as every terminal has one."""

    def set_mode(self, *modes, **kwargs):
        if kwargs.get("private") and 1049 in modes:
            self.kept = ({y: dict(line) for y, line in self.buffer.items()}, self.cursor.x, self.cursor.y)
            self.erase_in_display(2)
        super().set_mode(*modes, **kwargs)

    def reset_mode(self, *modes, **kwargs):
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and 1049 in modes:
            lines, self.cursor.x, self.cursor.y = self.kept
            self.erase_in_display(2)
            for y, line in lines.items():
                self.buffer[y].update(line)

    def select_graphic_rendition(self, *attributes, private=False):
        if not private:
            super().select_graphic_rendition(*attributes)


class Watcher:
    """What a person sees: a terminal emulator fed by the pty."""

    def __init__(self, child: pexpect.spawn) -> None:
        self.child = child
        self.screen = TwoScreens(child.getwinsize()[1], child.getwinsize()[0])
        self.stream = pyte.ByteStream(self.screen)

    def until(self, sees) -> list[str]:
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            try:
                self.stream.feed(self.child.read_nonblocking(1 << 16, timeout=0.05))
            except pexpect.TIMEOUT:
                if sees(self.text):
                    return self.screen.display
        raise AssertionError("not seen:\n" + self.text)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)


@pytest.mark.parametrize("program", ["vim", "less"])
def test_a_full_screen_program_is_intact_after_a_gate(daemon, terminal, tmp_path, program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    (tmp_path / "file").write_text("".join(f"line {n} of the file\n" for n in range(100)))
    options = ["-u", "NONE", "-i", "NONE", "-n"] if program == "vim" else []
    child = terminal(program, *options, "+50", "file", cwd=tmp_path)
    watcher = Watcher(child)
    before = watcher.until(lambda text: "line 50 of" in text)
    where = (watcher.screen.cursor.x, watcher.screen.cursor.y)
    daemon.tell("ask", **ASK)
    asked = watcher.until(lambda text: "Confirm? (Y/N):" in text)
    assert not any("of the file" in line for line in asked)
    settled()
    child.send("n")
    after = watcher.until(lambda text: "line 50 of" in text and "SENTINEL" not in text)
    settled()
    after = watcher.until(lambda text: "line 50 of" in text)
    # The message in the last line (the file's name) is shown once, by either program.
    assert after[:-1] == before[:-1]
    if program == "vim":
        assert (watcher.screen.cursor.x, watcher.screen.cursor.y) == where
    settled()
    child.send(":q\r" if program == "vim" else "q")
    assert ended(child) == 0


def test_a_line_program_is_intact_after_a_gate(daemon, terminal):
    child = terminal("bash", "--norc", "--noprofile", "-i")
    watcher = Watcher(child)
    child.sendline("PS1='prompt> '; clear")
    child.sendline("echo some $((1+1)) output; : half")
    watcher.until(lambda text: "some 2 output" in text)
    child.send("a line that is not fini")
    before = watcher.until(lambda text: "not fini" in text)
    daemon.tell("ask", **ASK)
    watcher.until(lambda text: "Confirm? (Y/N):" in text)
    settled()
    child.send("n")
    assert watcher.until(lambda text: "not fini" in text) == before
    settled()
    child.send("shed\x15exit 8\r")
    assert ended(child) == 8


def test_a_sequence_cut_in_two_by_a_gate_is_whole_afterwards(daemon, terminal, tmp_path):
    go = tmp_path / "go"
    child = terminal(
        "sh", "-c", f"printf 'ready\\033[3'; while [ ! -e {go} ]; do sleep 0.02; done; printf '1mred'; sleep 5"
    )
    watcher = Watcher(child)
    watcher.until(lambda text: "ready" in text)
    daemon.tell("ask", **ASK)
    watcher.until(lambda text: "Confirm? (Y/N):" in text)
    go.touch()
    settled()
    child.send("n")
    watcher.until(lambda text: "readyred" in text)
    assert watcher.screen.buffer[0][6].fg == "red"


# --- notices, chat, tail ---


def test_a_notice_is_a_line_with_a_bell(daemon, terminal):
    child = terminal("sh", "-c", "echo ready; sleep 9")
    child.expect_exact("ready")
    daemon.tell("notice", level="L3", text="breaker \x1b[2J open")
    child.expect_exact("breaker \\x1b[2J open")
    child.expect_exact("\x07")


def test_a_notice_beside_a_full_screen_program_draws_nothing(daemon, terminal):
    child = terminal("sh", "-c", "printf '\\033[?10'; printf '49h'; echo ready; sleep 9")
    child.expect_exact("ready")
    daemon.tell("notice", level="L3", text="breaker open")
    child.expect_exact("\x1b]9;breaker open\x07")


def test_a_notice_waits_for_the_end_of_a_question(daemon, terminal):
    child = terminal("sleep", "9")
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
    assert daemon.wait("say") == {"op": "say", "session": "s1", "text": "try \u00e9"}
    daemon.tell("chat", context="still stuck")
    child.expect_exact("agent: still stuck")
    child.send("\x03\x1b[A\x1b")
    assert not [m for m in daemon.heard if m["op"] == "resume"]
    time.sleep(0.1)
    child.send("\x15/resume\r")
    assert daemon.wait("resume") == {"op": "resume", "session": "s1"}
    child.expect_exact("\x1b[?1049l")
    settled()
    child.sendline("free")
    child.expect_exact("got free")


def test_the_tail_is_what_was_printed_lately(daemon, terminal, tmp_path):
    go = tmp_path / "go"
    child = terminal("sh", "-c", f"echo OLD; while [ ! -e {go} ]; do sleep 0.02; done; echo NEW; sleep 9")
    child.expect_exact("OLD")
    time.sleep(0.5)
    go.touch()
    child.expect_exact("NEW")
    daemon.tell("tail", id="t1", since=time.monotonic() - 0.4)
    said = daemon.wait("tail")
    assert (said["id"], said["text"]) == ("t1", "NEW\r\n")
    daemon.tell("tail", id="t2", since=time.monotonic() - 60)
    assert daemon.wait("tail", 2)["text"] == "OLD\r\nNEW\r\n"


def test_the_tail_holds_what_waits_behind_a_question(daemon, terminal, tmp_path):
    go = tmp_path / "go"
    child = terminal("sh", "-c", f"echo ready; while [ ! -e {go} ]; do sleep 0.02; done; echo HELD; sleep 9")
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


# --- the small commands ---


def test_shell_init_prints_what_a_shell_evaluates(daemon, capsys):
    daemon.replies["start"] = {"session": "s1", "environ": {"PATH": "/shims:/usr/bin", "X": "it's $HOME"}, "notes": []}
    assert shell_init(daemon.places, "/bin/bash", pid=77) == 0
    text = capsys.readouterr().out
    said = subprocess.run(["sh", "-c", f'{text}\nprintf "%s|%s" "$PATH" "$X"'], check=True, capture_output=True)
    assert said.stdout == b"/shims:/usr/bin|it's $HOME"
    started = daemon.wait("start")
    assert (started["kind"], started["pid"], started["interactive"]) == ("shell", 77, False)


def test_the_owner_of_a_shells_session_is_that_shell(daemon):
    shell_init(daemon.places, "sh")
    assert daemon.wait("start")["pid"] == os.getppid()
    assert code({}) == "hash -r"


def test_an_unknown_shell_is_said(daemon):
    with pytest.raises(ConfigError, match="no shell code for fish"):
        shell_init(daemon.places, "fish")


USAGE = [
    ({}, "no count", "nothing"),
    ({"tokens": -1}, "not negative", "below nothing"),
    ({"tokens": 5, "input": 5}, "not both", "a total and kinds"),
]


@pytest.mark.parametrize(("counts", "words"), [row[:2] for row in USAGE], ids=[row[2] for row in USAGE])
def test_counts_that_cannot_be_are_said(daemon, counts, words):
    with pytest.raises(ConfigError, match=words):
        report(daemon.places, **counts)


FOUND = [
    ("tool", "{bin}/tool", 0, "on PATH"),
    ("{bin}/tool", "{bin}/tool", 0, "by its path"),
    ("data", "", 126, "on PATH without its bit"),
    ("other", "", 127, "nowhere"),
]


@pytest.mark.parametrize(("name", "program", "expected"), [row[:3] for row in FOUND], ids=[row[3] for row in FOUND])
def test_a_command_is_found_as_a_shell_finds_it(tmp_path, name, program, expected):
    (tmp_path / "tool").write_text("")
    (tmp_path / "tool").chmod(0o755)
    (tmp_path / "data").write_text("")
    found, exit_code, _ = run_module.find(name.format(bin=tmp_path), str(tmp_path))
    assert (found, exit_code) == (program.format(bin=tmp_path), expected)
