"""Outgoing data of an agent's tool call: web fetches, web searches, requests to services behind an MCP server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from sentinel_guard.core.model import Action, Effect, Kind
from sentinel_guard.core.secrets.egress.sent_arguments import Sending, apart, host_of, is_certain, pieces

MAX_DEPTH = 6
_PAGES = frozenset(("webfetch", "fetch", "readurl", "openurl", "urlfetch"))
"""Of these only the address goes out; what is asked about the page stays with the model."""
_SEARCHES = frozenset(("websearch", "googlewebsearch", "googlesearch", "searchweb", "bravewebsearch", "bravesearch"))
_LOCAL = frozenset(
    (
        *("filesystem", "files", "file", "fs", "git", "memory", "sqlite", "thinking", "sequentialthinking", "time"),
        *("ide", "serena", "context", "task", "todo", "plan", "terminal", "shell", "jupyter", "notebook", "lsp"),
        "sentinel",
    )
)
"""Words of servers that work on this machine."""
_ELSEWHERE = frozenset(
    (
        *("github", "gitlab", "bitbucket", "gitea", "slack", "discord", "telegram", "teams", "gmail", "mail", "email"),
        *("outlook", "sendgrid", "mailgun", "twilio", "notion", "jira", "confluence", "atlassian", "linear", "asana"),
        *("trello", "monday", "clickup", "sentry", "datadog", "stripe", "hubspot", "salesforce", "twitter", "reddit"),
        *("pastebin", "gist", "airtable", "zapier", "zendesk", "intercom"),
    )
)
"""Words of servers that hand on what they are told to another machine."""
_STATEFUL = frozenset((Kind.READ, Kind.WRITE, Kind.DELETE, Kind.DATABASE))
_LOGS_IN = re.compile(
    r"headers?|auth(?:orization)?|cookies?|credentials?|bearer|(?:x)?api_?key|(?:access|auth|private|bearer|api)_?token"
    r"|token|password|username|user|secret", re.IGNORECASE,
)  # fmt: skip
_TOOLS = 256
"""Names of tools that are remembered."""
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def asked(action: Action, effect: Effect) -> Sending:
    """What a tool sends to an address."""
    content, credentials = texts(action.arguments)
    if _name(action.tool) in _PAGES:
        content = []
    address, who = apart(effect.target)
    host = host_of(effect.target)
    sure = effect.sure and is_certain(effect.target, host)
    return Sending(host or effect.target, host, pieces([address, *content]), pieces([*credentials, *who]), sure)


def served(action: Action, effects: Sequence[Effect]) -> Sending | None:
    """What a tool without an address sends: to a search engine, or to whatever is behind its server."""
    words = _words(action.tool)
    searches = _name(action.tool) in _SEARCHES
    if not searches and ("__" not in action.tool or not words or words & _LOCAL):
        return None
    if any(e.kind in _STATEFUL or e.kind is Kind.NETWORK or e.command for e in effects):
        return None
    content, credentials = texts(action.arguments)
    where = "a search engine" if searches else f"the server {_server(action.tool)}"
    sure = searches or bool(words & _ELSEWHERE)
    return Sending(where, "", pieces(content), pieces(credentials), sure, published=True)


def texts(arguments: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """The texts of the arguments at any depth: content, and what stands under a name for credentials."""
    content: list[str] = []
    credentials: list[str] = []
    for text, logs_in in _below(arguments, 0, logs_in=False):
        if logs_in:
            credentials.append(text)
            continue
        plain, who = apart(text)
        content.append(plain)
        credentials += who
    return content, credentials


def _below(value: object, depth: int, *, logs_in: bool) -> Iterator[tuple[str, bool]]:
    if isinstance(value, str):
        yield value, logs_in
    elif depth < MAX_DEPTH and isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _below(inner, depth + 1, logs_in=logs_in or _LOGS_IN.fullmatch(str(name)) is not None)
    elif depth < MAX_DEPTH and isinstance(value, list | tuple):
        for inner in value:
            yield from _below(inner, depth + 1, logs_in=logs_in)


@lru_cache(maxsize=_TOOLS)
def _name(tool: str) -> str:
    return re.sub(r"[^a-z0-9]", "", re.split(r"__|:", tool)[-1].lower())


def _server(tool: str) -> str:
    parts = tool.split("__")
    return parts[1] if parts[0] == "mcp" and len(parts) > 2 else parts[0]


@lru_cache(maxsize=_TOOLS)
def _words(tool: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(_server(tool)))
