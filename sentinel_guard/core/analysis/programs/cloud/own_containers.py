"""Containers and compose projects that the text or session itself started: nobody's data is lost with them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis import paths, places, task_words
from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS, Call, Parsed
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import compose_files, container_engines, engine_witness
from sentinel_guard.core.analysis.programs.cloud.container_engines import is_here
from sentinel_guard.core.analysis.programs.cloud.engine_witness import LEADS, SAYS_SERVER, is_server

_VALUE = re.compile(r"\"?\$(?:(\w+)|\{(\w+)\})\"?")
_ONE_OPTION = r"(?:\s+(?:--(?:rm|init|privileged|interactive|tty)|-[it]+|-\S+=\S+|-\S+\s+[^-\s]\S*))*"
_STARTS = re.compile(
    r"[\"']?\$\(\s*(?:docker|podman|nerdctl)\s+(?:container\s+)?"
    rf"(?:create\b|run\b(?={_ONE_OPTION}\s+(?:-[it]*d[it]*|--detach)\s))((?:[^;&|`\n<>$]|\$(?!\())*)\)[\"']?"
)
"""What prints the identifier of a container that it makes: without ``-d`` it prints what runs in there."""
_BINDS = re.compile(r"\s(?:-v|--volumes?(?:-from)?|--mount)\b")
_TOLD = re.compile(
    r"\s--env-file\b|\s--net(?:work)?[ =](?:host|container:|ns:)"
    r"|\s(?:-\w*e|--env)[ =]?['\"]?\w*(?:HOST|URL|URI|ADDR|ENDPOINT|SERVER|DSN)\w*(?:=|\s|$)"
)
"""What tells a container of other servers."""
_NEW_NAME = re.compile(r"(?:[\w.-]|\$\$|\$\{?(?:RANDOM|BASHPID|EPOCHSECONDS)\}?)+")

_STARTS_ONE = frozenset(("run", "start", "restart", "create", "rename", "play", "kube"))
"""What may take the place of a container that was ended."""


def begin(call: Call) -> None:
    """What stands before any effect of a command: what ended may have its place taken; behind ``docker context use X``
    what the session made is at the engine that was meant before.
    """
    if call.command.subcommand in _STARTS_ONE or (call.operands and call.operands[0].text in _STARTS_ONE):
        call.world.settle()
    words = [item.text for item in call.fields[1:4]]
    if words[:1] == ["context"] and words[1:2] not in ([], ["ls"], ["inspect"], ["show"]) and words[2:] != ["default"]:
        call.world.unmake("container ", "port ", "compose project ", "volume ")
        call.world.forwards.add(container_engines.CHANGED)


_ENDS = frozenset(("rm", "stop", "kill", "rename", "restore"))
_PRUNES = frozenset(("system", "container", "pod"))


def _ports_of(call: Call, names: Sequence[str]) -> list[str]:
    """The ports of these containers; of one that is known by no such name, all; of a project, all but those."""
    records = {one for one in (*call.world.own, *call.world.proven) if one.startswith("published ")}
    found = {record: record.split(" ") for record in records}
    if not all(any(words[3] == name for words in found.values()) for name in names):
        return ["port ", *records]
    of_others = {words[1] for words in found.values() if words[3] not in names}
    if not names:
        return [one for one in (*call.world.own, *call.world.proven) if one[:5] == "port " and one[5:] not in of_others]
    mine = {record: words for record, words in found.items() if words[3] in names}
    return [*mine, *(f"port {words[1]}" for words in mine.values())]


def unmake(call: Call, verb: str, operands: Sequence[Field]) -> None:
    """What a command ends, or gives another name: the next to listen at those ports may be somebody's."""
    if verb == "container" and operands and operands[0].text in _ENDS:
        verb, operands = operands[0].text, operands[1:]
    if verb == "network" and operands and operands[0].text == "disconnect":
        call.world.end(*_ports_of(call, [_called(call, item) for item in operands[2:]]))
    if verb in _ENDS:
        call.world.unmake(engine_witness.ANY_PORT)
        call.world.end(*_ports_of(call, [_called(call, item) for item in operands]))
    if verb in ("rm", "rename"):
        call.world.end(*_databases_inside(call))
        call.world.end(*(f"container {name}" if (name := _called(call, item)) else "container " for item in operands))
    elif verb in _PRUNES and any(item.text in ("prune", "reset", "rm") for item in operands):
        call.world.end("container ", "port ")


_HOSTS = ("", "127.0.0.1", "0.0.0.0", "localhost")  # noqa: S104 - what a text says
_PUBLISHES = re.compile(r"(?:([\w.]*):)?(\d+):\d+(?:/tcp)?")
_ANY_PORT = re.compile(r"(?:[\w.]+::)?\d+(?:/\w+)?")
"""A port of the container's alone: the engine takes one that is free."""


def note_run(call: Call, sources: Sequence[str]) -> None:
    """``docker run``: a container under its name, and the ports of a server that goes on in the background, are the
    session's own where nothing of somebody's is mounted.
    """
    named = call.parsed.value("--name")
    own = all(call.world.is_own(f"volume {source}") for source in sources)
    if not own or call.has("--volumes-from", "--replace") or not is_here(call):
        _takes_the_place(call, named)
        return
    if named is not None and not _joins(call):
        note(call, named)
    goes_on = call.has("-d", "--detach") and call.command.subcommand == "run" and not call.has("--entrypoint")
    image, *command = call.operands or [Field("")]
    leads = any(LEADS.search(item.text) for item in command) or (command and paths.base(command[0].text) in SHELLS)
    if not goes_on or _joins(call) or not is_server(image.text) or leads:
        _takes_the_place(call, None)
        return
    for item in call.parsed.values("-p", "--publish"):
        found = _PUBLISHES.fullmatch(item.text)
        if found and (found[1] or "") in _HOSTS:
            call.world.own.add(f"port {found[2]}")
            if name := _called(call, named) if named is not None else "":
                call.world.own.add(f"published {found[2]} by {name}")


def _takes_the_place(call: Call, named: Field | None) -> None:
    """What is somebody's, or leads to it, bears this name from here on, and listens at these ports."""
    for item in call.parsed.values("-p", "--publish"):
        found = _PUBLISHES.fullmatch(item.text)
        if found or not (item.known and _ANY_PORT.fullmatch(item.text)):
            call.world.unmake(f"port {found[2]}" if found else "port ")
    if named is not None:
        call.world.unmake(f"container {name}" if (name := _called(call, named)) else "container ")


def _joins(call: Call) -> bool:
    """Whether a container is told of other servers, or lives in the network of something else."""
    networks = [item.text for item in call.parsed.values("--network", "--net")]
    if call.has("--env-file") or any(name == "host" or name.startswith(("container:", "ns:")) for name in networks):
        return True
    given = [item.text.partition("=")[0] for item in call.parsed.values("-e", "--env")]
    return any(map(SAYS_SERVER.fullmatch, given))


def note(call: Call, item: Field) -> None:
    """A container of this name is the text's own from here on."""
    if name := _called(call, item):
        call.world.own.add(f"container {name}")


def is_own(call: Call, item: Field) -> bool:
    """Whether the session made a container, by its name, or by the identifier that this text got when it did."""
    if not is_here(call):
        return False
    if (name := _called(call, item)) and call.world.is_own(f"container {name}"):
        return True
    held = _VALUE.fullmatch(item.source)
    started = _STARTS.fullmatch(call.scope.written.get(held[1] or held[2], "")) if held else None
    if started is not None and _BINDS.search(started[1]) is None and _TOLD.search(started[1]) is None:
        return True
    return item.known and engine_witness.is_own_container(call, item.text)


def place(call: Call, container: Field) -> str:
    """How ``docker exec`` is named as what started a program: with its container, where that is known."""
    name = _called(call, container)
    return f"docker exec {name}" if name and is_here(call) else "docker"


_COMPOSE = ("COMPOSE_PROJECT_NAME", "COMPOSE_FILE", "COMPOSE_PATH_SEPARATOR")


def place_of_service(call: Call, project: Parsed, run: Parsed) -> str:
    """The same of ``docker compose exec``: the project's folder, the options that choose it, and the service."""
    chosen = [(flag, item) for flag, items in sorted(project.flags.items()) for item in items]
    chosen += [("", item) for item in run.operands[:1]]
    known = call.here and all(item.known for _, item in chosen) and not run.values("--index")
    if not known or any(call.scope.lookup(name).isset for name in _COMPOSE):
        return "docker"
    return " ".join((f"{call.command.program} compose", call.cwd, *(f"{flag}={item.text}" for flag, item in chosen)))


def _databases_inside(call: Call) -> list[str]:
    """What is known of databases in containers: another container may have the name of one that is gone."""
    return [name for name in (*call.world.own, *call.world.proven) if f" {places.IN}" in name]


def _called(call: Call, item: Field) -> str:
    """The name of a container, as its engine's alone; empty where nobody knows it."""
    name = _spelled(call, item)
    return container_engines.named(call, name) if name else ""


def _spelled(call: Call, item: Field) -> str:
    """A name; one that ends in ``$$`` or the like as it is written, also where a variable holds it."""
    if item.known:
        return item.text
    written = call.scope.as_written(item.source)
    plain = written.replace('"', "")
    return plain if _NEW_NAME.fullmatch(plain) and (written != item.source or "$$" in plain) else ""


# Projects of compose: ``up`` succeeds where one of that name is there, so that its name must be the session's choice.

_PROJECT_FILES = (
    *("README*", "Makefile", "justfile", "package.json", "Taskfile.y*ml", ".github/workflows/*", "scripts/*", "bin/*"),
    *("*compose*.y*ml", "*/*compose*.y*ml", ".envrc", "mise.toml", ".mise.toml", "*.sh", ".gitlab-ci.yml", "docs/*"),
    *("CONTRIBUTING*", "composer.json", "pyproject.toml", "tox.ini", "noxfile.py"),
)
"""Where a project says by which name its people start it."""
_SCRATCH = re.compile(r"(?i)(?:.*[_-])?(?:tests?|testing|e2e|integration|scratch|tmp|temp|throwaway)(?:[_-].*|\d*)")
_TESTS_FILE = re.compile(
    r"(?i)(?:docker-)?compose[._-](?:tests?|testing|e2e|integration|ci)\.ya?ml|(?:tests?|e2e)[._-](?:docker-)?compose\.ya?ml"
)
_BEGINS = ("up", "create", "run")
_LEAVES = frozenset((
    "", "attach", "build", "config", "convert", "cp", "down", "events", "exec", "images", "kill", "logs", "ls", "pause",
    "port", "ps", "pull", "push", "rm", "stats", "stop", "top", "unpause", "version", "volumes", "wait",
))  # fmt: skip
"""Verbs that put nothing in another's place."""
_TOP_VOLUMES = re.compile(r"(?m)^volumes:[ \t]*\n((?:[ \t]+.*\n?|[ \t]*(?:#.*)?\n)*)")
_FIRST_DEEP = re.compile(r"(?m)^(?:  |\t| {3,4})['\"]?([\w.-]+)['\"]?:")
_PORTS = re.compile(r"\bports['\"]?\s*:(.*(?:\n\s*(?:-|(?:target|published|protocol|mode)\b).*)*)")
_PUBLISHED = re.compile(
    r"(?<![\d.:\]])(?:127\.0\.0\.1:|0\.0\.0\.0:)?(\d{2,5}):\d{2,5}\b(?!/udp)|\bpublished['\"]?:\s*['\"]?(\d+)"
)


def note_project(call: Call, parsed: Parsed, verb: str) -> None:
    """A project under a name that nothing in the repository says is the session's own once it is up; so are the ports
    of services that keep nothing which ``compose down`` does not take (ADR 0045).
    """
    name = _project(call, parsed)
    files = [item for item in parsed.values("-f", "--file") if item.known]
    if verb in _BEGINS and name and is_here(call) and not is_somebodys(call, name, files):
        call.world.own.add(f"compose project {name}")
    if verb not in _LEAVES:
        call.world.settle()
        call.world.unmake("service ")
    if verb in ("up", "down", "rm", "stop", "kill"):
        _unmake_ports(call, parsed, verb)
    given = {item.text for item in parsed.operands}
    goes_on = verb == "up" and given & {"-d", "--detach", "--wait"} and not any(map(_NOT_ALL.match, given))
    found = project(call, parsed, begins=True) if goes_on and is_here(call) else None
    if found is None:
        return
    asked = {item.text for item in parsed.operands[1:]}
    for service, lines in found.services.items():
        wanted = asked.isdisjoint(found.services) or service in asked
        if wanted and service not in found.kept and _listens(lines):
            call.world.own.update(f"port {port}" for port in _ports(lines))


_NOT_ALL = re.compile(r"--(?:scale|no-start|no-recreate|dry-run)\b")
_IMAGE = re.compile(r"(?m)^\s+['\"]?image['\"]?\s*:\s*['\"]?([^\s'\"#]+)")
_MAY_NOT_LISTEN = re.compile(
    r"\b(?:profiles|replicas|scale|network_mode|deploy|entrypoint|configs)['\"]?\s*:"
    r"|\bcommand['\"]?\s*:\s*[\[-]?\s*['\"]?(?:/\w+)*/?(?:ba|da|a)?sh\b"
)


def _listens(lines: str) -> bool:
    """Whether a service surely is a server of its own: a known one, which nothing leads elsewhere or keeps from it."""
    images = _IMAGE.findall(lines)
    return len(images) == 1 and is_server(images[0]) and not (_MAY_NOT_LISTEN.search(lines) or LEADS.search(lines))


def _ports(lines: str) -> list[str]:
    blocks = " ".join(_PORTS.findall(lines))
    return [port for found in _PUBLISHED.findall(blocks) for port in found if port]


def _unmake_ports(call: Call, parsed: Parsed, verb: str) -> None:
    """``up`` puts what the files say now behind their ports; what ends containers leaves ports to the next."""
    texts = compose_files.texts(call, parsed) if verb == "up" else None
    if verb == "up":
        call.world.settle()
    if texts is not None:
        call.world.unmake(*(f"port {port}" for text in texts for port in _ports(text)))
    else:
        call.world.unmake(engine_witness.ANY_PORT)
        call.world.end(*_ports_of(call, ()))
    if verb in ("down", "rm"):
        call.world.end(*_databases_inside(call))


def project(call: Call, parsed: Parsed, *, begins: bool = False, service: str = "") -> compose_files.Project | None:
    """What is known of the services of a project, also of one that the session started under a name of its own, or, of
    a ``service`` in one, as the engine says.
    """
    own = bool(_project(call, parsed)) and _is_named_own(call, parsed)
    own = own or (bool(service) and _is_witnessed(call, parsed, service))
    return compose_files.project(call, parsed, own=own, begins=begins)


def is_own_project(call: Call, parsed: Parsed) -> bool:
    """Whether the volumes of a project are the session's, or those that tests make anew."""
    return _is_named_own(call, parsed) or _is_witnessed(call, parsed)


def _is_witnessed(call: Call, parsed: Parsed, service: str = "") -> bool:
    name, texts = compose_files.project_name(call, parsed), compose_files.texts(call, parsed)
    declared = {f"{name}_{volume}" for volume in _volumes(texts or ())}
    return bool(name) and not _shares(texts) and engine_witness.is_own_project(call, name, declared, service)


def _is_named_own(call: Call, parsed: Parsed) -> bool:
    """The same by names alone."""
    if not is_here(call):
        return False
    if name := _project(call, parsed):
        mine = call.world.is_own(f"compose project {name}") or _SCRATCH.fullmatch(name) is not None
        return mine and not _shares(compose_files.texts(call, parsed))
    given = parsed.values("-f", "--file")
    if not given or parsed.values("-p", "--project-name") or call.scope.lookup("COMPOSE_PROJECT_NAME").isset:
        return False
    if not all(item.known and _TESTS_FILE.fullmatch(paths.base(item.text)) for item in given):
        return False
    texts, usual = compose_files.texts(call, parsed), compose_files.texts(call, Parsed())
    told = not any(_NO_BLOCK.search(_IN_LINE.sub("", _plain(text))) for text in usual or ())
    return told and not _shares(texts) and _volumes(texts or ()).isdisjoint(_volumes(usual or ()))


def _project(call: Call, parsed: Parsed) -> str:
    """The name that the text gives a project; empty where it gives none, or nobody knows which."""
    item = parsed.value("-p", "--project-name")
    if item is not None:
        return _spelled(call, item)
    held = call.scope.variables.get("COMPOSE_PROJECT_NAME") if "COMPOSE_PROJECT_NAME" in call.scope.reaching else None
    return "".join(held or ())


_COMMON = re.compile(
    r"(?i)demo|dev(?:elopment)?|local|apps?|web|api|db|stack|main|default|infra|services?|backend|docker"
)
"""Names that a person may well have given a project before."""


def is_somebodys(call: Call, name: str, files: Sequence[Field] = ()) -> bool:
    """Whether a project of that name may be the person's: a folder's, one that a file names, one that is live."""
    if task_words.LIVE.search(name) or _COMMON.fullmatch(name):
        return True
    root = call.world.root or call.cwd
    folders = dict.fromkeys((call.cwd, root, *(paths.parent(call.locate(item)) for item in files)))
    beside = (path for folder in (paths.parent(root), root) for path in call.world.glob(f"{folder}/*"))
    if compose_files.normalised(name) in {compose_files.normalised(paths.base(path)) for path in (*folders, *beside)}:
        return True
    said = re.compile(rf"(?i)(?<![\w-]){re.escape(name)}(?![\w-])")
    kept = (path for folder in folders for path in call.world.glob(f"{folder}/.env*"))
    if any(call.world.fulfils(path, lambda text: said.search(text) is not None) for path in kept):
        return True
    named = (call.world.glob(f"{folder}/{pattern}") for folder in folders for pattern in _PROJECT_FILES)
    found = dict.fromkeys((*(path for group in named for path in group), *map(call.locate, files)))
    return any(said.search(call.world.read(path) or "") for path in found)


_IN_LINE = re.compile(r"(?m)^volumes[ \t]*:[ \t]*\{((?:\s*[\w.-]+\s*:\s*(?:\{\s*\})?\s*,?)*)\s*\}[ \t]*$")
"""Volumes in one line, of which nothing is said."""
_NO_BLOCK = re.compile(
    r"(?m)\A(?:[ \t]*(?:---.*)?\n)*(?:[ \t]+\S|\{)|^(?:['\"]volumes['\"]\s*:|volumes[ \t]+:|volumes[ \t]*:[ \t]*\S)"
)
_TAKES_OTHERS = re.compile(r"(?m)^['\"]?include['\"]?\s*:|^\s+(?:extends|<<)\s*:")
_OF_OTHERS = re.compile(r"\b(?:external|name|driver_opts|device)['\"]?\s*:|[*&]\w|<<|^\s*\?|\\", re.MULTILINE)


def _plain(text: str) -> str:
    return compose_files.without_comments(re.sub(r"\r\n?", "\n", text))


def _shares(texts: list[str] | None) -> bool:
    """Whether the volumes may be those of another project, by their name; of files that nobody can read, or whose
    volumes stand in another form than a block, they may.
    """
    plain = None if texts is None else [_IN_LINE.sub("", _plain(text)) for text in texts]
    if plain is None or any(_NO_BLOCK.search(text) or _TAKES_OTHERS.search(text) for text in plain):
        return True
    return any(_OF_OTHERS.search(block) for text in plain for block in _TOP_VOLUMES.findall(text))


def _volumes(texts: list[str] | tuple[str, ...]) -> set[str]:
    found = (block for text in texts for block in _TOP_VOLUMES.findall(_plain(text)))
    within = {
        name for text in texts for block in _IN_LINE.findall(text) for name in re.findall(r"([\w.-]+)\s*:", block)
    }
    return within | {name for block in found for name in _FIRST_DEEP.findall(block)}
