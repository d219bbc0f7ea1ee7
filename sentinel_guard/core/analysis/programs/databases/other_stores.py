"""Stores with a language of their own (redis, MongoDB, Neo4j, etcd, hbase ...): what loses data, or lets others in.

argv -> effects. Of another machine's store, statements that nobody can read are code: a script that is not there, a
verb that is a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.databases import cypher_statements, own_databases, remote_databases
from sentinel_guard.core.model import Effect, Kind

_SHOWN = 80


def losing(call: Call, *words: str) -> Effect:
    return call.effect(Kind.DATABASE, " ".join(words)[:_SHOWN], "delete")


def etcd(call: Call) -> Iterable[Effect]:
    words = [item.text for item in call.operands]
    if own_databases.listens_own(call):
        return
    if words[:1] == ["del"] or words[:2] == ["snapshot", "restore"]:
        yield losing(call, "etcdctl", *words)


_SHELLS = re.compile(
    r"\b_drop(?:Database)?\s*\(|\b(?:drop|drop_all|drop_namespace|truncate|truncate_preserve|deleteall|disable_all)\b\s*['\"]"
    r"|\bdrop_all\b|\b(?:delete|drop)\s+(?:noprompt\s+)?(?:force\s+)?(?:noprompt\s+)?(?:backup\w*|archivelog|obsolete|expired|database|catalog|copy)\b|\bREMOVE\s+(?:DATABASE|NAMESPACE|TABLE)\b",
    re.IGNORECASE,
)


def own_shell(call: Call) -> Iterable[Effect]:
    """hbase, arangosh, surreal, rman: commands of their own, in an option or on standard input."""
    given = call.parsed.values("--javascript.execute-string", "--execute-string", "-e", "--execute")
    for text in [item.text for item in given] or [call.stdin]:
        if match := _SHELLS.search(text):
            yield losing(call, text[match.start() :].splitlines()[0])


_KEYED = ("DEL", "UNLINK")
_REDIS = {"FLUSHALL": "", "FLUSHDB": "", "SHUTDOWN": "", "SLAVEOF": "", "REPLICAOF": "", "SWAPDB": "", "CONFIG": "SET",
          "FLUSH_ALL": "", "FUNCTION": "FLUSH", "CLUSTER": "RESET", "DEBUG": "", "MODULE": "LOAD",
          "ACL": "DELUSER"}  # fmt: skip
"""Command -> what its second word must be."""
_REDIS_FILES = ("DIR", "DBFILENAME", "APPENDFILENAME", "APPENDDIRNAME")
_REDIS_CALL = re.compile(
    r"\b(FLUSHALL|FLUSHDB)\b|\bKEYS\b.*\b(?:DEL|UNLINK)\b|\b(?:DEL|UNLINK)\b.*\bKEYS\b['\"]\s*,", re.DOTALL
)


def redis(call: Call) -> Iterable[Effect]:
    """Commands from operands, else one a line from standard input. Deleting a key that is named is ordinary work."""
    items = call.operands
    if call.has("--cluster") and items and items[0].text == "call":
        items = items[2:]  # behind a server that no other word names
    elif own_databases.listens_own(call):
        return
    known = all(item.known for item in items)
    yield from _keyed(call, [[item.text for item in items]], known=known) if items else stdin_commands(call)
    for item in call.parsed.values("--eval"):
        yield from _script(call, item)
        if match := _REDIS_CALL.search((call.script_text(call.locate(item)) or "").upper()):
            yield losing(call, "EVAL", match[0])
    if (host := call.parsed.value("-h")) is not None and call.has("-x", "-X"):  # the last word is standard input
        yield call.effect(Kind.NETWORK, host.text, "data", sure=host.known)


def stdin_commands(call: Call) -> Iterator[Effect]:
    """Commands of redis or memcached, one a line, on standard input."""
    yield from _keyed(call, [line.split() for line in call.stdin.splitlines()[:1000]], known=True)


def _keyed(call: Call, lines: Iterable[list[str]], *, known: bool) -> Iterator[Effect]:
    for words in lines:
        upper = [word.upper().strip("'\"") for word in words]
        if upper and _redis_loses(upper, known=known and UNKNOWN not in "".join(words)):
            yield losing(call, *words)
        if _redis_lets_in(upper):
            yield call.effect(Kind.PRIVILEGE, "open access")


def _redis_loses(words: list[str], *, known: bool) -> bool:
    name, second = words[0], words[1] if len(words) > 1 else ""
    if name in _KEYED:
        return not known
    if name in ("EVAL", "EVAL_RO"):
        return bool(_REDIS_CALL.search(second))
    if name == "CONFIG":
        return second == "SET" and bool({*_REDIS_FILES} & {*words[2:]})
    return name in _REDIS and _REDIS[name] in ("", second) and second != "NO"


_WIDE_OPEN = (("PROTECTED-MODE", ("NO",)), ("REQUIREPASS", ("",)), ("BIND", ("*", "0.0.0.0", "*  -::*")))  # noqa: S104


def _redis_lets_in(words: list[str]) -> bool:
    """``CONFIG SET protected-mode no``, a password of nothing, an account without one."""
    if words[:2] == ["ACL", "SETUSER"]:
        return "NOPASS" in words and "ON" in words
    given = dict(zip(words[2::2], [*words[3::2], ""], strict=False)) if words[:2] == ["CONFIG", "SET"] else {}
    return any(given.get(name) in values for name, values in _WIDE_OPEN)


def _script(call: Call, item: Field) -> Iterator[Effect]:
    """A file of statements: read, or unknown where it is not there and another machine would run it."""
    yield from call.read(item)
    if remote_databases.is_remote(call) and remote_databases.is_missing(call, item):
        yield call.opaque("statements that nobody can read", "code")


_JS = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_MONGO = re.compile(
    r"\.\s*(?:drop|dropDatabase|dropUser|dropAllUsers|dropRole|dropAllRoles|shutdownServer)\s*\("
    r"|\b(?:deleteMany|remove)\s*\(\s*(?:\{\s*\}\s*)?[,)]|\bupdateMany\s*\(\s*\{\s*\}\s*,"
    r"|\bdeleteMany\s*:\s*\{\s*filter\s*:\s*\{\s*\}"
)
_MONGO_COMMAND = re.compile(
    r"Command\s*\(\s*\{\s*['\"]?(?:drop|dropDatabase|dropAllUsersFromDatabase|shutdown)['\"]?\s*:"
)


_VALUE = re.compile(r"\.\s*\$\{?\w+\}?\s*\(")
"""A method that is a value: ``db.users.$OP({})``."""


_CONNECTS = re.compile(r"\bMongo\s*\(|\bconnect\s*\(|://")
"""Code that speaks to another server than the one that its client is told."""


def mongo(call: Call) -> Iterable[Effect]:
    """``--eval``, script files, standard input."""
    files = [
        item
        for item in (*call.operands, *call.parsed.values("-f", "--file"))
        if item.text.endswith((".js", ".mongodb"))
    ]
    texts = [item.text for item in call.parsed.values("--eval")]
    for item in files:
        yield from _script(call, item)
        texts.append(call.script_text(call.locate(item)) or "")
    given = call.parsed.values("--eval")
    made = any(remote_databases.is_made(call, item) or _VALUE.search(item.source) for item in given if not item.known)
    if (made or remote_databases.is_generated(call)) and remote_databases.is_remote(call):
        yield call.opaque("statements that another program makes", "code")
    for text in texts or [call.stdin]:
        own = own_databases.listens_own(call) and not _CONNECTS.search(text)
        if own or own_databases.is_of_tests(call, text):
            continue
        if match := _MONGO.search(_JS.sub(lambda m: "''" if m[0][0] != "/" else " ", text)) or _MONGO_COMMAND.search(
            text
        ):
            yield losing(call, match[0])


def cypher(call: Call) -> Iterable[Effect]:
    if own_databases.listens_own(call):
        return
    for text in [item.text for item in call.operands] or [call.stdin]:
        for statement in cypher_statements.losing(text):
            yield losing(call, *statement.split())
