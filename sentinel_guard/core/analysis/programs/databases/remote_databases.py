"""Which database a client speaks to, and what that means: statements that nobody wrote, rows of others."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis import network_addresses
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field

_HOSTS = ("-h", "--host", "-S", "--server", "--defaults-group-suffix", "-d", "--dbname", "--uri")
_ADDRESS = re.compile(r"[a-z][a-z0-9+]*://\S+|(?:.*\s)?host=(?P<host>\S+).*")
_LIVE = re.compile(r"(?i)(?:^|[^a-z])(?:prod|production|live)(?:[^a-z]|$)")
_WRITES = re.compile(
    r"(?:\A|;)\s*(?:delete\s+from|create\s+or\s+replace\s+table|merge\s+into)\b"
    r"|(?:\A|;)\s*alter\s+table\s+\S+\s+(?:on\s+cluster\s+\S+\s+)?(?:delete|update)\b",
    re.IGNORECASE,
)


def is_remote(call: Call) -> bool:
    """Whether the words of a client name another machine, or what others use; an address that is not known counts."""
    words = call.fields[1:]
    if any(_LIVE.search(item.text) for item in words if item.text[:1] != "-" and " " not in item.text.strip()):
        return True
    if any(_LIVE.search(item.text) for item in call.parsed.values("--defaults-group-suffix")):
        return True
    for item in call.parsed.values("-h", "--host", "-S", "--server", "--uri"):
        if item.text[:1] != "/" and not network_addresses.is_local_address(item.text):
            return True
    if call.command.program == "duckdb" and any(item.text.startswith(("md:", "motherduck:")) for item in words):
        return True
    for item in words:
        if match := _ADDRESS.fullmatch(item.text):
            return not network_addresses.is_local_address(match["host"] or item.text)
        if not item.known and re.match(r"[\"']?\$\{?\w*(?:URL|URI|DSN|CONN)\w*", item.source):
            return True
    return False


def is_generated(call: Call) -> bool:
    """Whether the statements come from another program, so that nobody can say what they are."""
    return UNKNOWN in call.stdin and bool(_MAKES.match(call.scope.feeds))


_SUBSTITUTED = re.compile(r"\$\(\s*(.*)\)|`\s*(.*)`", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


def is_made(call: Call, item: Field) -> bool:
    """Whether a statement is, as a whole, what another program prints, or what this text read into a variable."""
    source = item.source.strip().strip("\"'")
    if item.known or not source:
        return False
    if (match := _SUBSTITUTED.fullmatch(source)) is not None:
        return re.match(r"cat\b|<|gunzip\b|zcat\b", match[1] or match[2] or "") is None
    named = _VARIABLE.fullmatch(source)
    return named is not None and named[1] in call.scope.variables


_GIVES = re.compile(
    r"(?i)\b(?:alter|create)\s+(?:role|user)\b[^;]*\b(?:superuser|bypassrls|createrole)\b|\bgrant\b[^;]*\bto\s+(?:public\b|['\"`]?\w+['\"`]?@['\"`]%)|"
    r"\bgrant\s+all\b[^;]*\bto\b|\bdisable\s+(?:row\s+level\s+security|trigger)\b|\balter\s+system\b|\bset\s+global\b|"
    r"\bsec_admin\b|\bgrant\s+ownership\b|\brevoke\b[^;]*\bfrom\b"
)


def gives_rights(sql: str) -> bool:
    """Whether a text changes who may do what in a database, or takes a protection away."""
    return _GIVES.search(sql) is not None


_LETS_IN = re.compile(
    r"(?i)\blisten_addresses\s*(?:=|\bto\b)\s*'(?:\*|0\.0\.0\.0|::)|\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s*(?:''|\"\")"
    r"|\bpassword\s+null\b|\bno_password\b"
)


def lets_in(sql: str) -> bool:
    """Whether a text opens a database to other machines, or to whoever has no password."""
    return _LETS_IN.search(sql) is not None


def is_missing(call: Call, item: Field) -> bool:
    """Whether nobody can read now what a file of statements will say."""
    return not item.known or not call.world.kind(call.locate(item))


_MAKES = re.compile(
    r"\s*(?:psql|mysql|mariadb|sqlite3|bq|python3?|node|ruby|perl|php|awk|gawk|sed|jq|xargs|curl|wget|kubectl|aws)\b"
)
"""Who makes text; ``cat``, ``gunzip`` and the dumpers hand on what was saved."""


def changes_rows(sql: str) -> bool:
    """Whether a text deletes rows, or puts another table in the place of one."""
    return _WRITES.search(sql) is not None
