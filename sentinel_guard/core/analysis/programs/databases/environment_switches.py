"""Which environment a framework's task is for, and whether the switch leads to a database of the tests.

A switch that finds no settings of its own falls back to those of the person: Laravel loads ``.env`` where there is no
``.env.testing``, and an address that ``.env`` gives counts for the tests, too, where their own file gives none. What
stands in ``.env`` is compared and goes no further.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from sentinel_guard.core.analysis import paths, places, task_words
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.databases import dotenv_databases, given_databases

VARIABLES = (*dotenv_databases.ENVIRONMENTS, "FLASK_ENV")
_OPTIONS = ("--env", "--environment", "-e")
"""Options that say which environment a task is for."""
_TESTS = ("test", "testing")
_DATABASE_FILE = re.compile(r"(?:file|sqlite3?):(?://)?(?://)?(/[^?\0]+)(?:\?.*)?")
OF_SERVER = re.compile(r"(?!file:|sqlite3?:)[A-Za-z][\w+.-]*://.*")
_GIVES_FILE = frozenset(("", *task_words.GIVES_ADDRESS))
_BY_MODULE = ("manage.py", "django-admin", "django-admin.py")
_MODULE = re.compile(r"(?:\w+\.)*(?:settings[._])?tests?(?:ing)?(?:[._]settings)?")
_WITHOUT_DOTENV = frozenset(("mix", "dotnet", "dotnet-ef", "wp", "drush", "yii", "hanami"))
"""Frameworks that load no ``.env``, or whose environments have settings of their own."""
_SYMFONY = ("config/packages/doctrine.y*ml", "config/packages/test/doctrine.y*ml")
_APART_IN_SYMFONY = re.compile(r"(?m)^\s*dbname_suffix\s*:|^when@test:\s*\n(?:[ \t]+.*\n|\s*\n)*?\s+(?:url|dbname)\s*:")
_SECTION = re.compile(r"[\"']?\btest(?:ing)?[\"']?\s*:\s*\{(?:[^{}]|\{[^{}]*\})*\}")
"""What settings of a tool of JavaScript say for the tests."""


def on_tests(call: Call, program: str, words: Sequence[str]) -> bool:
    """The environment of the tests has a database that they make anew; ``DATABASE_URL`` would say another one, and a
    file in a temporary folder is none that anybody keeps.
    """
    given = list(_addresses(words)) if paths.base(call.command.program) in task_words.BY_ADDRESS else []
    if any(OF_SERVER.fullmatch(address) for _, address in given):
        return False
    files = [
        match[1] for option, address in given if option in _GIVES_FILE and (match := _DATABASE_FILE.fullmatch(address))
    ]
    if files:
        return all(given_databases.is_temporary(call, paths.normal(file)) for file in files)
    url = call.scope.lookup("DATABASE_URL")
    if url.isset:
        file = _DATABASE_FILE.fullmatch("".join(url.items)) if url.known else None
        return file is not None and given_databases.is_temporary(call, paths.normal(file[1]))
    if program in _BY_MODULE and (modules := _settings_of_tests(call, words)):
        return not any(_is_inherited(call, _folder(call, program), module) for module in modules)
    names = {*_named(call, words)}
    return bool(names) and not any(_falls_back(call, program, name) for name in names)


def _named(call: Call, words: Sequence[str]) -> Iterator[str]:
    """The environments of tests that the words, or else the variables, name."""
    said = {*words, *(f"{option}={value}" for option, value in pairwise(words) if option in _OPTIONS)}
    yield from (name for name in _TESTS if any(f"{option}={name}" in said for option in _OPTIONS))
    held = (call.scope.lookup(name).items for name in VARIABLES)
    yield from (items[0] for items in held if len(items) == 1 and items[0] in _TESTS)


def _settings_of_tests(call: Call, words: Sequence[str]) -> Sequence[str]:
    """The settings of its tests that Django is told to take: ``--settings=shop.settings.test``."""
    given = [value for option, value in pairwise(words) if option == "--settings"]
    given += [word.partition("=")[2] for word in words if word.startswith("--settings=")]
    held = call.scope.lookup("DJANGO_SETTINGS_MODULE")
    names = given or (held.items if held.known else ())
    plain = all(map(_MODULE.fullmatch, names)) and not any(word.startswith("--database") for word in words)
    return names if plain else ()


def _is_inherited(call: Call, folder: str, module: str) -> bool:
    """Whether settings of tests that can be read say no database: what they are made from has the person's."""
    held = call.world.read(call.locate(f"{folder}/{module.replace('.', '/')}.py"))
    if held is None:
        return False
    text = given_databases.COMMENTS.sub("", held)
    asks = re.search(r"DATABASE_URL|\benv\.db\(|dj_database_url", text)
    return "DATABASES" not in text or (asks is not None and _gives_others(call, folder))


def _folder(call: Call, program: str) -> str:
    """Where the project lies: beside its script; at the top where the script runs elsewhere."""
    script = next((f.text for f in call.fields if paths.base(f.text) == program and "/" in f.text), "")
    away = places.is_inside(call.command) or not call.here
    return call.world.root if away else script.rpartition("/")[0] or "."


def _falls_back(call: Call, program: str, environment: str) -> bool:
    """Whether what a task takes for an environment is what ``.env`` gives without it."""
    folder = _folder(call, program)
    if program == "artisan":
        apart = call.world.kind(call.locate(f"{folder}/.env.{environment}"))
        return not apart and bool(call.world.kind(call.locate(f"{folder}/.env")))
    if program in _WITHOUT_DOTENV:
        return False
    if program in ("rails", "rake"):
        return "dotenv" in (call.world.read(call.locate("Gemfile")) or "") and _gives_others(call, ".")
    alone = program in task_words.BY_ADDRESS
    if program in ("console", "doctrine"):
        folder = folder.removesuffix("bin").removesuffix("vendor/") or "."
        found = (path for pattern in _SYMFONY for path in call.world.glob(call.locate(f"{folder}/{pattern}")))
        if any(_APART_IN_SYMFONY.search(call.world.read(path) or "") for path in found):
            return False
    elif not alone and not _settings_ask(call, program):
        return False
    else:
        folder = "."
    return _gives_others(call, folder, alone=alone)


def _settings_ask(call: Call, program: str) -> bool:
    """Whether the settings of a project, as far as they can be read, take an address for tests from the environment."""
    texts = [*given_databases.settings(call, program)]
    parts = ("".join(_SECTION.findall(text)) or text for text in texts)
    return not texts or any(map(given_databases.READS.search, parts))


def _gives_others(call: Call, folder: str, *, alone: bool = False) -> bool:
    """Whether ``.env`` gives a database that is not called one for tests, and that no file of the tests, where a tool
    loads one, says anew.
    """
    own = [] if alone else [call.locate(f"{folder}/.env.{name}") for name in ("test", "testing", "test.local")]

    def leads_away(text: str) -> bool:
        return any(
            not _is_for_tests(value) and not any(call.world.fulfils(file, partial(_gives, name)) for file in own)
            for name, value in dotenv_databases.assignments(text)
            if name == dotenv_databases.VARIABLE or dotenv_databases.OTHERS.fullmatch(name)
        )

    return call.world.fulfils(call.locate(f"{folder}/.env"), leads_away)


_FOR_TESTS = re.compile(r"(?i).*[/_-](?:tests?|testing|e2e|ci)(?:[_-]\w+|\d+)?(?:\?.*)?|:memory:|sqlite.*:memory:")


def _is_for_tests(value: str) -> bool:
    return not value or _FOR_TESTS.fullmatch(value) is not None


def _gives(name: str, text: str) -> bool:
    return any(key == name for key, _ in dotenv_databases.assignments(text))


def _addresses(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word with the option that it is the value of, if any; a driver's name and its file are one address."""
    for earlier, before, word in zip(("", "", *words), ("", *words), words, strict=False):
        name, sign, value = word.partition("=")
        if word[:1] == "-":
            yield (name, value) if sign else (name, "")
        elif before in ("sqlite3", "sqlite") and word[:1] == "/":
            yield _waits(earlier), f"{before}:{word}"
        else:
            yield _waits(before), word


def _waits(word: str) -> str:
    """An option whose value is the next word; empty for another word."""
    return word if word[:1] == "-" and "=" not in word else ""
