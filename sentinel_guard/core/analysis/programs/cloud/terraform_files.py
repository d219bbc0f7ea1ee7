"""Whether a configuration of Terraform makes nothing outside of this machine: what its files say.

Counted are the files of one folder and of the modules that it takes from folders. No HCL is parsed: what is not
understood counts as elsewhere. https://developer.hashicorp.com/terraform/language/files
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call

_BLOCK = re.compile(r"(?m)^\s*(?:resource|data|ephemeral)\s+\"(\w+)\"")
_HERE = re.compile(r"(?:null|random|local|time|tls|archive|template|docker)_\w+|terraform_data")
"""Resources that are values, files or containers of this machine."""
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
    texts = list(_texts(call, call.locate(folder) if folder is not None else call.cwd))
    if not texts or None in texts or len(texts) > MOST:
        return False
    whole = "\n".join(_COMMENT.sub("", text) if "://" not in text else text for text in texts if text)
    kinds = set(_BLOCK.findall(whole))
    away = {kind for kind in kinds if not _HERE.fullmatch(kind)}
    if not kinds or _ELSEWHERE.search(whole) or not all(kind.startswith("aws_") for kind in away):
        return False
    return not away or _is_emulated(whole)


def saved_plan(call: Call) -> str:
    """The file of the plan that is applied; empty for none."""
    operands = call.operands if call.command.subcommand == "apply" else []
    return call.locate(operands[0]) if operands else ""


def _is_emulated(text: str) -> bool:
    """Whether each of AWS's providers has a key for trials, and addresses of this machine alone."""
    blocks = _PROVIDER.findall(text)
    return bool(blocks) and all(
        _TRIAL_KEY.search(block)
        and (found := _ADDRESS.findall(block))
        and all(map(network_addresses.is_local_address, found))
        for block in blocks
    )


def _texts(call: Call, folder: str) -> Iterator[str | None]:
    """The files of a folder and of its modules; None for what cannot be read, or comes from elsewhere."""
    seen, left = set[str](), [folder]
    while left and len(seen) < MOST:
        at = left.pop()
        if at in seen:
            continue
        seen.add(at)
        if call.world.glob(f"{at}/*.tf.json"):
            yield None
        for path in call.world.glob(f"{at}/*.tf"):
            text = call.world.read(path)
            yield text
            for source in _SOURCE.findall(text or "") if _MODULE.search(text or "") else ():
                if source.startswith(("./", "../")):
                    left.append(paths.normal(f"{at}/{source}"))
                elif "module" in (text or "") and not re.fullmatch(r"(?:registry\.[\w.]+/)?[\w-]+/[\w-]+", source):
                    yield None
