"""Who listens at a port of this machine, as far as a client of ``localhost`` may meet them (proc(5), /proc/net/tcp)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

_LISTENS = "0A"
_ANY4, _HERE4 = "00000000", "0100007F"
_ANY6, _HERE6 = "0" * 32, "00000000000000000000000001000000"
_MAPPED = "0000000000000000FFFF0000"
"""Before an address of IPv4 in one of IPv6."""
_CLAIMS = {
    "": (_ANY4, _HERE4, _ANY6, _HERE6),
    "0.0.0.0": (_ANY4, _HERE4),  # noqa: S104 - what an engine says
    "127.0.0.1": (_HERE4,),
    "::": (_ANY6, _HERE6),
    "::1": (_HERE6,),
}


def are_all(port: int, hosts: Collection[str]) -> bool:
    """Whether somebody listens at a port of this machine, and at none of its addresses but these."""
    claimed = {place for host in hosts for place in _CLAIMS.get(host, ())}
    found = {*_listeners(port)}
    if found == {_ANY6} and _ANY4 in claimed:
        return True  # one socket for both families
    return bool(found) and found <= claimed


def _listeners(port: int) -> Iterator[str]:
    """The addresses of this machine alone, or of all of its, at which somebody listens."""
    wanted = f":{port:04X}"
    for file in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(file, encoding="ascii") as lines:  # noqa: PTH123 - not a file of anybody's
                rows = [line.split() for line in lines]
        except OSError:
            continue
        for row in rows[1:]:
            address = row[1].removesuffix(wanted).removeprefix(_MAPPED)
            if row[3] == _LISTENS and row[1].endswith(wanted) and _is_met(address):
                yield address


def _is_met(address: str) -> bool:
    return address in (_ANY4, _ANY6, _HERE6) or (len(address) == len(_HERE4) and address.endswith("7F"))
