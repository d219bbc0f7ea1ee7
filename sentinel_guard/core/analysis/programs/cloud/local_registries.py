"""Registries of images and packages on this machine: what is pushed to ``localhost:5000/app`` is published to nobody.

A registry stands in a reference (of images), in an option, or in a variable. Where one of them names another machine,
or nobody knows which, or none names any, the usual one is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import container_engines, local_clusters, local_ends

_LOOPBACK = r"(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\]|host\.docker\.internal)"
_REFERENCE = re.compile(rf"(?:docker://|oci://|registry:)?{_LOOPBACK}(?::\d+)?/.+", re.DOTALL)
"""An image with a registry of this machine; what stands behind the registry may be unknown."""
_FILE = re.compile(r"(?:docker-archive|oci-archive|oci|dir|docker-daemon|containers-storage):(?!//).+")
_KO = re.compile(rf"(?:ko|kind)\.local(?:/.*)?|{_LOOPBACK}(?::\d+)?(?:/.*)?")
_URL = re.compile(rf"https?://(?:[^@/\s]*@)?{_LOOPBACK}(?::\d+)?(?:/\S*)?|file://\S*")
_MAVEN = re.compile(rf"altDeploymentRepository=(?:[\w.-]+::)?(?:[\w.-]+::)?{_URL.pattern}")
_OTHER_REGISTRY = re.compile(r"\"publishConfig\"\s*:\s*\{[^}]*\"(?:@[\w-]+:)?registry\"\s*:\s*\"([^\"]*)\"")

_FIRST = frozenset(("oras", "pack"))
"""What names the target first: the files stand behind it."""
_IMAGES = frozenset(
    ("docker", "podman", "nerdctl", "buildah", "crane", "gcrane", "skopeo", "regctl", "oras", "helm", "pack")
)
_VERBS = frozenset(
    (
        *("push", "copy", "cp", "tag", "delete", "rm", "append", "mutate", "rebase", "image", "manifest", "artifact"),
        *("build", "create", "import", "attach", "index", "blob"),
    )
)
_OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "yarnpkg", "bun", "lerna", "vsce"), ("--registry",)),
    **dict.fromkeys(("twine", "maturin", "flit"), ("--repository-url",)),
    "uv": ("--publish-url",),
    **dict.fromkeys(("hatch", "pdm"), ("-r", "--repo", "--repository")),
    "gem": ("--host",),
    "cargo": ("--index",),
    **dict.fromkeys(("dotnet", "nuget", "choco"), ("-s", "--source", "-Source")),
}
_VARIABLES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("npm", "pnpm"), ("npm_config_registry", "NPM_CONFIG_REGISTRY")),
    **dict.fromkeys(("yarn", "yarnpkg"), ("YARN_NPM_PUBLISH_REGISTRY",)),
    "twine": ("TWINE_REPOSITORY_URL",),
    "uv": ("UV_PUBLISH_URL",),
    "gem": ("RUBYGEMS_HOST",),
    "mix": ("HEX_API_URL",),
    "maturin": ("MATURIN_REPOSITORY_URL",),
}


def is_meant(call: Call) -> bool:
    """Whether all that a command publishes, or takes back, is in a registry of this machine."""
    program = call.command.program
    if not local_clusters.runs_here(call):
        return False
    if program in _IMAGES:
        named = list(_images(call))
        here = bool(named) and all(_REFERENCE.fullmatch(text) or _FILE.fullmatch(text) for text in named)
        return here and not _by_other_engine(call) and not _is_any_forwarded(call, named)
    if program == "ko":
        where = call.scope.lookup("KO_DOCKER_REPO")
        here = where.known and all(map(_KO.fullmatch, where.items))
        return here and (call.command.subcommand != "apply" or local_ends.is_here(call))
    if program in ("mvn", "mvnw", "mvnd"):
        given = [item for item in call.parsed.values("-D") if item.text.startswith("alt")]
        return bool(given) and all(item.known and _MAVEN.fullmatch(item.text) for item in given)
    names, variables = _OPTIONS.get(program, ()), _VARIABLES.get(program, ())
    if local_clusters.given(call, *_OTHER_NAMES.get(program, ())):
        return False
    given = local_clusters.given(call, *names) if names else []
    if any(item.text.startswith(_OTHER_SETTINGS) for item in call.fields[1:]):
        return False
    if given:
        here = all(item.known and (_URL.fullmatch(item.text) or _is_folder(call, item)) for item in given)
        here = here and not _is_any_forwarded(call, [item.text for item in given])
        return here and not _publishes_elsewhere(call)
    sure = [name for name in variables if name in call.scope.reaching or name not in call.scope.variables]
    held = [value for name in sure if (value := call.scope.lookup(name)).isset]
    known = bool(held) and all(value.known and all(map(_URL.fullmatch, value.items)) for value in held)
    known = known and not any(_is_any_forwarded(call, value.items) for value in held)
    return known and not _publishes_elsewhere(call)


_OTHER_SETTINGS = ("--@", "--userconfig", "--globalconfig")
"""Options that name the registry of a scope, or the file that does."""
_OTHER_NAMES = {"twine": ("-r", "--repository"), "uv": ("--index",)}
"""Options that name a registry as the person's settings call it."""


def _by_other_engine(call: Call) -> bool:
    """Whether another machine's engine may push: ``localhost`` is that machine then."""
    values = (value for name in container_engines.ENGINES if (value := call.scope.lookup(name)).isset)
    told = any(not (value.known and "".join(value.items).startswith(("unix:", "npipe:"))) for value in values)
    options = ("--context", "-c", "-H", "--host", "--connection", "--url")
    return told or any(not item.text.startswith("unix:") for item in call.head.values(*options))


def _is_any_forwarded(call: Call, addresses: Iterable[str]) -> bool:
    return bool(call.world.forwards) and any(local_clusters.is_forwarded(call, text) for text in addresses)


def _images(call: Call) -> Iterator[str]:
    """The references to which a command writes."""
    tags = [item.text for item in local_clusters.given(call, "-t", "--tag", *_TARGETS.get(call.command.program, ()))]
    builds = call.command.subcommand in ("build", "buildx", "builder", "image")
    if call.has("--push") or (tags and (builds or call.command.program in _TARGETS)):
        yield from tags
        yield from _outputs(call)
        return
    items = [item.text for item in call.operands]
    while items and items[0] in _VERBS:
        items.pop(0)
    if call.command.subcommand == "push" and call.command.program in ("docker", "nerdctl"):
        yield from items
    else:
        copies = call.command.subcommand in ("copy", "cp")
        yield from items[:1] if call.command.program in _FIRST and not copies else items[-1:]


_TARGETS = {**dict.fromkeys(("crane", "gcrane"), ("--new_tag",)), "regctl": ("--create",)}
"""What names its target by an option, and these options beside ``--tag``."""
_IMAGE_OF = re.compile(r"(?:^|[,\"])(?:name|ref)=([^,\"]+)")


def _outputs(call: Call) -> Iterator[str]:
    """The references in the outputs of a build, and what bake's ``--set`` puts in their place."""
    for item in local_clusters.given(call, "-o", "--output", "--cache-to"):
        yield from _IMAGE_OF.findall(item.text)
    for item in local_clusters.given(call, "--set"):
        target, _, value = item.text.partition("=")
        if target.endswith((".tags", ".output", ".cache-to")):
            yield value


def _is_folder(call: Call, item: Field) -> bool:
    """A feed of packages may be a folder (``dotnet nuget push x.nupkg --source ./feed``): elsewhere, others read it."""
    if "/" not in item.text or "://" in item.text or call.command.program not in ("dotnet", "nuget", "choco"):
        return False
    root, home, path = call.world.root, call.world.home, call.locate(item)
    return path.startswith(f"{root}/") or paths.is_temporary(path, root, home)


def _publishes_elsewhere(call: Call) -> bool:
    """Whether a package's own settings name a registry of another machine."""
    if "--registry" not in _OPTIONS.get(call.command.program, ()):
        return False
    folders = [item for item in call.operands[-1:] if call.world.kind(call.locate(item)) == "dir"] or [Field(".")]
    files = [call.locate(Field(f"{folder.text}/package.json")) for folder in folders]
    if call.command.program == "lerna" or call.has("-r", "--recursive", "--workspaces", "-ws", "--filter", "-w"):
        files += [path for name in _MEMBERS for path in call.world.glob(call.locate(Field(name)))]
    texts = [call.world.read(path) or "" for path in files]
    if any((found := _OTHER_REGISTRY.search(text)) and not _URL.fullmatch(found[1]) for text in texts):
        return True
    if "npmScopes" in (call.world.read(call.locate(".yarnrc.yml")) or ""):
        return True
    scopes = {found[1] for text in texts if (found := _SCOPE.search(text))}
    settings = (call.locate(Field(".npmrc")), f"{call.world.home}/.npmrc")
    return any(
        call.world.kind(path) and not call.world.fulfils(path, partial(_keeps_here, scope))
        for scope in scopes
        for path in settings
    )


_MEMBERS = ("packages/*/package.json", "apps/*/package.json", "libs/*/package.json")
_SCOPE = re.compile(r"\"name\"\s*:\s*\"(@[\w.-]+)/")


def _keeps_here(scope: str, text: str) -> bool:
    """Whether no line of npm's settings sends the packages of a scope to another machine."""
    found = re.findall(rf"(?m)^\s*{re.escape(scope)}:registry\s*=\s*(\S+)", text)
    return all(map(_URL.fullmatch, found))
