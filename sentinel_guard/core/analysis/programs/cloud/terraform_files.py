"""Whether a configuration of Terraform makes nothing outside of this machine: what its files say.

Counted are the files of one folder and of the modules that it takes from folders. No HCL is parsed: what is not
understood counts as elsewhere. https://developer.hashicorp.com/terraform/language/files
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.programs.cloud import local_clusters

_BLOCK = re.compile(r"\b(?:resource|data|ephemeral)\s+\"?(\w+)\"?\s+\"?[\w-]+\"?\s*\{")
_HERE = re.compile(r"(?:null|random|local|time|tls|archive|template|kind|k3d|minikube)_\w+|terraform_data")
"""Resources that are values, files or clusters of this machine."""
_OF_DOCKER = re.compile(r"docker_(?!volume|registry_image|plugin|secret|config)\w+")
"""Resources of its engine that hold nothing which its files do not say."""
_FILES = re.compile(r"\blocal_(?:sensitive_)?file\b[^{}]*\{[^{}]*?\bfilename\s*=\s*([^\n]*)")
_INSIDE = re.compile(r"\"(?:\$\{path\.(?:module|root|cwd)\}/|\./|/tmp/)?(?!.*\.\.)[\w][^\"~]*\"\s*\}?\s*")
"""Where a file is made in the folder, or in a temporary one."""
_IN_CLUSTER = re.compile(r"(?:kubernetes|helm|kubectl)_\w+")
_CLUSTER = re.compile(r"\bconfig_context\s*=\s*\"([^\"$]+)\"")
_OTHER_CLUSTER = re.compile(r"\b(?:host|token|exec|config_context_cluster|proxy_url)\b")
_SOURCE = re.compile(r"\bsource\s*=\s*\"([^\"]*)\"")
_MODULE = re.compile(r"\bmodule\s+\"?[\w-]+\"?\s*\{")
_ELSEWHERE = re.compile(
    r"\bprovisioner\b|\bexternal\b|\bbackend\s+(?!\"?local\"?\s*\{\s*\})\"?\w|\b(?:cloud|import|removed)\s*\{"
    r"|\bhost\s*=\s*\"(?!unix:|npipe:)"
)
_TRIAL = re.compile(r"tests?|mock\w*|fake\w*|dummy\w*|localstack|local|foo|anaccesskey")
_TRIAL_KEY = re.compile(rf"\baccess_key\s*=\s*\"(?:{_TRIAL.pattern})\"")
"""A key that no cloud has given out."""
_ADDRESS = re.compile(r"=\s*\"(https?://[^\"]*|[^\"]*\$\{[^\"]*)\"")
_COMMENT = re.compile(r"(\"(?:\\.|[^\"\\\n])*\")|(?:#|//)[^\n]*|/\*.*?\*/", re.DOTALL)
MOST = 40
"""Files."""
_VERBS = ("plan", "apply", "destroy", "init", "validate", "output", "state", "show", "graph", "providers", "fmt", "get")
_OF_STATE = ("list", "show", "pull", "mv")
_OPTIONS = re.compile(
    r"--?(?:auto-approve|chdir|input|no-color|target|var|var-file|out|lock|lock-timeout|refresh|refresh-only|destroy"
    r"|replace|dry-run|json|raw|reconfigure|upgrade|parallelism|compact-warnings|detailed-exitcode|concise|get|id)(?:=.*)?"
)
_CHANGES_STATE = ("TF_CLI_ARGS", "TF_WORKSPACE", "TF_DATA_DIR")
_CHOSEN = "workspace of terraform"
"""Among ``Overlay.forwards``: from here on another state may be meant."""


def note(call: Call) -> None:
    """``terraform workspace select X``, ``terraform init -backend-config=path=X``."""
    verb, words = call.command.subcommand, [item.text for item in call.operands[:1]]
    chooses = verb == "workspace" and words and words[0] not in ("list", "show")
    if chooses or (verb == "init" and call.has("-backend-config", "--backend-config")):
        call.world.forwards.add(_CHOSEN)


def are_local(call: Call) -> bool:
    """Whether all that a folder's configuration, and its state, holds is on this machine, or in an emulator of it."""
    folder = call.head.value("-chdir") or call.parsed.value("-chdir")
    if not call.here or (folder is not None and not folder.known) or not _is_plain(call):
        return False
    at = call.locate(folder) if folder is not None else call.cwd
    files = list(_texts(call, at))
    if not files or None in (text for _, text in files) or len(files) > MOST:
        return False
    told = [(name, _without_comments(text)) for name, text in files if text]
    whole = "\n".join(text for _, text in told)
    kinds = set(_BLOCK.findall(whole))
    away = {kind for kind in kinds if not _HERE.fullmatch(kind)}
    if not kinds or _ELSEWHERE.search(whole) or not all(map(_INSIDE.fullmatch, _FILES.findall(whole))):
        return False
    spared = _spared(call, told, whole, away)
    return all(map(spared, away)) and _is_state_here(call, at, spared)


def _spared(call: Call, told: list[tuple[str, str]], whole: str, away: set[str]) -> Callable[[str], bool]:
    """Which types of resources are of this machine, by the providers that these files give them."""
    tests = [_HERE]
    if _is_engine_here(call, whole):
        tests.append(_OF_DOCKER)
    if any(map(_IN_CLUSTER.fullmatch, away)) and _is_cluster_here(whole):
        tests.append(_IN_CLUSTER)
    if any(kind.startswith("aws_") for kind in away) and _is_emulated(call, told):
        tests.append(_OF_AWS)
    return lambda kind: any(test.fullmatch(kind) for test in tests)


_OF_AWS = re.compile(r"aws_\w+")


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda match: match[1] or " ", text)


def _is_plain(call: Call) -> bool:
    """Whether neither a word nor a variable leads to another state than the folder's."""
    program, words = call.command.subcommand, [item.text for item in call.operands]
    options = (item.text for item in call.fields[1:] if item.text[:1] == "-")
    if program not in _VERBS or (program == "state" and not (words and words[0] in _OF_STATE)):
        return False
    names = (*call.scope.variables, *call.scope.environ)
    told = any(name.startswith(_CHANGES_STATE) for name in names) or _CHOSEN in call.world.forwards
    return not told and all(map(_OPTIONS.fullmatch, options)) and local_clusters.runs_here(call)


def _is_state_here(call: Call, folder: str, spared: Callable[[str], bool]) -> bool:
    """Whether the state that lies in the folder holds nothing else; what it destroys stands there."""
    if call.world.kind(f"{folder}/terraform.tfstate.d") or call.world.glob(f"{folder}/terraform.tfstate.d/*"):
        return False
    state, chosen = f"{folder}/terraform.tfstate", f"{folder}/.terraform/environment"
    backend = f"{folder}/.terraform/terraform.tfstate"
    return (
        (not call.world.kind(state) or call.world.fulfils(state, partial(_holds_only, spared)))
        and (not call.world.kind(chosen) or call.world.fulfils(chosen, lambda text: text.strip() == "default"))
        and (not call.world.kind(backend) or call.world.fulfils(backend, _is_backend_here))
    )


def _holds_only(spared: Callable[[str], bool], text: str) -> bool:
    """https://developer.hashicorp.com/terraform/internals/json-format: the types of a state's resources."""
    try:
        state = json.loads(text or "{}")
        rows = state.get("resources") or []
        return "modules" not in state and all(row["mode"] == "data" or spared(row["type"]) for row in rows)
    except (ValueError, AttributeError, KeyError, TypeError):
        return False


def _is_backend_here(text: str) -> bool:
    try:
        backend = json.loads(text).get("backend") or {"type": "local"}
        path = (backend.get("config") or {}).get("path")
        return backend.get("type") == "local" and path in (None, "terraform.tfstate")
    except (ValueError, AttributeError):
        return False


def _blocks(text: str, name: str) -> list[str]:
    """The bodies of a provider's blocks; of one that does not end all that follows."""
    found = []
    for match in re.finditer(rf"\bprovider\s+\"?(?:{name})\"?\s*\{{", text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        found.append(text[match.end() : at - 1])
    return found


def _is_engine_here(call: Call, text: str) -> bool:
    """Whether the engine of docker is this machine's."""
    blocks = _blocks(text, "docker")
    if any(re.search(r"\bcontext\b|\bhost\s*=\s*(?!\"(?:unix|npipe):)", block) for block in blocks):
        return False
    held = [value for name in ("DOCKER_HOST", "DOCKER_CONTEXT") if (value := call.scope.lookup(name)).isset]
    return all(value.known and "".join(value.items).startswith("unix:") for value in held)


def _is_cluster_here(text: str) -> bool:
    blocks = _blocks(text, "kubernetes|helm|kubectl")
    named = [name for block in blocks for name in _CLUSTER.findall(block)]
    patterns = local_clusters.LOCAL_CONTEXTS
    here = all(any(fnmatchcase(name, pattern) for pattern in patterns) for name in named)
    return len(named) >= len(blocks) > 0 and here and not any(map(_OTHER_CLUSTER.search, blocks))


def saved_plan(call: Call) -> str:
    """The file of the plan that is applied; empty for none."""
    operands = call.operands if call.command.subcommand == "apply" else []
    return call.locate(operands[0]) if operands else ""


_OVERRIDES = re.compile(r"(?:.*_)?override\.tf")
"""Files whose blocks are merged into those of the others."""


def _is_emulated(call: Call, files: list[tuple[str, str]]) -> bool:
    """Whether each of AWS's providers has a key for trials, and addresses of this machine alone, by its blocks or by
    variables.
    """
    over = [block for name, text in files if _OVERRIDES.fullmatch(name) for block in _blocks(text, "aws")]
    blocks = [block for name, text in files if not _OVERRIDES.fullmatch(name) for block in _blocks(text, "aws")]
    blocks = [block if re.search(r"\balias\b", block) else "\n".join((block, *over)) for block in blocks] or over
    key, end = call.scope.lookup("AWS_ACCESS_KEY_ID"), call.scope.lookup("AWS_ENDPOINT_URL")
    given = key.isset and end.isset and key.known and end.known
    if given and all(map(_TRIAL.fullmatch, key.items)) and all(map(network_addresses.is_local_address, end.items)):
        plain = not any(re.search(r"\b(?:profile|access_key|assume_role\w*|shared_\w+)\b", block) for block in blocks)
        return plain and all(map(network_addresses.is_local_address, _ADDRESS.findall("\n".join(blocks))))
    default = any(not re.search(r"\balias\b", block) for block in blocks)
    return default and all(
        _TRIAL_KEY.search(block)
        and (found := _ADDRESS.findall(block))
        and all(map(network_addresses.is_local_address, found))
        for block in blocks
    )


def _texts(call: Call, folder: str) -> Iterator[tuple[str, str | None]]:
    """The names and texts of the files of a folder and of its modules; None for what cannot be read, or comes from
    elsewhere.
    """
    seen, left = set[str](), [folder]
    while left and len(seen) < MOST:
        at = left.pop()
        if at in seen:
            continue
        seen.add(at)
        if call.world.glob(f"{at}/*.tf.json") or call.world.glob(f"{at}/*.tofu*"):
            yield "", None
        for path in call.world.glob(f"{at}/*.tf"):
            text = call.world.read(path)
            yield paths.base(path), None if text is None or UNKNOWN in text else text
            for source in _SOURCE.findall(text or "") if _MODULE.search(text or "") else ():
                if source.startswith(("./", "../")):
                    left.append(paths.normal(f"{at}/{source}"))
                elif "module" in (text or "") and not re.fullmatch(r"(?:registry\.[\w.]+/)?[\w-]+/[\w-]+", source):
                    yield "", None
