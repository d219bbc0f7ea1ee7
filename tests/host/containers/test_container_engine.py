"""What an engine of containers is asked, and what of its answers is believed. The server here is real HTTP on a real
socket; its answers are those of podman 4.3 and docker 27, shortened.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import socketserver
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from sentinel_guard.host.containers import container_engine, listening_ports
from sentinel_guard.host.containers.container_engine import ContainerEngine
from tests.support.time_limits import limit

SINCE = time.time() - 100
YOUNG, OLD = SINCE + 50, SINCE - 1000
CONTAINER = {
    "Id": "2d58", "Names": ["/demo-db-1"], "Image": "postgres:16", "Command": "docker-entrypoint.sh postgres",
    "Created": int(YOUNG), "State": "running", "HostConfig": {"NetworkMode": "demo_default"},
    "Ports": [{"PrivatePort": 5432, "PublicPort": 54399, "Type": "tcp", "IP": "127.0.0.1"}],
    "Labels": {"com.docker.compose.project": "demo", "com.docker.compose.service": "db"},
    "Mounts": [{"Type": "volume", "Name": "demo_pg", "Source": "/var/lib/docker/volumes/demo_pg/_data",
                "Destination": "/data", "Driver": "local", "Mode": "", "RW": True}],
}  # fmt: skip
INSPECTED = {
    "Config": {
        "Env": ["PATH=/bin", "POSTGRES_PASSWORD=x"],
        "Cmd": ["postgres"],
        "Entrypoint": ["docker-entrypoint.sh"],
    },
    "HostConfig": {"NetworkMode": "demo_default"},
}


def written(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.123456789Z")


def volume(**said: object) -> dict[str, object]:
    plain = {"Name": "demo_pg", "CreatedAt": written(YOUNG), "Driver": "local", "Options": None, "Scope": "local"}
    return {**plain, "Labels": {"com.docker.compose.project": "demo"}, **said}


class Server(socketserver.ThreadingUnixStreamServer):
    """What it answers, by target; ``said``: its name, its clock, how many times too slow it is; ``drips``: all that it
    sends, byte by byte where it is long.
    """

    drips = b""

    def __init__(self, path: str, answers: Mapping[str, object], server: str, ahead: float, waits: float) -> None:
        super().__init__(path, Handler)
        self.answers, self.server, self.ahead, self.waits = answers, server, ahead, waits


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        if dripped := self.server.drips:
            step = 1 if len(dripped) > 500 else len(dripped)
            with contextlib.suppress(OSError):
                for at in range(0, len(dripped), step):
                    self.connection.sendall(dripped[at : at + step])
                    time.sleep(0.05)
            return
        answer = self.server.answers.get(self.path)
        time.sleep(self.server.waits * container_engine.SECONDS)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response_only(404 if answer is None else 200)
        self.send_header("Server", self.server.server)
        self.send_header("Date", formatdate(time.time() + self.server.ahead, usegmt=True))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


Start = Callable[..., str]


@pytest.fixture(autouse=True)
def _slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECONDS", "IN_ALL"):
        monkeypatch.setattr(container_engine, name, limit(getattr(container_engine, name)))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    servers: list[Server] = []

    def begin(
        *containers: object,
        volumes: object = None,
        server: str = "Docker/27.3.1 (linux)",
        ahead: float = 0,
        waits: float = 0,
        name: str = "docker.sock",
        raw: object = None,
        drips: bytes = b"",
        also: Mapping[str, object] = {},
    ) -> str:
        listed = raw if raw is not None else [*(containers or (CONTAINER,))]
        answers = {"/containers/json?all=1": listed, "/volumes": {"Volumes": volumes or [volume()]}, **also}
        path = str(tmp_path / name)
        servers.append(Server(path, {**answers, "/containers/2d58/json": INSPECTED}, server, ahead, waits))
        servers[-1].drips = drips
        threading.Thread(target=servers[-1].serve_forever, args=(0.01,), daemon=True).start()
        return path

    yield begin
    for one in servers:
        one.shutdown()
        one.server_close()


def test_what_it_knows(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening_ports, "are_all", lambda port, hosts: (port, hosts) == (54399, ["127.0.0.1"]))
    engine = ContainerEngine(start(), SINCE)
    (one,) = engine.containers
    assert (one.names, one.project, one.service, one.ports) == (("demo-db-1",), "demo", "db", {"54399"})
    assert one.is_new
    assert one.mounts[0].is_new
    told = engine.told("2d58")
    assert told is not None
    assert (told.words, told.variables) == (("docker-entrypoint.sh", "postgres"), ("PATH", "POSTGRES_PASSWORD"))
    assert engine.told("3f") is None


AGES = [
    ({}, volume(), {}, (True, True), "both came after it"),
    ({"Created": int(OLD)}, volume(), {}, (False, False), "a container of before, and what it uses"),
    ({}, volume(CreatedAt=written(OLD)), {}, (True, False), "a volume of before"),
    ({"Created": int(SINCE) + 1}, volume(), {}, (False, False), "within the margin"),
    ({"Created": int(time.time()) + 900}, volume(), {}, (False, False), "of a time that is yet to come"),
    ({}, volume(CreatedAt=written(YOUNG)[:-1] + "+00:00"), {}, (True, True), "a time with its zone"),
    (
        {},
        volume(Options={"device": "/srv", "o": "bind", "type": "none"}),
        {},
        (True, False),
        "a folder by another name",
    ),
    ({}, volume(Driver="nfs"), {}, (True, False), "another machine's"),
    ({}, volume(Name="other"), {}, (True, False), "one that is not listed"),
    ({}, volume(), {"server": "Docker/20.10.24 (linux)"}, (True, False), "an engine that tells of the last change"),
    ({}, volume(), {"server": "Docker/23.0.1 (linux)"}, (True, True), "the first that does not"),
    ({}, volume(), {"server": "Libpod/4.3.1 (linux)"}, (True, True), "podman"),
    ({}, volume(), {"server": "x"}, (True, False), "nobody knows whose"),
    ({}, volume(), {"ahead": 3600}, (False, False), "a clock that is ahead: made long before"),
    ({"Created": int(YOUNG) + 3600}, volume(CreatedAt=written(YOUNG + 3600)), {"ahead": 3600}, (True, True), "by it"),
    ({}, volume(), {"ahead": -3600}, (False, False), "a clock that is behind"),
]


@pytest.mark.parametrize(("row", "kept", "said", "new", "why"), AGES)
def test_how_old_it_is(
    start: Start, *, row: dict[str, object], kept: object, said: dict[str, float], new: tuple[bool, bool], why: str
) -> None:
    (one,) = ContainerEngine(start({**CONTAINER, **row}, volumes=[kept], **said), SINCE).containers
    assert (one.is_new, one.mounts[0].is_new) == new, why


def test_mounts_of_this_machine(start: Start, tmp_path: Path) -> None:
    (tmp_path / "young").mkdir()
    rows = [
        {"Type": "bind", "Source": source, "Destination": "/d", "RW": write}
        for source, write in ((f"{tmp_path}/young", True), ("/etc", True), ("/host_mnt/none", True), ("/etc", False))
    ]
    rows.append({"Type": "tmpfs", "Source": "", "Destination": "/d", "RW": True})
    rows.append({"Type": "cluster", "Source": "x", "Destination": "/d", "RW": True})
    (one,) = ContainerEngine(start({**CONTAINER, "Mounts": rows}), SINCE).containers
    assert [mount.is_new for mount in one.mounts] == [True, False, False, False, True, False]
    assert [mount.shut for mount in one.mounts] == [False, False, False, True, False, False]


ODD = [
    ({"raw": b"no JSON"}, "no JSON"),
    ({"raw": b"[" * 100_000}, "too deep"),
    ({"raw": {"message": "x"}}, "no list"),
    ({"raw": [{"Id": "x"}]}, "a form that is not known"),
    ({"raw": [{**CONTAINER, "Mounts": None}]}, "no mounts"),
    ({"volumes": [volume(Name="x", CreatedAt="yesterday")]}, "no time"),
    ({"raw": b" " * (container_engine.MOST + 10)}, "too much"),
    ({"waits": 2.0}, "too slow"),
    ({"raw": [{**CONTAINER, "Created": 10**400}]}, "no number that a clock has"),
    ({"drips": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000}, "its head is sent byte by byte"),
    ({"drips": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 1000}, "so is the size of a piece"),
    ({"drips": b"HTTP/1.1 200 OK\r\nDate: Mon, 1 Jan 2024 00:00:00 +" + b"9" * 30 + b"\r\n\r\n[]"}, "no time"),
    ({"drips": b"\0\xff" * 100}, "no HTTP"),
]


@pytest.mark.parametrize(("said", "why"), ODD)
def test_an_odd_answer_is_none(start: Start, said: dict[str, object], why: str) -> None:
    path = start(**said)
    began = time.monotonic()
    with pytest.raises((OSError, ValueError)):
        ContainerEngine(path, SINCE)
    assert time.monotonic() - began < limit(2), why
    begun = {"DOCKER_HOST": f"unix://{path}"}
    assert container_engine.ask("docker", begun, begun, time.time() + 5) is None, why


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".docker").mkdir()
    return tmp_path


def context(home: Path, name: str, host: str, *, current: bool = True) -> None:
    """As ``docker context create`` writes it."""
    if current:
        (home / ".docker/config.json").write_text(json.dumps({"currentContext": name}))
    folder = home / ".docker/contexts/meta" / hashlib.sha256(name.encode()).hexdigest()
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps({"Name": name, "Endpoints": {"docker": {"Host": host}}}))


def later() -> float:
    """A moment for which all that was made until now is of before."""
    return time.time() + 5


def test_whose_settings_choose_it(start: Start, home: Path) -> None:
    path, plain = start(), {"HOME": str(home)}
    host = {**plain, "DOCKER_HOST": f"unix://{path}"}
    assert container_engine.socket_of("docker", host, later()) == path
    assert not container_engine.socket_of("docker", host, SINCE), "a socket that came with the session"
    assert not container_engine.socket_of("docker", {**plain, "DOCKER_HOST": "tcp://127.0.0.1:2375"}, later())
    assert not container_engine.socket_of("docker", {**plain, "DOCKER_HOST": "ssh://prod"}, later())
    assert not container_engine.socket_of("docker", {**plain, "DOCKER_HOST": f"unix://{home}/.docker"}, later())
    context(home, "colima", f"unix://{path}")
    context(home, "prod", "ssh://prod", current=False)
    assert container_engine.socket_of("docker", plain, later()) == path
    assert not container_engine.socket_of("docker", plain, SINCE), "settings that changed in the session"
    assert not container_engine.socket_of("docker", {**plain, "DOCKER_CONTEXT": "prod"}, later()), "another machine"
    assert not container_engine.socket_of("docker", {**plain, "DOCKER_CONTEXT": "none"}, later())
    assert container_engine.socket_of("docker", {**plain, "DOCKER_CONTEXT": "colima"}, later()) == path


def test_a_link_that_the_session_made_is_no_witness(start: Start, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = start()
    link = home / "link.sock"
    link.symlink_to(path)
    born = {path: 10.0, str(link): 90.0}
    monkeypatch.setattr(container_engine.birth_time, "born", lambda one: born[one])
    host = {"HOME": str(home), "DOCKER_HOST": f"unix://{link}"}
    assert not container_engine.socket_of("docker", host, 50.0)
    assert container_engine.socket_of("docker", host, 100.0) == str(link)


def test_only_the_variables_of_the_sessions_start_choose_it(start: Start) -> None:
    begun = {"DOCKER_HOST": f"unix://{start()}", "HOME": "/h"}
    assert container_engine.ask("docker", begun, begun, later()) is not None
    assert container_engine.ask("docker", {**begun, "TERM": "x"}, begun, later()) is not None
    assert container_engine.ask("docker", {**begun, "DOCKER_HOST": "unix:///x"}, begun, later()) is None
    assert container_engine.ask("docker", begun, {}, later()) is None, "nobody knows them any more"
    begun = {"DOCKER_CONTEXT": "\udcff", "HOME": "/h"}
    assert container_engine.ask("docker", begun, begun, later()) is None, "no name that docker has"


def test_podman_has_one_of_its_own(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    (tmp_path / "podman").mkdir()
    path = start(name="podman/podman.sock", server="Libpod/4.3.1 (linux)")
    begun = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert container_engine.socket_of("podman", begun, later()) == path
    assert not container_engine.socket_of("podman", {**begun, "CONTAINER_HOST": "ssh://x"}, later())


CHANGES = [{"Path": path, "Kind": 1} for path in ("/home", "/home/node", "/home/node/.n8n", "/tmp", "/tmp/x")]
DATABASE = {"Path": "/home/node/.n8n/database.sqlite", "Kind": 1}
LAYERS = [
    (5 << 20, [*CHANGES, DATABASE], True, "a database in the layer of its own"),
    (9000, [*CHANGES, DATABASE], False, "little"),
    (5 << 20, [{"Path": f"/app/{name}", "Kind": 1} for name in (".next/x", "node_modules/y/z", "log/dev.log")], False,
     "caches, packages and logs"),
    (5 << 20, [{"Path": "/var/lib/apt/lists/x", "Kind": 1}, {"Path": "/usr/lib/a.so", "Kind": 0}], False, "a package"),
    (5 << 20, [*CHANGES, {**DATABASE, "Kind": 2}], False, "what was deleted"),
    (5 << 20, None, False, "nothing changed"),
    (5 << 20, b"{", False, "an odd answer"),
    (None, [DATABASE], False, "an engine that does not count"),
    (math.inf, [DATABASE], False, "one that counts without end"),
]  # fmt: skip


@pytest.mark.parametrize(("size", "changes", "keeps", "why"), LAYERS, ids=[row[-1] for row in LAYERS])
def test_what_a_layer_keeps(start: Start, *, size: float | None, changes: object, keeps: bool, why: str) -> None:
    said = {"/containers/2d58/json?size=1": {**INSPECTED, "SizeRw": size}, "/containers/2d58/changes": changes}
    assert ContainerEngine(start(CONTAINER, also=said), SINCE).keeps("2d58") is keeps, why
