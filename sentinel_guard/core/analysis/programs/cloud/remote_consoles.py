"""Consoles on other machines (``heroku run rails c``, ``kubectl exec web-prod -- bash``).

What is typed into them, nobody has seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field

_CONSOLES = frozenset(
    (
        *("sh", "bash", "zsh", "ash", "dash", "fish", "rails", "irb", "iex", "python", "python3", "node", "php"),
        *("psql", "mysql", "mongosh", "mongo", "redis-cli", "sqlite3", "cqlsh", "tinker"),
    )
)
_CONSOLE_VERB = re.compile(
    r"(?:\S*/)?(?:rails (?:c|console|db|dbconsole)|(?:python3? )?(?:\S*/)?manage\.py (?:shell\w*|dbshell)"
    r"|php artisan tinker|(?:ba)?sh -[il]+|bin/console)(?:\s+-.*)?$"
)
_PRODUCTION = re.compile(r"(?i)(?<![a-z])(?:prod|production|live)(?![a-z])")
_REHEARSAL = re.compile(
    r"(?i)(?<![a-z])(?:dev|develop|development|stag|staging|test|testing|review|qa|sandbox|demo|pr)(?![a-z])"
)
_OF_THE_PLATFORM = ("-a", "--app", "-r", "--remote", "-i", "-l", "-il", "--login")
_HOSTED = ("heroku", "fly", "flyctl", "railway")
"""Platforms that run an application for others, unless its name says that it is a rehearsal."""


def is_console(body: str | Sequence[Field]) -> bool:
    """Whether a command on another machine waits for what is typed into it: none, a shell, an interpreter, a client."""
    words = body.split() if isinstance(body, str) else [item.text for item in body]
    name = paths.base(words[0]) if words else ""
    return (
        not words
        or (name in _CONSOLES and (not words[1:] or words[1] in _OF_THE_PLATFORM))
        or bool(_CONSOLE_VERB.match(" ".join(words)))
    )


_RUNS_CODE = re.compile(
    r"(?:\S*/)?(?:rails (?:r|runner)|(?:python3? )?(?:\S*/)?manage\.py shell|php artisan tinker"
    r"|(?:python3?|node|ruby|perl|php) -[a-z]*[cer]|flask shell|mix run -e)\b",
    re.DOTALL,
)
_CHANGES = re.compile(
    r"\b(?:destroy|delete|update|save|create|remove|drop|truncate|insert|purge|reset|flush)\w*\b", re.IGNORECASE
)


_MIGRATES = re.compile(
    r"(?:(?:bundle exec )?(?:\S*/)?(?:rails|rake) db:(?:migrate|rollback|seed|setup)"
    r"|(?:python3? )?(?:\S*/)?manage\.py migrate|php artisan (?:migrate|db:seed)|alembic (?:up|down)grade"
    r"|(?:npx )?(?:prisma migrate deploy|knex migrate|sequelize\S* db:migrate|typeorm\S* migration:run)"
    r"|mix ecto\.migrate)\b"
)
"""Changes of a schema: ordinary work, but where others use it."""


def changes_models(body: str | Sequence[Field]) -> bool:
    """Whether a command on another machine runs code there that speaks of changing what it holds, or migrates it."""
    text = body if isinstance(body, str) else " ".join(item.text for item in body)
    if _MIGRATES.match(text):
        return True
    match = _RUNS_CODE.match(text)
    return match is not None and _CHANGES.search(text, match.end()) is not None


def is_production(call: Call) -> bool:
    """Whether a word of the call says so, or a platform runs it for others and no word says that it is a rehearsal."""
    words = [item.text for item in call.fields]
    if any(map(_PRODUCTION.search, words)):
        return True
    return call.command.program in _HOSTED and not any(map(_REHEARSAL.search, words))
