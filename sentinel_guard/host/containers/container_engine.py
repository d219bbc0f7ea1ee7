"""The engine of containers of this machine (docker, podman), asked over its socket when its containers and volumes were
made (ADR 0050).

Which socket is the person's choice alone: their variables as the session began, their settings from before it. One that
came with the session, settings that changed since, another machine's engine, an odd or slow answer: nothing is known.
Source: https://docs.docker.com/reference/api/engine/.
"""

from __future__ import annotations

import contextlib
import email.utils
import hashlib
import http.client
import json
import logging
import os
import re
import socket
import stat
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from sentinel_guard.core.analysis.engine_facts import Container, Mount, Told, Volume
from sentinel_guard.host.containers import listening_ports
from sentinel_guard.host.machine import birth_time

log = logging.getLogger(__name__)

SECONDS = 0.2
"""For one answer, to its last byte."""
IN_ALL = 1.0
"""Seconds for all answers to one look."""
MOST = 4 << 20
"""Bytes of an answer."""
MARGIN = 2.0
"""Seconds by which something must be younger than the session: engines tell whole ones, of a clock of their own."""
_CHOOSE = (
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "CONTAINER_CONNECTION", "XDG_RUNTIME_DIR"),
    "HOME",
)
"""Variables that say which engine is meant."""
_DOCKER = "/var/run/docker.sock"
_PROJECT, _SERVICE = "com.docker.compose.project", "com.docker.compose.service"
_FOLDER = "com.docker.compose.project.working_dir"
_KEEPS_TIMES = re.compile(r"Libpod/|Docker/(?:2[3-9]|[3-9]\d|\d{3,})\.")
"""Engines whose time of a volume is that of its making: before 23 docker told of the last change in it
(https://github.com/moby/moby/pull/44719).
"""
SMALL = 1 << 20
"""Bytes of a container's own layer below which it holds what a program leaves behind as it runs."""
_GONE = 2
"""How ``/changes`` marks what was deleted."""
_TRACES = re.compile(
    r"^/(?:tmp|run|proc|sys|dev|etc|s?bin|lib\w*|boot)(?:/|$)|^/var/(?:cache|logs?|run|tmp|spool)(?:/|$)"
    r"|^/var/lib/(?:apt|dpkg|rpm|pacman|apk|systemd)(?:/|$)|^/usr/(?:s?bin|lib\w*|include|share/(?:doc|man|info|locale))(?:/|$)"
    r"|^/usr/local/(?:s?bin|lib\w*|include|share|cargo|rustup|go)(?:/|$)"
    r"|/(?:\.?cache|\.npm|\.cargo|\.gradle|\.m2|\.local/lib|node_modules|__pycache__|\.next|\.nuxt|\.venv|site-packages|logs?|tmp"
    r"|dist|build|target|coverage)(?:/|$)|\.(?:log|py[co]|pid|sock)$|/\.\w+_history$"
)
"""Packages, caches and logs: what no person typed, and comes again."""
_FRACTION = re.compile(r"\.\d+")


def ask(program: str, environ: Mapping[str, str], begun: Mapping[str, str], since: float) -> ContainerEngine | None:
    """What the person's engine tells. ``begun``: the variables with which the session began; a command whose own say
    something else may mean another engine.
    """
    if not begun or any(environ.get(name) != begun.get(name) for name in _CHOOSE):
        return None
    try:
        path = socket_of(program, begun, since)
        return ContainerEngine(path, since) if path else None
    except (OSError, ValueError) as e:
        log.debug("the engine of %s does not say: %s", program, e)
        return None


def socket_of(program: str, environ: Mapping[str, str], since: float) -> str:
    """The socket of the person's engine; empty where they mean another machine's, or the session had a hand."""
    found = _podman(environ) if program == "podman" else _docker(environ, since)
    return found if found and _is_of_before(found, since) else ""


def _podman(environ: Mapping[str, str]) -> str:
    if environ.get("CONTAINER_HOST") or environ.get("CONTAINER_CONNECTION"):
        return ""
    own = f"{environ.get('XDG_RUNTIME_DIR') or f'/run/user/{os.getuid()}'}/podman/podman.sock"
    return "/run/podman/podman.sock" if os.getuid() == 0 else own


def _docker(environ: Mapping[str, str], since: float) -> str:
    """As docker's client chooses: https://docs.docker.com/engine/manage-resources/contexts/."""
    if host := environ.get("DOCKER_HOST"):
        return _path(host)
    settings = environ.get("DOCKER_CONFIG") or f"{environ.get('HOME', '')}/.docker"
    file = f"{settings}/config.json"
    if not _is_unchanged(file, since):
        return ""
    name = environ.get("DOCKER_CONTEXT") or _read(file).get("currentContext") or "default"
    if name == "default":
        return _DOCKER
    meta = f"{settings}/contexts/meta/{hashlib.sha256(str(name).encode()).hexdigest()}/meta.json"
    if not _is_unchanged(meta, since):
        return ""
    return _path(str(_get(_read(meta), "Endpoints", "docker", "Host") or ""))


def _path(host: str) -> str:
    return host.removeprefix("unix://") if host.startswith("unix:///") else ""


def _is_unchanged(path: str, since: float) -> bool:
    """Whether a file is as it was when the session began; one that is not there is, too, in a folder that is."""
    for one in (path, os.path.dirname(path)):  # noqa: PTH120 - text with surrogates
        try:
            if os.stat(one).st_ctime >= since:  # noqa: PTH116
                return False
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return False
        return True
    return True


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            found = json.loads(file.read(1 << 20))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_of_before(path: str, since: float) -> bool:
    """Whether a socket, and each link to it, was there before the session, or lies where only others may put one."""
    try:
        real = os.path.realpath(path)
        if not stat.S_ISSOCK(os.stat(real).st_mode):  # noqa: PTH116
            return False
        return all(_is_others(one) or 0 < birth_time.born(one) < since for one in (path, real))
    except (OSError, ValueError):
        return False


def _is_others(path: str) -> bool:
    return not os.access(os.path.dirname(path), os.W_OK)  # noqa: PTH120


class ContainerEngine:
    """What an engine tells, as it was asked: one look at its containers and volumes."""

    def __init__(self, path: str, since: float) -> None:
        """Raises OSError, ValueError where there is no answer that is understood."""
        self._path, self._since, self._left = path, since, IN_ALL
        self._ahead, self._keeps_times = 0.0, False
        listed, named = self._get("/containers/json?all=1"), self._get("/volumes")
        try:
            of_before = {
                _get(mount, "Name") for row in listed if not self._is_since(row["Created"]) for mount in row["Mounts"]
            }
            self.volumes: Mapping[str, Volume] = {
                row["Name"]: Volume(_label(row, _PROJECT), row["Name"] not in of_before and self._is_own_volume(row))
                for row in named["Volumes"] or ()
            }
            self.containers = tuple(self._container(row) for row in listed)
        except (AttributeError, KeyError, TypeError, IndexError, OverflowError) as e:
            raise ValueError(f"{path}: {e}") from e

    def told(self, ident: str) -> Told | None:
        try:
            row = self._get(f"/containers/{quote(ident, safe='')}/json")
            config = row["Config"]
            words = (*(config["Entrypoint"] or ()), *(config["Cmd"] or ()))
            names = tuple(str(variable).partition("=")[0] for variable in config["Env"] or ())
            return Told(tuple(map(str, words)), names, str(row["HostConfig"]["NetworkMode"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keeps(self, ident: str) -> bool:
        """Counted as a layer's size, and looked at by what was changed there; a slow answer says nothing."""
        at = f"/containers/{quote(ident, safe='')}"
        try:
            if int(self._get(f"{at}/json?size=1", IN_ALL)["SizeRw"]) < SMALL:
                return False
            found = self._get(f"{at}/changes", IN_ALL) or ()
            changed = sorted((str(row["Path"]), row["Kind"] != _GONE) for row in found)
            ends = (row for row, (below, _) in pairwise((*changed, ("", False))) if not below.startswith(f"{row[0]}/"))
            return any(stays and not _TRACES.search(path) for path, stays in ends)
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return False

    def _container(self, row: Mapping[str, Any]) -> Container:
        ports = (port for port in row["Ports"] or () if port.get("Type") == "tcp" and port.get("PublicPort"))
        published: dict[int, list[str]] = {}
        for port in ports if row["State"] == "running" else ():
            published.setdefault(int(port["PublicPort"]), []).append(str(port.get("IP") or ""))
        return Container(
            ident=str(row["Id"]),
            names=tuple(str(name).removeprefix("/") for name in row["Names"] or ()),
            image=str(row["Image"]),
            project=_label(row, _PROJECT),
            service=_label(row, _SERVICE),
            folder=_label(row, _FOLDER),
            ports=frozenset(str(p) for p, hosts in published.items() if listening_ports.are_all(p, hosts)),
            mounts=tuple(map(self._mount, row["Mounts"])),
            is_new=self._is_since(row["Created"]),
        )

    def _mount(self, row: Mapping[str, Any]) -> Mount:
        kind, source = row["Type"], str(row.get("Source") or "")
        known = self.volumes.get(row.get("Name") or "")
        # What an engine in a machine of its own calls so may be nothing here.
        young = os.path.lexists(source) and birth_time.is_younger(source, self._since)
        new = young if kind == "bind" else kind == "tmpfs" or (known is not None and known.is_new)
        return Mount(str(row["Destination"]), kind == "bind", new, row.get("RW") is False)

    def _is_own_volume(self, row: Mapping[str, Any]) -> bool:
        """One with options may be a folder of this machine, or another machine's."""
        plain = row["Driver"] == "local" and not row.get("Options") and self._keeps_times
        return plain and self._is_since(row["CreatedAt"])

    def _is_since(self, made: float | str) -> bool:
        if isinstance(made, str):
            made = datetime.fromisoformat(_FRACTION.sub("", made)).timestamp()
        return birth_time.is_since(made - self._ahead, self._since + MARGIN)

    def _get(self, target: str, seconds: float = 0.0) -> Any:
        began = time.monotonic()
        with contextlib.closing(_Connection(self._path, began + min(seconds or SECONDS, self._left))) as connection:
            try:
                connection.request("GET", target)
                answer = connection.getresponse()
                if answer.status != http.client.OK:
                    raise ValueError(f"{target}: {answer.status}")
                text = b"".join(_pieces(answer))
            except http.client.HTTPException as e:
                raise ValueError(str(e)) from e
            finally:
                self._left -= time.monotonic() - began
        self._keeps_times = _KEEPS_TIMES.match(answer.getheader("Server") or "") is not None
        try:
            told = email.utils.parsedate_to_datetime(answer.getheader("Date") or "").timestamp()
        except OverflowError as e:
            raise ValueError(target) from e
        ahead = told - time.time()
        self._ahead = ahead if abs(ahead) > MARGIN else 0.0
        try:
            return json.loads(text)
        except RecursionError as e:
            raise ValueError(target) from e


def _pieces(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    left = MOST
    while piece := answer.read1(1 << 16):
        left -= len(piece)
        if left < 0:
            raise ValueError("too much")
        yield piece


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, until: float) -> None:
        super().__init__("localhost")
        self._at, self._until = path, until

    def connect(self) -> None:
        self.sock = _Socket(socket.AF_UNIX)
        self.sock.until = self._until
        self.sock.wait()
        self.sock.connect(self._at)


class _Socket(socket.socket):
    """One that gives up at a moment, though it is sent a little at a time: a timeout alone begins anew each time."""

    until = 0.0

    def wait(self) -> None:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("too slow")
        self.settimeout(left)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self.wait()
        return super().recv_into(*args, **kwargs)


def _label(row: Mapping[str, Any], name: str) -> str:
    return str((row.get("Labels") or {}).get(name) or "")


def _get(found: Any, *names: str) -> Any:
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found
