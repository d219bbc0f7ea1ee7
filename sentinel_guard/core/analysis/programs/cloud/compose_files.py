"""Compose files of a project: which services they hold, and what of a service outlives its containers.

No YAML is parsed: a service is the lines that stand deeper than its name. What is not understood counts as kept.
Source: the Compose specification, https://docs.docker.com/reference/compose-file/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from sentinel_guard.core.analysis import paths, places, task_words
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, Parsed
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.secret_names import names_secret
from sentinel_guard.core.model import Command, Effect, Kind

NAMES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
"""In the order in which Compose looks for them."""
_BESIDE = tuple(name.replace(".y", ".override.y") for name in NAMES)
"""What is read along with the first where no file is named."""
_SERVICES = re.compile(r"(?m)^services:[ \t]*(?:#.*)?\n((?:[ \t]+.*\n?|[ \t]*(?:#.*)?\n)*)")
_VOLUMES = re.compile(r"(?m)^(?:['\"]?(?:volumes|include)|\s+['\"]?extends)['\"]?\s*:")
ELSEWHERE = re.compile(r"(?m)^['\"]?include['\"]?\s*:")
_TAKEN_OVER = re.compile(r"(?m)^\s*(?:extends|<<)\s*:|\bvolumes_from\b|\*\w")
_LONG = re.compile(r"\b(?:source|target|type)[\"']?\s*:")
"""A mount in the long form."""
_MOUNT = re.compile(r"([\w.~${}/-]+):(/(?!/)[\w./-]+)(?::([\w,]+))?")
SETTINGS = re.compile(r"/docker-entrypoint-initdb|/etc/|.*\.(?:conf|cnf|ini|sql|sh)$")
"""Where a mount holds what a server is set up with, and none of its data."""

_SERVER = re.compile(
    r"(?m)\bDATABASE_URL['\"]?\s*[:=]\s*['\"]?[\w+]+://(?:[^@\s/,?]*@)?(?P<host>[\w-]+)(?::\d+)?/[\w-]+['\"]?"
    r"[ \t]*(?=[,}\]]|$)"
)
"""The database of a service, as its environment names it."""
_UNTOLD = re.compile(r"\$|\benv_file\b|\b\w*(?:HOST|DATABASE)\w*['\"]?\s*[:=]")
"""What else may name one."""
_CLIENTS = frozenset(
    (
        *("psql", "dropdb", "dropuser", "pg_restore", "mysql", "mariadb", "mysqladmin", "mariadb-admin", "mongosh"),
        *("mongo", "redis-cli", "valkey-cli", "sqlcmd", "clickhouse-client", "cqlsh", "influx", "cypher-shell"),
    )
)
"""Clients that speak to the server of their own machine where no word names another."""
_BROKERS = frozenset(
    (
        *("rabbitmqctl", "rabbitmqadmin", "rpk", "nats", "etcdctl", "kafka-topics", "kafka-topics.sh"),
        *("kafka-consumer-groups", "kafka-consumer-groups.sh", "kafka-delete-records", "kafka-delete-records.sh"),
        *("kafka-configs", "kafka-configs.sh", "pulsar-admin", "vault", "bao", "consul", "awslocal", "temporal"),
        *("tctl", "artemis", "zkCli.sh", "solr", "memcflush"),
    )
)
"""Tools of brokers, queues and stores that speak to the server beside them."""
_HOST_OPTIONS = (
    *("-h", "-H", "-S", "-a", "--host", "--server", "--hostname", "--address", "--uri", "--port", "-P", "-address"),
    *("--bootstrap-server", "--brokers", "--broker", "--broker-list", "--zookeeper", "--endpoints", "--endpoint"),
    *("--endpoint-url", "--admin-url", "--url", "--node", "-http-addr", "--context", "--profile"),
)
_CODE_OPTIONS = ("-c", "--command", "-e", "--eval", "--execute", "-q", "--query", "-Q")
_TASKS = frozenset(("rails", "rake", "mix"))
_LOCAL = ("localhost", "127.0.0.1")
_AT_PORT = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::\d+)?(?:/\S*)?")
_ELSEWHERE_AT = re.compile(
    r"://(?!(?:[^@/\s]*@)?(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$))|[\w-]\.[a-z]{2,}:\d+|@[\w-]+\.\w"
    r"|(?:^|[=,])(?!localhost:|[\d.]+:)[a-z][\w.-]*:\d{2,5}(?:$|[,/])"
)
_ADDRESSED = frozenset(("mongosh", "mongo", "cqlsh", "cypher-shell"))
"""Clients to which an operand is an address."""


def _is_beside(command: Command) -> bool:
    """Whether a client speaks to the server of the machine, or container, that it runs in."""
    if command.program in _BROKERS:
        return _names_no_other(command.argv)
    if command.program not in _CLIENTS:
        return False
    if any(map(places.CONNECTS.search, command.argv)) or "--cluster" in command.argv:
        return False
    for before, word in pairwise(command.argv):
        name, sign, value = word.partition("=")
        if before in _CODE_OPTIONS:
            continue
        if before in _HOST_OPTIONS or (name in _HOST_OPTIONS and sign):
            told = word if before in _HOST_OPTIONS else value
            if told not in _LOCAL:
                return False
        elif "://" in word or re.search(r"\b(?:host|hostaddr|service)=", word):
            return False
        elif re.match(r"-[hHS].", word) or re.match(r"-[A-Za-z]+[hHS]", word):
            if word[2:] not in _LOCAL:
                return False
        elif _is_address(command.program, before, word) and word not in _LOCAL:
            return False
    return True


def _is_address(program: str, before: str, word: str) -> bool:
    """Whether an operand may be one; the first of cqlsh's is a host by whatever name."""
    if program not in _ADDRESSED or word[:1] == "-":
        return False
    return re.search(r"[.:/]", word) is not None or (program == "cqlsh" and before[:1] != "-")


def is_lost_beside(effect: Effect) -> bool:
    """Whether what a client, or a broker's tool, loses lies at the server of the machine or container it runs in."""
    told = effect.kind in (Kind.DATABASE, Kind.DEPLOY) and effect.command is not None
    return told and effect.command is not None and _is_beside(effect.command)


def _names_no_other(argv: Sequence[str]) -> bool:
    """Whether no word of a broker's tool names the server of another machine."""
    for before, word in pairwise(argv):
        name, sign, value = word.partition("=")
        told = word if _names_server(before) else value if _names_server(name) and sign else ""
        if before in ("-n", "--node") and "@" in word:
            told = word.rpartition("@")[2]
        if (told and not _AT_PORT.fullmatch(told.partition("://")[2] or told)) or _ELSEWHERE_AT.search(word):
            return False
    return not any(UNKNOWN in word for word in argv)


_SERVER_OPTION = re.compile(r"--?[\w-]*(?:host|server|broker|address|endpoint|url)[\w-]*")


def _names_server(option: str) -> bool:
    return option in _HOST_OPTIONS or _SERVER_OPTION.fullmatch(option) is not None


_CHOOSES = re.compile(r"(?m)^\s*(?:export\s+)?COMPOSE_FILE\s*=")
_NAMES_PROJECT = re.compile(r"(?m)^\s*(?:export\s+)?COMPOSE_PROJECT_NAME\s*=")


def chooses(text: str) -> bool:
    """Whether variables choose other files than Compose takes by itself."""
    return _CHOOSES.search(text) is not None


def texts(call: Call, parsed: Parsed) -> list[str] | None:
    """The files that make up the project; None where one of them cannot be read, or nobody knows which they are."""
    given = parsed.values("-f", "--file")
    if parsed.values("--project-directory") or (not given and call.scope.lookup("COMPOSE_FILE").isset):
        return None
    if not given and any(_says(call, item, _CHOOSES) for item in (Field(".env"), *parsed.values("--env-file"))):
        return None
    if given:
        found = [call.world.read(call.locate(item)) if item.known else None for item in given]
        return [text for text in found if text is not None] if None not in found else None
    read = [text for name in NAMES if (text := call.world.read(call.locate(Field(name)))) is not None]
    beside = [text for name in _BESIDE if (text := call.world.read(call.locate(Field(name)))) is not None]
    return [*read[:1], *beside] or None


def _says(call: Call, item: Field, what: re.Pattern[str]) -> bool:
    """Whether a file of variables says so, or nobody knows which one it is."""
    return not item.known or call.world.fulfils(call.locate(item), lambda text: what.search(text) is not None)


def names_volumes(call: Call, parsed: Parsed) -> bool:
    """Whether a project has volumes that outlive its containers; one whose files cannot be read may have some."""
    found = texts(call, parsed)
    return found is None or any(map(_VOLUMES.search, found))


_NAMES_ENGINE = re.compile(r"(?m)^\s*(?:export\s+)?(?:DOCKER_\w+|COMPOSE_ENV_FILES)\s*=")
_TOP_NAME = re.compile(r"(?m)^['\"]?name['\"]?\s*:[ \t]*(.*?)[ \t]*(?:#.*)?$")
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


def project_name(call: Call, parsed: Parsed) -> str:
    """As Compose names a project; empty where it may be another.

    https://docs.docker.com/compose/how-tos/project-name/
    """
    item = parsed.value("-p", "--project-name")
    held = call.scope.lookup("COMPOSE_PROJECT_NAME")
    found = texts(call, parsed)
    apart = call.scope.lookup("COMPOSE_ENV_FILES").isset
    if apart or any(_says(call, one, _NAMES_ENGINE) for one in (*_variables(parsed), Field(".env"))):
        return ""
    if item is not None or held.isset:
        name = (item.text if item.known else "") if item is not None else "".join(held.items) if held.known else ""
    elif any(_says(call, one, _NAMES_PROJECT) for one in _variables(parsed)):
        return ""
    elif named := [value.strip("'\"") for text in found or () for value in _TOP_NAME.findall(text)]:
        name = named[-1]
    else:
        given = parsed.values("-f", "--file")
        folder = paths.parent(call.locate(given[0])) if given else call.cwd
        name = normalised(paths.base(folder))
    return name if found is not None and _PLAIN_NAME.fullmatch(name) else ""


def _variables(parsed: Parsed) -> list[Field]:
    return [*parsed.values("--env-file")] or [Field(".env")]


def normalised(name: str) -> str:
    """What Compose makes of a folder's name."""
    return re.sub(r"[^a-z0-9_-]", "", name.lower()).lstrip("_-")


_FROM_OTHERS = re.compile(r"(?m)^\s*(?:include|extends|secrets|configs)\s*:")
"""What comes from files whose form is another matter."""
_SUBSTITUTES = re.compile(r"\$(?:\$|\{(\w+)|(\w+))")
_VARIABLES = re.compile(
    r"(?m)^([ \t]*)['\"]?(?:environment|args)['\"]?:[ \t]*(?:#.*)?\n((?:\1(?:[ \t]+|-[ \t]).*\n?|[ \t]*(?:#.*)?\n)*)"
)
_IN_LINE = re.compile(
    r"\b(?:environment|args)['\"]?\s*:[ \t]*[^\s#]|(?m:^\s*(?:-\s*)?['\"]?[A-Z][A-Z0-9_]*['\"]?:?\s*$)"
)
"""Variables of a service in a form that is not read: a mapping in one line, a name alone."""
_LITERAL_VALUE = re.compile(
    r"\s*(?:#.*)?|\s*-\s+['\"]?[\w.-]+=.*"
    r"|\s*['\"]?[\w.-]+['\"]?:[ \t]+(?!(?:null|Null|NULL|~)?[ \t]*(?:#.*)?$)[^*&!|>#].*"
)
"""An entry that says its value itself, or no entry."""
_ENV_FILES = re.compile(r"\benv_file['\"]?\s*:[ \t]*(.*(?:\n[ \t]*-[ \t].*|\n[ \t]+(?:required|format|path):.*)*)")
_ENV_FILE = re.compile(r"(?<![\w./-])(?!(?:path|required|format|true|false|raw)\b)[\w./-]+")


def shown_files(call: Call, parsed: Parsed) -> list[str] | None:
    """The files whose values ``config`` prints beside the compose files' own; None where it may print those of others,
    or of the environment.
    """
    found = texts(call, parsed)
    if found is None or any(_FROM_OTHERS.search(text) or _in_line(text) or not _says_values(text) for text in found):
        return None
    names = {one or other for text in found for one, other in _SUBSTITUTES.findall(text)} - {""}
    if any(call.scope.lookup(name).isset and names_secret(name) for name in names):
        return None
    files = [name for text in found for block in _ENV_FILES.findall(text) for name in _ENV_FILE.findall(block)]
    given = parsed.values("--env-file")
    if not all(item.known for item in given):
        return None
    files += [item.text for item in given] or ([".env"] if names else [])
    return [path for name in dict.fromkeys(files) if call.world.kind(path := call.locate(Field(name)))]


_IN_BRACES = re.compile(
    r"\{[ \t]*(?:['\"]?[\w.-]+['\"]?:[ \t]*(?:\"[^\"*&]*\"|'[^'*&]*'|[^\s,{}\[\]\"'*&!|>][^,{}\[\]]*)[ \t]*,?[ \t]*)+\}"
)


def _in_line(text: str) -> bool:
    return _IN_LINE.search(_IN_BRACES.sub("", text)) is not None


def _says_values(text: str) -> bool:
    """Whether each variable of a service has its value beside it."""
    lines = (line for _, block in _VARIABLES.findall(text) for line in block.splitlines())
    return all(map(_LITERAL_VALUE.fullmatch, lines))


_ALL_RIGHTS = re.compile(r"(?m)^\s*(?:-\s*)?['\"]?privileged['\"]?\s*:\s*['\"]?true\b")
_NAMESPACES = re.compile(r"(?m)^\s*['\"]?(?:pid|userns_mode|cgroup)['\"]?\s*:\s*['\"]?host\b")
_HOST_VOLUME = re.compile(
    r"(?m)(?:^\s*-\s*|\[\s*|,\s*)['\"]?(/(?:home|etc|root|boot|proc|sys|dev|usr|var|run|lib|bin)?/?):/"
)
_STARTS = frozenset(("up", "run", "create", "start", "restart", "watch"))


def reached(call: Call, parsed: Parsed, verb: str) -> Iterator[Effect]:
    """What of the machine the services of a compose file reach that this very text wrote: nobody has seen it."""
    if verb not in _STARTS or not call.world.made():
        return
    held = [text for text in texts(call, parsed) or () if call.world.wrote_text(text)]
    for text in held:
        if _ALL_RIGHTS.search(text):
            yield call.effect(Kind.PRIVILEGE, "container --privileged")
        if _NAMESPACES.search(text):
            yield call.effect(Kind.PRIVILEGE, "container host namespace")
        if _HOST_VOLUME.search(text):
            yield call.effect(Kind.PRIVILEGE, "container host mount")


class Project(NamedTuple):
    """What is known of a project's services."""

    services: Mapping[str, str]
    """Name -> its lines."""
    kept: frozenset[str]
    """Those whose data outlives ``compose down``, in a volume or in a folder of this machine."""

    def spares(self, effect: Effect, service: str) -> bool:
        """Whether a loss in a database takes no more than ``compose down`` does: a client in a service speaks to the
        server beside it, a framework's task to the services that its environment names.
        """
        if is_lost_beside(effect):
            return service in self.services and service not in self.kept and not self._is_led_away(service)
        if effect.kind is not Kind.DATABASE or effect.command is None:
            return False
        task, lines = effect.command, self.services.get(service, "")
        if task.program not in _TASKS or not task_words.are_plain(task.program, task.argv[1:]):
            return False
        named = {match["host"] for match in _SERVER.finditer(lines)}
        told = bool(named) and not _UNTOLD.search(_SERVER.sub("", lines))
        return told and named <= self.services.keys() - self.kept

    def _is_led_away(self, service: str) -> bool:
        """Whether variables of a service tell its clients of a server beyond the services that keep nothing."""
        near = {*_HERE, *(self.services.keys() - self.kept)}
        return any(host not in near for host in _TOLD.findall(self.services[service]))


_TOLD = re.compile(
    r"(?m)(?<!\w)(?!MYSQL_ROOT_HOST|MARIADB_ROOT_HOST)(?:PGHOST(?:ADDR)?|PGSERVICE|[A-Z_]*(?:_HOST|_ENDPOINTS?|_ADDR|_URL|_URI))"
    r"['\"]?[ \t]*[:=][ \t]*['\"]?(?:[\w+]+://)?(?:[^@\s/]*@)?([^\s:/'\",]*)"
)
"""Variables of a service by which a client in it speaks to another server."""
_HERE = ("", "localhost", "127.0.0.1", "0.0.0.0")  # noqa: S104 - what a file says


def project(call: Call, parsed: Parsed, *, own: bool = False, begins: bool = False) -> Project | None:
    """The project of a call; None where its files do not say what it keeps. ``own``: its volumes are the session's;
    ``begins``: its services are made as these files say.
    """
    another = parsed.values("-p", "--project-name") or call.scope.lookup("COMPOSE_PROJECT_NAME").isset
    another = another or any(_says(call, item, _NAMES_PROJECT) for item in parsed.values("--env-file"))
    if not own and (another or (not begins and _is_written_now(call, parsed))):
        return None
    found = texts(call, parsed)
    if found is None or any(map(ELSEWHERE.search, found)):
        return None
    services = joined(found)
    kept = {name for name, lines in services.items() if keeps(lines, own=own)}
    if parsed.values("-f", "--file") and not (
        own or begins
    ):  # what runs under the folder's name may be of its usual files
        usual = joined(texts(call, Parsed()) or ())
        kept |= {name for name in services if name in usual and keeps(usual[name])}
    return Project(services, frozenset(kept))


def _is_written_now(call: Call, parsed: Parsed) -> bool:
    """Whether this very text wrote a file of the project: what runs under that name is as another one said."""
    given = parsed.values("-f", "--file") or [Field(name) for name in (*NAMES, *_BESIDE)]
    made = call.world.made()
    return bool(made) and any(call.locate(item) in made for item in given)


_COMMENTS = re.compile(r"(?m)(?:^|(?<=\s))#.*$")


def without_comments(text: str) -> str:
    return _COMMENTS.sub("", text)


def joined(found: Sequence[str]) -> dict[str, str]:
    """Each service's lines, of all files."""
    services: dict[str, str] = {}
    for name, lines in (pair for text in found for pair in _services(text)):
        services[name] = services.get(name, "") + lines
    return services


def _services(text: str) -> Iterator[tuple[str, str]]:
    """Each service's name and lines."""
    services = _SERVICES.search(text)
    first = services and re.match(r"(?:[ \t]*(?:#.*)?\n)*([ \t]+)", services[1])
    if services and first:
        parts = re.split(rf"(?m)^{first[1]}(?=[\w'\"])['\"]?([\w.-]+)['\"]?:", services[1])
        yield from zip(parts[1::2], parts[2::2], strict=True)


_VOLUME = re.compile(r"[\w-][\w.-]*")
_SPACED = re.compile(r"(?m)(?:^\s*-\s*['\"]?|[\[,]\s*['\"])[\w.~${}/-]+ [\w.~${}/ -]+:/(?!/)")
"""A folder with a blank in its name."""


def keeps(block: str, *, own: bool = False) -> bool:
    """Whether data of a service outlives the project; volumes of one that is the session's ``own`` are, too."""
    if _TAKEN_OVER.search(block) or _SPACED.search(block):
        return True
    if not re.search(r"\bvolumes\b", block):
        return False
    mounts = [(inside, mode) for name, inside, mode in _MOUNT.findall(block) if not (own and _VOLUME.fullmatch(name))]
    kept = (inside for inside, mode in mounts if "ro" not in mode.split(",") and not SETTINGS.match(inside))
    return not _MOUNT.search(block) or bool(_LONG.search(block)) or any(kept)
