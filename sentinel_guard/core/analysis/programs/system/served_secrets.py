"""Files of secrets in a folder that a file server shows to whoever reaches this machine.

What stands in them is compared, and goes no further than a yes or no.
"""

from __future__ import annotations

import re
from itertools import islice

from sentinel_guard.core.analysis import places
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.secret_names import may_hold_secret, names_credential

TARGET = "served secrets"
_NAMES = (".*", "*", "*/.env*", "*/*.pem", "*/*.key", "*/*service*account*.json", "apps/*/.env*", "packages/*/.env*")
"""Where they lie: at the top, and a little below."""
_MOST = 20
"""Files that are looked into."""
_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\"private_key\"\s*:|:_authToken\s*=\s*[^\s$]")
_OWN_KEY = re.compile(
    r"(?i).*(?:localhost|127\.0\.0\.1|snakeoil|self-?signed|[/._-](?:test|dev|example)[._-])[^/]*(?<=\.pem|\.key)"
)
"""Files of keys for development, as mkcert calls them."""
_LINE = re.compile(r"(?m)^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*[\"']?([^\s\"'#]*)")
_LOGIN = re.compile(r"\w+://[^/\s:@]*:[^/\s@]{6,}@(?!(?:localhost|127[\d.]+|\[::1\]|[\w-]+)(?:[:/?]|$))\S+")
"""With a password, at a machine that is neither this one nor a neighbour in its compose file."""
_MEANT_FOR_NOBODY = re.compile(
    r"(?i)(?:.*(?:change|example|placeholder|insecure|dummy|redacted|replace|todo)|<|\$|your|x{3,}|\*{3,}|test|dev|local"
    r"|secret|password|postgres|admin|root|minio|guest|true|false|none|null).*"
)
"""Values for development, or that are still to be filled in."""


def are_below(call: Call, folder: str) -> bool:
    """Whether files of secrets at the top of a folder, or a little below, hold any."""
    if places.is_inside(call.command) or places.is_away(call.command):
        return False
    found = (path for name in _NAMES for path in call.world.glob(f"{folder.rstrip('/')}/{name}"))
    files = (
        path
        for path in found
        if not _OWN_KEY.fullmatch(path) and may_hold_secret(path) and call.world.kind(path) == "file"
    )
    return any(call.world.fulfils(path, _has_secret) for path in islice(files, _MOST))


def _has_secret(text: str) -> bool:
    return _KEY.search(text) is not None or any(_is_secret(*found) for found in _LINE.findall(text))


def _is_secret(name: str, value: str) -> bool:
    if "://" in value:
        return _LOGIN.fullmatch(value) is not None
    return len(value) >= 8 and names_credential(name) and _MEANT_FOR_NOBODY.fullmatch(value) is None
