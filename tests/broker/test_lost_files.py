"""What was there before the session is held where it would be lost: deleted, replaced, emptied, by whatever program."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.broker.conftest import USER
from tests.support.kernel_session import KernelSession

PYTHON = 'python3 -c "import os; {}"'
LOSSES = (
    ("rm a.txt", "delete", "deleted"),
    ("rm -rf deep", "delete", "in a folder that is deleted"),
    ("echo x > a.txt", "overwrite", "emptied by a shell"),
    (PYTHON.format("os.write(os.open('a.txt', os.O_WRONLY), b'EVIL')"), "overwrite", "written over in place"),
    ("cp other a.txt", "overwrite", "copied over"),
    ("echo x > n; mv n a.txt", "replace", "replaced by a rename"),
    (PYTHON.format("os.truncate('a.txt', 0)"), "truncate", "truncate(2)"),
    ("exec 9< a.txt; echo x > /proc/self/fd/9", "overwrite", "by a descriptor for reading"),
    ("unshare -Urm rm -f a.txt", "delete", "in a namespace of its own"),
    ("ln -s a.txt l; echo x > l", "overwrite", "by a link"),
    ("cp a.txt build.txt; rm build.txt a.txt", "delete", "with one of the session's own"),
)
NO_LOSSES = (
    ("echo x >> a.txt", "at its end"),
    ("echo x > n; echo y > n; rm n", "the session's own file"),
    ("echo x > n; echo y > m; mv n m; rm m", "its own, renamed"),
    ("mv a.txt b.txt", "it only gets another name"),
    ("mv deep deeper", "a folder, too"),
    ("ln a.txt b.txt; rm a.txt", "another name keeps it"),
    ("rm empty; > empty2", "it has no content"),
    ("rm -rf node_modules; rm deep/x.pyc", "what is made again"),
    ("rm -rf ours", "a folder that is spared"),
    ("chmod 600 a.txt; cat a.txt > /dev/null", "its attributes, its content"),
    ("touch a.txt", "its times"),
    ("mkdir d; rmdir d; mkfifo p; rm p; ln -s a.txt l; rm l", "what holds no content"),
)  # fmt: skip


@pytest.fixture
def home():
    top = Path(tempfile.mkdtemp(prefix="sg-", dir="/var/tmp"))
    top.chmod(0o755)
    for name in ("a.txt", "other", "deep/b.txt", "deep/x.pyc", "node_modules/m/i.js", "ours/c.txt", "empty"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("" if name == "empty" else "theirs\n")
    for path in (top, *top.rglob("*")):
        os.chown(path, USER, USER) if USER else None
    yield top
    shutil.rmtree(top)


@pytest.fixture
def session(broker, home):
    rules = [
        ("loss", "ask", "/var"),
        ("loss", "ask", str(home)),
        ("loss", "pass", "/var/tmp"),
        ("loss", "pass", str(home / "ours")),
        ("loss", "pass", "node_modules"),
        ("loss", "pass", "*.py[co]"),
        ("loss", "pass", "tmp"),  # it lies above the folder that is asked about, where it means nothing
    ]
    made = KernelSession(rules, broker=broker)
    made.work = lambda script: made.run("bash", "-c", script, cwd=home, user=USER)
    yield made
    made.close()


@pytest.mark.parametrize(("script", "what"), [row[:2] for row in LOSSES], ids=[row[2] for row in LOSSES])
def test_it_is_asked_and_a_no_keeps_it(session, home, script, what):
    session.work(script)
    assert what in [question.what for question in session.asked]
    kept = [home / name for name in ("a.txt", "deep/b.txt")]
    assert [path.read_text() for path in kept] == ["theirs\n", "theirs\n"]


@pytest.mark.parametrize("script", [row[0] for row in NO_LOSSES], ids=[row[1] for row in NO_LOSSES])
def test_where_nothing_is_lost_nothing_is_asked(session, script):
    done = session.work(script)
    assert (done.returncode, done.stderr, session.asked) == (0, b"", [])


def test_a_yes_lets_it_go(session, home):
    session.answer = lambda _: True
    assert session.work("rm a.txt; echo new > other").returncode == 0
    assert not (home / "a.txt").exists() and (home / "other").read_text() == "new\n"
