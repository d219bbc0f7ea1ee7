"""Whether a configuration of Terraform makes nothing outside of this machine: what its files say.

Counted are the files of one folder and of the modules that it takes from folders. No HCL is parsed: what is not
understood counts as elsewhere. https://developer.hashicorp.com/terraform/language/files
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.programs.cloud import local_clusters

_BLOCK = re.compile(r"\b(?:resource|data|ephemeral)\s+\"?(\w+)\"?\s+\"?[\w-]+\"?\s*\{")
_HERE = re.compile(
    r"(?:null|random|time|tls|archive|template|kind|k3d|minikube)_\w+|local_(?:sensitive_)?file|terraform_data"
)
"""Resources that are values, files or clusters of this machine."""
_OF_DOCKER = re.compile(r"docker_(?!volume|registry_image|plugin|secret|config)\w+")
"""Resources of its engine that hold nothing which its files do not say."""
_WRITERS = r"(?:resource|data)\s+\"?(?:local|archive|template|kind|k3d|minikube)_\w+\"?\s+\"?[\w-]+"
_FILE = re.compile(r"\b(?:filename|output_path|destination_dir|kubeconfig_path)\s*=\s*([^\n]*)")
_INSIDE = re.compile(r"\"(?:\$\{path\.(?:module|root|cwd)\}/|\./|/tmp/)?(?!.*\.\.)[\w][^\"~]*\"\s*\}?\s*")
"""Where a file is made in the folder, or in a temporary one."""
_IN_CLUSTER = re.compile(r"(?:kubernetes|helm|kubectl)_\w+")
_CLUSTER = re.compile(r"\bconfig_context\s*=\s*\"([^\"$]+)\"")
_OTHER_CLUSTER = re.compile(
    r"\b(?:host|token|exec|config_context_cluster|proxy_url|config_paths)\b"
    r"|\bconfig_path\s*=(?!\s*(?:pathexpand\()?\"~/\.kube/config\")"
)
_SOURCE = re.compile(r"\bsource\s*=\s*\"([^\"]*)\"")
_MODULE = re.compile(r"\bmodule\s+\"?[\w-]+\"?\s*\{")
_ELSEWHERE = re.compile(
    r"\bprovisioner\b|\bexternal\b|\bbackend\s+(?!\"?local\"?\s*\{\s*\})\"?\w|\b(?:cloud|import|removed)\s*\{"
    r"|\b(?:file\w*|templatefile)\(\s*(?:pathexpand\(\s*)?\"[~/]|\bhost\s*=\s*\"(?!unix:|npipe:)|\baction\s+\"?\w+\"?\s+\"?[\w-]+\"?\s*\{"
)
_REACHES = re.compile(
    r"\b(?:host_path|volume_name|from_container|privileged|devices|capabilities|(?:pid|ipc|userns)_mode|mounts)\b"
    r"|\bnetwork_mode\s*=\s*\"(?:host|container)"
)
"""By which a container reaches more of the machine, or of another container's data, than what it makes."""
_PROVIDER = re.compile(
    r"(?:registry\.(?:terraform\.io|opentofu\.org)/)?"
    r"(?:hashicorp|opentofu|kreuzwerker|tehcyx|pvotal|scott-the-programmer|gavinbunney|alekc|localstack)/[\w-]+"
)
"""Who publishes the providers of these resources; another one may do anything under the same names."""
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
    """``terraform workspace select X``, ``terraform init -backend-config=path=X``, ``terraform plan -out=X``."""
    for item in local_clusters.given(call, "-out", "--out") if call.command.subcommand == "plan" else ():
        call.world.unmake(name := f"plan {call.locate(item)}")
        if item.known and are_local(call):
            call.world.own.add(name)
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
    if not kinds or _ELSEWHERE.search(whole) or not (_stays_inside(whole) and _is_of_known_providers(whole)):
        return False
    if any("<<" in text and "/*" in text for _, text in files if text):
        return False  # in a text of several lines that is no comment
    spared = _spared(call, told, whole, away)
    return all(map(spared, away)) and _is_state_here(call, at, spared)


def _stays_inside(text: str) -> bool:
    """Whether all files that are made, or read into a value, lie in the folder or among temporary ones."""
    found = (name for body in _bodies(text, _WRITERS) for name in _FILE.findall(body))
    return all(map(_INSIDE.fullmatch, found))


def _is_of_known_providers(text: str) -> bool:
    named = (source for body in _bodies(text, "required_providers") for source in _SOURCE.findall(body))
    return all(map(_PROVIDER.fullmatch, named))


def _spared(call: Call, told: list[tuple[str, str]], whole: str, away: set[str]) -> Callable[[str], bool]:
    """Which types of resources are of this machine, by the providers that these files give them."""
    tests = [_HERE]
    if _is_engine_here(call, whole) and not any(map(_REACHES.search, _bodies(whole, _CONTAINER))):
        tests.append(_OF_DOCKER)
    if any(map(_IN_CLUSTER.fullmatch, away)) and _is_cluster_here(call, whole):
        tests.append(_IN_CLUSTER)
    if any(kind.startswith("aws_") for kind in away) and _is_emulated(call, told):
        tests.append(_OF_AWS)
    return lambda kind: any(test.fullmatch(kind) for test in tests)


_OF_AWS = re.compile(r"aws_\w+")
_CONTAINER = r"resource\s+\"?docker_(?:container|service)\"?\s+\"?[\w-]+"


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda match: match[1] or " ", text)


def are_emulated(call: Call) -> bool:
    """Whether ``tflocal``, which leads AWS's provider to an emulator, finds no resource of another cloud."""
    folder = call.head.value("-chdir") or call.parsed.value("-chdir")
    at = call.locate(folder) if folder is not None else call.cwd
    whole = "\n".join(_without_comments(text) for _, text in _texts(call, at) if text)
    return all(_OF_AWS.fullmatch(kind) or _HERE.fullmatch(kind) for kind in _BLOCK.findall(whole))


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
    """The bodies of a provider's blocks."""
    return _bodies(text, rf"provider\s+\"?(?:{name})")


def _bodies(text: str, head: str) -> list[str]:
    """The bodies of the blocks that begin so; of one that does not end all that follows."""
    found = []
    for match in re.finditer(rf"\b(?:{head})\"?\s*\{{", text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        found.append(text[match.end() : at - 1])
    return found


def _is_engine_here(call: Call, text: str) -> bool:
    """Whether the engine of docker is this machine's."""
    blocks = _blocks(text, "docker")
    if any(re.search(r"\bcontext\b|\bhost\s*=(?!\s*\"(?:unix|npipe):)", block) for block in blocks):
        return False
    held = [value for name in ("DOCKER_HOST", "DOCKER_CONTEXT") if (value := call.scope.lookup(name)).isset]
    return all(value.known and "".join(value.items).startswith("unix:") for value in held)


def _is_cluster_here(call: Call, text: str) -> bool:
    blocks = _blocks(text, "kubernetes|helm|kubectl")
    named = [_CLUSTER.findall(block) for block in blocks]
    here = all(names and all(local_clusters.is_context_here(call, name) for name in names) for names in named)
    return bool(blocks) and here and not any(map(_OTHER_CLUSTER.search, blocks))


def saved_plan(call: Call) -> str:
    """The file of the plan that is applied; empty for none."""
    operands = call.operands if call.command.subcommand == "apply" else []
    return call.locate(operands[0]) if operands else ""


def is_own_plan(call: Call, path: str) -> bool:
    """Whether a plan is one of a configuration of this machine alone: it is applied with the settings that it holds."""
    return call.world.is_own(f"plan {path}") and path not in (*call.world.made(), *call.world.copies)


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
        unread = call.world.glob(f"{at}/*.tf.json") or call.world.glob(f"{at}/*.tofu*")
        if unread or call.world.holds_fetched(at):
            yield "", None
        for path in call.world.glob(f"{at}/*.tf"):
            text = call.world.read(path)
            yield paths.base(path), None if text is None or UNKNOWN in text else text
            for source in _SOURCE.findall(text or "") if _MODULE.search(text or "") else ():
                if source.startswith(("./", "../")):
                    left.append(paths.normal(f"{at}/{source}"))
                elif "module" in (text or "") and not re.fullmatch(r"(?:registry\.[\w.]+/)?[\w-]+/[\w-]+", source):
                    yield "", None
    if left:
        yield "", None
