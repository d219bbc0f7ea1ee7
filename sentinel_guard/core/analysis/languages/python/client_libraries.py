"""Python client libraries (redis, boto3, sqlite3 …): effects of their methods on databases and clouds, by name."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import UNRESOLVED, constant, text_of
from sentinel_guard.core.analysis.programs.databases import file_databases
from sentinel_guard.core.analysis.programs.databases.file_databases import Opened
from sentinel_guard.core.analysis.secret_names import is_secret
from sentinel_guard.core.model import Kind

_EMPTIES = frozenset(
    ("flushall", "flushdb", "drop_database", "drop_collection", "drop_all", "drop_index_all", "delete_all_collections")
)
_TAKES_AWAY = re.compile(
    r"(?:delete|terminate|destroy)_(?:buckets?|objects|table|tables|db_instance|db_cluster|instances?|stack|cluster"
    r"|nodegroup|volume|snapshot|queue|secret|hosted_zone|log_group|namespace|keyspace"
    r"|namespaced_\w+|database|repository|file_system|vpc|subnet|resource_group|collection"
    r"(?:_namespaced_\w+)?)"
)
_SHELLS = frozenset(("system", "popen", "getoutput", "shell_exec"))


def remote(deeds: EffectCollector, name: str, values: list[object]) -> None:
    """A method of a client nobody could follow: ``redis.Redis().flushall()``, ``s3.delete_bucket(Bucket="prod")``."""
    where = next((text for value in values if (text := constant(value))), name)
    call = deeds.call
    if name in _EMPTIES:
        deeds.effects.append(call.effect(Kind.DATABASE, f"{name} {where}"[:80], "delete"))
    elif _TAKES_AWAY.fullmatch(name):
        deeds.effects.append(call.effect(Kind.DEPLOY, where, "delete", sure=False))
    elif name in ("extractall", "unpack"):
        deeds.do("write append", [values[0] if values and constant(values[0]) else "."])
    elif name == "urlretrieve" and len(values) > 1:
        deeds.do("network", values[:1])
        deeds.do("write truncate", values[1:2])
    elif name in _SHELLS and values and constant(values[0]):
        deeds.do("shell", values[:1])
    elif name == "exec_command" and values and constant(values[0]):
        mark = len(deeds.effects)
        deeds.do("shell", values[:1])
        deeds.doubt(mark)
    elif name == "push" and any((constant(value) or "").startswith(("--force", "-f", "+")) for value in values):
        deeds.start(["git", "push", *values])


@dataclass(slots=True, eq=False)
class Database:
    """``sqlite3.connect(path)`` and its cursors: one in memory or below a temporary folder is nobody's data."""

    path: str
    _opened: Opened | None = None
    _STATEMENTS: ClassVar = ("execute", "executescript", "executemany", "sql", "query")

    def call(self, deeds: EffectCollector, name: str, values: list[object]) -> object:
        """A method of it."""
        if name not in self._STATEMENTS:
            return self if name in ("cursor", "__enter__") else UNRESOLVED
        if values:
            file = "" if self._opened else self._file(deeds.call)
            if is_secret(file, home=deeds.call.world.home):
                deeds.do("read", [file])
            base = self._opened = self._opened or self._open(deeds.call)
            base.follow(text_of(values[0]))
            mark = len(deeds.effects)
            deeds.do("database", values[:1])
            if base.loses and file_databases.loses_elsewhere(deeds.call, base.file, text_of(values[0])):
                deeds.effects.append(deeds.call.effect(Kind.DATABASE, text_of(values[0])[:80], "delete"))
            deeds.effects[mark:] = [replace(e, file=base.file) for e in deeds.effects[mark:] if base.loses]
        return self

    def _open(self, call: Call) -> Opened:
        file = self._file(call)
        scratch = UNKNOWN not in self.path and (not file or file_databases.is_scratch(file, call.world.root))
        return Opened(not scratch, file)

    def _file(self, call: Call) -> str:
        return "" if UNKNOWN in self.path else file_databases.located(call, self.path)
