"""Claude Code's telemetry (OTLP, logs as JSON): an event for each reply of a model, whether it keeps a record or not.

It tells of what its record does not hold, too: of a session that is not kept (``--no-session-persistence``), of titles
and summaries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from sentinel_guard.agents.token_records.base import Json, count, mapping
from sentinel_guard.core.model import Usage
from sentinel_guard.core.session.token_ledger import TELEMETRY

PATH = "/v1/logs"
"""To which it sends; the endpoint's path is taken as it is."""
ENVIRON: Mapping[str, str] = MappingProxyType(
    {
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/json",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "{url}" + PATH,
        "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "authorization=Bearer%20{key}",
        "OTEL_LOGS_EXPORT_INTERVAL": "100",  # ms; by default the limiter would lag by 5 s
    }
)
"""What has it send to ``url`` with ``key``. It keeps these variables from the commands that it runs (2.1.330)."""
_REPLY = "claude_code.api_request"
_COMPACTS = "compact"
"""``query_source`` of the request for a summary. The reply after it counts: who forges such an event would exempt
whichever comes next.
"""


def is_set_up(environ: Mapping[str, str]) -> bool:
    """Whether the person has their own telemetry: it stays theirs."""
    return any(name.startswith("OTEL_") or name == "CLAUDE_CODE_ENABLE_TELEMETRY" for name in environ)


def parse(sent: Json) -> Iterator[Usage]:
    """The replies of one request. Raises ValueError, KeyError, TypeError, OverflowError."""
    for record in _records(sent):
        if mapping(record.get("body")).get("stringValue") != _REPLY:
            continue
        attributes = map(mapping, _list(record.get("attributes")))
        told = {str(a.get("key")): _value(a.get("value")) for a in attributes}
        nanoseconds = int(str(record["timeUnixNano"]))
        yield Usage(
            round(nanoseconds / 1e9, 3),
            count(told, "input_tokens"),
            count(told, "output_tokens"),
            count(told, "cache_read_tokens", missing=0),
            count(told, "cache_creation_tokens", missing=0),
            source=TELEMETRY,
            # The sequence begins anew with each process that goes on with a session.
            key=f"{told['session.id']} {nanoseconds} {told['event.sequence']}",
            model=str(told.get("model", "")),
            compaction=told.get("query_source") == _COMPACTS,
        )


def _records(sent: Json) -> Iterable[Json]:
    for resource in _list(sent.get("resourceLogs")):
        for scope in _list(mapping(resource).get("scopeLogs")):
            yield from map(mapping, _list(mapping(scope).get("logRecords")))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _value(value: object) -> object:
    """An attribute's value; JSON of OTLP may write 64 bits as a text."""
    held = mapping(value)
    if "intValue" in held:
        return int(str(held["intValue"]))
    return next((held[kind] for kind in ("stringValue", "doubleValue", "boolValue") if kind in held), None)
