"""Connections to other machines are asked about where the rules say so, by streams and far addresses alone."""

from __future__ import annotations

import os
import socket

import pytest

from tests.broker.conftest import USER
from tests.support.kernel_session import KernelSession

TRY = """
import socket, sys
family, kind, address = sys.argv[1:]
with socket.socket(getattr(socket, family), getattr(socket, kind)) as link:
    link.settimeout(0.1)
    try: link.connect((address, 443))
    except OSError as e: print(type(e).__name__)
"""
ROWS = (
    ("AF_INET", "SOCK_STREAM", "203.0.113.7", "203.0.113.7:443", "another machine"),
    ("AF_INET6", "SOCK_STREAM", "2001:db8::1", "[2001:db8::1]:443", "another machine, IPv6"),
    ("AF_INET6", "SOCK_STREAM", "::ffff:203.0.113.7", "[::ffff:203.0.113.7]:443", "IPv4 in IPv6"),
    ("AF_INET", "SOCK_STREAM", "127.0.0.1", "", "this machine"),
    ("AF_INET", "SOCK_STREAM", "10.1.2.3", "", "a private network"),
    ("AF_INET", "SOCK_STREAM", "172.31.0.1", "", "a private network"),
    ("AF_INET", "SOCK_STREAM", "172.32.0.1", "172.32.0.1:443", "just beyond it"),
    ("AF_INET6", "SOCK_STREAM", "::1", "", "this machine, IPv6"),
    ("AF_INET6", "SOCK_STREAM", "fd00::1", "", "a private network, IPv6"),
    ("AF_INET6", "SOCK_STREAM", "::ffff:127.0.0.1", "", "this machine, IPv4 in IPv6"),
    ("AF_INET", "SOCK_DGRAM", "203.0.113.7", "", "datagrams: resolvers do so to learn their own address"),
)


@pytest.fixture
def asking(broker):
    made = KernelSession([("machines", "ask", "*")], broker=broker)
    yield made
    made.close()


@pytest.mark.parametrize(("family", "kind", "address", "asked"), [r[:4] for r in ROWS], ids=[r[4] for r in ROWS])
def test_which_are_asked_about(asking, family, kind, address, asked):
    done = asking.run("python3", "-c", TRY, family, kind, address)
    assert [(q.what, *q.objects) for q in asking.asked] == ([("reach", asked)] if asked else [])
    assert (done.stdout.strip() == b"PermissionError") is bool(asked)


def test_a_yes_lets_it_connect(asking):
    asking.answer = lambda _: True
    assert b"PermissionError" not in asking.run("python3", "-c", TRY, *ROWS[0][:3]).stdout


def test_no_connection_begins_with_its_first_data(asking):
    """TCP fast open (sendto, sendmsg with MSG_FASTOPEN): programs are told that it is off, and call connect."""
    code = """
import socket
near = socket.create_server(("127.0.0.1", 0))
for send in (lambda s: s.sendto(b"x", socket.MSG_FASTOPEN, near.getsockname()),
             lambda s: s.sendmsg([b"x"], (), socket.MSG_FASTOPEN, near.getsockname())):
    try: send(socket.socket())
    except OSError as e: print(e.errno, end=" ")
link = socket.create_connection(near.getsockname())
print(link.send(b"x"), link.sendmsg([b"y"]))"""
    assert asking.run("python3", "-c", code).stdout.split() == [b"95", b"95", b"1", b"1"]


def test_without_the_rule_nobody_is_asked(session):
    assert b"PermissionError" not in session.in_repo("python3", "-c", TRY, *ROWS[0][:3]).stdout
    assert session.asked == []


@pytest.mark.parametrize("name", ["docker.sock", "link"], ids=["by its name", "by a link"])
def test_a_socket_that_gives_rights_is_asked_about(session, repo, name):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(repo / "docker.sock"))
        (repo / "docker.sock").chmod(0o777)
        (repo / "link").symlink_to("docker.sock")
        server.listen()
        done = session.in_repo("python3", "-c", f"import socket; socket.socket(socket.AF_UNIX).connect('{name}')")
    assert b"PermissionError" in done.stderr
    assert [(q.what, *q.objects) for q in session.asked] == [("connect", str(repo / "docker.sock"))]


AGENT = """
import os, socket, subprocess, sys
path, other = sys.argv[1:]
{}
try: socket.socket(socket.AF_UNIX).connect(path)
except OSError as e: print(type(e).__name__)
"""
ROUNDABOUT = (
    ("", True, "as it is named"),
    ("os.chdir(os.path.dirname(path)); path = os.path.basename(path)", True, "by a relative path"),
    ("os.symlink(path, other); path = other", True, "by a link"),
    ("os.link(path, other); path = other", True, "by another name of the socket"),
    ("os.rename(path, other); path = other", True, "moved"),
    ("path = f'/proc/{os.getpid()}/root{path}'", True, "by the process's own root"),
    ("path = other; own = socket.socket(socket.AF_UNIX); own.bind(path); own.listen()", False, "a socket of its own"),
)


@pytest.mark.parametrize(("how", "asked"), [row[:2] for row in ROUNDABOUT], ids=[row[2] for row in ROUNDABOUT])
def test_an_agents_socket_is_known_by_any_name(broker, repo, how, asked):
    path = repo / "agent"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o777)
        os.chown(path, USER, USER) if USER else None
        server.listen()
        session = KernelSession([("socket", "ask", str(path))], broker=broker)
        try:
            words = ("python3", "-c", AGENT.format(how), str(path), str(repo / "other"))
            done = session.run(*words, cwd=repo, user=USER)
        finally:
            session.close()
    assert (done.stdout.strip(), done.stderr) == (b"PermissionError" if asked else b"", b"")
    assert [(q.what, *q.objects) for q in session.asked] == ([("connect", str(path))] if asked else [])
