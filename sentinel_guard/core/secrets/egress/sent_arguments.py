"""Split the arguments of a command that sends data into content, credentials and destination."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sentinel_guard.core.analysis import network_addresses
from sentinel_guard.core.model import Command
from sentinel_guard.core.secrets.model import Piece


class Sending(NamedTuple):
    """What goes to one place."""

    where: str
    """For people: a host, a bucket, a program, a tool's server."""
    host: str = ""
    """Lower case; empty where no host is known."""
    content: tuple[Piece, ...] = ()
    credentials: tuple[Piece, ...] = ()
    """What it logs in with over there."""
    sure: bool = True
    """It leaves for another machine, for certain."""
    published: bool = False
    """Others read it there: a token of that very host is no login either."""
    notes: tuple[str, ...] = ()
    """What was not looked at, in words."""
    variables: tuple[str, ...] = ()
    """Names of those that hold secrets, and stand in what goes."""


MACHINES = frozenset(("ssh", "mosh", "autossh"))
"""What they are told runs over there, with the passwords of over there: only what is piped into them is content."""
FORGES = {"gh": "github.com", "hub": "github.com", "glab": "gitlab.com", "tea": "gitea.com"}
ASKERS = frozenset(
    (
        *("git", "pip", "pip3", "pipx", "uv", "poetry", "npm", "pnpm", "yarn", "bun", "npx", "cargo", "go", "gem"),
        *("composer", "brew", "conda", "mamba", "helm"),
    )
)
"""They ask for addresses that are given to them; what git pushes, its hooks look at."""
_POSTS = frozenset(("pr", "issue", "mr", "gist", "release", "snippet", "api", "discussion"))
"""Subcommands of forges whose words others read."""

_SHORT = {
    **dict.fromkeys(("curl", "curlie"), "HubUE"),
    **dict.fromkeys(("http", "https", "xh", "xhs"), "a"),
    **dict.fromkeys(("gh", "glab"), "H"),
    **dict.fromkeys(("ftpput", "ncftpput"), "up"),
    "lftp": "u",
    "smbclient": "U",
}
"""Letters of options whose value is a credential."""
_LONG = re.compile(
    r"--?(?:[a-z0-9]+-)*(?:user|username|pass|password|passphrase|token|auth|bearer|header|cookie|credentials?|otp"
    r"|(?:api|access|secret|private|account)-?key|key|cert|sig(?:nature)?)"
)
_HEADER = re.compile(r"[A-Za-z][\w-]*:(?![=/]).*", re.DOTALL)
"""HTTPie's item for a header."""
_PRIVATE = re.compile(
    r"(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254)(?:\.\d{1,3})+|.+\.(?:internal|intranet|lan|svc|home\.arpa|corp)"
)
"""Addresses that are not routed on the internet (RFC 1918, RFC 3927), and names that are not known there."""
_USER = re.compile(r"(?<=://)[^/@\s]*@")
_SAID = re.compile(
    r"(?i)[\"']?(?:(?:proxy-)?authorization|x-api-key|api-key|private-token|x-[\w-]{0,30}(?:token|key)|cookie)[\"']?"
    r"\s*(?:=>|[:=,])\s*[fbr]{0,2}[\"']([^\"'\n]*)[\"']|\bauth\s*=\s*(\([^()\n]*\)|\w+\([^()\n]*\)|[fbr]{0,2}[\"'][^\"'\n]*[\"'])"
)
"""In code: a header that says who one is, ``auth=(user, password)``."""


def split(command: Command) -> tuple[list[str], list[str]]:
    """The words that are content, and those that log in."""
    if command.program in MACHINES:
        return [], []
    content, credentials = [], []
    logs_in = False
    for word in command.argv[1:]:
        if logs_in:
            credentials.append(word)
            logs_in = False
            continue
        logs_in = _takes_credential(command.program, word)
        if not logs_in and (said := _glued(command.program, word)):
            credentials.append(said)
        elif not logs_in:
            plain, who = apart(word)
            content.append(plain)
            credentials += who
    return content, credentials


def _takes_credential(program: str, word: str) -> bool:
    """Whether the next word is a credential: ``-u``, ``-sSH``, ``--user``."""
    letters = _SHORT.get(program, "")
    if word[:1] != "-" or "=" in word:
        return False
    return (word[:2] != "--" and len(word) > 1 and word[-1] in letters) or _LONG.fullmatch(word) is not None


def _glued(program: str, word: str) -> str:
    """The credential in ``-uname:password``, ``--user=name:password``, ``Authorization:Bearer``; empty for none."""
    if word[:1] == "-":
        name, equals, value = word.partition("=")
        if equals and _LONG.fullmatch(name):
            return value
        return word[2:] if word[1:2] in _SHORT.get(program, "") and len(word) > 2 else ""
    header = program in ("http", "https", "xh", "xhs") and "://" not in word and _HEADER.fullmatch(word)
    return word if header else ""


def apart(text: str) -> tuple[str, list[str]]:
    """A text without what it says to log in, and that: the user of an address, the header in a piece of code."""
    who: list[str] = []
    if "://" in text and "@" in text:
        who += _USER.findall(text)
        text = _USER.sub("", text)
    if "\n" in text or "(" in text:
        who += [found[1] or found[2] for found in _SAID.finditer(text)]
        text = _SAID.sub("", text)
    return text, who


def posted(command: Command) -> Sending | None:
    """What a forge's program writes where others read it; None for what it only asks or keeps."""
    if command.subcommand not in _POSTS:
        return None
    content, credentials = split(command)
    host = FORGES[command.program]
    return Sending(host, host, pieces(content), pieces(credentials), published=True)


_REMOTE = re.compile(r"[\w.+-]+://.*|[\w.-]+@[\w.-]+:.*", re.DOTALL)


def addressed(command: Command) -> Iterator[Sending]:
    """What the addresses tell that git and installers ask for: their users log in, the rest is content."""
    for word in command.argv[1:]:
        if ":" not in word:
            continue
        address = word.partition("=")[2] if word[:2] == "--" else word
        if not _REMOTE.fullmatch(address) or network_addresses.is_local_address(address):
            continue
        plain, host = apart(address)[0], host_of(address)
        yield Sending(host or address, host, pieces([plain]), sure=is_certain(address, host))


def host_of(target: str) -> str:
    """The host of an address, ``host:path``, ``host port``, ``user@host`` or ``s3://bucket``; empty for none."""
    host = network_addresses.host(target).strip("[]").lower()
    return "" if "$" in host or "`" in host or target == "a host" else host


def is_certain(target: str, host: str) -> bool:
    """Whether a host is one of the wide world: ``http://db:9200``, ``172.17.0.2`` may be containers beside this one."""
    beside = target.startswith(("http://", "https://")) and "." not in host
    return bool(host) and not beside and _PRIVATE.fullmatch(host) is None


def pieces(texts: Sequence[str]) -> tuple[Piece, ...]:
    return tuple(_pieces(texts))


def _pieces(texts: Sequence[str]) -> Iterator[Piece]:
    for text in texts:
        if len(text) > 7:  # nothing shorter is a secret
            yield Piece(text if text.endswith("\n") else f"{text}\n")
