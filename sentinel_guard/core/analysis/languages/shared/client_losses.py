"""Code in any language that takes things down through the client library of a service: boto3, qdrant, bullmq ...

Told by two things: the text loads such a library, and calls a method whose name says that something is lost. What
speaks to this machine, or only tries (``DryRun``), is left alone.
"""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.languages.shared import service_libraries
from sentinel_guard.core.analysis.languages.shared.local_receivers import first_elsewhere

_QUEUES = (
    "redis",
    "bullmq",
    "'bull'",
    '"bull"',
    "kafka",
    "pika",
    "amqplib",
    "celery",
    "rq",
    "nats",
    "mongo",
    "mongoose",
)
_TAKES_DOWN = re.compile(
    r"(?:\.|::|->)(?:(?:batch_?|force_?|recursive_?)?(?:(?:delete|destroy|drop|purge|terminate|obliterate|recreate|wipe|deregister)\w*!?|del(?=\()))"
    r"\s*(?:\(|;|\n|[})]|$)"
    r"|\bnew (?:Delete|Terminate|Destroy|Purge)\w*Command\(",
    re.IGNORECASE,
)
_RESETS = re.compile(r"(?:\.|::)(?:reset|clear_system_cache|flush_all|delete_all)\s*\(\s*\)")
_STORES = (
    "chromadb",
    "qdrant",
    "weaviate",
    "milvus",
    "pinecone",
    "elasticsearch",
    "opensearch",
    "meilisearch",
    "neo4j",
)
"""Stores whose client empties them by such a name."""
_EMPTIES = re.compile(
    r"(?:\.|::)(?:obliterate|flush_?(?:all|db)|drop\w*|purge\w*|queue_(?:delete|purge)|delete_?topics?|destroy_all)\s*\("
    r"|\.delete_?[mM]any\(\s*(?:\{\s*\}\s*)?\)",
    re.IGNORECASE,
)
_QUEUE = re.compile(
    r"\bSidekiq::(?:Queue|RetrySet|ScheduledSet|DeadSet)\b[^\n;]*\bclear\b|\bResque\.(?:remove_queue|redis\.flush)|\bDelayed::Job\.delete_all|"
    r"\bGoodJob::Job\.(?:delete|destroy)_all|\bcontrol\.purge\(\)"
)
"""Jobs that wait are thrown away, by a library that a framework has loaded."""
_MODELS = ("prisma", "sequelize", "typeorm", "knex", "drizzle", "sqlalchemy", "mikro-orm", "objection", "kysely",
           "peewee", "tortoise", "django", "active_record", "activerecord", "sequel", "ecto", "mongoid", "app",
           "models", "db")  # fmt: skip
"""What maps the tables of a project: a library, or a module of its own."""
_EMPTIES_MODEL = re.compile(
    r"\.delete_?[mM]any\(\s*(?:\{\s*\}\s*)?\)|\.destroy\(\s*\{\s*(?:where:\s*\{\s*\}|truncate)|\btruncate:\s*true|"
    r"\.sync\(\s*\{\s*force:\s*true|\.(?:drop_all|dropSchema|dropDatabase|dropAllTables|drop_tables|synchronize)\(|"
    r"(?:knex|db|\bk)\(\s*['\"]\w+['\"]\s*\)\.(?:del|delete|truncate)\(\)|\.objects(?:\.all\(\)|\.exclude\([^()]{0,200}\))?\.delete\(\)|"
    r"\.query\(\w+\)\.delete\(|\b[A-Z]\w*\.(?:delete_all|destroy_all)\b|\.delete\(\)\.execute\(\)"
)
_HERE = re.compile(
    r"sqlite://[\"'/]?[\"']|localhost|127\.0\.0\.1|Ephemeral|:memory:|\bfakeredis\b|\bmoto\b|mongomock|\.from_env\(|DryRun\s*[=:]\s*[tT]rue|dry_run\s*=\s*True"
)


_IMPORTED = re.compile(
    r"(?<!def )(?<![\w.])(?:delete_repo|delete_space|delete_collection|delete_bucket|delete_registered_model)"
    r"\s*\((?!self)"
)
"""Functions that bear the loss in their own name, imported from a client's library."""


def lost(code: str, *, models: bool = True) -> str:
    """The call by which something is lost elsewhere; empty for none. ``models``: the tables of a project count."""
    loaded = service_libraries.loaded(code)
    if ("::" in code or ".purge" in code or "Resque" in code) and (match := _QUEUE.search(code)):
        return match[0]
    if "delete_" in code and (match := _IMPORTED.search(code)):
        return match[0].partition("(")[0]
    if not loaded or _HERE.search(code):
        return ""
    names_any = service_libraries.names_any
    takes = first_elsewhere(_TAKES_DOWN, code) if names_any(loaded, service_libraries.SERVICES) else None
    found = takes or (_EMPTIES_MODEL.search(code) if models and names_any(loaded, _MODELS) else None)
    found = found or (first_elsewhere(_EMPTIES, code) if names_any(loaded, _QUEUES) else None)
    found = found or (first_elsewhere(_RESETS, code) if names_any(loaded, _STORES) else None)
    return found[0].strip(".:( \n") if found else ""
