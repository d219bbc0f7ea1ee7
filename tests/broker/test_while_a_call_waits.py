"""A call that waits for its answer: signals, the end of its program, changes meanwhile; and what else goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.broker.conftest import USER
from tests.support.time_limits import limit

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


NO_ANSWER = """
import ctypes, os, sys
server = os.open('/dev/fuse', os.O_RDWR)
told = f'fd={server},rootmode=40000,user_id={os.getuid() or sys.argv[2]},group_id={os.getgid() or sys.argv[2]}'
if ctypes.CDLL(None, use_errno=True).mount(b'none', os.fsencode(sys.argv[1]), b'fuse', 6, told.encode()):
    raise OSError(ctypes.get_errno(), 'mount')
os.set_inheritable(server, True)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Mounts a file system whose server answers nothing, not even that it is there; MS_NOSUID and MS_NODEV."""


@pytest.mark.parametrize(
    "waits",
    [
        "echo x > dead/f",
        "echo x > link",
        "rm dead/f",
        "mv a.txt dead/f",
        "ln -s a.txt dead/f",
        "ln a.txt dead/f",
        "chmod 600 dead/f",
        "truncate -s 1 dead/f",
        "dead/program",
        "cd dead/folder",
        "/lib64/ld-linux-x86-64.so.2 dead/program",
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('dead/socket')\"",
    ],
)
def test_a_network_folder_that_does_not_answer_holds_up_nobody(session, repo, waits):
    """Each waits in the kernel itself, in the look at the path already; others' calls are served."""
    (repo / "dead").mkdir()
    (repo / "link").symlink_to("dead/f")
    mounts = ("unshare", *(("-m",) if USER else ("-rm",)), sys.executable, "-c", NO_ANSWER, repo / "dead", str(USER))
    if subprocess.run([*mounts, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no FUSE here")
    script = """
eval "$1" & blocked=$!; sleep 0.2
start=$(date +%s%N); for i in 1 2 3 4 5 6 7 8 9 10; do echo y > free$i; /bin/true; done
echo $(( ($(date +%s%N) - start) / 1000000 )); kill -0 $blocked && echo waits
kill -9 $blocked $(ps -o pid= --ppid $blocked); wait"""
    done = session.in_repo("bash", "-c", script, "bash", waits, prefix=mounts)
    took, *waited = done.stdout.split()
    assert waited == [b"waits"] and int(took) < limit(1) * 1000, done


MANY = """
import os
for batch in range(100):
    for n in range(100):
        if not os.fork():
            os.close(os.open(f'n{n}', os.O_WRONLY | os.O_CREAT))
            os._exit(0)
    ended = [os.wait()[1] for _ in range(100)]
    assert not any(ended), ended
print(len(os.listdir()))
"""


def test_ten_thousand_processes(session, repo):
    """A hundred at once; their numbers are given again and again."""
    done = session.in_repo("python3", "-c", MANY)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [b"%d" % len([*repo.iterdir()])], b"")
    assert len([*repo.glob("n*")]) == 100


NUMBERS = 'echo 420 > /proc/sys/kernel/pid_max || exit 77; exec "$@"'
"""Few numbers, in a process namespace: since Linux 6.14 each has its own limit."""
TAKES_A_NUMBER = """
import ctypes, mmap, os, signal, time
libc = ctypes.CDLL(None)
FREE, STARTS, ALL, SEEN = 12, 100, 101, 200
page = mmap.mmap(-1, 4096)
path = (ctypes.c_char * 32).from_buffer(page)
arguments = (ctypes.c_char_p * 5)(b'xargs', b'-a/dev/null', b'touch', b'broken', None)
def child(act, *words):
    pid = os.fork()
    if not pid:
        libc.prctl(1, signal.SIGKILL) # with its parent
        act(*words)
        os._exit(0)
    return pid
def as_many_as_there_are(act):
    children = []
    try:
        while True: children.append(child(act, len(children)))
    except OSError:
        return children
def is_looked_at(n):
    os.close(os.open('/dev/null', os.O_WRONLY))
    page[SEEN + n] = 1
    while not page[ALL]: time.sleep(0.001)
def start():
    path.value = b'/usr/bin/true'
    page[STARTS] = 1
    libc.execv(path, arguments)
others = as_many_as_there_are(lambda _: time.sleep(60))
for pid in others[-FREE:]:
    os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
for n in range(30):
    page[STARTS:STARTS + 1000] = bytes(1000)
    looked_at = as_many_as_there_are(is_looked_at)
    while sum(page[SEEN:SEEN + 100]) < len(looked_at): time.sleep(0.001)
    page[ALL] = 1
    for pid in looked_at: os.waitpid(pid, 0)
    pid = child(start)
    while not page[STARTS]: pass
    end = time.perf_counter() + n % 40 * 1e-5
    while time.perf_counter() < end: pass
    path.value = b'/usr/bin/xargs' # asked about; it changes nothing by itself, and its child has a number of before
    os.waitpid(pid, 0)
    if os.path.exists('broken'): break
print(len(others))
"""


def test_who_has_the_number_of_another_is_not_taken_for_it(session, repo):
    """A start that was won by a race is looked at before its first effect, also under a number that was looked at."""
    session.rules.append(("program", "ask", shutil.which("xargs")))
    prefix = ("unshare", *(("-pf",) if USER else ("-rpf",)), "--mount-proc", "sh", "-c", NUMBERS, "sh")
    done = session.run("python3", "-c", TAKES_A_NUMBER, cwd=repo, user=USER, prefix=prefix)
    if done.returncode == 77:
        pytest.skip("numbers cannot be made few here")
    assert int(done.stdout) > 300, done
    assert not (repo / "broken").exists()


def test_a_broker_without_descriptors_refuses_and_goes_on(broker, session, repo):
    """Of 40 descriptors the waiting calls hold some each: what comes then fails, with an error that programs know."""
    slowly(session, 1.0)
    script = (
        "for i in $(seq 30); do (echo x > .env.$i) & done; sleep 0.5; echo y > during; wait; echo y > after; cat after"
    )
    done = session.run("bash", "-c", script, cwd=repo, user=USER, prefix=("prlimit", "--nofile=40:40"))
    assert done.stdout == b"y\n", "it has got over it"
    assert len([*repo.glob(".env.*")]) <= 30
