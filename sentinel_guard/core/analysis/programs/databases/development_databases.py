"""A project's own development database: where a framework's task works, as the settings of the repository say.

A task that drops a schema and builds it anew is the project's own recipe for a database that nobody but its developer
uses (ADR 0045). It is told by settings that are data and name this machine in plain words. Settings that are code,
another environment, a file, a wrapper or a variable that may say another database, a word that is not known to say
none: where one of these is met, nothing is told. A database that is a file has a witness of its own
(project_databases.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis import task_words
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.databases import dotenv_databases, literal_settings
from sentinel_guard.core.analysis.programs.databases.dotenv_databases import COMPARED, ENVIRONMENTS, OTHERS, VARIABLE

_LOADERS = (".envrc", "mise.toml", ".mise.toml")
"""Files by which a shell, or a tool, sets variables."""
_PACKAGE_SCRIPT = re.compile(r"(?:npm|pnpm|yarn|bun) run \S+")
"""A line of package.json, which is data: it sets no variable but in the line itself."""
_BY_SETTINGS = {"prisma": dotenv_databases.prisma, "artisan": dotenv_databases.laravel, "knex": literal_settings.knex}
_EXAMPLES = (".example", ".sample", ".template", ".dist")
_PORT = re.compile(r"\d{2}")
"""Among the words of a command that leads a port elsewhere."""
_WRAPPERS = frozenset(
    (
        *("npx", "bundle", "yarn", "pnpm", "bunx", "time", "nice", "command", "node_modules/.bin"),
        *(f"{manager} {verb}" for manager in ("npm", "pnpm", "yarn", "bun") for verb in ("exec", "x", "dlx")),
    )
)
"""What runs a tool with the variables and in the folder that are there."""
_ASKS = re.compile(r"\bENV\b|get_env|fetch_env|\benviron|getenv|\benv\(|\$\{|<%|\bimport_config\b|\bFile\.|\bread\b")
"""Settings that the environment, or another file, fills in."""
_COMMENTS = re.compile(r"(?m)(?:^|(?<=\s))#.*$")
_APART = re.compile(r"(?i)(?<!\w)[\"']?\w*(?:pass(?:word|wd)?|secret|username|user|pool\w*|timeout)[\"']?\s*:[^,\n}]*")
"""What says with what one logs in, and not where."""
SECTION = re.compile(r"(?m)^(?:default|development):.*\n(?:[ \t]+.*\n?|\s*\n)*")
"""Of Rails' settings: those for development, and what they are made from."""
_TAKEN_OVER = re.compile(r"<<\s*:(?!\s*\*default\s*$)", re.MULTILINE)
_DEFAULT = re.compile(r"(?m)^default:\s*&default\b")
_YAML_HOST = re.compile(r"(?i)(?<!\w)[\"']?host(?:addr)?[\"']?\s*:\s*[\"']?(?P<host>[^\s\"',}]*)")
_YAML_NAME = re.compile(r"(?i)(?<!\w)[\"']?database[\"']?\s*:\s*[\"']?(?P<name>[\w./-]+)")
_REPO = re.compile(r"(?ms)^config\s+:\w+,\s*[\w.]*Repo\b.*?(?=^config\b|\Z)")
_HOSTNAME = re.compile(r"\bhostname:\s*\"([^\"]*)\"")
_REPO_NAME = re.compile(r"\bdatabase:\s*\"([^\"#]*)")


def is_meant(call: Call, program: str, words: Sequence[str]) -> bool:
    """Whether a task is about the project's own development database, on this machine."""
    by_script = call.files == 1 and any(map(_PACKAGE_SCRIPT.fullmatch, call.command.via))
    if any(map(_PORT.search, call.world.forwards)):
        return False
    known = call.here and (by_script or not call.files) and all(item.known for item in call.fields)
    via = [name for name in call.command.via if not (by_script and _PACKAGE_SCRIPT.fullmatch(name))]
    if _is_compared(call):
        via = [name for name in via if name not in dotenv_databases.LOADERS]
    if not (known and _WRAPPERS.issuperset(via) and task_words.are_plain(program, words)):
        return False
    given = [value for value in map(task_words.value, words) if "://" in value]
    if not _environment_is_plain(call, program, given):
        return False
    if given:
        asked = dotenv_databases.prisma_variables(call) if program == "prisma" else []
        return asked is not None and {*asked} <= {VARIABLE} and all(map(dotenv_databases.is_named, given))
    if any(call.world.kind(call.locate(name)) for name in _LOADERS):
        return False
    if program in _BY_SETTINGS:
        return _BY_SETTINGS[program](call)
    if program in ("rails", "rake"):
        return not _dotenv_decides(call) and _is_rails_here(call.world.read(call.locate("config/database.yml")) or "")
    return program == "mix" and _is_mix_here(
        *(call.world.read(call.locate(f"config/{n}.exs")) for n in ("dev", "runtime"))
    )


def _environment_is_plain(call: Call, program: str, given: list[str]) -> bool:
    """Whether no variable may say another database; adds to ``given`` the address that one says."""
    scope = call.scope
    for name in {*scope.variables, *scope.environ}:
        value = scope.lookup(name) if name in ENVIRONMENTS or name == VARIABLE else None
        if name in ENVIRONMENTS and value and not (value.known and task_words.DEVELOPMENT.issuperset(value.items)):
            return False
        if name == VARIABLE and value and value.isset:
            reaches = name in scope.reaching or name not in scope.variables or name in scope.environ
            if not reaches or program not in task_words.BY_ADDRESS or not (value.known or _is_compared(call)):
                return False
            given += value.items if value.known else (COMPARED,)
        elif name != VARIABLE and OTHERS.fullmatch(name):
            return False
    return True


def _is_compared(call: Call) -> bool:
    """Whether a file of secrets surely gave the address, and was looked at then (``gives_development``)."""
    return call.scope.written.get(VARIABLE) == COMPARED and VARIABLE in call.scope.reaching


def _dotenv_decides(call: Call) -> bool:
    """Whether ``.env`` and its kin, which are not looked into, may name another database."""
    found = (call.locate(".env"), *call.world.glob(call.locate(".env.*")))
    there = any(call.world.kind(path) and not path.endswith(_EXAMPLES) for path in found)
    return there and "dotenv" in (call.world.read(call.locate("Gemfile")) or "dotenv")


def _is_here(host: str) -> bool:
    return host.startswith("/") or re.fullmatch(dotenv_databases.HERE, host) is not None


def _is_rails_here(settings: str) -> bool:
    """https://guides.rubyonrails.org/configuring.html#configuring-a-database"""
    if "sqlite" in settings:
        return False
    said = _APART.sub("", "\n".join(SECTION.findall(_COMMENTS.sub("", settings))))
    names, hosts = [m["name"] for m in _YAML_NAME.finditer(said)], [m["host"] for m in _YAML_HOST.finditer(said)]
    if settings.count("&default") > 1 or ("*default" in said and not _DEFAULT.search(settings)):
        return False
    apart = _ASKS.search(said) or _TAKEN_OVER.search(said) or "://" in said or any(map(task_words.LIVE.search, names))
    return bool(names) and not apart and all(map(_is_here, hosts))


def _is_mix_here(settings: str | None, runtime: str | None) -> bool:
    """https://hexdocs.pm/ecto/Ecto.Repo.html: blocks of ``config :app, App.Repo``."""
    text = _COMMENTS.sub("", settings or "")
    blocks = _REPO.findall(text)
    if not blocks or _ASKS.search(text) or (runtime is not None and "config_env() == :prod" not in runtime):
        return False
    return all(
        (hosts := _HOSTNAME.findall(block))
        and all(map(_is_here, hosts))
        and "://" not in block
        and not any(map(task_words.LIVE.search, _REPO_NAME.findall(block)))
        for block in blocks
    )
