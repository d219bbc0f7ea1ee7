"""The broker lends no right: memory, root and open files of what runs outside of the session stay out of reach.

The kernel bars the session's own programs from there (Landlock); the broker, which opens for them, is not barred.
"""

from __future__ import annotations

import subprocess

import pytest

from tests.broker.conftest import USER
from tests.broker.test_attacks import AS_USER

VICTIM = """
import ctypes, os, sys
kept = ctypes.create_string_buffer(b"theirs", 16)
open("inside", "w").write("theirs")
print(os.getpid(), ctypes.addressof(kept), flush=True)
sys.stdin.readline()
print(kept.value.decode(), open("inside").read())
"""
IN_ROOT_OF_ITS_OWN = 'mount -t tmpfs t /mnt && cd /mnt && exec python3 -c "$1"'
ATTACK = """
import ctypes, os, subprocess, sys
pid, at = sys.argv[1], int(sys.argv[2])
me, repo = f"/proc/{os.getpid()}", os.getcwd()
libc = ctypes.CDLL(None, use_errno=True)
def bound(what, to):
    libc.unshare(0x10020000)  # CLONE_NEWUSER | CLONE_NEWNS
    if libc.mount(what.encode(), to.encode(), None, 4096 | 16384, None):  # MS_BIND | MS_REC
        sys.exit("no bind mount")
    return to
def folder():
    os.makedirs("m", exist_ok=True)
    return "m"
def file():
    open("f", "w")
    return "f"
def evil(path, flags=os.O_RDWR):
    fd = os.open(path, flags)
    os.lseek(fd, at, 0) if os.fstat(fd).st_size == 0 else None
    os.write(fd, b"EVIL")
"""
WAYS = (
    ("evil(f'/proc/{pid}/mem')", "memory"),
    ("fd = os.open(f'/proc/{pid}/mem', os.O_PATH); evil(f'/proc/self/fd/{fd}')", "memory, by an O_PATH descriptor"),
    ("at_proc = bound('/proc', folder()); evil(f'{at_proc}/{pid}/mem')", "memory, /proc bound elsewhere"),
    ("own = bound(f'/proc/{pid}', folder()); evil(f'{own}/mem')", "memory, the process's folder bound elsewhere"),
    ("evil(bound(f'/proc/{pid}/mem', file()))", "memory, its file bound elsewhere"),
    ("evil(bound(f'/proc/{pid}', me) + '/mem')", "memory, bound over one's own folder"),
    ("evil(bound(f'/proc/{pid}/mem', f'{me}/comm'))", "memory, bound over one's own file"),
    ("evil(bound(f'/proc/{pid}/task/{pid}', f'{me}/task') + '/mem')", "memory, a thread's bound over one's own"),
    ("evil(f'/proc/{pid}/cwd/inside', os.O_WRONLY)", "a file in its folder"),
    ("evil(f'/proc/{pid}/root/mnt/inside', os.O_WRONLY)", "a file in its root"),
    ("os.symlink(f'/proc/{pid}/root/mnt', 'l'); evil('l/inside', os.O_WRONLY)", "a file in its root, by a link"),
    ("m = bound('/proc', folder()); evil(f'{m}/{pid}/root/mnt/inside', os.O_WRONLY)", "its root, by another /proc"),
    ("os.truncate(f'/proc/{pid}/root/mnt/inside', 0)", "a file in its root is emptied"),
    ("os.unlink(f'/proc/{pid}/root/mnt/inside')", "a file in its root is deleted"),
    ("evil(f'/proc/{pid}/fd/0', os.O_WRONLY)", "what it has open"),
    ("m = bound('/proc', folder()); evil(f'{m}/{pid}/fd/0', os.O_WRONLY)", "what it has open, /proc bound elsewhere"),
)  # fmt: skip


@pytest.fixture
def victim(repo):
    """A process of the user's outside of the session, in a root of its own."""
    command = [*AS_USER, "unshare", "-Urm", "sh", "-c", IN_ROOT_OF_ITS_OWN, "sh", VICTIM]
    with subprocess.Popen(command, cwd=repo, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("code", [row[0] for row in WAYS], ids=[row[1] for row in WAYS])
def test_what_runs_outside_stays_as_it_is(session, repo, victim, code):
    pid, at = victim.stdout.readline().split()
    done = session.run("python3", "-c", ATTACK + code, pid, at, cwd=repo, user=USER)
    if b"no bind mount" in done.stderr:
        pytest.skip("no bind mount is made here")
    assert b"Error: [Errno" in done.stderr and done.returncode, done
    assert victim.communicate("\n")[0].split() == ["theirs", "theirs"], done


OWN = (
    ("open('/proc/self/comm', 'w').write('named')", "its own name"),
    ("open(f'/proc/{os.getppid()}/oom_score_adj', 'w').write('10')", "its parent, in the session"),
    ("fd = os.open('/proc/self/comm', os.O_PATH); open(f'/proc/self/fd/{fd}', 'w').write('n')", "by a descriptor"),
    ("p = subprocess.Popen(['sleep', '9']); os.chdir('/'); open(f'/proc/{p.pid}/cwd/new', 'w'); p.kill()", "a child's"),
    ("bound('/proc', folder()); open(f'm/{os.getpid()}/comm', 'w').write('n')", "its own, /proc bound elsewhere"),
)  # fmt: skip
NAMED = "sleep 9 & echo n > /proc/self/comm && "
NESTED = (
    (f"unshare -Urmpf --mount-proc sh -c '{NAMED} echo 7 > /proc/$!/oom_score_adj && kill $!'", "a /proc of its own"),
    (f"unshare -Urpf sh -c '{NAMED} kill $!'", "the /proc of the others"),
)


@pytest.mark.parametrize("code", [row[0] for row in OWN], ids=[row[1] for row in OWN])
def test_what_is_its_own_it_reaches(session, repo, code):
    done = session.in_repo("bash", "-c", 'python3 -c "$1" 0 0; exit $?', "bash", ATTACK + code)
    assert (done.returncode, done.stderr) == (0, b"") or b"no bind mount" in done.stderr


@pytest.mark.parametrize("script", [row[0] for row in NESTED], ids=[row[1] for row in NESTED])
def test_in_a_process_namespace_of_its_own_too(session, script):
    done = session.in_repo("bash", "-c", script)
    assert (done.returncode, done.stderr) == (0, b"")
