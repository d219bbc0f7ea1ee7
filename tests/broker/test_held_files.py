"""What may change a restricted file is held until the daemon has answered, by whatever program and way it is done."""

from __future__ import annotations

import pytest

from tests.broker.conftest import USER
from tests.vectors.wire_vectors import message

BY_DESCRIPTOR = """
import ctypes, fcntl, os
try: os.fchmod(9, 0o666)
except PermissionError: print(ctypes.CDLL(None).syscall(469, 9, b"", bytes(24), 24, 0x1000)) # file_setattr
fcntl.ioctl(9, 0x40086602, bytes(8)) # FS_IOC_SETFLAGS"""
WAYS = (
    ("echo EVIL > .env", "write", "a shell"),
    ("echo EVIL >> .env", "write", "at its end"),
    ("python3 -c \"open('.e' + 'nv', 'w').write('EVIL')\"", "write", "a computed name"),
    ("python3 -c \"import os; os.write(os.open('.env', os.O_RDWR), b'EVIL')\"", "write", "without emptying it"),
    ("python3 -c \"import os; os.truncate('.env', 0)\"", "truncate", "truncate(2)"),
    ("echo EVIL > other-name", "write", "a hard link that was there"),
    ("ln .env b; echo EVIL > b", "link", "a hard link that is made"),
    ("ln -s .env b; echo EVIL > b", "write", "a symbolic link"),
    ("exec 9< .env; echo EVIL > /proc/self/fd/9", "write", "a descriptor for reading, opened anew"),
    ("echo EVIL > /proc/self/cwd/.env", "write", "a link of /proc"),
    ("ln -s /proc/self/cwd here; echo EVIL > here/.env", "write", "a link of /proc on the way"),
    ("rm -f .env", "delete", "deleted"),
    ("mv .env x", "move", "moved away"),
    ("echo EVIL > x; mv x .env", "replace", "replaced by a rename"),
    ("ln -sf a.txt .env", "link", "replaced by a link"),
    ("chmod 666 .env", "chmod", "its mode"),
    (f"exec 9< .env; python3 -c '{BY_DESCRIPTOR}'", "attribute", "its mode, by a descriptor for reading"),
    ("echo EVIL > secrets/token", "write", "in a restricted folder"),
    ("mv secrets s2", "move", "the folder"),
    ("rm -rf secrets", "delete", "all of the folder"),
    ("echo EVIL > .env.new", "write", "a new name that is restricted"),
    ("echo EVIL > x; ln x .env.new", "link", "such a name for another file"),
    ("mkfifo .env.new", "make", "such a name for a pipe"),
    ('cd ..; mv "$OLDPWD" ./x-$$ && mv ./x-$$ "$OLDPWD"', "move", "the folder above"),
)  # fmt: skip


def content(repo):
    return {
        str(p.relative_to(repo)): (p.lstat().st_mode, p.read_text() if p.is_file() else "")
        for p in repo.rglob("*")
        if p.name.startswith((".env", "secrets", "token", "other"))
    }


@pytest.mark.parametrize(("script", "what", "why"), WAYS, ids=[row[-1] for row in WAYS])
def test_it_is_held_and_a_no_changes_nothing(session, repo, script, what, why):
    before = content(repo)
    session.in_repo("bash", "-c", script)
    assert content(repo) == before, why
    assert what in [question.what for question in session.asked]


@pytest.mark.parametrize("script", ["echo GOOD=2 > .env", "rm .env", "chmod 600 .env", "mv .env .env.old"])
def test_a_yes_lets_it_happen(session, repo, script):
    session.answer = lambda _: True
    before = content(repo)
    done = session.in_repo("bash", "-c", script)
    assert done.returncode == 0 and content(repo) != before, done.stderr


ORDINARY = (
    "cat .env",
    "echo b >> a.txt; mv a.txt b.txt; rm b.txt",
    "echo EXAMPLE > .env.example",
    "mkdir -p d/e; echo x > d/e/f; chmod 700 d; ln d/e/f d/g; ln -s e d/h; rm -r d",
    "umask 077; touch private; test $(stat -c %a private) = 600; rm private",
    "echo x > /dev/null; mkfifo p; cat p > out & echo y > p; wait; test $(cat out) = y; rm p out",
)


@pytest.mark.parametrize("script", ORDINARY)
def test_ordinary_work_is_asked_about_by_nobody(session, script):
    done = session.in_repo("bash", "-ec", script)
    assert (done.returncode, done.stderr) == (0, b"") and session.asked == []


def test_a_question_names_who_asks(session):
    session.answer = lambda _: True
    done = session.in_repo("bash", "-c", "echo $$; cut -d ' ' -f 22 /proc/$$/stat; : > .env; git --version")
    pid, start = map(int, done.stdout.split()[:2])
    write, run = session.asked
    assert (write.pid, write.start) == (pid, start)
    assert run.objects[0].endswith("/git") and run.argv == ("git", "--version")
    said = [[tag for tag, _ in request] for request in session.requests]
    forms = [message(name) for name in ("a broker asks for rules", "a change is held", "a program is held")]
    assert said[:2] == [[tag for tag, _ in form] for form in forms[:2]]
    assert said[2] == [tag for tag, body in forms[2] if body], "of its arguments one is empty there"
    assert {len(dict(m)[b"W"]) for m in (*session.requests[1:], *forms[1:])} == {12}


def test_the_guard_cannot_be_reached(session):
    reach = "import os, signal, sys\nfor pid in (os.getppid(), int(sys.argv[1])):\n os.kill(pid, signal.SIGTERM)"
    done = session.in_repo("python3", "-c", reach, str(1 if USER else 2**22 - 1))
    assert done.returncode == 1 and b"PermissionError" in done.stderr
