"""Honest work is the same with its system calls held: exit code, words, and every file's kind, mode, links and content.

Each row of honest_work.toml is a script of bash; it runs bare and held, in folders of its own, as an ordinary user.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import tomllib
from pathlib import Path

import pytest

from tests.broker.conftest import USER
from tests.support.kernel_session import KernelSession
from tests.support.time_limits import limit

WORK = tomllib.loads((Path(__file__).parent / "honest_work.toml").read_text())["work"]
PATH = "/usr/local/bin:/usr/bin:/bin"
NUMBERS = re.compile(r"\[\d+\] \d+|line \d+: +\d+|\b\d+ (?=Terminated)|/tmp/sg-\w+|/tmp/tmp\w+")


def digest(root: Path, ignored: str) -> dict[str, str]:
    seen = {}
    for path in root.rglob("*"):
        name, found = str(path.relative_to(root)), path.lstat()
        if ignored and re.search(ignored, name):
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(found.st_mode) else ""
        content = str(path.readlink()).replace(str(root), "") if path.is_symlink() else content
        links = found.st_nlink if stat.S_ISREG(found.st_mode) else 0
        seen[name] = f"{found.st_mode:o} {links} {content}"
    return seen


@pytest.fixture
def folders():
    made = [Path(tempfile.mkdtemp(prefix="sg-")) for _ in "ab"]
    for folder in made:
        os.chown(folder, USER, USER)
    yield made
    for folder in made:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("row", WORK, ids=[row["name"] for row in WORK])
def test_it_is_the_same_with_its_calls_held(broker, folders, row):
    script, varies = row["script"], row["varies"]
    if not shutil.which(row["needs"], path=PATH):
        pytest.skip(f"{row['needs']} is not here")
    bare, held = folders
    environ = {"PATH": PATH, "LANG": "C.UTF-8"}
    as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if USER else []
    alone = subprocess.run(
        [*as_user, "bash", "-c", script], cwd=bare, env={**environ, "HOME": str(bare)}, stdin=subprocess.DEVNULL,
        capture_output=True, check=False, timeout=limit(60),
    )  # fmt: skip
    rules = [("name", "ask", str(held), ".env*"), ("below", "ask", "/var/lib"), ("socket", "ask", "*/docker.sock")]
    session = KernelSession(rules, broker=broker)
    try:
        done = session.run("bash", "-c", script, cwd=held, env={**environ, "HOME": str(held)}, user=USER)
    finally:
        session.close()
    words = [NUMBERS.sub("#", text.decode(errors="replace")) for text in (alone.stdout, alone.stderr)]
    assert (done.returncode, words[0]) == (alone.returncode, NUMBERS.sub("#", done.stdout.decode(errors="replace")))
    assert NUMBERS.sub("#", done.stderr.decode(errors="replace")) == words[1]
    assert digest(held, varies) == digest(bare, varies) and not session.asked
