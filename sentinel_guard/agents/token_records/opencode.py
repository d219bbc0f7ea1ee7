"""opencode: rows of a database, one a reply; its counts stand there when the calls that it made have ended."""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.agents.token_records.base import (
    Conversation,
    Form,
    Json,
    TokenRecord,
    count,
    mapping,
    moment,
)
from sentinel_guard.core.model import Usage

QUERY = """
select m.id as id, m.session_id as conversation, m.time_updated as updated, s.directory as folder, m.data as data,
    s.parent_id as parent, p.parent_id as grandparent
from (select * from message order by rowid desc limit 300) m join session s on s.id = m.session_id
    left join session p on p.id = s.parent_id
where m.time_updated >= ? order by m.time_updated desc
"""


def _conversation(_path: str, row: Json) -> Conversation:
    # A subagent has a conversation of its own.
    names = (row.get(name) for name in ("conversation", "parent", "grandparent"))
    return Conversation(frozenset(str(name) for name in names if name), str(row.get("folder", "")))


def parse(row: Json) -> Iterable[Usage]:
    """``input`` and ``output`` are without what was cached, and without what the model was thinking."""
    told = mapping(row.get("data"))
    if told.get("role") != "assistant":
        return
    used = mapping(told["tokens"])
    cache = mapping(used.get("cache"))
    counts = (count(used, "input"), count(used, "output") + count(used, "reasoning", missing=0))
    cached, written = count(cache, "read", missing=0), count(cache, "write", missing=0)
    if not any((*counts, cached, written)):
        return  # the reply is not complete
    yield Usage(
        moment(mapping(told.get("time")).get("completed") or row.get("updated")),
        *counts,
        cached,
        written,
        source=RECORD.agent,
        key=str(row["id"]),
        model=str(told.get("modelID", "")),
        compaction=told.get("summary") is True or told.get("mode") == "compaction",
    )


RECORD = TokenRecord(
    "opencode",
    Form.ROWS,
    (("XDG_DATA_HOME", "opencode"), ("", ".local/share/opencode")),
    ("opencode.db",),
    _conversation,
    lambda: parse,
    query=QUERY,
)
