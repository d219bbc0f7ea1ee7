"""docker, podman: what a container may reach on the host, and what its command does to mounted folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, Parsed, options, parse
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import (
    compose_files,
    container_engines,
    engine_witness,
    local_registries,
    mounted_keys,
    own_containers,
    own_volumes,
)
from sentinel_guard.core.analysis.programs.cloud.remote_consoles import changes_models, is_console, is_production
from sentinel_guard.core.analysis.secret_names import STORE
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_SYSTEM = ("/etc", "/root", "/boot", "/proc", "/sys", "/dev", "/usr", "/var", "/var/run", "/run", "/lib", "/bin")
_HOST = frozenset(("/", "/home", *_SYSTEM))
_ON_PATHS = (Kind.WRITE, Kind.DELETE, Kind.READ, Kind.GIT_REWRITE, Kind.PRIVILEGE, Kind.SIGNAL)
_KEPT = (
    *("/var/lib", "/data", "/srv", "/home", "/mnt", "/media", "/etc", "/root", "/opt", "/var/www", "/bitnami"),
    *("/config", "/storage", "/uploads", "/backup", "/backups", "/letsencrypt", "/app/data", "/app/storage"),
)
"""Where a container that lives on keeps what is not made anew with it; all of ``/`` holds these."""
_DATA = (
    *("/var/lib/", "/data/", "/mnt/", "/media/", "/uploads/", "/backup/", "/backups/", "/storage/", "/bitnami/"),
    *("/app/data/", "/app/storage/"),
)
"""Where each single file counts."""
_REMADE = ("/var/lib/apt/", "/var/lib/dpkg/lock", "/data/local/tmp/")
_SETS = re.compile(r"(?<!\w)[A-Z][A-Z0-9_]*=\S")
"""A variable that the command in a container is given."""
_ENVIRONMENT_READERS = ("env", "printenv", "set", "export")
_SOCKETS = ("/docker.sock", "/podman.sock", "/containerd.sock", "/crio.sock")
_POWERS = ("ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "DAC_READ_SEARCH", "SYS_BOOT")


_DOCKER = subcommand_tables.table(
    destroy="rm -v|--volumes, volume rm|remove|prune, stack rm|down|remove, swarm leave -f|--force, machine rm|reset, "
    "system prune --volumes, image prune -a|--all, system reset, service|node|secret|config rm|remove, pod rm -f|"
    "--force",
    change="stack deploy|up, service create|update|scale|rollback, node update|demote|promote, swarm init|join|update",
    publish="push, image|manifest|plugin|artifact push, buildx imagetools create, trust sign, "
    "build --push !--push=false, "
    "buildx|builder build|b|bake --push !--push=false, buildx|builder build|b|bake --output|-o=*push=true*, "
    "buildx build|b --output|-o=*type=registry*",
)
"""What docker and podman do beyond containers, which come and go."""
_AT_WORK = frozenset(("run", "create", "rm", "rmi", "stop", "kill", "restart", "start", "update", "exec", "up", "down"))
"""What changes the containers of an engine."""


def docker(call: Call) -> Effects:
    verb, operands = call.command.subcommand, call.operands
    own_containers.begin(call)
    own = verb == "rm" and bool(operands) and all(own_containers.is_own(call, item) for item in operands)
    if verb == "volume" and len(operands) > 1:
        if operands[0].text == "create":
            own_volumes.note_created(call)
        removes = operands[0].text in ("rm", "remove")
        own = removes and all(own_volumes.is_own(call, item) for item in operands[1:])
    if not own:
        found = subcommand_tables.effects(call, _DOCKER, _target(verb))
        yield from (e for e in found if e.kind is not Kind.PUBLISH or not local_registries.is_meant(call))
    action = verb
    if verb == "compose":
        action = _compose_fields(call)[1]
        yield from compose(call)
    elif verb in ("container", "image") and operands and operands[0].text in _AT_WORK:
        yield from call.runner.run(_without(call.fields, verb), call, f"docker {verb}")
    elif verb in ("run", "create"):
        yield from _run(call)
    elif verb == "unshare":
        yield from call.runner.run(call.fields[2:], call, "podman")
    elif verb == "exec":
        yield from _exec(call)
    elif verb == "cp":
        yield from _copy(call)
    elif (
        verb in ("rm", "rmi")
        and call.has("-f", "--force")
        and any(_is_every(item) and not own_containers.is_own(call, item) for item in operands)
    ):
        yield call.effect(Kind.DEPLOY, "every container" if verb == "rm" else "every image", "delete", sure=False)
    if verb == "rm" and not own and any(engine_witness.holds_data(call, item.text) for item in operands):
        yield call.effect(Kind.DEPLOY, "docker containers", "delete")
    yield from _argued(call)
    own_containers.unmake(call, verb, operands)
    if action in _AT_WORK and (host := container_engines.other_host(call)):
        yield call.effect(Kind.DEPLOY, f"docker {host}")


def _exec(call: Call) -> Iterator[Effect]:
    if call.has("--privileged"):
        yield call.effect(Kind.PRIVILEGE, "container --privileged", sure=False)
    container, *command = call.operands or [Field("")]
    sets = call.has("-e", "--env", "--env-file") or any(_SETS.search(item.text) for item in command)
    own = not sets and own_containers.is_own(call, container)
    where = "docker" if sets else own_containers.place(call, container)
    kept = (*engine_witness.folders(call, container.text),) if own else _KEPT
    for effect in _inside(call, command, {}, kept, where):
        if not (own and compose_files.is_lost_beside(effect)):
            yield effect


_CHOSEN = re.compile(r"--filter|\s-\w*[fln]\b|--latest|--last|\bgrep\b|\bhead\b|\bcompose\b|\brun\b|\bcreate\b")


def _is_every(item: Field) -> bool:
    """Whether an unknown operand may stand for all there are: ``$(docker ps -aq)``, and not what a filter chose."""
    if item.known or (item.source.startswith('"') and "$(" not in item.source):
        return False
    substituted = "$(" in item.source or "`" in item.source
    if not substituted and re.match(r"[\w.-]", item.source):
        return False  # a name that begins in plain words
    return not substituted or _CHOSEN.search(item.source) is None


def _argued(call: Call) -> Iterator[Effect]:
    """What is substituted into an argument of a build stays in the image for whoever has it."""
    given = [item for before, item in pairwise(call.fields) if before.text == "--build-arg"]
    for item in (*given, *(item for item in call.fields if item.text.startswith("--build-arg="))):
        if "$(" in item.source or "`" in item.source:
            found = call.runner.script(f"echo {item.source}", call, "docker")
            yield from (effect for effect in found if effect.kind is Kind.READ)


def _without(fields: Sequence[Field], word: str) -> list[Field]:
    """``docker container rm x`` is ``docker rm x``."""
    at = next(n for n, item in enumerate(fields) if item.text == word)
    return [*fields[:at], *fields[at + 1 :]]


def _target(verb: str) -> str:
    return {"volume": "docker volumes", "rm": "docker volumes", "push": "docker"}.get(verb, f"docker {verb}")


def _compose_fields(call: Call) -> tuple[Parsed, str, list[Field]]:
    """What stands before the verb of compose, the verb, and what stands behind it."""
    fields = list(call.fields[1:])
    if call.command.program not in _COMPOSES:
        fields = fields[next(n for n, item in enumerate(fields) if item.text == "compose") + 1 :]
    parsed = parse(fields, _COMPOSE)
    verb, *rest = parsed.operands or [Field("")]
    return parsed, verb.text, rest


def compose(call: Call) -> Effects:
    """``docker-compose``, and ``docker compose`` behind its first word."""
    parsed, verb, fields = _compose_fields(call)
    if any(item.text == "--dry-run" for item in call.fields):
        return
    yield from compose_files.reached(call, parsed, verb)
    own_containers.note_project(call, parsed, verb)
    if verb in ("exec", "run"):
        run = parse(fields, _COMPOSE_RUN)
        mounts = dict(_mounts(call, run))
        yield from _reached(call, mounts)
        service = run.operands[0].text if run.operands else ""
        sets = run.values("-e", "--env", "--env-from-file") or any(_SETS.search(item.text) for item in run.operands)
        away = sets or not container_engines.is_here(call) or is_production(call)
        project = None if away else own_containers.project(call, parsed, service=service)
        spared = project is not None and service in project.services and "volumes" not in project.services[service]
        kept = (*_volumes(call, run), *(() if spared else _KEPT))
        where = "docker" if away or verb == "run" else own_containers.place_of_service(call, parsed, run)
        found = _inside(call, run.operands[1:], mounts, kept, where)
        yield from (effect for effect in found if project is None or not project.spares(effect, service))
    elif verb in ("down", "rm") and {"-v", "--volumes"} & parse(fields, _COMPOSE_DOWN).flags.keys():
        if compose_files.names_volumes(call, parsed) and not own_containers.is_own_project(call, parsed):
            yield call.effect(Kind.DEPLOY, "docker volumes", "delete")
    elif verb in ("push", "publish"):
        yield call.effect(Kind.PUBLISH, "docker")


def _run(call: Call) -> Effects:
    mounts = dict(_mounts(call, call.parsed))
    sources = [mount.source for mount in own_volumes.mounted(call.parsed)]
    own_containers.note_run(call, sources)
    yield from _powers(call)
    yield from _reached(call, mounts)
    if mounted_keys.are_for_strangers(call.world.home, mounts.values(), call.operands[0].text if call.operands else ""):
        yield call.effect(Kind.PRIVILEGE, mounted_keys.TARGET)
    entry = call.parsed.value("--entrypoint")
    command = [*([entry] if entry and entry.text else []), *call.operands[1:]]
    kept = (*_volumes(call, call.parsed), *(_KEPT if call.has("--volumes-from") else ()))
    for effect in _inside(call, command, mounts, kept, "docker"):
        if not (effect.kind is Kind.OPAQUE and "code" in effect.how and mounted_keys.keep_code_in(call, mounts)):
            yield effect
    if command and command[0].text in _ENVIRONMENT_READERS:
        for item in call.parsed.values("--env-file"):
            yield call.effect(Kind.READ, call.locate(item), "shown", sure=item.known)
    for source in sources:
        own_volumes.note(call, source)


def _reached(call: Call, mounts: dict[str, str]) -> Iterator[Effect]:
    """What of the host lies open in the container."""
    for host in mounts.values():
        if host.endswith(_SOCKETS):
            yield call.effect(Kind.PRIVILEGE, "docker.sock")
        elif host in _HOST or host.rstrip("/") == call.world.home:
            yield call.effect(Kind.PRIVILEGE, "container host mount")


def _powers(call: Call) -> Iterator[Effect]:
    parsed = call.parsed
    if call.has("--privileged"):
        yield call.effect(Kind.PRIVILEGE, "container --privileged")
    if any(v.text in ("host", "") for v in parsed.values("--pid", "--userns", "--uts", "--cgroupns")):
        yield call.effect(Kind.PRIVILEGE, "container host namespace")
    if any(v.text.upper().removeprefix("CAP_") in _POWERS for v in parsed.values("--cap-add")):
        yield call.effect(Kind.PRIVILEGE, "capabilities")
    for item in parsed.values("--device"):
        if paths.is_device(item.text.partition(":")[0]):
            yield from call.write(Field(item.text.partition(":")[0], item.known))


def _mounts(call: Call, parsed: Parsed) -> Iterator[tuple[str, str]]:
    """Pairs of (folder inside, folder of the host); what is mounted to be read only bears a mark in front."""
    for item in parsed.values("-v", "--volume"):
        host, colon, rest = item.text.removeprefix("=").partition(":")
        if colon and host[:1] in "/.~" and item.known:
            inside, _, mode = rest.partition(":")
            yield mounted_keys.SHUT * ("ro" in mode.split(",")) + paths.normal(inside), call.locate(host)
    for item in parsed.values("--mount"):
        keys = dict(pair.partition("=")[::2] for pair in item.text.split(","))
        host = keys.get("source") or keys.get("src") or ""
        inside = keys.get("target") or keys.get("destination") or keys.get("dst") or ""
        if host.startswith("/") and inside:
            shut = bool(keys.keys() & {"readonly", "ro"}) and "false" not in (keys.get("readonly"), keys.get("ro"))
            yield mounted_keys.SHUT * shut + paths.normal(inside), call.locate(host)


def _volumes(call: Call, parsed: Parsed) -> Iterator[str]:
    """Folders inside that are volumes, and not of the session's making."""
    for source, inside, is_volume in own_volumes.mounted(parsed):
        if is_volume and inside and not call.world.is_own(f"volume {source}"):
            yield paths.normal(inside)


def _inside(
    call: Call, command: Sequence[Field], mounts: dict[str, str], kept: tuple[str, ...], via: str
) -> Iterator[Effect]:
    """The effects of a container's command, as far as they leave it, or take what a volume keeps (``kept``)."""
    if not command:
        return
    folder = call.parsed.value("-w", "--workdir")
    cwd = folder.text if folder and folder.text.startswith("/") else "/"
    host = _on_host(cwd, mounts)
    given = call.command.subcommand != "run" or call.has("-e", "--env", "--env-file")
    for effect in call.runner.run(command, call, via, cwd=host or cwd):
        mine = host and f"{effect.target}/".startswith(f"{host}/")
        if mine or effect.kind not in _ON_PATHS:
            yield effect
        elif effect.target.startswith(STORE):
            yield from (effect,) if given else ()
        elif effect.kind in _ON_PATHS[:3]:
            yield from _mapped(effect, mounts)
            if _is_loss(effect) and any(_holds(effect.target, place) for place in kept):
                yield call.effect(Kind.DEPLOY, "docker volumes", "delete", sure=False)


def _on_host(path: str, mounts: dict[str, str]) -> str:
    """The folder of this machine that lies there and may be written to; empty for none."""
    found = [(place, host) for place, host in mounts.items() if f"{path}/".startswith(f"{place.rstrip('/')}/")]
    place, host = max(found, default=("", ""), key=lambda pair: len(pair[0]))
    return paths.normal(host + path[len(place.rstrip("/")) :]) if host else ""


def _holds(target: str, place: str) -> bool:
    """Whether one of the two folders lies in the other, or is it."""
    one, other = f"{target.rstrip('/')}/", f"{place}/"
    return one.startswith(other) or other.startswith(one)


def _mapped(effect: Effect, mounts: dict[str, str]) -> Iterator[Effect]:
    path = effect.target
    for place, host in mounts.items():
        inside = place.removeprefix(mounted_keys.SHUT)
        if place != inside and effect.kind is not Kind.READ:
            continue
        if path == inside or path.startswith(inside.rstrip("/") + "/"):
            yield replace(effect, target=paths.normal(host + path[len(inside.rstrip("/")) :]))
        elif "recursive" in effect.how and inside.startswith(path.rstrip("/") + "/"):
            yield replace(effect, target=host, how=effect.how | {"contents"})


def _copy(call: Call) -> Effects:
    for item, act in zip(call.operands[:2], (call.read, call.write), strict=False):
        if ":" not in item.text.partition("/")[0]:
            yield from act(item)


def away(call: Call, body: str | Sequence[Field], *, known: bool = True, target: str = "") -> Iterator[Effect]:
    """A command or text on another machine: what it does to paths is not ours, but its loss is somebody's.

    What is typed into a console there, nobody has seen.
    """
    if (is_console(body) or changes_models(body)) and is_production(call):
        yield call.effect(Kind.DEPLOY, target or call.command.program)
    if isinstance(body, str):
        effects = call.runner.script(body if known else body or UNKNOWN, call, call.command.program, cwd="/")
    else:
        effects = call.runner.run(body, call, call.command.program, cwd="/")
    for effect in effects:
        if effect.kind not in _ON_PATHS or effect.target.startswith(STORE):
            yield effect
        elif _is_loss(effect):
            yield call.effect(Kind.DEPLOY, target or call.command.program, "delete", sure=effect.sure)


def _is_loss(effect: Effect) -> bool:
    if effect.kind is Kind.DELETE:
        remade = effect.target.startswith(_REMADE) or effect.target.endswith((".pid", ".lock"))
        kept = effect.target.startswith(_DATA) and not remade
        return (kept or "recursive" in effect.how) and not effect.target.startswith(paths.TEMPORARY)
    if effect.kind is Kind.WRITE:
        return bool(effect.how & {"raw", "mkfs"})
    return effect.kind is Kind.PRIVILEGE and effect.target == "power"


_RUN = (
    "-v= --volume= --mount= -e= --env= --env-file= -w= --workdir= -u= --user= -p= --publish= --name= --network= "
    "--net= --entrypoint= "
    "--pid= --ipc= --userns= --uts= --cgroupns= --cap-add= --cap-drop= --device= -h= --hostname= -l= --label= -m= "
    "--memory= --cpus= "
    "--platform= --restart= --add-host= --dns= --gpus= --log-driver= --log-opt= --security-opt= --shm-size= --tmpfs= "
    "--ulimit= -a= "
    "--link= --volumes-from= --volume-driver= "
    "--runtime= --pull= --cidfile= --stop-signal= --expose= -c= --cpu-shares= --health-cmd= | "
    "first"
)
_COMPOSES = ("docker-compose", "podman-compose")
_COMPOSE = options(
    "-f= --file= -p= --project-name= --profile= --env-file= --project-directory= --parallel= --ansi= --progress= | "
    "first"
)
_COMPOSE_RUN = options(
    "-e= --env= -u= --user= -w= --workdir= --index= -v= --volume= -p= --publish= --name= --entrypoint= -l= --label= | "
    "first"
)
_COMPOSE_DOWN = options("-t= --timeout= --rmi=")
OPTIONS = {
    "docker": options(
        "-H= --host= -c= --context= --config= -l= --log-level= -f= --file= -p= --project-name= | sub first"
    ),
    "docker inspect": options("-f= --format= --type="),
    "docker buildx": options("-o= --output="),
    "docker container": options("--format="),
    "docker run": options(_RUN),
    "docker create": options(_RUN),
    "docker exec": options("-e= --env= --env-file= -u= --user= -w= --workdir= --detach-keys= | first"),
    "docker compose": options(
        "-f= --file= -p= --project-name= --profile= --env-file= --project-directory= -e= -u= -w="
    ),
    "docker-compose": options(
        "-f= --file= -p= --project-name= --profile= --env-file= --project-directory= -e= -u= -w= | sub"
    ),
}
for _name in ("podman", "nerdctl"):
    OPTIONS[_name] = OPTIONS["docker"]
    OPTIONS |= {
        f"{_name} {verb}": OPTIONS[f"docker {verb}"] for verb in ("run", "create", "exec", "compose", "inspect")
    }
OPTIONS["podman"] = options(
    "-c= --connection= --url= --identity= --root= --log-level= -H= --host= --context= --config= -f= --file= | sub first"
)
OPTIONS["nerdctl"] = options("-n= --namespace= -a= --address= -H= --host= --data-root= -f= --file= | sub first")
OPTIONS["podman-compose"] = OPTIONS["docker-compose"]


PROGRAMS = {
    **dict.fromkeys(("docker", "podman", "nerdctl"), docker),
    **dict.fromkeys(("docker-compose", "podman-compose"), compose),
}
