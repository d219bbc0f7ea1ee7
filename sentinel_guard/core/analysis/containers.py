"""docker, podman: what a container may reach on the host, and what its command does to what is mounted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.commands import Call, options
from sentinel_guard.core.analysis.publish import registry
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_ON_PATHS = (Kind.WRITE, Kind.DELETE, Kind.READ, Kind.GIT_REWRITE, Kind.PRIVILEGE, Kind.SIGNAL)
_HOST = frozenset(
    (
        "/",
        "/etc",
        "/root",
        "/boot",
        "/proc",
        "/sys",
        "/dev",
        "/usr",
        "/var",
        "/var/run",
        "/run",
        "/lib",
        "/bin",
        "/home",
    )
)
_SOCKETS = ("/docker.sock", "/podman.sock", "/containerd.sock", "/crio.sock")
_POWERS = ("ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "DAC_READ_SEARCH", "SYS_BOOT")


def docker(call: Call) -> Effects:
    verb = call.command.subcommand
    operands = call.operands
    if verb in ("compose", "container", "volume", "system", "image", "buildx", "stack", "swarm", "network", "builder"):
        return _grouped(call, verb, operands)
    if verb in ("run", "create"):
        return _run(call)
    if verb == "exec":
        return _inside(call, operands[1:], {})
    if verb == "cp":
        return _copy(call)
    if verb == "rm" and call.has("-v", "--volumes"):
        return [call.effect(Kind.DEPLOY, "docker volumes", "delete")]
    return registry(call)


def compose(call: Call) -> Effects:
    """``docker-compose``, and ``docker compose`` behind its first word."""
    words = [call.command.subcommand, *(item.text for item in call.operands)]
    if words[0] == "compose":
        words = words[1:]
    if words[:1] in (["down"], ["rm"]) and call.has("-v", "--volumes"):
        yield call.effect(Kind.DEPLOY, "docker volumes", "delete")
    elif words[:1] in (["exec"], ["run"]):
        at = next((n for n, item in enumerate(call.operands) if item.text == words[0]), -1)
        yield from _inside(call, call.operands[at + 2 :], {})


def _grouped(call: Call, verb: str, operands: Sequence[Field]) -> Effects:
    action = operands[0].text if operands else ""
    if verb == "compose":
        yield from compose(call)
    elif (verb, action) in (
        ("volume", "rm"),
        ("volume", "prune"),
        ("volume", "remove"),
        ("stack", "rm"),
        ("stack", "down"),
    ):
        yield call.effect(Kind.DEPLOY, "docker volumes" if verb == "volume" else "docker stack", "delete")
    elif (verb, action) == ("system", "prune") and call.has("--volumes"):
        yield call.effect(Kind.DEPLOY, "docker volumes", "delete")
    elif verb == "swarm" and action == "leave" and call.has("-f", "--force"):
        yield call.effect(Kind.DEPLOY, "docker swarm", "delete")


def _run(call: Call) -> Effects:
    mounts = dict(_mounts(call))
    yield from _powers(call)
    for host in mounts.values():
        if host.endswith(_SOCKETS):
            yield call.effect(Kind.PRIVILEGE, "docker.sock")
        elif host in _HOST:
            yield call.effect(Kind.PRIVILEGE, "container host mount")
    entry = call.parsed.value("--entrypoint")
    command = [*([entry] if entry and entry.text else []), *call.operands[1:]]
    yield from _inside(call, command, mounts)


def _powers(call: Call) -> Iterator[Effect]:
    parsed = call.parsed
    if call.has("--privileged"):
        yield call.effect(Kind.PRIVILEGE, "container --privileged")
    if any(v.text in ("host", "") for v in parsed.values("--pid", "--ipc", "--userns", "--uts", "--cgroupns")):
        yield call.effect(Kind.PRIVILEGE, "container host namespace")
    if any(v.text.upper().removeprefix("CAP_") in _POWERS for v in parsed.values("--cap-add")):
        yield call.effect(Kind.PRIVILEGE, "capabilities")
    for item in parsed.values("--device"):
        if paths.is_device(item.text.partition(":")[0]):
            yield from call.write(Field(item.text.partition(":")[0], item.known))


def _mounts(call: Call) -> Iterator[tuple[str, str]]:
    """Pairs of (folder inside, folder of the host)."""
    for item in call.parsed.values("-v", "--volume"):
        host, colon, rest = item.text.partition(":")
        if colon and host[:1] in "/.~" and item.known:
            yield paths.normal(rest.partition(":")[0]), call.locate(host)
    for item in call.parsed.values("--mount"):
        keys = dict(pair.partition("=")[::2] for pair in item.text.split(","))
        host = keys.get("source") or keys.get("src") or ""
        inside = keys.get("target") or keys.get("destination") or keys.get("dst") or ""
        if host.startswith("/") and inside:
            yield paths.normal(inside), call.locate(host)


def _inside(call: Call, command: Sequence[Field], mounts: dict[str, str]) -> Iterator[Effect]:
    """The effects of a container's command, as far as they leave it."""
    if not command:
        return
    folder = call.parsed.value("-w", "--workdir")
    cwd = folder.text if folder and folder.text.startswith("/") else "/"
    for effect in call.runner.run(command, call, "docker", cwd=cwd):
        if effect.kind not in _ON_PATHS:
            yield effect
        elif effect.kind in _ON_PATHS[:3]:
            yield from _mapped(effect, mounts)


def _mapped(effect: Effect, mounts: dict[str, str]) -> Iterator[Effect]:
    path = effect.target
    for inside, host in mounts.items():
        if path == inside or path.startswith(inside.rstrip("/") + "/"):
            yield replace(effect, target=paths.normal(host + path[len(inside.rstrip("/")) :]))
        elif "recursive" in effect.how and inside.startswith(path.rstrip("/") + "/"):
            yield replace(effect, target=host, how=effect.how | {"contents"})


def _copy(call: Call) -> Effects:
    for item, act in zip(call.operands[:2], (call.read, call.write), strict=False):
        if ":" not in item.text.partition("/")[0]:
            yield from act(item)


def kubectl(call: Call) -> Effects:
    """``kubectl exec POD -- COMMAND``: on another machine."""
    texts = [item.text for item in call.fields]
    if "--" not in texts:
        return
    command = call.fields[texts.index("--") + 1 :]
    yield from _inside(call, command, {})
    for effect in call.runner.run(command, call, call.command.program, cwd="/"):
        if effect.kind is Kind.DELETE and "recursive" in effect.how and not effect.target.startswith(paths.TEMPORARY):
            yield call.effect(Kind.DEPLOY, f"{call.command.program} exec", "delete")


def machine(call: Call) -> Effects:
    """Lxc exec, incus exec, vagrant ssh -c, machinectl shell."""
    texts = [item.text for item in call.fields]
    if call.command.subcommand in ("exec", "shell") and "--" in texts:
        yield from _inside(call, call.fields[texts.index("--") + 1 :], {})
    elif call.command.subcommand in ("delete", "destroy", "rm"):
        yield call.effect(Kind.DEPLOY, call.command.program, "delete")


_RUN = (
    "-v= --volume= --mount= -e= --env= --env-file= -w= --workdir= -u= --user= -p= --publish= --name= --network= "
    "--net= --entrypoint= "
    "--pid= --ipc= --userns= --uts= --cgroupns= --cap-add= --cap-drop= --device= -h= --hostname= -l= --label= -m= "
    "--memory= --cpus= "
    "--platform= --restart= --add-host= --dns= --gpus= --log-driver= --log-opt= --security-opt= --shm-size= --tmpfs= "
    "--ulimit= -a= "
    "--link= --volumes-from= --runtime= --pull= --cidfile= --stop-signal= --expose= -c= --cpu-shares= --health-cmd= | "
    "first"
)
OPTIONS = {
    "docker": options(
        "-H= --host= -c= --context= --config= -l= --log-level= -f= --file= -p= --project-name= | sub first"
    ),
    "docker run": options(_RUN),
    "docker create": options(_RUN),
    "docker exec": options("-e= --env= --env-file= -u= --user= -w= --workdir= --detach-keys= | first"),
    "docker compose": options(
        "-f= --file= -p= --project-name= --profile= --env-file= --project-directory= -e= -u= -w="
    ),
    "docker-compose": options(
        "-f= --file= -p= --project-name= --profile= --env-file= --project-directory= -e= -u= -w= | sub"
    ),
    "lxc": options("| sub"),
}
for _name in ("podman", "nerdctl"):
    OPTIONS[_name] = OPTIONS["docker"]
    OPTIONS |= {f"{_name} {verb}": OPTIONS[f"docker {verb}"] for verb in ("run", "create", "exec", "compose")}
OPTIONS["incus"] = OPTIONS["machinectl"] = OPTIONS["multipass"] = OPTIONS["lxc"]
OPTIONS["podman-compose"] = OPTIONS["docker-compose"]

PROGRAMS = {
    **dict.fromkeys(("docker", "podman", "nerdctl"), docker),
    **dict.fromkeys(("docker-compose", "podman-compose"), compose),
    **dict.fromkeys(("lxc", "incus", "machinectl", "multipass"), machine),
}
