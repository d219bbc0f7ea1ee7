"""A call that waits for its answer: signals, the end of its program, changes meanwhile; and what else goes on."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.broker.conftest import USER

MAKES = """
import os, signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
try: os.write(os.open('.env.new', os.O_CREAT | os.O_EXCL | os.O_WRONLY), b'once')
finally: signal.setitimer(signal.ITIMER_REAL, 0)
"""


def slowly(session, seconds=1.0, meanwhile=lambda _: None):
    """A yes after a while."""

    def answer(question):
        meanwhile(question)
        time.sleep(seconds)
        return True

    session.answer = answer


def test_signals_do_not_repeat_it(session, repo):
    slowly(session)
    done = session.in_repo("python3", "-c", MAKES)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (repo / ".env.new").read_text() == "once" and len(session.asked) == 1


@pytest.mark.parametrize("hangs_up", [False, True], ids=["a no", "the daemon hangs up"])
def test_signals_make_no_yes_of(session, repo, hangs_up):
    def answer(_):
        time.sleep(0.3)
        if hangs_up:
            raise ConnectionError
        return False

    session.answer = answer
    done = session.in_repo("python3", "-c", MAKES)
    assert done.returncode == 1 and b"PermissionError" in done.stderr
    assert not (repo / ".env.new").exists() and len(session.asked) == 1


def test_nothing_is_done_for_a_program_that_was_killed_meanwhile(session, repo):
    slowly(session, 0.5, lambda question: os.kill(question.pid, signal.SIGKILL))
    assert session.in_repo("python3", "-c", "open('.env.new', 'w').write('late')").returncode == -signal.SIGKILL
    time.sleep(0.7)
    assert len(session.asked) == 1 and not (repo / ".env.new").exists()


def test_a_yes_is_for_the_file_that_was_there(session, repo):
    def exchange(_):
        (repo / "fresh").write_text("another\n")
        (repo / "fresh").replace(repo / ".env")

    slowly(session, 0.1, exchange)
    assert session.in_repo("bash", "-c", "echo EVIL > .env").returncode == 1
    assert (repo / ".env").read_text() == "another\n"


def test_others_go_on_while_many_wait(session, repo):
    """Each wait has a worker of its own: a person who thinks holds up nobody."""
    slowly(session, 2.0)
    script = """
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (echo x > .env.$i) & done
sleep 0.3; mkfifo pipe; (echo through > pipe) & sleep 0.2
start=$(date +%s%N); for i in 1 2 3 4 5 6 7 8 9 10; do echo y > free$i; /bin/true; done
echo $(( ($(date +%s%N) - start) / 1000000 )); cat pipe; wait"""
    done = session.in_repo("bash", "-c", script)
    took, through = done.stdout.split()
    assert int(took) < 1500 and through == b"through", done
    assert len(session.asked) == 12 and len([*repo.glob(".env.*")]) == 12


LEASES = """
import fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open('leased', os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('leased', flush=True)
end = time.monotonic() + 20
while not os.path.exists('others') and time.monotonic() < end:
    time.sleep(0.02)
print('others went on' if os.path.exists('others') else 'all stood still', flush=True)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
"""


@pytest.mark.parametrize("waits", ["echo x >> leased", "python3 -c \"import os; os.truncate('leased', 1)\""])
def test_who_waits_for_a_lease_holds_up_nobody(session, waits):
    """Whoever has it is asked to give it up, and has 45 seconds; meanwhile other programs' calls are served."""
    script = f"""
echo y > leased; mkfifo told; python3 -c "$1" > told & exec 5< told; read line <&5
({waits}; echo written) & sleep 0.3; for i in 1 2 3; do echo z > f$i; /bin/true; done; echo > others
cat <&5; wait"""
    done = session.in_repo("bash", "-c", script, "bash", LEASES)
    assert sorted(done.stdout.decode().splitlines()) == ["others went on", "written"], done


def test_processes_that_come_and_go(session):
    done = session.in_repo(
        "bash",
        "-c",
        "for i in $(seq 1500); do /bin/true; done; for i in $(seq 300); do (echo $i > f$i) & done; wait; ls f* | wc -l",
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"300", b"")


def test_a_broker_without_descriptors_refuses_and_goes_on(broker, session, repo):
    """Of 40 descriptors the waiting calls hold some each: what comes then fails, with an error that programs know."""
    slowly(session, 1.0)
    script = (
        "for i in $(seq 30); do (echo x > .env.$i) & done; sleep 0.5; echo y > during; wait; echo y > after; cat after"
    )
    done = session.run("bash", "-c", script, cwd=repo, user=USER, prefix=("prlimit", "--nofile=40:40"))
    assert done.stdout == b"y\n", "it has got over it"
    assert len([*repo.glob(".env.*")]) <= 30
