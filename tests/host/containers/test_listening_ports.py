"""Who listens at a port, by the kernel's own table."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence

import pytest

from sentinel_guard.host.containers import listening_ports

ROWS = [
    (("127.0.0.1",), ("127.0.0.1",), True, "the one that publishes"),
    (("127.0.0.1",), ("",), True, "an engine that names no address"),
    (("0.0.0.0",), ("0.0.0.0", "::"), True, "at all of this machine"),
    ((), ("127.0.0.1",), False, "nobody"),
    (("127.0.0.1", "::1"), ("127.0.0.1",), False, "somebody else, whom a client of localhost may meet first"),
    (("127.0.0.1", "::1"), ("127.0.0.1", "::1"), True, "both are its own"),
    (("0.0.0.0",), ("127.0.0.1",), False, "more than it publishes"),
    (("127.0.0.2",), ("127.0.0.1",), False, "another address of this machine"),
    (("::",), ("0.0.0.0",), True, "one socket for both families"),
]


@pytest.mark.parametrize(("listen", "published", "own", "why"), ROWS)
def test_who_listens(listen: Sequence[str], published: Sequence[str], own: bool, why: str) -> None:
    with contextlib.ExitStack() as stack:
        port = 0
        for host in listen or ("127.0.0.1",):
            one = stack.enter_context(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET))
            try:
                one.bind((host, port))
            except OSError:
                pytest.skip("this machine has no IPv6")
            port = one.getsockname()[1]
            if listen:
                one.listen()
        assert listening_ports.are_all(port, published) is own, why
