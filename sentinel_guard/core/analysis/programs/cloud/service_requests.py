"""What a tool asks its service for in plain words: a request that deletes, a rule that lets every address in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from sentinel_guard.core.analysis import network_addresses
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import http_changes
from sentinel_guard.core.model import Effect, Kind

_EVERYONE = re.compile(r"(?:.*[=:,])?(?:0\.0\.0\.0|::)/0(?:,.*)?")
_OPENS = re.compile(
    r"(?:.*[-_:])?(?:add|append|create|allow|update|patch|set|authorize|put|open|insert|modify|edit|permit|whitelist)"
    r"(?:[-_:].*)?"
)
_REQUESTS = frozenset(("api", "curl", "request", "raw", "rest", "call", "http", "graphql"))
_METHODS = ("-X", "--method", "--request", "-m")
_CHANGING = ("DELETE", "POST", "PUT", "PATCH")
_WORDS = 16
"""Words that are looked at."""


def may_tell(word: str) -> bool:
    """Whether a word alone lets ``effects`` find anything."""
    return "/0" in word or word in _REQUESTS


def effects(call: Call, target: str) -> Iterator[Effect]:
    """``firewalls append x --rule ip_addr:0.0.0.0/0``, ``caprover api --path /apps/delete --method POST``; guesses."""
    texts = [item.text for item in call.fields[1:_WORDS]]
    words = [call.command.subcommand, *(item.text for item in call.operands[:5])]
    if "/0" in " ".join(texts) and any(map(_EVERYONE.fullmatch, texts)) and _opens(words):
        yield call.effect(Kind.DEPLOY, f"{target} for everybody", sure=False)
    if not _REQUESTS.isdisjoint(words[:5]) and _deletes(texts):
        yield call.effect(Kind.DEPLOY, target, "delete", sure=False)


def _opens(words: list[str]) -> bool:
    looks = any(subcommand_tables.settles(word) or word.startswith(("describe-", "list-")) for word in words[:3])
    return not looks and any(map(_OPENS.fullmatch, words))


def _deletes(texts: list[str]) -> bool:
    given = [b for a, b in pairwise(texts) if a in _METHODS]
    given += [text.partition("=")[2] for text in texts if text.partition("=")[0] in _METHODS]
    method = next((word.upper() for word in (*given, *texts) if word.upper() in _CHANGING), "")
    sent = [text for text in texts if "mutation" in text]
    addresses = [text.partition("=")[2] if text[:2] == "--" else text for text in texts if "/" in text] or [""]
    away = [address for address in addresses if not network_addresses.is_local_address(address)]
    return any(http_changes.deletes(method, address, sent) for address in away)
