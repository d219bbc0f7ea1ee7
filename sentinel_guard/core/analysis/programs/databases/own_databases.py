"""Databases that the text or session itself makes and throws away again: no data of anybody's is lost with them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from sentinel_guard.core.analysis import paths, places
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.databases import client_servers, given_databases, remote_databases
from sentinel_guard.core.model import Effect

_SCRATCH = re.compile(r"(?i)(?:.*[_-])?(?:test|tests|scratch|tmp|temp|ci|sandbox|throwaway)(?:[_-].*|\d*)")
"""Names of databases that are made to be thrown away: where one was there before, its making fails unseen."""
_OF_TESTS = re.compile(r"(?i)(?:\w+[_-])?(?:tests?|e2e)(?:[_-]?(?:gw|w)?\d+)?|test_\w+")
"""Names of databases that test runs make anew each time."""
_HOSTS = ("PGHOST", "PGSERVICE", "PGHOSTADDR", "MYSQL_HOST")
_SPELLED = r"(?:[\"`\[](?P<quoted>[^\"`\]]+)[\"`\]]|(?P<plain>\w+)(?![\w$-]))"
_CREATES = re.compile(rf"\bcreate\s+database\s+{_SPELLED}", re.IGNORECASE)
_DROPS = re.compile(rf"\s*drop\s+database\s+(?:if\s+exists\s+)?{_SPELLED}(?!\s*[,.])", re.IGNORECASE)


def serve(call: Call) -> Iterable[Effect]:
    """A server that this text starts on a port of its own, or on a socket among temporary files."""
    given = call.parsed.value("--port", "-p", "-port")
    words = [item.text for item in call.fields[1:]]
    port = given.text if given is not None else next((b for a, b in pairwise(words) if a in ("--port", "-p")), "")
    if port.isdigit() and not _serves_others(call, words):
        call.world.own.add(f"server at port {port}")  # it may fail unseen, in the background
    if call.command.program == "pg_ctl":
        _start_cluster(call)
    socket = next((b for a, b in pairwise(call.fields) if a.text == "--unixsocket"), None)
    if (
        socket is not None
        and socket.known
        and paths.is_temporary(call.locate(socket), call.world.root, call.world.home)
    ):
        call.world.own.add(f"server at socket {call.locate(socket)}")
    return ()


_DEFAULT_PORTS = frozenset(("6379", "27017"))
_FOLDERS = ("--dir", "--dbpath")
_LEADS = frozenset(("--replicaof", "--slaveof", "-f", "--config", "--include", "--loadmodule", "--replSet"))


def _serves_others(call: Call, words: list[str]) -> bool:
    """Whether a server has data that was there, another one's, or a port at which the person's usually listens."""
    kept = [b for a, b in pairwise(call.fields) if a.text in _FOLDERS]
    root, home = call.world.root, call.world.home
    temporary = all(item.known and paths.is_temporary(f"{call.locate(item)}/x", root, home) for item in kept)
    settings = call.command.program in ("redis-server", "valkey-server") and words[:1] and words[0][:1] != "-"
    usual = call.command.program == "mongod" and not kept
    return (
        not temporary or usual or bool(settings) or not _LEADS.isdisjoint(words) or not _DEFAULT_PORTS.isdisjoint(words)
    )


def make_cluster(call: Call) -> Iterable[Effect]:
    """Initdb: it fails where the folder holds anything, so that the cluster is this text's own from here on."""
    for item in (*call.parsed.values("-D", "--pgdata"), *call.operands)[:1]:
        if item.known:
            call.world.own.add(f"cluster {call.locate(item)}")
    return ()


_LISTENS = re.compile(r"(?:^|\s)-(?:p\s*|c\s*port=|-port=)(\d+)")


_OTHER_DATA = re.compile(r"(?:^|\s)-D|\b(?:data_directory|config_file)\b")


def _start_cluster(call: Call) -> None:
    """``pg_ctl -D FOLDER -o '-p PORT' start`` waits until it listens there, and fails where another one does."""
    folder, words = call.parsed.value("-D", "--pgdata"), " ".join(v.text for v in call.parsed.values("-o", "--options"))
    port = _LISTENS.search(words)
    starts = [item.text for item in call.operands[:1]] == ["start"]
    if not starts:
        call.world.unmake("port ")
    own = folder is not None and folder.known and call.world.is_own(f"cluster {call.locate(folder)}")
    if starts and port and own and not _OTHER_DATA.search(words):
        call.world.own.add(f"port {port[1]}")


def create(call: Call) -> Iterable[Effect]:
    """Createdb, createuser: from here on the database, or role, is this text's own."""
    kind = "role" if call.command.program == "createuser" else "database"
    server = client_servers.name(call)
    for item in call.operands[:1] if server is not None else ():
        call.world.own.add(f"{kind} {item.text} of {server}")
    return ()


def is_own_topic(call: Call) -> bool:
    """Whether kafka-topics deletes a topic that the session made there; one that it makes is its own from here on."""
    named, server = call.parsed.value("--topic"), call.parsed.value("--bootstrap-server")
    if named is None or server is None or not (named.known and server.known and _TOPIC.fullmatch(named.text)):
        return False
    name = f"topic {named.text} of {server.text} by {' '.join(call.command.via)}"
    if call.has("--create") and not call.has("--if-not-exists"):
        call.world.own.add(name)
    return call.has("--delete") and call.world.is_own(name)


_TOPIC = re.compile(r"[\w-]+")
"""One topic: with a dot or another sign it is a pattern to ``--delete``."""


def note_created(call: Call, sql: str) -> None:
    """What statements make is this text's own from here on."""
    if "database" not in sql.lower():
        return
    if (server := client_servers.name(call)) is not None:
        made = (match for match in _CREATES.finditer(sql) if _begins(sql[: match.start()].rstrip()))
        call.world.own.update(f"database {match['quoted'] or match['plain']} of {server}" for match in made)
    for name in _RENAMES.findall(sql):
        call.world.unmake(f"database {name} of ")


def _begins(before: str) -> bool:
    """Whether a statement begins behind this, and nothing that stands in quotes."""
    return before[-1:] in ("", ";") and before.count("'") % 2 == 0 and "$" not in before


_RENAMES = re.compile(r"(?i)\brename\s+(?:to|database)\s+[\"`\[]?(\w+)")


_BY_SOCKET = ("redis-cli", "valkey-cli")
"""To whom ``-s`` is the socket of a server."""


def listens_own(call: Call) -> bool:
    """Whether a client speaks to a server that this text or session started, at a port or socket of this machine."""
    socket = call.parsed.value("-s") if call.command.program in _BY_SOCKET else None
    if socket is not None:
        return socket.known and f"server at socket {call.locate(socket)}" in call.world.own
    words = [item.text for item in call.fields[1:]]
    if not any(map(_NAMES_SERVER.search, words)) and given_databases.is_thrown_away(call, call.command.program):
        return True
    return client_servers.is_own(call)


_NAMES_SERVER = re.compile(r"://|\b(?:host|hostaddr|port|service)=|^-[hpP]|^--(?:host|port|dbname)\b|^-\w*[hp]$")
"""A word of a client that names a server: it counts before any variable."""


def is_own(call: Call, name: str, kind: str = "database") -> bool:
    """Whether a database (or role) was made by the session, or by this very text, to be thrown away as its name says;
    or is one of this machine that test runs make anew.
    """
    server = client_servers.name(call)
    made = f"{kind} {name} of {server}"
    if server is not None and (
        made in call.world.proven or (made in call.world.own and _SCRATCH.fullmatch(name) is not None)
    ):
        return True
    away = remote_databases.is_remote(call) or any(call.scope.lookup(host).isset for host in _HOSTS)
    away = away or places.is_away(call.command)
    return _OF_TESTS.fullmatch(name) is not None and not away


_NAMED = re.compile(r"(?:[a-z][\w+.-]*://(?:[^@/\s,?#]*@)?(?:localhost|127\.0\.0\.1|\[::1\])?(?::\d+)?/)?(\w+)")
_ELSEWHERE = re.compile(
    r"(?i)\\c(?:onnect)?\b|\buse\s+[\w\"`\[]|\bdblink|postgres_fdw|\bdatabase\b|\b(?:owned\s+by|role|user|tablespace)\b"
)
"""What leads statements to another database than the one that their client is told, or is of the whole server."""
_ELSEWHERE_IN_MYSQL = re.compile(r"(?i)\w[\"`]?\s*\.\s*[\"`]?\w|\b(?:schema|connect)\b|\\[ur]")
"""A table of another database, or another word for one; the client's own commands."""


def works_on_own(call: Call, texts: Iterable[str]) -> bool:
    """Whether statements of psql or mysql stay in a database that the session made, or test runs make anew."""
    mysql = call.command.program in ("mysql", "mariadb")
    named = call.parsed.values("-d", "--dbname", "-D", "--database")
    named = [*named, *(call.operands[:1] if mysql or not named else ())]  # the last of them counts
    found = [_NAMED.fullmatch(item.text) if item.known else None for item in named]
    apart = (_ELSEWHERE.search(text) or (mysql and _ELSEWHERE_IN_MYSQL.search(text)) for text in texts)
    return bool(found) and all(match and is_own(call, match[1]) for match in found) and not any(apart)


_ADDRESSED = re.compile(
    r"mongodb(?:\+srv)?://(?:[^@/]*@)?[^/?]+/(\w+)(?:\?.*)?|(?:(?:localhost|127\.0\.0\.1)(?::\d+)?/)?(\w+)"
)
_EMPTIES = re.compile(r"(?:\s*db\.(?:dropDatabase|\w+\.(?:drop|deleteMany))\([^()]*\)\s*(?:;|$))+\s*")
"""Nothing but what empties the database of the address: any word beside it may speak of another one."""


def is_of_tests(call: Call, code: str) -> bool:
    """Whether a client of MongoDB does no more than empty a database of this machine that tests make anew, as its name
    says.
    """
    names = [match[1] or match[2] for item in call.operands[:1] if (match := _ADDRESSED.fullmatch(item.text))]
    return bool(names) and is_own(call, names[0]) and _EMPTIES.fullmatch(code) is not None


def drops_own(call: Call, statement: str) -> bool:
    """Whether a statement drops such a database."""
    dropped = _DROPS.match(statement)
    return dropped is not None and is_own(call, dropped["quoted"] or dropped["plain"])
