"""Codex CLI: a record for each reply, and a running total of the whole thread after each call.

The same total may stand there more than once, so that only what it has grown by counts. Where a thread has records of
replies (since 0.16x), totals are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sentinel_guard.agents.token_records.base import (
    Conversation,
    Form,
    Json,
    Parser,
    TokenRecord,
    count,
    mapping,
    moment,
)
from sentinel_guard.core.model import Usage

NAMES = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")


def _conversation(_path: str, first: Json) -> Conversation:
    """A subagent's thread has an id of its own, and the session's beside it."""
    told = mapping(first.get("payload"))
    names = (str(told.get(name) or "") for name in ("id", "session_id"))
    return Conversation(frozenset(filter(None, names)), str(told.get("cwd", "")))


class _Thread:
    def __init__(self) -> None:
        self._total: tuple[int, ...] | None = None
        self._replies = self._shortened = False
        self._last: Usage | None = None
        self._model = ""

    def __call__(self, line: Json) -> Iterable[Usage]:
        told, kind = mapping(line.get("payload")), line.get("type")
        if kind == "compacted":
            self._shortened = True
            if self._last:  # it was what the conversation was shortened with
                yield replace(self._last, compaction=True)
        elif kind == "turn_context":
            self._model = str(told.get("model") or "")
        elif kind == "token_usage_record":
            self._replies = True
            yield self._used(line, _counts(mapping(told["usage"])), str(told["response_id"]))
        elif told.get("type") == "token_count" and told.get("info") and not self._replies:
            yield from self._grown(line, mapping(told["info"]))

    def _grown(self, line: Json, info: Json) -> Iterable[Usage]:
        total, last = _counts(mapping(info["total_token_usage"])), _counts(mapping(info["last_token_usage"]))
        # Where the beginning of the thread was not read, the last reply is what is known to have come.
        before = self._total or tuple(t - n for t, n in zip(total, last, strict=True))
        self._total = total
        grown = tuple(max(0, t - b) for t, b in zip(total, before, strict=True))
        if any(grown):
            yield self._used(line, grown, f"total {sum(total)}")

    def _used(self, line: Json, counts: tuple[int, ...], key: str) -> Usage:
        taken, cached, written, output = counts
        after, self._shortened = self._shortened, False
        self._last = Usage(
            moment(line.get("timestamp")),
            max(0, taken - cached - written),
            output,
            cached,
            written,
            source=RECORD.agent,
            key=key,
            model=self._model,
            compaction=after,
        )
        return self._last


def _counts(used: Json) -> tuple[int, ...]:
    required = {"input_tokens", "output_tokens"}
    return tuple(count(used, name, missing=None if name in required else 0) for name in NAMES)


def _parser() -> Parser:
    return _Thread()


RECORD = TokenRecord(
    "codex",
    Form.LINES,
    (("CODEX_HOME", "sessions"), ("", ".codex/sessions")),
    ("*/*/*/rollout-*.jsonl",),
    _conversation,
    _parser,
    named_by="CODEX_SESSION_ID",
    marks=(b'"token_usage_record"', b'"token_count"', b'"compacted"', b'"turn_context"'),
)
