"""Whether a configuration of Terraform makes nothing outside of this machine: what its files say.

Counted are the files of one folder and of the modules that it takes from folders. No HCL is parsed: what is not
understood counts as elsewhere. https://developer.hashicorp.com/terraform/language/files
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call

LOCAL_CONTEXTS: tuple[str, ...] = (
    *("kind-*", "k3d-*", "minikube*", "docker-desktop", "docker-for-desktop", "rancher-desktop", "colima*", "orbstack"),
    *("microk8s", "k3s-local", "localhost"),
)
"""Names of clusters in a container of this machine."""
_BLOCK = re.compile(r"(?m)^\s*(?:resource|data|ephemeral)\s+\"(\w+)\"")
_HERE = re.compile(r"(?:null|random|local|time|tls|archive|template|docker|kind|k3d|minikube)_\w+|terraform_data")
"""Resources that are values, files, containers or clusters of this machine."""
_IN_CLUSTER = re.compile(r"(?:kubernetes|helm|kubectl)_\w+")
_CLUSTER_PROVIDER = re.compile(r"(?ms)^provider\s+\"(?:kubernetes|helm|kubectl)\"\s*\{(.*?)^\}")
_CLUSTER = re.compile(r"\bconfig_context\s*=\s*\"([^\"$]+)\"")
_OTHER_CLUSTER = re.compile(r"\b(?:host|token|exec|config_context_cluster|proxy_url)\b")
_SOURCE = re.compile(r"\bsource\s*=\s*\"([^\"]*)\"")
_MODULE = re.compile(r"(?m)^\s*module\s+\"")
_ELSEWHERE = re.compile(
    r"\bprovisioner\b|\bexternal\b|\bbackend\s+\"(?!local\")|(?m:^\s*cloud\s*\{)|\bhost\s*=\s*\"(?!unix:|npipe:)"
)
_PROVIDER = re.compile(r"(?ms)^provider\s+\"aws\"\s*\{(.*?)^\}")
_TRIAL_KEY = re.compile(r"\baccess_key\s*=\s*\"(?:tests?|mock\w*|fake\w*|dummy\w*|localstack|local|foo|anaccesskey)\"")
"""A key that no cloud has given out."""
_ADDRESS = re.compile(r"=\s*\"(https?://[^\"]*|[^\"]*\$\{[^\"]*)\"")
_COMMENT = re.compile(r"(?m)(?:#|//).*$|/\*.*?\*/", re.DOTALL)
MOST = 40
"""Files."""


def are_local(call: Call) -> bool:
    """Whether all that this folder's configuration makes is on this machine, or in an emulator of it."""
    folder = call.head.value("-chdir") or call.parsed.value("-chdir")
    if not call.here or (folder is not None and not folder.known):
        return False
    files = list(_texts(call, call.locate(folder) if folder is not None else call.cwd))
    if not files or None in (text for _, text in files) or len(files) > MOST:
        return False
    told = [(name, _COMMENT.sub("", text) if "://" not in text else text) for name, text in files if text]
    whole = "\n".join(text for _, text in told)
    kinds = set(_BLOCK.findall(whole))
    away = {kind for kind in kinds if not _HERE.fullmatch(kind)}
    in_cluster = {kind for kind in away if _IN_CLUSTER.fullmatch(kind)}
    if not kinds or _ELSEWHERE.search(whole) or not all(kind.startswith("aws_") for kind in away - in_cluster):
        return False
    if in_cluster and not _is_cluster_here(whole):
        return False
    return away == in_cluster or _is_emulated(call, told)


def _is_cluster_here(text: str) -> bool:
    blocks = _CLUSTER_PROVIDER.findall(text)
    named = [name for block in blocks for name in _CLUSTER.findall(block)]
    here = all(any(fnmatchcase(name, pattern) for pattern in LOCAL_CONTEXTS) for name in named)
    return len(named) >= len(blocks) > 0 and here and not any(map(_OTHER_CLUSTER.search, blocks))


def saved_plan(call: Call) -> str:
    """The file of the plan that is applied; empty for none."""
    operands = call.operands if call.command.subcommand == "apply" else []
    return call.locate(operands[0]) if operands else ""


_OVERRIDES = re.compile(r"(?:.*_)?override\.tf")
"""Files whose blocks are merged into those of the others."""
_TRIAL = re.compile(r"tests?|mock\w*|fake\w*|dummy\w*|localstack|local|foo")


def _is_emulated(call: Call, files: list[tuple[str, str]]) -> bool:
    """Whether each of AWS's providers has a key for trials, and addresses of this machine alone, by its blocks or by
    variables.
    """
    over = [block for name, text in files if _OVERRIDES.fullmatch(name) for block in _PROVIDER.findall(text)]
    blocks = [block for name, text in files if not _OVERRIDES.fullmatch(name) for block in _PROVIDER.findall(text)]
    blocks = [block if re.search(r"\balias\b", block) else "\n".join((block, *over)) for block in blocks] or over
    key, end = call.scope.lookup("AWS_ACCESS_KEY_ID"), call.scope.lookup("AWS_ENDPOINT_URL")
    given = key.isset and end.isset and key.known and end.known
    if given and all(map(_TRIAL.fullmatch, key.items)) and all(map(network_addresses.is_local_address, end.items)):
        plain = not any(re.search(r"\b(?:profile|access_key|assume_role\w*|shared_\w+)\b", block) for block in blocks)
        return plain and all(map(network_addresses.is_local_address, _ADDRESS.findall("\n".join(blocks))))
    return bool(blocks) and all(
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
        if call.world.glob(f"{at}/*.tf.json"):
            yield "", None
        for path in call.world.glob(f"{at}/*.tf"):
            text = call.world.read(path)
            yield paths.base(path), text
            for source in _SOURCE.findall(text or "") if _MODULE.search(text or "") else ():
                if source.startswith(("./", "../")):
                    left.append(paths.normal(f"{at}/{source}"))
                elif "module" in (text or "") and not re.fullmatch(r"(?:registry\.[\w.]+/)?[\w-]+/[\w-]+", source):
                    yield "", None
