"""Find variables with a secret's name in outgoing data: ``curl -d "$TOKEN" …``. Their values are not looked at.

Who logs in with one passes: in a header, as user, as cookie (``sent_arguments.split``); at a host that is called like
the variable; at a place that the person's own settings name (``"$API_URL/login"``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.secret_names import names_credential
from sentinel_guard.core.model import Effect
from sentinel_guard.core.secrets.egress.sent_arguments import MACHINES, host_of, is_certain, split

_NAME = re.compile(r"\$\{?([A-Za-z_]\w*)")
_SETTING = re.compile(r"(?:https?://)?\$\{?\w*(?:URL|URI|HOST|ENDPOINT|SERVER|ORIGIN|BASE|DOMAIN)")
_BOT = re.compile(r"https://api\.telegram\.org/(?:file/)?bot\$\{?\w+\}?/")
"""The one address that logs in with its path."""
_BELOW = frozenset(("co", "com", "org", "net", "gov", "ac", "edu"))
"""Names below a country's that are nobody's own."""
_GENERIC = frozenset(
    (
        *("api", "app", "key", "token", "secret", "access", "auth", "password", "private", "client", "bearer", "user"),
        *(
            "admin",
            "service",
            "account",
            "live",
            "prod",
            "test",
            "dev",
            "staging",
            "database",
            "the",
            "bot",
            "personal",
        ),
    )
)

_ENDS = ("", "api", "apis", "map", "maps", "app", "cloud", "data", "hq")
"""What names of companies become in names of hosts."""


def variables(effect: Effect, said: str) -> list[str]:
    """Names of the variables whose secrets a sending carries as content; ``said``: what it reads and sends on."""
    host = host_of(effect.target)
    if _SETTING.match(effect.target) or (host and not is_certain(effect.target, host)):
        return []
    found = (*_in_words(effect), *_in_input(effect, said))
    return list(dict.fromkeys(name for name in found if not _is_vendor(host, name)))


def _in_words(effect: Effect) -> Iterator[str]:
    if effect.command is not None and effect.written:
        for word in split(replace(effect.command, argv=effect.written))[0]:
            yield from _NAME.findall(_BOT.sub("", word))


def _in_input(effect: Effect, said: str) -> Iterator[str]:
    """What is told to another machine may be meant for its own variables."""
    if effect.command is not None and (effect.command.program not in MACHINES or UNKNOWN in effect.data):
        yield from filter(names_credential, _NAME.findall(said))


def _is_vendor(host: str, name: str) -> bool:
    """Whether the owner of a host is called like the variable: ``SLACK_TOKEN`` and ``hooks.slack.com``."""
    *above, last = host.split(".") if host else [""]
    if len(above) > 1 and above[-1] in _BELOW and len(last) == 2:
        above.pop()
    words = [word for word in name.lower().split("_") if len(word) > 2 and word not in _GENERIC]
    return any(above[-1:] == [f"{word}{end}"] for word in (*words, "".join(words)) if word for end in _ENDS)
