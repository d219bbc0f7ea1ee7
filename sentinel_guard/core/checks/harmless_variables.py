"""Files of variables that hold no secret, by what stands in them: who reads one shows nothing that is to be hidden.

Nothing of what stands there goes further than this yes or no. It is strict on purpose: under a name that logs in
somewhere only nothing, or a placeholder, is no secret; of an address of another machine no password is; a comment may
hold what was once a value.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.secret_names import names_credential, names_secret
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.model import Effect, Kind
from sentinel_guard.core.secrets.user_secrets.choose_secret_values import values_of
from sentinel_guard.core.secrets.user_secrets.password_likelihood import is_placeholder, is_random

_NAMED = re.compile(r"\.env(?:\.[\w.-]+)?|\.envrc|[\w-]+\.env")
_LINE = re.compile(r"[ \t]*#*[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.]*)[ \t]*=[ \t]*(?P<value>.*?)[ \t]*")
_PROSE = re.compile(r"[ \t]*(?:#[^=]*)?")
_ABOUT = re.compile(r"[ \t]+#.*$")
_PUBLIC = re.compile(
    r"(?i)(?:APP|API|BASE|SITE|PUBLIC|FRONTEND|BACKEND|SERVER|WEB|HOST|VITE_\w+|NEXT_PUBLIC_\w+)_UR[IL]"
)
_SAYS_SO = re.compile(
    r"(?i)change|your|example|placeholder|replace|x{3}|dummy|todo|<|secret|password|postgres|root|test|dev|local|fake"
    r"|sample|insert|guest|admin"
)
"""Words of what is put in the place of a secret; a short value without one may be one."""
MOST = 200
"""Lines of a file that is looked at."""


def are_shown(case: Case, effect: Effect) -> bool:
    """Whether what is read is a file of variables none of which is secret, as it is now and stays in this text."""
    path = effect.target
    if not (effect.sure and _NAMED.fullmatch(paths.base(path))):
        return False
    if any(other.kind is Kind.WRITE and other.target == path for other in case.effects):
        return False
    seen = case.look(path)
    lines = seen.text.splitlines() if seen is not None and seen.whole else []
    if not 0 < len(lines) <= MOST or values_of(".env", "\n".join(lines).encode("utf-8", "replace")):
        return False
    return all(map(_is_harmless, lines))


def _is_harmless(line: str) -> bool:
    if _PROSE.fullmatch(line):
        return not any(map(is_random, line.split()))
    match = _LINE.fullmatch(line)
    if match is None:
        return False
    name, value = match["name"].upper(), _ABOUT.sub("", match["value"]).strip("\"'")
    if not value:
        return True
    if "://" in value:
        return _is_address_harmless(name, value)
    if names_credential(name) or (names_secret(name) and not _PUBLIC.fullmatch(name)):
        return is_placeholder(value) and _SAYS_SO.search(value) is not None
    return not is_random(value)


def _is_address_harmless(name: str, value: str) -> bool:
    """Without a login, or with that of a placeholder on this machine or beside it in a network of containers."""
    try:
        seen = urlsplit(value)
        host, password, login = seen.hostname or "", seen.password, seen.username
    except ValueError:
        return False
    if any(map(is_random, re.split(r"[/&=?]", f"{seen.path}?{seen.query}"))) or "," in seen.netloc:
        return False
    if password is None and not (login and names_secret(name)):
        return not re.search(r"(?i)hook|token|key|secret|sig", f"{seen.path}?{seen.query}")
    here = "." not in host or network_addresses.is_local_address(host)
    return here and (not password or is_placeholder(password))
