"""A supervised program cannot tell, and neither can whoever started it (docs/protocol.md, "Supervise")."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.support.launcher_guard import answers, exit_code, number, real, started, state, value, values, wanted
from tests.support.time_limits import limit
from tests.support.wait_until import until

TAIL = 64 * 1024

SAME = [
    ("exit 0", "success"),
    ("exit 3", "an exit code"),
    ("exit 255", "the largest exit code"),
    ("echo out; echo err >&2", "both streams"),
    ("kill -TERM $$", "death by a signal"),
    ("kill -SEGV $$", "death by a signal that dumps core"),
    ("kill -KILL $$", "death that nobody can catch"),
    ("kill -PIPE $$", "death by SIGPIPE"),
    ("kill -USR1 $$", "death by a signal that only programs send"),
    ("trap 'echo caught; exit 7' TERM; kill -TERM $$", "a caught signal"),
    ("cat", "standard input to its end"),
    ('read line; echo "got $line"', "a line of standard input; the rest stays"),
    ("umask; ulimit -c; pwd", "umask, limits, folder"),
    ("grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status", "signals that are blocked and ignored"),
    ("ls /proc/self/fd", "descriptors"),
    ("for i in $(seq 500); do echo out$i; echo err$i >&2; done", "many small writes"),
    ("printf 'no newline'; printf 'here either' >&2", "unfinished lines"),
    ("exec >&-; exec 2>&-; exit 4", "a program that closes its output"),
    ("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2", "more than pipes hold"),
    ('echo to-file > "$TMPDIR/f"; cat "$TMPDIR/f"; rm "$TMPDIR/f"', "its own redirections"),
    ("sh -c 'exit 9'; echo $?", "its own children"),
    ("(sleep 0.05; echo late) & echo early; wait", "a background job that it waits for"),
    ("[ -t 1 ] || [ -t 2 ] || echo none", "no terminal where there is none"),
    ("kill -0 $PPID && echo parent", "its parent is there"),
    ("sleep 0.1 & kill -STOP $!; kill -CONT $!; wait; echo $?", "stopping its own children"),
]


@pytest.mark.parametrize(("script", "why"), SAME, ids=[row[-1] for row in SAME])
def test_the_same_as_bare(guard, tmp_path, script, why):
    g = guard()
    env = g.environ(TMPDIR=str(tmp_path))
    bare = subprocess.run([real("bash"), "-c", script], input=b"one\ntwo\n", capture_output=True, check=False, env=env)
    done = g.run("bash", "-c", script, input=b"one\ntwo\n", env=env)
    assert (done.returncode, done.stdout, done.stderr) == (bare.returncode, bare.stdout, bare.stderr)
    code = bare.returncode if bare.returncode >= 0 else 256 - bare.returncode
    (outcome,) = g.outcomes
    assert value(outcome, "X") == number(code)
    assert value(outcome, "1") == bare.stdout[-TAIL:]
    assert value(outcome, "2") == bare.stderr[-TAIL:]


def faults(command):
    """Pages of memory that a command, and what it waits for, came to for the first time (getrusage(2))."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return used.ru_minflt


def test_a_command_that_says_nothing_costs_no_memory_for_what_it_might_say(guard):
    """What both taps could hold are 64 pages: to come to them took a sixth of the time that the guard adds."""
    g = guard()
    assert faults([g.shim("true")]) - faults([real("true")]) < 50


def ignoring(*signals):
    def act():
        for s in signals:
            signal.signal(s, signal.SIG_IGN)

    return act


def blocking(*signals):
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, signals)


INHERITED = [
    (ignoring(signal.SIGINT, signal.SIGQUIT), "ignored as in a background job of sh"),
    (ignoring(signal.SIGHUP), "ignored as under nohup"),
    (ignoring(signal.SIGCHLD), "ignored children, which nobody may then wait for"),
    (ignoring(signal.SIGPIPE), "ignored broken pipes, as Python's children have them"),
    (ignoring(signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU), "ignored stops"),
    (blocking(signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD), "blocked"),
    (blocking(*range(1, 32)), "everything blocked"),
]


@pytest.mark.parametrize("verb", [b"X", b"S"])
@pytest.mark.parametrize(("prepare", "why"), INHERITED, ids=[row[-1] for row in INHERITED])
def test_signals_are_inherited_unchanged(guard, prepare, verb, why):
    g = guard(lambda c: (wanted(c.read()), c.send((verb, os.fsencode(real("cat"))))))
    options = {"preexec_fn": prepare, "restore_signals": False, "capture_output": True}
    bare = subprocess.run([real("cat"), "/proc/self/status"], check=False, **options)
    done = g.run("cat", "/proc/self/status", **options)
    assert done.returncode == bare.returncode == 0
    masks = [[line for line in p.stdout.splitlines() if line.startswith((b"SigBlk", b"SigIgn"))] for p in (bare, done)]
    assert masks[0] == masks[1]


WAIT = "sleep 20 >/dev/null 2>&1 & trap 'kill $!' EXIT; echo ready; wait"

SENT = [
    (signal.SIGTERM, -signal.SIGTERM, "echo ready; exec sleep 20", "it dies by what was sent"),
    (signal.SIGINT, -signal.SIGINT, "echo ready; exec sleep 20", "an interrupt sent to it alone"),
    (signal.SIGHUP, 5, "trap 'exit 5' HUP; " + WAIT, "a caught hangup"),
    (signal.SIGUSR1, 6, "trap 'exit 6' USR1; " + WAIT, "a caught user signal"),
    (signal.SIGALRM, 7, "trap 'exit 7' ALRM; " + WAIT, "an alarm"),
    (signal.SIGRTMIN + 3, 8, "trap 'exit 8' RTMIN+3; " + WAIT, "a real-time signal"),
    (signal.SIGWINCH, 9, "trap 'exit 9' WINCH; " + WAIT, "a new window size, told by hand"),
]


@pytest.mark.parametrize(("sig", "code", "script", "why"), SENT, ids=[row[-1] for row in SENT])
def test_signals_sent_to_the_launcher_alone_reach_the_program(guard, sig, code, script, why):
    g = guard()
    with started(g, "bash", "-c", script) as p:
        assert p.stdout.readline() == b"ready\n"
        p.send_signal(sig)
        assert p.wait(limit(10)) == code


def test_an_alarm_set_before_exec_rings_in_the_program(guard):
    """`perl -e 'alarm 1; exec @ARGV'` is a common timeout; timers are the launcher's, not its child's."""
    g = guard()
    done = g.run("sleep", "20", preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, 0.3))
    assert done.returncode == -signal.SIGALRM


def test_killing_the_launcher_kills_the_program(guard):
    g = guard()
    with started(g, "bash", "-c", "echo $$; exec sleep 20") as p:
        child = int(p.stdout.readline())
        p.kill()
        p.wait()
        assert until(lambda: state(child) == "Z")


def test_a_tree_that_is_frozen_and_thawed_goes_on(guard):
    """The guard freezes a session so: every process in turn, and thaws it so."""
    g = guard()
    with started(g, "bash", "-c", "echo $$; read x; exit 4", stdin=subprocess.PIPE) as p:
        child = int(p.stdout.readline())
        for pids in ((p.pid, child), (child, p.pid)) * 3:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            assert until(lambda: state(p.pid) == "T" == state(child))
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
            assert until(lambda: "T" not in (state(p.pid), state(child)))
            time.sleep(0.03)
            assert state(p.pid) != "T"
        p.stdin.write(b"x\n")
        p.stdin.close()
        assert p.wait(limit(10)) == 4


@pytest.mark.parametrize("stop", [signal.SIGSTOP, signal.SIGTSTP])
def test_the_launcher_stops_as_its_program_and_continues_it(guard, stop):
    g = guard()
    with started(
        g, "bash", "-c", f"echo ready; kill -{stop.name.removeprefix('SIG')} $$; exit 4", process_group=0
    ) as p:
        pid, status = os.waitpid(p.pid, os.WUNTRACED)
        assert (pid, os.WIFSTOPPED(status), os.WSTOPSIG(status)) == (p.pid, True, stop)
        os.kill(p.pid, signal.SIGCONT)
        assert p.wait(limit(10)) == 4


def test_how_long_it_ran(guard):
    g = guard()
    g.run("sleep", "0.2")
    assert 190 <= int.from_bytes(value(g.outcomes[0], "B"), "little") < 2000


LAST = [
    (
        [(b"P", b"2SENTINEL HINT: x\n"), exit_code(3)],
        3,
        b"err\nSENTINEL HINT: x\n",
        "a hint after the program's own words",
    ),
    ([(b"P", b"2stop\n"), exit_code(126)], 126, b"err\nstop\n", "an intervention in the place of the exit code"),
    ([exit_code(256 + signal.SIGTERM)], -signal.SIGTERM, b"err\n", "death in the place of the exit code"),
    ([], 3, b"err\n", "nothing: it ends as the program did"),
    ([(b"y", b"?")], 3, b"err\n", "an unknown verb changes nothing: it has run already"),
]


@pytest.mark.parametrize(("chunks", "code", "err", "why"), LAST, ids=[row[-1] for row in LAST])
def test_the_last_answer(guard, chunks, code, err, why):
    g = guard(answers([(b"S", os.fsencode(real("bash")))], chunks))
    done = g.run("bash", "-c", "echo err >&2; exit 3")
    assert (done.returncode, done.stderr) == (code, err)


FINISH = [
    ("exit 0", b"", "a success is told, and not waited for"),
    ("exit 3", b"late", "a failure may get a hint"),
    ("kill $$", b"late", "so may a death"),
    ("seq 20000", b"late", "what the guard reads in several goes would come after the next request"),
]


@pytest.mark.parametrize(("script", "told", "why"), FINISH, ids=[row[-1] for row in FINISH])
def test_no_last_answer_is_awaited_where_there_is_none_to_a_success(guard, script, told, why):
    g = guard(answers([(b"F", b""), (b"S", os.fsencode(real("bash")))], [(b"P", b"2late"), exit_code(0)]))
    assert g.run("bash", "-c", script).stderr == told
    assert until(lambda: len(g.outcomes) == 1)


def test_a_guard_that_dies_meanwhile_changes_nothing(guard):
    def handler(connection):
        connection.read()
        connection.send((b"S", os.fsencode(real("bash"))))

    done = guard(handler).run("bash", "-c", "sleep 0.1; echo done; exit 3")
    assert (done.returncode, done.stdout) == (3, b"done\n")


def test_a_guard_that_is_silent_at_the_end_costs_5_s(guard):
    began = time.monotonic()
    assert guard(supervises_silently).run("bash", "-c", "exit 3").returncode == 3
    assert 4.9 < time.monotonic() - began < limit(8)


def supervises_silently(connection):
    connection.send((b"S", wanted(connection.read())))
    connection.read()
    connection.read()


def test_scripts_by_env(guard, tmp_path):
    """`#!/usr/bin/env bash` finds the shim on PATH."""
    g = guard()
    script = tmp_path / "script"
    script.write_text('#!/usr/bin/env bash\necho "$0 $1"\nexit 4\n')
    script.chmod(0o755)
    g.shim("bash")
    done = subprocess.run([script, "x"], env=g.environ(), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (4, f"{script} x\n".encode())
    assert values(g.requests[0], "A") == [b"bash", os.fsencode(script), b"x"]


def test_a_login_shell(guard):
    g = guard()
    assert g.run("bash", "-lc", "shopt -q login_shell && echo login").stdout == b"login\n"


def test_shims_within_shells(guard, tmp_path):
    """A shell and the programs in it, each a launcher of its own, nested and in a pipeline."""
    g = guard()
    for name in ("bash", "git", "head", "seq"):
        g.shim(name)
    script = "git init -q repo && cd repo && git rev-parse --is-inside-work-tree && seq 100000 | head -1; exit 4"
    done = g.run("bash", "-c", script, cwd=tmp_path, env=g.environ())
    assert (done.returncode, done.stdout, done.stderr) == (4, b"true\n1\n", b"")
    assert len(g.requests) == 5
    assert max(value(o, "X") for o in g.outcomes) == number(256 + signal.SIGPIPE)


def test_python_sees_nothing_unusual(guard):
    """A program that looks at its signals, its streams and its group."""
    g = guard()
    look = (
        "import os,signal,sys;"
        "print([signal.getsignal(s) for s in (2,13,15,17,20)], signal.pthread_sigmask(0,[]),"
        "os.getpgrp()==os.getpgid(os.getppid()), os.isatty(1), os.get_blocking(1))"
    )
    bare = subprocess.run([sys.executable, "-c", look], capture_output=True, check=True)
    g.handler = answers([(b"S", os.fsencode(sys.executable))], [])
    assert g.run("python", "-c", look).stdout == bare.stdout
