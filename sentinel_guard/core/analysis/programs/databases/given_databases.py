"""Which database the variables that a text gives a command name: one to throw away, or one that somebody may keep.

To throw away is a server that the session or this text started, at its port, and a file in a temporary folder. The
variable must surely be in the command's environment, and the command must be known to ask it: by what its tool
documents, or because the project's own settings say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from sentinel_guard.core.analysis import network_addresses, paths, task_words
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.databases import client_servers, development_databases, dotenv_databases

_NAMES = re.compile(
    r"(?:\w+_)?(?:DATABASES?|DB|DBSTRING|FLYWAY|LIQUIBASE(?:_COMMAND)?|DATASOURCE|SQLITE|POSTGRES(?:QL)?|PG|MYSQL|MARIADB|MONGO(?:DB)?)(?:_\w+)?|\w+_DSN|DSN"
    r"|PG(?:HOST(?:ADDR)?|PORT|DATABASE|USER|PASSWORD|SERVICE(?:FILE)?)|ConnectionStrings__\w+"
)
"""Variables that say which database is meant, or how to log in there."""
_LOGIN = re.compile(r"(?i).*(?:user(?:name)?|pass(?:word|wd)?|schema|name|database|pool\w*|engine|driver)")
_PORT = re.compile(r"(?i).*port")
_HOST = re.compile(r"(?i).*host(?:addr)?")
_FILE = re.compile(r"(?:sqlite3?(?:\+\w+)?:/{0,3}(?=/)|file:(?://)?)?(?P<file>/[^?\s:,]+)(?:\?[\w=&]*)?")
_SERVER = re.compile(
    r"(?:jdbc:)?[a-z][\w+.-]*://(?:[^@/\s,?#]*@)?(?P<host>localhost|127\.0\.0\.1|\[::1\]):(?P<port>\d+)(?:/[\w-]*)?"
    r"(?:\?(?!\S*(?:host|service))[\w=&.%-]*)?"
)
"""Of one server on this machine, at a port that is named."""
_KEYED = re.compile(
    r"(?i)(?:^|;)\s*(?:server|data source|host|addr\w*)\s*=\s*(?:tcp:)?([^;,]*)(?:,(\d+)|;\s*port\s*=\s*(\d+))?"
)
_HERE = ("localhost", "127.0.0.1", ".")
_IN_MEMORY = (":memory:", "sqlite::memory:", "sqlite://:memory:", "sqlite:///:memory:", "file::memory:?cache=shared")
_KEYS = re.compile(r"(?i)\s*(?:host|server|port|data source)\s*=")
"""``Host=localhost;Port=5455;Database=app``, ``host=localhost port=5455``."""
_DOCUMENTED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sqlx", "diesel", "dbmate", "sea-orm-cli", "sea", "rails", "rake"), ("DATABASE_URL",)),
    **dict.fromkeys(("psql", "dropdb", "dropuser", "pg_restore", "pgcli"), ("PGHOST", "PGPORT")),
    "flyway": ("FLYWAY_URL",), "goose": ("GOOSE_DBSTRING",), "liquibase": ("LIQUIBASE_COMMAND_URL",),
}  # fmt: skip
"""Variables that a tool reads by itself, before any file."""
_LARAVEL = ("DB_DATABASE", "DB_HOST", "DB_PORT", "DB_URL")
_BY_DEFAULT = {
    "artisan": (_LARAVEL, "config/database.php"),
    "console": (("DATABASE_URL",), "config/packages/doctrine.y*ml"),
}
"""Variables that a framework's own settings take, and the project's file that would say otherwise."""
_CHOOSES = re.compile(
    r"--(?:database|db|env|environment|settings|connection|configuration|config|schema|em|url|dsn|host|port)(?:=.*)?"
    r"|-[eDx]"
)
"""Words before code that may say another database than the variables do."""
_OTHER_BY_CODE = re.compile(r"\.using\(|\bconnections\[|\bconnects_to\b|\bDB::connection\(")
_CODE = ("shell", "shell_plus", "runner", "r", "console", "c", "tinker", "dbshell", "eval", "run")
"""First words of a task behind which code, or SQL, stands."""
_ALSO_PLAIN = frozenset(
    (
        *(
            "--env=test",
            "--env=testing",
            "-f",
            "--if-exists",
            "--all",
            "-v",
            "--verbose",
            "--step",
            "--drop-views",
            "--drop-types",
            "--no-build",
        ),
        *(
            "--no-interaction",
            "--skip-if-env=development",
            "--no-wait",
            "--wait",
            "--run-syncdb",
            "--allow-no-migration",
        ),
    )
)
"""Further options that say nothing of a database."""
_OF_ONE = re.compile(r"db:(?:schema|structure|fixtures|test|environment|migrate|seed):\w+|(?!db:\w+:)[^=]*")
"""Tasks of Rails on its first database: ``db:drop:all``, ``db:drop:legacy`` take others."""
_STANDS_FOR = {
    **dict.fromkeys((*dotenv_databases.ENVIRONMENTS, "FLASK_ENV", "KNEX_ENV"), ""),
    "DJANGO_SETTINGS_MODULE": r"(?:\w+\.)*settings(?:[._](?:tests?|testing|dev|development|local|base))?",
    **dict.fromkeys(
        ("DJANGO_CONFIGURATION", "ALEMBIC_CONFIG", "PRISMA_SCHEMA", "FLASK_CONFIG", "APP_SETTINGS"), "(?!)"
    ),
}
"""Variables that choose among settings, and what they may hold beside the names of development and tests."""
_HOMES = {"airflow": "AIRFLOW_HOME", "prefect": "PREFECT_HOME", "dagster": "DAGSTER_HOME", "mlflow": "MLFLOW_HOME"}
_OTHER_STORE = re.compile(r"SQL_ALCHEMY_CONN|CONNECTION_URL|API_URL|TRACKING_URI|_CONFIG$")
_LOADS = frozenset(("sqlx", "diesel", "dbmate", "sea-orm-cli", "sea", "console", "doctrine"))
"""Tools that load ``.env`` themselves, and take the environment before it."""
_SETTINGS = (
    *("settings*.py", "*/settings*.py", "*/settings/*.py", "*/*/settings*.py", "config*.py", "*/config*.py"),
    *("src/*/config*.py", "*/env.py", "*/database.py", "*/db.py", "config/*.exs", "config/*.yml", "config/*.[jt]s"),
    "config/config.json",
    *(
        "config/*.php",
        "config/packages/doctrine.y*ml",
        "knexfile.*",
        "*/knexfile.*",
        "drizzle.config.*",
        "ormconfig.*",
        "*data-source.*",
    ),
    *("src/*data-source.*", "src/*/*data-source.*", "prisma/schema.prisma", "src/db.[jt]s", "src/database.[jt]s"),
    *("src/db/index.[jt]s", "src/main/resources/application*.yml", "src/main/resources/application*.properties"),
)
"""Where a project's settings stand."""
READS = re.compile(r"(?i)env|\$\{|\bBaseSettings\b|\bconfig\(")
_OVERRIDES = re.compile(r"(?i)\b(?:override|overwrite|overload)\w*\s*[=:(]?\s*(?:true\b|\()|\bDotenv\.overload\b")
"""What takes ``.env`` before the environment."""
_THROUGH = frozenset(
    (
        *("npx", "pnpx", "bunx", "yarn", "pnpm", "bundle", "composer", "poetry", "uv", "pdm", "pipenv", "hatch", "rye"),
        *("cargo", "env", "cross-env", "time", "nice", "timeout", "command", "nohup", "stdbuf"),
        *("manage.py", "rails", "artisan", "django-admin"),
    )
)
"""What runs a tool with the variables that are there."""
MOST = 30
"""Files of settings that are looked at."""


def is_thrown_away(call: Call, program: str = "") -> bool:
    """Whether the variables of a text name a database to throw away and nothing else, and this command asks them."""
    if not keeps_variables(call):
        return False
    given = [name for name in call.scope.reaching if _NAMES.fullmatch(name)]
    if not given:
        found = _is_home_thrown_away(call, program) or _is_loaded(call, program)
        return found and _words_are_plain(call, program) and _environment_is_plain(call)
    if not call.here or any(_NAMES.fullmatch(name) for name in call.scope.variables.keys() - call.scope.reaching):
        return False
    if program not in client_servers.CLIENTS and not (_words_are_plain(call, program) and _environment_is_plain(call)):
        return False
    said = {name: _said(call, name) for name in given}
    own = [name for name, is_own in said.items() if is_own]
    return bool(own) and None not in said.values() and _is_asked(call, program, own)


def keeps_variables(call: Call) -> bool:
    """Whether a command runs here, with the variables that the text gives it."""
    return all(via.partition(" ")[0] in _THROUGH for via in call.command.via)


def _words_are_plain(call: Call, program: str) -> bool:
    """Whether no word may say another database, or other settings, than are meant without it."""
    at = next((n for n, item in enumerate(call.fields) if paths.base(item.text) == program), 0)
    items = call.fields[at + 1 :]
    words = [item.text for item in items]
    if not program or (words and words[0] in _CODE):
        return not any(_CHOOSES.fullmatch(word) or _OTHER_BY_CODE.search(word) for word in words)
    if not all(item.known for item in items):
        return False
    if program in ("dotnet", "dotnet-ef", "typeorm", "typeorm-ts-node-commonjs"):
        words = _without_project(words)
    if program in ("rails", "rake") and not all(map(_OF_ONE.fullmatch, words)):
        return False
    plain = _ALSO_PLAIN | ({"-n"} if program in ("artisan", "console", "doctrine") else set())  # elsewhere a section
    addressed = any(word.partition("=")[0] in task_words.GIVES_ADDRESS or "://" in word for word in words)
    return not addressed and task_words.are_plain(program, [word for word in words if word not in plain])


def _without_project(words: list[str]) -> list[str]:
    """Words without those that name a project, the settings that are looked into, or one of the contexts in these."""
    apart = {*_PROJECT, *_SOURCE, "-c", "--context"}
    return [word for before, word in pairwise(("", *words)) if not {before, word} & apart]


def _environment_is_plain(call: Call) -> bool:
    """Whether no variable chooses other settings than those of development and tests."""
    for name, also in _STANDS_FOR.items():
        value = call.scope.lookup(name)
        if value.isset and not (value.known and all(_is_development(item, also) for item in value.items)):
            return False
    return True


def _is_development(value: str, also: str) -> bool:
    return value in (*task_words.DEVELOPMENT, "test", "testing") or bool(also and re.fullmatch(also, value))


def _is_home_thrown_away(call: Call, program: str) -> bool:
    """Whether a tool keeps its own database in a folder that a variable names, and that is a temporary one."""
    home = _HOMES.get(program, "")
    if home not in call.scope.reaching or any(map(_OTHER_STORE.search, {*call.scope.variables, *call.scope.environ})):
        return False
    held = call.scope.lookup(home)
    folder = paths.normal("".join(held.items)) if held.known else ""
    if any(map(_CONNECTS.search, (call.world.read(path) or "" for path in call.world.glob(f"{folder}/*.*")))):
        return False
    return folder[:1] == "/" and is_temporary(call, folder)


_CONNECTS = re.compile(
    r"(?im)^[^#;\n]*(?:conn|url|uri|host)\w*[\"']?\s*[=:]\s*[\"']?(?!sqlite)\w[\w+]*://(?!localhost)"
)
"""A line of a folder's settings that names a server."""


def is_temporary(call: Call, path: str) -> bool:
    """Whether a path lies among temporary files, and also where it really leads."""
    return all(paths.is_temporary(one, call.world.root, call.world.home) for one in (path, call.world.resolve(path)))


def _is_loaded(call: Call, program: str) -> bool:
    """Whether the address that a tool itself takes from ``.env``, where nothing else gives one, is such a database's:
    compared, and no word of it goes further.
    """
    dotnet = program in ("dotnet", "dotnet-ef")
    if not (call.here and (dotnet or program in _LOADS)):
        return False
    if any(map(_NAMES.fullmatch, {*call.scope.variables, *call.scope.environ})):
        return False
    if dotnet:
        return _is_in_settings_of_dotnet(call)
    if program in _SYMFONY and any(call.world.kind(call.locate(Field(name))) for name in _LATER):
        return False
    return call.world.fulfils(call.locate(Field(".env")), partial(_gives_thrown_away, call))


_SYMFONY = ("console", "doctrine")
_LATER = (".env.local", ".env.dev", ".env.dev.local", ".env.local.php")
"""What Symfony loads behind ``.env``."""
_JSON_SETTINGS = ("appsettings.json", "appsettings.Development.json")
_JSON_ADDRESS = re.compile(r"(?i)\"\w+\"\s*:\s*\"([^\"]*\b(?:server|data source|host)\s*=[^\"]*)\"")
_PROJECT = ("-s", "--startup-project", "-p", "--project")
"""What is started has the settings, and where nothing else is named the project is."""


def _is_in_settings_of_dotnet(call: Call) -> bool:
    """Whether each address of a database in ``appsettings.Development.json``, and beside it, is such a one's."""
    named = {a.text: b.text for a, b in pairwise(call.fields) if a.text in _PROJECT}
    folder = next((named[option] for option in _PROJECT if option in named), ".")
    if any(call.world.fulfils(path, _says_database) for path in _secrets_of_dotnet(call, folder)):
        return False
    texts = [call.world.read(call.locate(f"{folder}/{name}")) or "" for name in _JSON_SETTINGS]
    found = [address for text in texts for address in _JSON_ADDRESS.findall(text)]
    names = (call.scope.lookup(name) for name in ("ASPNETCORE_ENVIRONMENT", "DOTNET_ENVIRONMENT"))
    development = all(value.known and {*value.items} <= {"Development"} for value in names if value.isset)
    said = (_value_says(call, "ConnectionStrings__X", address) for address in found)
    return development and bool(texts[1]) and bool(found) and all(said)


_USER_SECRETS = re.compile(r"<UserSecretsId>\s*([\w.-]+)\s*<")


def _secrets_of_dotnet(call: Call, folder: str) -> Iterator[str]:
    """What comes before these files in development, where a project has it (``dotnet user-secrets``)."""
    for path in call.world.glob(call.locate(f"{folder}/*.*proj")):
        for name in _USER_SECRETS.findall(call.world.read(path) or ""):
            yield f"{call.world.home}/.microsoft/usersecrets/{name}/secrets.json"


def _says_database(settings: str) -> bool:
    return "ConnectionStrings" in settings or _JSON_ADDRESS.search(settings) is not None


def _gives_thrown_away(call: Call, text: str) -> bool:
    found = [value.strip("\"'") for name, value in dotenv_databases.LINE.findall(text) if name == "DATABASE_URL"]
    return bool(found) and all(_value_says(call, "DATABASE_URL", value) for value in found)


def _said(call: Call, name: str) -> bool | None:
    """Whether a variable names a database to throw away; None where it names another, or nobody knows which."""
    value = call.scope.lookup(name)
    if not value.known:
        return False if _LOGIN.fullmatch(name) and name != "PGDATABASE" else None
    return _value_says(call, name, "".join(value.items))


def is_own_address(call: Call, address: str) -> bool:
    """Whether an address, as ``DATABASE_URL`` has it, names such a database."""
    return _value_says(call, "DATABASE_URL", address) is True


def _value_says(call: Call, name: str, text: str) -> bool | None:
    if task_words.LIVE.search(text):
        return None
    if text in _IN_MEMORY:
        return True
    if (server := _SERVER.fullmatch(text)) is not None:
        return client_servers.is_own_port(call, server["port"]) or None
    if _HOST.fullmatch(name):
        return False if text[:1] == "/" or network_addresses.is_local_address(text) else None
    if (keyed := _KEYED.findall(text)) and ";" in text:
        host, *ports = keyed[0]
        here = len(keyed) == 1 and host.strip().lower() in _HERE
        return (here and client_servers.is_own_port(call, "".join(ports))) or None
    if (file := _FILE.fullmatch(text)) is not None:
        return is_temporary(call, paths.normal(file["file"])) or None
    if _PORT.fullmatch(name):
        return (text.isdigit() and client_servers.is_own_port(call, text, addressed=False)) or None
    apart = "/" in text or "://" in text or _KEYS.match(text) or name.endswith(("SERVICE", "SERVICEFILE"))
    return None if apart else False


def _is_asked(call: Call, program: str, names: list[str]) -> bool:
    if not _is_one(call, program, names):
        return False
    documented = _DOCUMENTED.get(program, ())
    prefix = "ConnectionStrings__" if program in ("dotnet", "dotnet-ef") else "\0"
    if program == "artisan" and not _is_laravel_open(call):
        return False
    default, file = _BY_DEFAULT.get(program, ((), ""))
    if file and not call.world.glob(call.locate(file)):
        documented = default
    left = [name for name in names if name not in documented and not name.startswith(prefix)]
    if len(left) < len(names) or program in client_servers.CLIENTS:
        return len(left) < len(names)  # a client reads no settings of a project
    texts = list(settings(call, program)) if left else []
    return not any(map(_OVERRIDES.search, texts)) and any(_asks(text, name) for text in texts for name in left)


_URL = re.compile(r"(?m)^[ \t]*(?:export[ \t]+)?(?:DB|DATABASE)_URL[ \t]*=[ \t]*[^\s#]")


def _is_laravel_open(call: Call) -> bool:
    """Whether variables come before what Laravel has stored, and no address in ``.env`` before them."""
    dotenv = call.locate(".env")
    addressed = call.world.kind(dotenv) and call.world.fulfils(dotenv, lambda text: _URL.search(text) is not None)
    return not addressed and not call.world.kind(call.locate("bootstrap/cache/config.php"))


_SOURCE = ("-d", "--dataSource")
COMMENTS = re.compile(r"(?ms)/\*.*?\*/|(?:^|(?<=\s))(?:#|//)[^\n]*|\"\"\".*?\"\"\"")
_ONLY_LIVE = re.compile(r"(?s)\bconfig_env\(\) == :prod\b.*")
"""What the settings of Elixir say for production alone, and what stands behind it."""


def settings(call: Call, program: str) -> Iterator[str]:
    """The settings that may be a task's, without their comments and without those for production."""
    given = [b for a, b in pairwise(call.fields) if a.text in _SOURCE] if program.startswith("typeorm") else []
    found = dict.fromkeys(path for pattern in _SETTINGS for path in call.world.glob(call.locate(pattern)))
    named = [call.locate(item) for item in given if item.known] if given else [*found]
    for path in [one for one in named if not task_words.LIVE.search(paths.base(one))][:MOST]:
        if text := call.world.read(path):
            yield _ONLY_LIVE.sub("", COMMENTS.sub("", text))


_SECOND = re.compile(r"(?m)^\s+(?:database|url)\s*:")
_OTHER_URL = re.compile(r"(?m)^\s+url\s*:(?!.*\bDATABASE_URL\b)|\bmigrations_paths\b|\breplica\b")
_REPOS = re.compile(r"\becto_repos:\s*\[[^\]]*,")
_TAKES = re.compile(r"\benv\(\s*[\"'](\w+)|\bprocess\.env\.(\w+)")
_FIXED = re.compile(r"(?mi)\b\w*url\s*[=:]\s*[\"']")


def _is_one(call: Call, program: str, names: list[str]) -> bool:
    """Whether a framework's settings know one database alone, where they may know several."""

    def read(name: str) -> str:
        return COMMENTS.sub("", call.world.read(call.locate(name)) or "")

    if program in ("rails", "rake"):
        sections = "".join(development_databases.SECTION.findall(read("config/database.yml")))
        return len(_SECOND.findall(sections)) < 2 and not _OTHER_URL.search(sections)
    if program == "mix":
        return not _REPOS.search(read("config/config.exs"))
    if program == "prisma":
        texts = [read("prisma/schema.prisma"), *map(read, ("prisma.config.ts", "prisma.config.js"))]
        taken = {one or other for text in texts for one, other in _TAKES.findall(text)}
        other = "schema" in dotenv_databases.prisma_settings(call)
        return taken <= {*names} and not any(map(_FIXED.search, texts)) and not other
    return True


def _asks(text: str, name: str) -> bool:
    """Whether settings take a variable from the environment."""
    lines = [line for line in text.splitlines() if re.search(rf"(?i)\b{name}\b", line)]
    by_class = "BaseSettings" in text and "env_prefix" not in text
    return any(name in line and READS.search(line) for line in lines) or (by_class and bool(lines))
