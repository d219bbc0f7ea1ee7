"""Containers, volumes and ports that the engine itself says came after the session began (ADR 0050).

The engine tells of now: what the same text put in another's place before counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.engine_facts import Container, Engine
from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS, UNSEEN, Call
from sentinel_guard.core.analysis.programs.cloud import compose_files, container_engines
from sentinel_guard.core.analysis.programs.cloud.local_clusters import HANDS_ON

ANY_PORT = "port of the engine"
"""A port at which a container of the text's engine listened until it was ended."""
_PROGRAMS = ("docker", "podman")
_STAYS = frozenset(
    (
        *("bunx", "pnpx", "uv", "uvx", "poetry", "pipenv", "pdm", "hatch", "tox", "nox", "bundle", "mise", "asdf"),
        *("dotenv", "dotenv-cli", "direnv", "doppler", "op", "infisical", "chamber", "aws-vault", "nix", "nix-shell"),
        *("script", "flock", "strace", "hyperfine", "xvfb-run", "caffeinate", "devbox", "find"),
        *("python", "python3", "node", "deno", "ruby", "perl", "php"),
    )
)
"""What leaves a command on this machine, in its network, beside what hands a command on as it is."""
_MAY_CHOOSE = frozenset(("env", "cross-env", "make", "gmake", "just", "task", "go-task"))
"""What may give a command other variables, by words or a file of its own."""
_SERVER = re.compile(
    r"(?:.*[_-])?(?:postgres(?:ql)?|postgis|pgvector|timescaledb?|mysql|mariadb|percona|mongo(?:db)?|redis|valkey|keydb"
    r"|dragonfly|memcached|rabbitmq|kafka|redpanda|nats|zookeeper|etcd|consul|vault|elasticsearch|opensearch|cassandra"
    r"|scylla|neo4j|clickhouse|cockroach|influxdb|mssql|edge|oracle|minio|localstack|azurite|dynamodb|emulators?|registry"
    r"|verdaccio|mailhog|mailpit|solr|couchdb|couchbase|arangodb|surrealdb|yugabyte|tidb|questdb|wiremock|mockserver"
    r"|moto|elasticmq|activemq|artemis|pulsar|temporal|keycloak|openldap|typesense|meilisearch|qdrant|weaviate|milvus"
    r"|gcs|sftp|server|db)(?:[_-].*|\d*)"
)
LEADS = re.compile(
    r"(?i)bouncer|pool|proxy|gateway|router|tunnel|socat|\bssh\b|admin|exporter|connect|agent|client|relay|forward"
    r"|bridge|sentinel|express"
)
_BY_FOLDER = ("mssql/server", "clickhouse/clickhouse-server", "mysql/mysql-server", "scylladb/scylla")
SAYS_SERVER = re.compile(
    r"(?i)\w*(?:HOST|URL|URI|ADDR(?:ESS)?|ENDPOINTS?|SERVERS?|PEERS?|REPLICA\w*|UPSTREAM|DSN)(?:_\w+)?"
)
_OF_LOGINS = ("MYSQL_ROOT_HOST", "MARIADB_ROOT_HOST")
"""From where a login may come."""


def is_server(image: str) -> bool:
    """Whether an image is one of a database, broker or emulator, as its name says, and nothing that leads on."""
    name = image.partition("@")[0]
    path, _, base = name.rpartition("/")
    base = base.partition(":")[0]
    if LEADS.search(name):
        return False
    known = _SERVER.fullmatch(base) is not None and base not in ("server", "db", "edge")
    return known or f"{paths.base(path)}/{base}" in _BY_FOLDER


def says_server(variable: str) -> bool:
    """Whether a variable of a server's container tells it of another server."""
    return SAYS_SERVER.fullmatch(variable) is not None and variable not in _OF_LOGINS


def is_own_port(call: Call, port: str) -> bool:
    """Whether the one container that publishes a port of this machine is the session's, and a server."""
    if not call.here or not _is_through(call, HANDS_ON | _STAYS) or _is_stirred(call, port):
        return False
    engines = [engine for program in _PROGRAMS if (engine := call.world.engine(program)) is not None]
    found = [(engine, one) for engine in engines for one in engine.containers if port in one.ports]
    return len(found) == 1 and is_server(found[0][1].image) and _is_own(*found[0])


def _is_stirred(call: Call, port: str) -> bool:
    return call.world.is_stirred(f"port {port}") or call.world.is_stirred(ANY_PORT)


def is_own_container(call: Call, name: str) -> bool:
    """Whether a container came after the session began, and all that it keeps with it."""
    engine = _engine(call)
    if engine is None or call.world.is_stirred(f"container {container_engines.named(call, name)}"):
        return False
    found = [one for one in engine.containers if name in one.names]
    return len(found) == 1 and _is_own(engine, found[0])


def holds_data(call: Call, name: str) -> bool:
    """Whether a container of before the session has data that goes with it: in no volume, and made by no file."""
    engine = _engine(call, at_stake=True)
    if engine is None or call.world.is_stirred(f"container {container_engines.named(call, name)}"):
        return False
    found = [one for one in engine.containers if name in one.names]
    return len(found) == 1 and not (found[0].is_new or found[0].project) and engine.keeps(found[0].ident)


def folders(call: Call, name: str) -> Iterator[str]:
    """Where a container of the session's has folders of this machine from before, which it may write to."""
    engine = _engine(call)
    for one in engine.containers if engine is not None else ():
        if name in one.names:
            yield from (mount.inside for mount in one.mounts if not (mount.is_new or mount.shut))


def is_own_volume(call: Call, name: str) -> bool:
    engine = _engine(call)
    return engine is not None and name in engine.volumes and engine.volumes[name].is_new


def is_own_project(call: Call, name: str, declared: Collection[str], service: str = "") -> bool:
    """Whether all containers and volumes of a project came after the session began, and it has any.

    ``declared``: names of the volumes that its files speak of; ``service``: one of it is spoken to, so that its servers
    must keep nothing of before in folders, either.
    """
    engine = _engine(call)
    if engine is None:
        return False
    containers = [one for one in engine.containers if one.project == name or one.folder == call.cwd]
    volumes = [one for key, one in engine.volumes.items() if one.project == name or key in declared]
    mounted = (mount for one in containers for mount in one.mounts if not mount.is_folder)
    told = [one for one in containers if one.project == name and one.service == service]
    if (service and not told) or not (volumes or any(one.project == name for one in containers)):
        return False
    ages = (*(one.is_new for one in containers), *(one.is_new for one in volumes), *(one.is_new for one in mounted))
    if not all(ages):
        return False
    spoken = [one for one in containers if one in told or is_server(one.image)] if service else []
    return all(_is_own(engine, one) for one in spoken)


def _engine(call: Call, *, at_stake: bool = False) -> Engine | None:
    """The engine that a command works at, where it is the person's own choice and not the text's."""
    program = call.command.program.partition("-")[0]
    chosen = call.head.values("-c", "--context", "-H", "--host")
    if (
        chosen
        or any(_set(call))
        or call.scope.is_on(UNSEEN)
        or program not in _PROGRAMS
        or not _is_through(call, HANDS_ON - _MAY_CHOOSE)
        or not container_engines.is_here(call)
    ):
        return None
    if call.world.is_stirred("service ") or _is_wrapped(call, program):
        return None
    return call.world.engine(program, at_stake=at_stake)


def _set(call: Call) -> Iterator[str]:
    return (name for name in container_engines.ENGINES if name in call.scope.variables)


def _is_wrapped(call: Call, program: str) -> bool:
    """Whether docker is podman by another name: https://packages.debian.org/podman-docker."""
    found = call.world.peek(call.world.which(program)) if program == "docker" else None
    return found is not None and "podman" in found.text


def _is_through(call: Call, known: Collection[str]) -> bool:
    """Whether only such programs, shells and scripts start a command: others may do it as another person, with an
    engine of their own, or in another network.
    """
    through = {via.partition(" ")[0] for via in call.command.via}
    return all(name in known or name in SHELLS or "/" in name for name in through)


def _is_own(engine: Engine, one: Container) -> bool:
    """Whether a container is the session's with all that it keeps, and is told of no other server."""
    old = (mount for mount in one.mounts if not (mount.is_new or mount.shut))
    if not one.is_new or not all(mount.is_folder and compose_files.SETTINGS.match(mount.inside) for mount in old):
        return False
    told = engine.told(one.ident)
    if told is None or told.network == "host" or told.network.startswith(("container:", "ns:")):
        return False
    if any(map(LEADS.search, told.words)) or any(paths.base(word) in SHELLS for word in told.words[:1]):
        return False
    return not any(map(says_server, told.variables))
