"""What a program hears of some 2,000 calls on strange paths is what it hears without the broker."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.broker.conftest import USER
from tests.support.kernel_session import KernelSession
from tests.support.time_limits import limit

PROGRAM = Path(__file__).parent / "parity_program.py"
OTHER = {
    "open '//' 301": ("EEXIST", "EISDIR"),
    "open '/proc/self/fd' 20200002": ("ENOTSUP", "EACCES"),
    # For reading, with O_CREAT: a file of a process outside of the session.
    "open '/proc/1/comm' 100": ("ok", "EACCES"),
    "rmdir '..'": ("ENOTEMPTY", "EINVAL"),
    "rmdir '/'": ("EBUSY", "EINVAL"),
    "rmdir '//'": ("EBUSY", "EINVAL"),
}
"""Call -> what it says bare and held. All but one fail either way; the broker looks at something else first."""


@pytest.fixture
def folders():
    made = [Path(tempfile.mkdtemp(prefix="sg-", dir="/var/tmp")) for _ in "ab"]
    for folder in made:
        folder.chmod(0o755)
        shutil.copy(PROGRAM, folder)
        (folder / "w").mkdir()
        shutil.chown(folder / "w", USER, USER) if USER else None
    yield made
    for folder in made:
        shutil.rmtree(folder)


@pytest.fixture
def hear(broker, folders):
    """What the program hears bare and held, a text a call: the answer, and what there is afterwards."""

    def run(*arguments):
        environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
        as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if USER else []
        bare, held = (["python3", "-I", str(f / PROGRAM.name), str(f / "w"), *arguments] for f in folders)
        alone = subprocess.run([*as_user, *bare], env=environ, capture_output=True, check=True, timeout=limit(60))
        session = KernelSession([("name", "ask", "/nowhere", ".env*")], broker=broker)
        try:
            done = session.run(*held, env=environ, user=USER)
        finally:
            session.close()
        assert (done.returncode, done.stderr, session.asked) == (0, b"", [])
        texts = [
            said.decode(errors="replace").replace(str(f), "FOLDER").replace("\n   ", " |").splitlines()
            for said, f in zip((alone.stdout, done.stdout), folders, strict=True)
        ]
        return zip(*texts, strict=True)

    return run


def test_a_program_hears_the_same(hear):
    calls = [*hear()]
    differ = [pair for pair in calls if len({*pair}) > 1]
    assert len(calls) > 1200 and [pair for pair in differ if not is_known(*pair)] == []
    assert len(differ) == len(OTHER), "what is the same now is taken out"


@pytest.mark.parametrize("seed", [1, 2, 41, 423101, random.randrange(10**6)])
def test_it_does_so_on_paths_that_are_drawn(hear, seed):
    """41 draws a link that leads through an open file that the program has, and the broker has not."""
    differ = [pair for pair in hear(str(seed)) if len({*pair}) > 1]
    assert [pair for pair in differ if not both_fail(*pair)] == [], f"drawn by {seed}"
    assert len(differ) < 30, "seldom with another error"


def both_fail(bare: str, held: str) -> bool:
    """Whether the calls fail, each with some error, and leave the same behind."""
    (bare, after), (held, left) = (said.split(" |") for said in (bare, held))
    return after == left and not {bare.split()[-1], held.split()[-1]} & {"ok", "ValueError"}


def is_known(bare: str, held: str) -> bool:
    """Whether only the answer differs, as it stands in the table; what there is afterwards is the same."""
    name = next((name for name in OTHER if bare.startswith(f"{name} ")), "")
    answers, after = OTHER.get(name, ("", "")), bare.partition(" |")[2]
    same = held.partition(" |")[2] == after or answers[0] == "ok"
    return same and tuple(said.partition(" |")[0] for said in (bare, held)) == tuple(f"{name} {a}" for a in answers)
