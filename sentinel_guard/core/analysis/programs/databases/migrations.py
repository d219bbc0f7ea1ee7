"""Migration tools and frameworks (rails, alembic …): tasks that drop a schema or empty its tables. argv -> effects.

A row is what must be said: words in their order, ``--flags`` anywhere. Words with a colon or a dot (``db:drop``,
``ecto.reset``) count wherever they stand; any other row must begin at the first word, the values of options apart.
What takes the last step back (``db:rollback``, ``alembic downgrade -1``) is ordinary work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from sentinel_guard.core.analysis import paths, task_words
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.databases import (
    development_databases,
    dotenv_databases,
    environment_switches,
    given_databases,
    own_databases,
    project_databases,
    sql_statements,
)
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_RAILS = (
    *("db:drop", "db:drop:*", "db:reset", "db:reset:*", "db:purge", "db:purge:*", "db:schema:load", "db:schema:load:*"),
    *("db:structure:load", "db:migrate:reset", "db:truncate_all", "db:seed:replant", "db:migrate VERSION=0"),
)
_ARTISAN = ("migrate:fresh", "migrate:reset", "migrate:refresh", "db:wipe", "tenants:migrate-fresh")
_DJANGO = ("flush", "reset_db", "reset_schema", "migrate * zero")
_DOCTRINE = (
    *("doctrine:database:drop --force", "doctrine:database:drop -f", "doctrine:schema:drop --force"),
    *("doctrine:schema:drop -f", "doctrine:schema:drop --full-database", "doctrine:migrations:migrate first"),
    *("doctrine:fixtures:load -n", "doctrine:fixtures:load --no-interaction", "doctrine:mongodb:schema:drop"),
)
_TASKS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("rails", "rake"), _RAILS),
    "artisan": _ARTISAN,
    **dict.fromkeys(("manage.py", "django-admin", "django-admin.py"), _DJANGO),
    "console": _DOCTRINE, "doctrine": tuple(row.removeprefix("doctrine:") for row in _DOCTRINE),
    "mix": ("ecto.drop", "ecto.reset", "ecto.rollback --all", "ecto.rollback --to 0"),
    "prisma": ("migrate reset", "db push --force-reset", "db push --accept-data-loss"),
    **dict.fromkeys(("typeorm", "typeorm-ts-node-commonjs", "typeorm-ts-node-esm"), ("schema:drop", "schema:sync")),
    "ace": ("migration:fresh", "migration:reset", "migration:refresh", "db:wipe", "db:truncate"),
    "payload": ("migrate:refresh",), "strapi": ("import --force",),
    **dict.fromkeys(("sequelize", "sequelize-cli"), ("db:drop", "db:migrate:undo:all", "db:seed:undo:all")),
    "knex": ("migrate:rollback --all",),
    "mikro-orm": ("schema:drop --run", "schema:drop -r", "schema:fresh --run", "schema:fresh -r", "migration:fresh"),
    "drizzle-kit": ("push --force",),
    "alembic": ("downgrade base",), "flask": ("db downgrade base",), "aerich": ("downgrade -v 0",),
    "sqlx": ("database drop", "database reset", "db drop", "db reset"),
    "diesel": ("database reset", "database drop", "migration revert --all", "migration revert -a"),
    **dict.fromkeys(("sea-orm-cli", "sea"), ("migrate fresh", "migrate reset", "migrate refresh")),
    "dbmate": ("drop",),
    "goose": ("reset", "* * reset", "down-to 0", "* * down-to 0"),
    "migrate": ("drop", "down -all", "down --all"),
    "flyway": ("clean",), "liquibase": ("drop-all", "dropAll"), "atlas": ("schema clean",),
    "hasura": ("metadata clear", "migrate apply --down=all", "migrate apply --down all"),
    "wp": ("db drop", "db reset", "db clean", "site empty"),
    "drush": ("sql-drop", "sql:drop", "site:install", "site-install", "si"),
    "pscale": ("database delete", "branch delete"),
    **dict.fromkeys(("neon", "neonctl"), ("projects delete", "branches delete", "databases delete")),
    "dotnet": ("ef database drop", "ef database update 0"), "dotnet-ef": ("database drop", "database update 0"),
    "meteor": ("reset",), "airflow": ("db reset",), "bench": ("drop-site", "reinstall"),
    "nodetool": ("clearsnapshot", "decommission", "removenode", "assassinate", "truncatehints", "drain", "stopdaemon"),
    **dict.fromkeys(("kafka-topics", "kafka-topics.sh"), ("--delete --topic",)),
    "rabbitmqctl": ("reset", "force_reset", "delete_vhost", "delete_queue", "purge_queue"),
    **dict.fromkeys(("couchbase-cli",), ("bucket-delete", "bucket-flush")),
    **dict.fromkeys(("neo4j-admin",), ("database delete",)),
    **dict.fromkeys(("stellar",), ("remove",)),
    **dict.fromkeys(("yii",), ("migrate/fresh", "migrate/down all")),
    "cake": ("migrations rollback -t 0", "migrations rollback --target=0", "migrations rollback --target 0"),
    "spark": ("migrate:refresh",), "hanami": ("db drop",),
    **dict.fromkeys(("mvn", "mvnw", "mvnd"), ("flyway:clean", "liquibase:dropAll")),
    **dict.fromkeys(("gradle", "gradlew"), ("flywayClean", "liquibase-dropAll", "dropAll")),
    **dict.fromkeys(("phinx",), ("rollback -t 0", "rollback --target=0")),
}  # fmt: skip
_SHOWS = frozenset(
    (
        "--dry-run",
        "--pretend",
        "--help",
        "--sql",
        "--dump-sql",
        "--plan",
        "--check",
        "--fake",
        "--simulate",
        "-T",
        "--append",
    )
)
"""With one of these nothing is done, or nothing taken away."""
_SHELLS = {
    "manage.py": ("dbshell",), "django-admin": ("dbshell",), "rails": ("dbconsole", "db"), "artisan": ("db",),
    "prisma": ("db execute",), "wp": ("db query", "db cli"),
    "drush": ("sql:query", "sqlq", "sql-query", "sql:cli", "sqlc"),
    "console": ("doctrine:query:sql", "dbal:run-sql"), "doctrine": ("dbal:run-sql",), "typeorm": ("query",),
}  # fmt: skip
"""Words behind which SQL is given, by the words that follow or by standard input."""
_CODE = {
    "rails": ("runner", "r", "console", "c"), "manage.py": ("shell", "shell_plus"), "artisan": ("tinker",),
    "django-admin": ("shell",), "wp": ("eval",), "drush": ("php:eval", "ev"), "flask": ("shell",),
}  # fmt: skip
"""Words behind which code is given that speaks to the models."""
_LANGUAGES = {"rails": ("ruby", "-e"), "manage.py": ("python3", "-c"), "artisan": ("php", "-r"), "wp": ("php", "-r"),
              "django-admin": ("python3", "-c"), "drush": ("php", "-r")}  # fmt: skip
"""What runs that code."""
_EMPTIES = re.compile(
    r"\b[A-Z]\w*(?:\.unscoped|\.all)?\.(?:delete_all|destroy_all)\b|\.objects(?:\.all\(\))?\.(?:_raw_)?delete\(\)"
    r"|\b[A-Z]\w*::(?:truncate\(|query\(\)->delete\()|->truncate\(\)|\bDB::table\([^)]*\)->delete\(\)|\bcall_command\(\s*['\"](?:flush|reset_db)"
    r"|\bmigrate:fresh\b|\bdb:wipe\b"
)
_MIGRATES = {"rails": "db:migrate", "rake": "db:migrate", "artisan": "migrate", "manage.py": "migrate"}
"""Tasks that change the schema: ordinary work, but for a database that others use."""
_STEPS = ("upgrade", "downgrade", "rollback", "migrate", "up", "down", "redo", "undo", "revert", "to", "push", "apply")
"""What the tools of migrations call a step."""
_SOME_ROWS = re.compile(
    r"\.(?:delete_all|destroy_all|delete_by|destroy_by)\b|\.(?:find_each|each|map|in_batches)\(&:(?:destroy|delete)!?\)"
    r"|\)\.delete\(\)|->(?:delete|forceDelete)\(\)"
)
"""Rows that a condition chose: ordinary work, but for those that others use."""
_MANY_ROWS = re.compile(
    r"\.where(?:\.not)?\([^\n]*(?:[<>]|(?i:\blike\b)|\.\.|\bago\b)[^\n]*\.(?:delete_all|destroy_all)\b"
    r"|\.(?:filter|exclude)\([^\n]*__(?:lte?|gte?|i?contains|i?startswith|i?endswith|isnull|range|i?regex)[^\n]*\)\.delete\(\)"
    r"|::where\([^\n]*(?:[<>]|'like'|\"like\")[^\n]*->(?:delete|forceDelete)\(\)"
)
"""Rows that a range or a likeness chose: nobody has counted them."""
_LIVE = re.compile(r"(?i)(?:^|[=-])prod(?:uction)?$|^live$")
_LITERAL = re.compile(r"\"((?:[^\"\\]|\\.)*+)\"|'((?:[^'\\]|\\.)*+)'")


def tasks(call: Call) -> Effects:
    """rails, artisan, manage.py, prisma …; also where an interpreter is given one of them as its script."""
    at = next((n for n, f in enumerate(call.fields) if paths.base(f.text) in _TASKS), None)
    if at is None:
        return
    program = paths.base(call.fields[at].text)
    if program.startswith("kafka-topics") and own_databases.is_own_topic(call):
        return
    given = [item for item in call.fields[at + 1 :] if program != "drush" or item.text[:1] != "@"]
    words = [item.text.rstrip(",") for item in given]
    if _SHOWS & set(words) or words[-1:] == ["-h"] or (program == "rake" and "-n" in words):
        return
    yield from _shell(call, program, given)
    if program == "rake":
        yield from _rake(call, given)
    elif program == "prisma" and {"reset", "seed"} & {*words[:2]} and "--skip-seed" not in words:
        seed = dotenv_databases.prisma_settings(call).get("seed")
        yield from call.runner.script(seed, call, "prisma seed", file=True) if isinstance(seed, str) else ()
    if program == "prisma" and any(map(_is_no_shadow, given, (*given[1:], Field("")))):
        yield call.effect(Kind.DATABASE, "prisma --shadow-database-url", "delete")
    if environment_switches.on_tests(call, program, words) or _is_thrown_away(call, program, words):
        return
    if (_MIGRATES.get(program, "") in words or {*_STEPS} & {*words[:4]}) and _on_production(call):
        yield call.effect(Kind.DEPLOY, f"{program} on production")
    for row in _TASKS[program]:
        if _said(row.split(), words):
            if development_databases.is_meant(call, program, words):
                return
            how = "truncate" if row in ("db:truncate_all", "db:seed:replant") else "delete"
            lost = call.effect(Kind.DATABASE, f"{call.command.program} {row}", how)
            yield replace(lost, file=project_databases.only_file(call, program))
            return


def _is_no_shadow(option: Field, behind: Field) -> bool:
    """Whether Prisma is given a shadow database, which it empties, that neither its name nor its variable calls so."""
    name, sign, value = option.text.partition("=")
    if name != _SHADOW:
        return False
    said = option if sign else behind
    called = f"{said.source} {said.text}".replace(_SHADOW, "").lower()
    return "shadow" not in called and not dotenv_databases.is_named(value if sign else behind.text)


_SHADOW = "--shadow-database-url"


def _rake(call: Call, given: Sequence[Field]) -> Iterator[Effect]:
    """Code in an option; ``rake release`` of bundler pushes the gem."""
    for option, item in pairwise(given):
        if option.text in ("-e", "-E", "--execute", "--execute-continue"):
            text = re.sub(r"\bsh\b", "system", item.text)
            yield from call.runner.run([Field("ruby"), Field("-e"), Field(text, item.known)], call, "rake", stdin="")
    if any(item.text == "release" for item in given):
        yield call.effect(Kind.PUBLISH, "rubygems")


def _said(row: Sequence[str], words: Sequence[str]) -> bool:
    flags = [word for word in row if word.startswith("-")]
    if not all(flag in words for flag in flags):
        return False
    wanted = [word for word in row if not word.startswith("-")]
    if not wanted:
        return True
    plain = [n for n, word in enumerate(words) if not word.startswith("-")]
    begins = plain if ":" in wanted[0] or "." in wanted[0] else plain[: _first_own(words, plain) + 1]
    # Where the first wanted word comes first, all that may follow it is still to come.
    at = next((n for n in begins if _like(wanted[0], words[n])), None)
    left = (words[n] for n in plain if at is not None and n > at)
    return at is not None and all(any(_like(want, word) for word in left) for want in wanted[1:])


def _first_own(words: Sequence[str], plain: Sequence[int]) -> int:
    """Which of the plain words is the first that cannot be an option's value: a row begins there at the latest."""
    own = (k for k, n in enumerate(plain) if not (n and words[n - 1].startswith("-")))
    return next(own, len(plain))


def _like(want: str, word: str) -> bool:
    return want in ("*", word) or (want.endswith(":*") and word.startswith(want[:-1]))


def _is_thrown_away(call: Call, program: str, words: Sequence[str]) -> bool:
    """Whether the address that a task is given, or else the variables, are of a database that the session made."""
    values = (task_words.value(word).removeprefix("jdbc:") for word in words)
    if any(map(environment_switches.OF_SERVER.fullmatch, values)):
        return own_databases.listens_own(call) and not any(map(task_words.LIVE.search, words))
    return given_databases.is_thrown_away(call, program)


def _shell(call: Call, program: str, given: Sequence[Field]) -> Iterator[Effect]:
    """SQL or code that is handed through."""
    words = [item.text for item in given]
    taken = next((row for row in _SHELLS.get(program, ()) if words[: row.count(" ") + 1] == row.split()), None)
    if taken is not None:
        texts = [item.text for item in given[taken.count(" ") + 1 :]] or []
        for text in [*texts, call.stdin.replace(UNKNOWN, " _ ")]:
            yield from losses(call, text, own=given_databases.is_thrown_away(call, program))
    elif words[:1] and words[0] in _CODE.get(program, ()):
        for text in (*words[1:], call.stdin):
            told = text.partition("=")[2] if text.startswith("--") else text
            if not (
                environment_switches.on_tests(call, program, words) or given_databases.is_thrown_away(call, program)
            ):
                yield from code(call, told)
            if program in _LANGUAGES and any(mark in told for mark in ".(`"):
                run = [Field(word) for word in (*_LANGUAGES[program], told.replace(UNKNOWN, " "))]
                yield from (e for e in call.runner.run(run, call, program, stdin="") if e.kind is not Kind.DATABASE)


def losses(call: Call, text: str, *, own: bool = False) -> Iterator[Effect]:
    """The DATABASE effects of an SQL text whose dialect is not known; none in a database to throw away."""
    for what in sql_statements.found(text):
        if what.how in ("delete", "truncate") and not own:
            yield call.effect(Kind.DATABASE, what.text, what.how)


def _on_production(call: Call) -> bool:
    """Whether the words of a call, or the environment of a framework, say that it is about what others use."""
    said = [item.text for item in call.fields[1:]]
    said += [value for name in environment_switches.VARIABLES for value in call.scope.lookup(name).items]
    return any(map(_LIVE.search, said))


def code(call: Call, text: str) -> Iterator[Effect]:
    """Code that empties its models, or holds SQL that does; on production, code that deletes rows at all."""
    match = _EMPTIES.search(text) or _MANY_ROWS.search(text)
    match = match or (_SOME_ROWS.search(text) if _on_production(call) else None)
    if match:
        yield call.effect(Kind.DATABASE, match[0], "delete")
    for match in _LITERAL.finditer(text):
        if " " in (literal := match[1] or match[2] or ""):
            yield from losses(call, literal)


PROGRAMS: dict[str, Callable[[Call], Effects]] = dict.fromkeys(_TASKS, tasks)
SCRIPTS = ("artisan", "manage.py", "rails", "rake", "console", "django-admin.py", "yii", "cake", "ace", "spark")
"""Scripts that are often given to their interpreter: ``php artisan``, ``python manage.py``."""
