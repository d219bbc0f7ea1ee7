"""What a request changes on another machine, told by its method, its address and what it sends."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis import network_addresses

MAILS = re.compile(
    r"api\.(?:mailgun\.net|eu\.mailgun\.net|sendgrid\.com|postmarkapp\.com|twilio\.com|resend\.com|brevo\.com)/.*"
    r"(?:messages|send|emails?|calls)",
    re.IGNORECASE,
)
"""Interfaces that write to people."""
CHATS = re.compile(
    r"hooks\.slack\.com/|slack\.com/api/chat\.|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/|"
    r"api\.telegram\.org/bot\S*/send|chat\.googleapis\.com/|\$\{?\w*(?:SLACK|DISCORD|TEAMS|TELEGRAM)\w*(?:URL|HOOK)",
    re.IGNORECASE,
)
"""Interfaces, and variables, that lead to where people talk."""
_MUTATION = re.compile(
    r"\bmutation\b.*?\b(?:(?:delete|remove|destroy|purge)[A-Z]|[a-z]+(?:Delete|Remove|Destroy|Purge|Wipe)\b)", re.DOTALL
)
_DELETING = re.compile(
    r"[^?]*/(?:_delete_by_query|_close|do_?[Dd]elete|delete|destroy|purge(?:_cache|-cache)?|wipe|terminate|flush|reset|"
    r"truncate|revoke|deactivate|force-unlock|(?:delete|remove|drop|clean)_\w+)(?:[/?].*)?"
)
_STATEMENT = re.compile(
    r"[?&](?:query|q|sql|statement)=[^&]{0,200}?(?<![\w'])(?:drop|truncate|delete|alter)(?:\+|%20|\s)", re.IGNORECASE
)
_STATEMENTS = re.compile(r"\s*(?:drop|truncate)\s+(?:table|database|keyspace|index|view|measurement)\b", re.IGNORECASE)
"""Statements of a database that is spoken to by HTTP (ClickHouse, InfluxDB)."""
_ASKED_FOR = re.compile(r"[^?]*/(?:do_?[Dd]elete|delete|destroy|purge|wipe)\?.*")
"""An address that deletes though it is only asked for."""
_ACTS = re.compile(
    r"[^?]*/(?:refunds?|payouts?|transfers?|charges|dispatches|deployments?|deploys|rollbacks?|suspend|disable|cancel|"
    r"rotate|restore|failover|shutdown|restart|reboot|scale|invites?|collaborators/[^/]+|"
    r"pipelines?|builds|_cluster/settings|dns[_-]?records?|(?:domains|zones|hostedzone)/[^/?]+/(?:records?|rrsets?|dns))(?:[/?].*)?"
)
"""Addresses whose name is an act that others see, or pay for."""
_SETS = re.compile(
    r"[\"'](?:role|permission|access)[\"']\s*:\s*[\"'](?:admin|owner|superuser|root)[\"']|[\"'](?:visibility|acl)[\"']\s*:\s*[\"']public|"
    r"[\"']private[\"']\s*:\s*false|[\"'](?:enabled|active|protected)[\"']\s*:\s*false|purge_everything[\"']?\s*:\s*true|"
    r"[\"'](?:cmd|command|action|op|method)[\"']\s*:\s*[\"'](?:restart|reboot|delete|destroy|wipe|reset|shutdown|stop|purge)[\w-]*[\"']|"
    r"[\"']?allow_force_pushes[\"']?\s*:\s*true"
)
"""Settings that give rights, or take something out of use."""


def deletes(method: str, address: str, sent: list[str]) -> bool:
    """By the method, by a mutation of GraphQL, by the last words of an address that is posted to."""
    if method == "DELETE" or any(map(_MUTATION.search, sent)):
        return True
    if _STATEMENT.search(address) or any(map(_STATEMENTS.match, sent)):
        return True
    if _ASKED_FOR.fullmatch(address):
        return True
    return (method == "POST" or bool(sent)) and _DELETING.fullmatch(address) is not None


def changes(method: str, address: str, sent: list[str]) -> bool:
    """Whether a request that sends something is an act, or sets a right."""
    if method not in ("POST", "PUT", "PATCH") and not sent:
        return False
    return _ACTS.fullmatch(address) is not None or any(map(_SETS.search, sent))


_CALLS = re.compile(
    r"\b(?:requests|httpx|axios|got|ky|superagent|session|client|http)\.(?P<verb>delete|del)\(\s*f?[\"'`](?P<url>https?://[^\"'`]+)"
    r"|\b(?:fetch|request|axios|ofetch|urlopen|Request)\(\s*[\"'`](?P<address>https?://[^\"'`]+)[\"'`](?P<rest>[^;]{0,300})"
    r"|\b(?:requests|httpx|axios|got|ky)\.(?P<sends>post|put|patch)\(\s*f?[\"'`](?P<target>https?://[^\"'`]+)",
)
_METHOD = re.compile(r"method\s*[:=]\s*[\"'`](\w+)", re.IGNORECASE)
_NET_HTTP = re.compile(r"\bNet::HTTP\.new\(\s*[\"'](?P<host>[\w.-]+)[\"'].{0,80}?\.delete\(", re.DOTALL)


def lost_by(code: str) -> Iterator[str]:
    """The addresses of other machines at which code in any language deletes something."""
    for match in _CALLS.finditer(code):
        address = match["url"] or match["address"] or match["target"]
        said = _METHOD.search(match["rest"] or "")
        method = "DELETE" if match["verb"] else match["sends"] or (said[1] if said else "")
        if not network_addresses.is_local_address(address) and deletes(method.upper(), address, []):
            yield address
    for match in _NET_HTTP.finditer(code):
        if not network_addresses.is_local_address(match["host"]):
            yield f"https://{match['host']}"
