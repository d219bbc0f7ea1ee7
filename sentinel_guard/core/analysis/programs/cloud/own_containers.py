"""Containers and compose projects that the text or session itself started: nobody's data is lost with them."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis import paths, task_words
from sentinel_guard.core.analysis.expansion.command_and_options import Call, Parsed
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import compose_files

_VALUE = re.compile(r"\"?\$(?:(\w+)|\{(\w+)\})\"?")
_STARTS = re.compile(r"[\"']?\$\(\s*(?:docker|podman|nerdctl)\s+(?:container\s+)?(?:run|create)\b([^;&|`]*)\)[\"']?")
_BINDS = re.compile(r"\s(?:-v|--volumes?(?:-from)?|--mount)\b")
_NEW_NAME = re.compile(r"(?:[\w.-]|\$\$|\$\{?(?:RANDOM|BASHPID|EPOCHSECONDS)\}?)+")


def note(call: Call, item: Field) -> None:
    """A container of this name is the text's own from here on."""
    if name := _called(call, item):
        call.world.own.add(f"container {name}")


def is_own(call: Call, item: Field) -> bool:
    """Whether the session made a container, by its name, or by the identifier that this text got when it did."""
    if (name := _called(call, item)) and call.world.is_own(f"container {name}"):
        return True
    held = _VALUE.fullmatch(item.source)
    started = _STARTS.fullmatch(call.scope.written.get(held[1] or held[2], "")) if held else None
    return started is not None and _BINDS.search(started[1]) is None


def _called(call: Call, item: Field) -> str:
    """The name of a container; one that ends in ``$$`` or the like as it is written, also where a variable holds it."""
    if item.known:
        return item.text
    written = call.scope.as_written(item.source)
    plain = written.replace('"', "")
    return plain if _NEW_NAME.fullmatch(plain) and (written != item.source or "$$" in plain) else ""


# Volumes: making one succeeds where it is there, so that its name must be the session's choice.

_OF_TRIALS = re.compile(
    r"(?i)(?:.*[_.-])?(?:tests?|scratch|tmp|temp|trial|throwaway|probe|repro|sandbox)(?:[_.-].*|\d*)"
)


_OF_ANYBODY = re.compile(
    r"(?i)(?:pg|postgres(?:ql)?|my_?sql|maria(?:db)?|mongo(?:db)?|redis|db|app|minio|rabbit(?:mq)?|kafka|elastic\w*)?"
    r"[_-]?(?:data|db|cache|volume|storage|store|backup)?s?"
)
"""Names that another project's volume may well have."""


def note_volume(call: Call, name: str, *, made: bool) -> None:
    """``docker volume create NAME``, or a mount under a name that says what it is for (``made``: it was created)."""
    if not re.fullmatch(r"[\w.-]+", name) or _OF_ANYBODY.fullmatch(name):
        return
    if (made or _OF_TRIALS.fullmatch(name)) and not _is_somebodys(call, name):
        call.world.own.add(f"volume {name}")


def is_own_volume(call: Call, item: Field) -> bool:
    return item.known and call.world.is_own(f"volume {item.text}")


# Projects of compose: ``up`` succeeds where one of that name is there, so that its name must be the session's choice.

_PROJECT_FILES = (
    *("README*", "Makefile", "justfile", "package.json", "Taskfile.y*ml", ".github/workflows/*", "scripts/*", "bin/*"),
    *("*compose*.y*ml", "docs/*", "CONTRIBUTING*", "composer.json", "pyproject.toml", "tox.ini", "noxfile.py"),
)
"""Where a project says by which name its people start it."""
_SCRATCH = re.compile(
    r"(?i)(?:.*[_-])?(?:tests?|testing|e2e|integration|it|ci|scratch|tmp|temp|throwaway)(?:[_-].*|\d*)"
)
_TESTS_FILE = re.compile(
    r"(?i)(?:docker-)?compose[._-](?:tests?|testing|e2e|integration|ci)\.ya?ml|(?:tests?|e2e)[._-](?:docker-)?compose\.ya?ml"
)
_BEGINS = ("up", "create", "run")
_TOP_VOLUMES = re.compile(r"(?m)^volumes:[ \t]*\n((?:[ \t]+.*\n?|[ \t]*(?:#.*)?\n)*)")
_FIRST_DEEP = re.compile(r"(?m)^(?:  |\t| {3,4})['\"]?([\w.-]+)['\"]?:")
_PORTS = re.compile(r"\bports['\"]?\s*:(.*(?:\n\s*(?:-|(?:target|published|protocol|mode)\b).*)*)")
_PUBLISHED = re.compile(r"(?<![\d.])(?:127\.0\.0\.1:|0\.0\.0\.0:)?(\d{2,5}):\d{2,5}\b|\bpublished['\"]?:\s*['\"]?(\d+)")
_SHARED = re.compile(r"(?m)^\s+(?:external|name)\s*:")


def note_project(call: Call, parsed: Parsed, verb: str) -> None:
    """A project under a name that nothing in the repository says is the session's own once it is up; so are the ports
    of services that keep nothing which ``compose down`` does not take (ADR 0045).
    """
    name = _project(call, parsed)
    if verb in _BEGINS and name and not _is_somebodys(call, name):
        call.world.own.add(f"compose project {name}")
    found = project(call, parsed) if verb == "up" else None
    if found is None:
        return
    asked = {item.text for item in parsed.operands[1:]}
    for service, lines in found.services.items():
        if service not in found.kept and (asked.isdisjoint(found.services) or service in asked):
            blocks = " ".join(_PORTS.findall(lines))
            call.world.own.update(f"port {port}" for found in _PUBLISHED.findall(blocks) for port in found if port)


def project(call: Call, parsed: Parsed) -> compose_files.Project | None:
    """What is known of the services of a project, also of one that the session started under a name of its own."""
    return compose_files.project(call, parsed, own=bool(_project(call, parsed)) and is_own_project(call, parsed))


def is_own_project(call: Call, parsed: Parsed) -> bool:
    """Whether the volumes of a project are the session's, or those that tests make anew."""
    if name := _project(call, parsed):
        mine = call.world.is_own(f"compose project {name}") or _SCRATCH.fullmatch(name) is not None
        return mine and not _shares(compose_files.texts(call, parsed))
    given = parsed.values("-f", "--file")
    if not given or parsed.values("-p", "--project-name") or call.scope.lookup("COMPOSE_PROJECT_NAME").isset:
        return False
    if not all(item.known and _TESTS_FILE.fullmatch(paths.base(item.text)) for item in given):
        return False
    texts, usual = compose_files.texts(call, parsed), compose_files.texts(call, Parsed())
    return not _shares(texts) and _volumes(texts or ()).isdisjoint(_volumes(usual or ()))


def _project(call: Call, parsed: Parsed) -> str:
    """The name that the text gives a project; empty where it gives none, or nobody knows which."""
    item = parsed.value("-p", "--project-name")
    if item is not None:
        return _called(call, item)
    held = call.scope.variables.get("COMPOSE_PROJECT_NAME") if "COMPOSE_PROJECT_NAME" in call.scope.reaching else None
    return "".join(held or ())


def _is_somebodys(call: Call, name: str) -> bool:
    """Whether a project of that name may be the person's: its folder's, one that a file names, one that is live."""
    if task_words.LIVE.search(name) or paths.base(call.cwd).lower() == name.lower():
        return True
    if call.world.fulfils(call.locate(Field(".env")), lambda text: name in text):
        return True
    found = (path for pattern in _PROJECT_FILES for path in call.world.glob(call.locate(Field(pattern))))
    said = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    return any(said.search(call.world.read(path) or "") for path in found)


def _shares(texts: list[str] | None) -> bool:
    """Whether the volumes may be those of another project, by their name; of files that nobody can read, they may."""
    return texts is None or any(_SHARED.search(block) for text in texts for block in _TOP_VOLUMES.findall(text))


def _volumes(texts: list[str] | tuple[str, ...]) -> set[str]:
    return {name for text in texts for block in _TOP_VOLUMES.findall(text) for name in _FIRST_DEEP.findall(block)}
