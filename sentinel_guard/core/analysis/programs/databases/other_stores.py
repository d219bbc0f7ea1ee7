"""Stores with a language of their own (etcd, hbase, ArangoDB, SurrealDB): what loses data. argv -> effects."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.model import Effect, Kind

_SHOWN = 80


def losing(call: Call, *words: str) -> Effect:
    return call.effect(Kind.DATABASE, " ".join(words)[:_SHOWN], "delete")


def etcd(call: Call) -> Iterable[Effect]:
    words = [item.text for item in call.operands]
    if words[:1] == ["del"] or words[:2] == ["snapshot", "restore"]:
        yield losing(call, "etcdctl", *words)


_SHELLS = re.compile(
    r"\b_drop(?:Database)?\s*\(|\b(?:drop|drop_all|drop_namespace|truncate|truncate_preserve|deleteall|disable_all)\b\s*['\"]"
    r"|\bdrop_all\b|\bREMOVE\s+(?:DATABASE|NAMESPACE|TABLE)\b",
    re.IGNORECASE,
)


def own_shell(call: Call) -> Iterable[Effect]:
    """hbase, arangosh, surreal: commands of their own, in an option or on standard input."""
    given = call.parsed.values("--javascript.execute-string", "--execute-string", "-e", "--execute")
    for text in [item.text for item in given] or [call.stdin]:
        if match := _SHELLS.search(text):
            yield losing(call, text[match.start() :].splitlines()[0])
