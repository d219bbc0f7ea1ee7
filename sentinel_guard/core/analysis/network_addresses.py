"""Tells whether a URL, host or ``host:port`` is this machine (loopback, mDNS, test names) or another one."""

from __future__ import annotations

import re

_HOST = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/@\s]*@)?(\[[0-9A-Fa-f:.]+\]|[^/:?#\s]*)")
_HERE = re.compile(
    r"localhost|(?:.+\.)?(?:localhost|local|test)|127(?:\.\d{1,3}){3}|0\.0\.0\.0|ip6-localhost"
    r"|\[(?:::1|::|0:0:0:0:0:0:0:1)\]|host\.docker\.internal",
    re.IGNORECASE,
)
"""Names that lead nowhere else: loopback, mDNS (RFC 6762), and those reserved for tests (RFC 6761)."""

CATCHES_MAIL = re.compile(r"localhost|127\.0\.0\.1|\bmailhog\b|\bmailpit\b|ethereal\.email|:1025\b|:2525\b")
"""Servers of mail that show what they are given to a developer, and send nothing on. A port counts behind its host
alone: those that do send listen on 2525, too.
"""


def host(address: str) -> str:
    """The host of ``https://user@host:80/x``, ``host:80`` or ``host``; IPv6 in its brackets."""
    match = _HOST.match(address.strip())
    return match[1] if match else ""


def is_local_address(address: str) -> bool:
    """Whether an address leads to this machine or a name for tests; ``:3000/x`` is HTTPie's short form of it."""
    return address.startswith(":") or _HERE.fullmatch(host(address)) is not None


_SYSTEM = re.compile(r"/(?:(?:bin|boot|dev|etc|lib|lib32|lib64|sbin|usr)(?:/.*)?)?")


def is_remote_system_path(text: str) -> bool:
    """Whether ``host:path`` names a part of that machine's system."""
    head, colon, path = text.partition(":")
    return bool(colon) and "/" not in head and _SYSTEM.fullmatch(path) is not None
