from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import hatch_build
from sentinel_guard.host import kernel_layer
from tests.support.kernel_session import BROKER, KernelSession

USER = 65534 if os.getuid() == 0 else 0
"""As root everything could be written to: tests run as nobody then."""
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1")
BUILT = hatch_build.ROOT / "build" / "sanitized"


def built_once(name: str, sources: Iterable[Path], build: Callable[[Path], object]) -> Path:
    """What ``build`` makes of the sources: by one of the suite's workers, and anew only where they are others.

    Raises what ``build`` raises.
    """
    made_of = [hatch_build.__file__, __file__, *sorted(sources)]
    digest = hashlib.sha256(b"\0".join(Path(path).read_bytes() for path in made_of)).hexdigest()
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        program = BUILT / f"{name}-{digest}"
        if not program.exists():
            for old in BUILT.glob(f"{name}-*"):
                old.unlink()
            build(program)
    return program


@pytest.fixture(scope="session")
def broker():
    """The program where nobody, too, may run it; skipped where this machine cannot hold calls.

    With sanitizers where the compiler has them: a fault of memory ends it, and the test. The stories of tests/e2e run
    the one that is installed.
    """
    works, words = kernel_layer.probed(kernel_layer.begin_probe())
    if not works:
        pytest.skip(f"the kernel layer: {words}")
    folder = Path(tempfile.mkdtemp(prefix="sg-broker-"))
    folder.chmod(0o755)
    program = folder / BROKER.name
    sources = [path for room in (hatch_build.BROKER, hatch_build.SOURCES) for path in room.glob("*.[ch]")]
    try:
        built = built_once("broker", sources, lambda target: hatch_build.build_broker(target, *SANITIZED))
    except RuntimeError:
        built = BROKER
    shutil.copy2(built, program)
    yield program
    shutil.rmtree(folder)


@pytest.fixture
def repo():
    """A folder of the user's with what is restricted: ``.env`` (it has two names), all of ``secrets`` and ``state``."""
    top = Path(tempfile.mkdtemp(prefix="sg-", dir="/var/tmp"))
    top.chmod(0o755)
    for name in ("secrets", "state"):
        (top / name).mkdir()
    for name, text in (
        (".env", "GOOD=1\n"),
        ("a.txt", "plain\n"),
        ("secrets/token", "TOKEN\n"),
        ("state/audit.db", "AUDIT\n"),
    ):
        (top / name).write_text(text)
    (top / "other-name").hardlink_to(top / ".env")
    if USER:
        for path in (top, *top.rglob("*")):
            os.chown(path, USER, USER)
    yield top
    shutil.rmtree(top, ignore_errors=True)


@pytest.fixture
def session(broker, repo):
    """Runs programs in the folder; asks about its restricted files and about git."""
    rules = [
        ("name", "ask", str(repo), ".env*"),
        ("name", "pass", str(repo), ".env.example"),
        ("name", "ask", str(repo), "secrets"),
        ("below", "ask", str(repo / "state")),
        ("file", "ask", str(repo / ".env")),
        ("file", "ask", str(repo / "secrets/token")),
        ("program", "ask", shutil.which("git")),
        ("socket", "ask", "*/docker.sock"),
    ]
    made = KernelSession(rules, broker=broker)
    made.in_repo = lambda *command, **options: made.run(*command, cwd=repo, user=USER, **options)
    yield made
    made.close()
