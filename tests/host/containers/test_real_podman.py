"""The engine itself: podman, which speaks docker's API (``make test-engine``). Containers are made and not started."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sentinel_guard.host.containers import container_engine
from sentinel_guard.host.containers.container_engine import MARGIN, ContainerEngine
from tests.support import wait_until

pytestmark = pytest.mark.skipif(not os.environ.get("SENTINEL_TEST_ENGINE"), reason="make test-engine")
DATA = "/var/lib/postgresql/data"
Podman = Callable[..., str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("podman")


@pytest.fixture(scope="module")
def podman(place: Path) -> Podman:
    """With a store of its own, and one image: an empty folder."""
    own = ("podman", "--root", f"{place}/root", "--runroot", f"{place}/run", "--storage-driver", "vfs")

    def run(*words: str) -> str:
        done = subprocess.run([*own, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (place / "empty").mkdir()
    subprocess.run(["tar", "-C", f"{place}/empty", "-cf", f"{place}/empty.tar", "."], check=True)
    run("import", f"{place}/empty.tar", "test/postgres:16")
    return run


@pytest.fixture(scope="module")
def socket(place: Path, podman: Podman) -> Iterator[str]:
    own = ("podman", "--root", f"{place}/root", "--runroot", f"{place}/run", "--storage-driver", "vfs")
    path = f"{place}/podman.sock"
    podman("info")
    with subprocess.Popen([*own, "system", "service", "-t", "300", f"unix://{path}"]) as service:
        wait_until.until(Path(path).exists)
        yield path
        service.terminate()


def create(podman: Podman, name: str, *options: str) -> None:
    podman("create", "--name", name, *options, "test/postgres:16", "/bin/sleep", "100")


def test_whose_they_are(podman: Podman, socket: str, place: Path) -> None:
    labels = ("-l", "com.docker.compose.project=demo", "-l", "com.docker.compose.service=db")
    (place / "folder").mkdir()
    podman("volume", "create", "old")
    create(podman, "before", "-v", f"shared:{DATA}")
    time.sleep(1.1)
    since = time.time()
    time.sleep(MARGIN + 1.1)
    create(podman, "own", *labels, "-p", "54399:5432", "-v", f"new:{DATA}", "-v", "/anonymous", "-e", "PGHOST=x")
    create(podman, "on-old", "-v", f"old:{DATA}", "-v", f"{place}/folder:/f", "-v", "/etc:/e:ro", "--tmpfs", "/t")
    create(podman, "on-shared", "-v", f"shared:{DATA}")
    engine = ContainerEngine(socket, since)
    found = {one.names[0]: one for one in engine.containers}
    assert {name: one.is_new for name, one in found.items()} == {
        "before": False, "own": True, "on-old": True, "on-shared": True,
    }  # fmt: skip
    own = found["own"]
    assert (own.project, own.service, own.image) == ("demo", "db", "localhost/test/postgres:16")
    assert [mount.is_new for mount in own.mounts] == [True, True]
    assert own.ports == frozenset(), "it does not run"
    mounts = {mount.inside: mount for mount in found["on-old"].mounts}
    assert not mounts[DATA].is_new
    assert not mounts["/f"].is_new, "a folder of before"
    assert mounts["/e"].shut
    assert [mount.is_new for mount in found["on-shared"].mounts] == [False], "a container of before has it, too"
    assert {name: one.is_new for name, one in engine.volumes.items() if len(name) < 20} == {
        "old": False, "new": True, "shared": False,
    }  # fmt: skip
    told = engine.told(own.ident)
    assert told is not None
    assert "PGHOST" in told.variables
    assert told.words == ("/bin/sleep", "100")
    assert told.network == "bridge"
    podman("rm", "before")
    assert not ContainerEngine(socket, since).volumes["shared"].is_new, "it is still older"


def test_what_a_layer_keeps(podman: Podman, socket: str, place: Path) -> None:
    (place / "data").mkdir()
    (place / "data" / "database.sqlite").write_bytes(os.urandom(2 << 20))
    create(podman, "full")
    create(podman, "empty")
    podman("cp", f"{place}/data", "full:/data")
    engine = ContainerEngine(socket, time.time())
    found = {one.names[0]: one.ident for one in engine.containers}
    assert engine.keeps(found["full"])
    assert not engine.keeps(found["empty"])


def test_it_is_asked_as_the_person_would(podman: Podman, socket: str, tmp_path: Path) -> None:
    podman("info")
    begun = {"DOCKER_HOST": f"unix://{socket}", "HOME": str(tmp_path)}
    assert container_engine.ask("docker", begun, begun, time.time() + 5) is not None
    assert container_engine.ask("docker", begun, begun, time.time() - 3600) is None, "it came with the session"


def test_podman_is_here() -> None:
    assert shutil.which("podman")
