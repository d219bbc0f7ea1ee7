"""Classify a value as random (a likely password), ordinary (word, number, path) or a placeholder.

All of it is said without a dictionary: what words are made of is told from what chance makes.
"""

from __future__ import annotations

import re

CHANCE = 16
"""Characters that a value must have to look like chance."""
ODD = 12
"""Characters of it that must be in no word and no number."""
HUMP = 3.5
"""Letters from one capital to the next, at least, of words that are joined by them."""
LEFT, SHARE = 4, 0.4
"""Letters and digits that a value must have besides the words that everybody writes; and what share of it they are."""

_ORDINARY = re.compile(
    r"(?i)[\d.,:_+-]+%?"  # numbers, ports, versions, lists of them
    r"|(?:true|false|yes|no|on|off|null|none|undefined)"
    r"|v?\d+(?:\.\d+)+[\w.+-]*"  # versions
    r"|\d+\s*(?:ms|s|m|h|d|w|y|sec|min|hours?|days?|[kmgt]i?b?)"
    r"|\d{4}-\d\d-\d\d(?:[t ][\d:.+z-]*)?"
    r"|[^\s@]+@[^\s@]+\.[a-z]{2,}|.*<[^\s@]+@[^\s@]+>"  # mail
    r"|(?-i:(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.)+[a-z]{2,})\.?(?::\d+)?(?:/[\w./~-]*)?"  # hosts, modules, images, files
    r"|\[?[0-9a-f:]+:[0-9a-f:.]+\]?(?:/\d+)?"  # IPv6
    r"|[a-z0-9-]+:\d{2,5}"  # host:port
    r"|(?:[\w@+.-]+/)+[\w@+.-]+\.[a-z]{2,5}"
    r"|\.{1,2}/.*|~/.*|[a-z]:\\.*|/[\w@+.-]+(?:/[\w@+.-]*)*"  # paths
    r"|(?:[*?\d/,-]+\s+){4}[*?\d/,\w-]+"  # cron
    r"|[a-z]+(?:/[a-z_]+)+"  # Europe/Berlin, text/html
)
_RANDOM_PATH = re.compile(r"/?[A-Za-z0-9+/]{40,}={0,2}")
"""Base64 may begin with a slash."""
_WORDS = re.compile(
    r"abcdefghijklmnopqrstuvwxyz|0123456789|1234567890|abcdef|deadbeef|cafebabe|administrator|authentication|placeholder"
    r"|development|production|characters|postgresql|elasticsearch|wordpress|changeme|something|rabbitmq|insecure|password"
    r"|passwort|passphrase|keyboard|postgres|localhost|security|internal|default|testing|example|minioadmin|replace"
    r"|private|generic|random|mongodb|changed|mariadb|database|letmein|welcome|secrets?|service|session|sample|secure"
    r"|string|change|please|server|docker|client|qwerty|access|create|common|config|passwd|public|github|google|openai"
    r"|stripe|twilio|django|laravel|symfony|super|token|admin|dummy|mysql|redis|least|value|guest|local|minio|short|hello"
    r"|world|where|long|this|that|your|user|name|test|todo|fake|here|insert|with|pass|root|must|keep|edit|data|base"
    r"|refresh|webhook|account|signing|encrypt(?:ion)?|generated?|minimum|staging|cookie|bucket|payment|chars|bytes|openssl"
    r"|strong|unique|oauth|login|email|master|never|goes|fill|need|only|used|some|auth|hash|rand|smtp|mail|prod|safe|text"
    r"|key|api|app|env|dev|jwt|aws|sql|foo|bar|baz|pwd|db"
)
"""What placeholders are made of; the longer before the shorter."""
_SMALL = re.compile(
    r"(?<![a-z0-9])(?:the|and|for|not|set|bit|cat|new|old|add|use|any|you|[0-9]{1,4}|[a-z]{1,2})(?![a-z0-9])"
)
"""Words that count as such only where they stand alone."""
_LEET = str.maketrans("013457@$", "oleastas")
_REPEATED = re.compile(r"(.)\1{3,}")
_PLAIN = re.compile(r"[0-9]{1,14}|(?:[a-z]{1,24}|[A-Z]{1,24}|[A-Z][a-z]{1,24})[0-9]{0,4}|[vV]?[0-9]{1,4}[a-z]{0,3}")
"""A number, a word with a number, a number with its unit."""


def is_ordinary(value: str) -> bool:
    """A number, a version, a path, an address, a name of a file, or several: what stands in any text."""
    return all(_ORDINARY.fullmatch(one) for one in re.split(r"[,;]\s*", value)) and not _RANDOM_PATH.fullmatch(value)


def is_placeholder(value: str) -> bool:
    """Whether little is left of it without the words that placeholders are made of."""
    low = _REPEATED.sub("", value.lower())
    left, whole = min(_left(low), _left(low.translate(_LEET))), len(re.sub(r"[\W_]+", "", low))
    return left < LEFT or left <= SHARE * whole or len(set(low)) <= LEFT


def is_random(value: str) -> bool:
    """Whether it looks like chance: long, and not made of words and numbers."""
    if len(value) < CHANCE or any(c.isspace() for c in value):
        return False
    return sum(len(run) for run in re.split(r"[^A-Za-z0-9]+", value) if _is_odd(run)) >= ODD


def _left(low: str) -> int:
    return len(re.sub(r"[\W_]+", "", _SMALL.sub(" ", _WORDS.sub(" ", low.replace("_", " ")))))


def _is_odd(run: str) -> bool:
    """Neither a word nor a number, nor words joined by their capitals."""
    if not run.isalpha():
        return not _PLAIN.fullmatch(run)
    return len(run) >= CHANCE and len(run) / (sum(c.isupper() for c in run) + 1) < HUMP
