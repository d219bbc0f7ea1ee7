"""Which addresses lead to this machine: a name that only looks like it does not."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.network_addresses import host, is_local_address, is_remote_system_path

HERE = [
    ("http://localhost:3000/x", True, "loopback by name"),
    ("localhost:9200/test", True, "without a scheme"),
    (":3000/api", True, "HTTPie's short form"),
    ("http://127.8.9.1/", True, "all of 127/8"),
    ("http://[::1]:3000/", True, "IPv6"),
    ("http://app.local/", True, "mDNS"),
    ("http://user:pass@localhost/", True, "with credentials"),
    ("https://localhost.example.com/", False, "a name that begins like it"),
    ("http://localhost@example.com/", False, "credentials that look like it"),
    ("http://localhost:80@example.com/", False, "the same with a port"),
    ("https://example.com/?x=localhost", False, "a query that names it"),
    ("http://10.0.0.5/", False, "somebody's network"),
    ("$API/items/1", False, "not known"),
]
SYSTEMS = [
    ("host:/usr/local/bin/", True, "its programs"),
    ("root@host:/", True, "its root"),
    ("host:/etc/nginx.conf", True, "its settings"),
    ("host:src/", False, "the home there"),
    ("host:/srv/app", False, "where things are served from"),
    ("/usr/local/bin", False, "a path here"),
    ("./a:/usr/bin", False, "a name with a colon"),
]


@pytest.mark.parametrize(("address", "here"), [row[:2] for row in HERE], ids=[row[2] for row in HERE])
def test_is_here(address: str, here: bool) -> None:
    assert is_local_address(address) is here


@pytest.mark.parametrize(("text", "system"), [row[:2] for row in SYSTEMS], ids=[row[2] for row in SYSTEMS])
def test_is_a_system_of_another(text: str, system: bool) -> None:
    assert is_remote_system_path(text) is system


def test_the_host_of_an_address() -> None:
    assert [host(a) for a in ("https://a@b.c:80/d", "b.c:80", "b.c/d", "http://[::1]:3/")] == ["b.c"] * 3 + ["[::1]"]
