"""Whether a program of Pulumi makes nothing outside of this machine: where its state lies, and what its code takes in.

Counted are the imports of the code: whatever makes resources comes from a package that is named so. No code is run or
parsed; a package that is not known may reach anywhere. https://www.pulumi.com/docs/iac/concepts/state-and-backends/
"""

from __future__ import annotations

import re

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import container_engines, local_clusters

_BACKEND = re.compile(r"file://(/[^?\s]+|~)(?:\?[\w=&]*)?")
_ENDINGS = ("ts", "js", "py", "go", "[cm][jt]s", "tsx")
_PATTERNS = (
    *(
        f"{folder}*.{ending}"
        for folder in ("", "*/", "*/*/")
        for ending in ("ts", "[cm]ts", "tsx", "js", "[cm]js", "py", "go")
    ),
    *("Pulumi.y*ml", "Pulumi.*.y*ml", "Main.yaml"),
)
_MANIFESTS = ("package.json", "requirements*.txt", "pyproject.toml", "go.mod", "Pipfile")
_REQUIRED = re.compile(r"(?:@pulumi/|\bpulumi[-_])([a-z][\w-]*)")
_TAKEN_IN = re.compile(r"(?:@pulumi/|(?:\bimport|\bfrom|,)\s+pulumi_|['\"]pulumi_)([a-z][\w-]*)")
"""Packages that make resources: in a manifest, and wherever code names one."""
_TESTS = re.compile(r"/(?:tests?|spec|__tests__|node_modules|venv|\.venv)/|[._](?:test|spec)\.|/test_\w+\.py$")
_IMPORTS = re.compile(
    r"(?m)(?:^\s*(?:import|export)\b[^'\"\n]*?(?:from\s*)?|\brequire\(\s*|\bimport\(\s*)['\"]([^'\"\n]+)['\"]"
    r"|^\s*(?:\w+\s+)?\"([\w.-]+\.\w+/[^\"\n]+)\"\s*$|^\s*(?:from\s+([\w.]+)\s+import\b|import\s+([\w.]+))"
)
_LOCAL = r"(?:pulumi|docker|docker[-_]build|random|tls|null|std|time)"
_KNOWN = re.compile(
    rf"\.{{1,2}}(?:/.*)?|node:.*|fs|path|os|util|crypto|url|@pulumi/{_LOCAL}(?:/.*)?|pulumi(?:_{_LOCAL})?(?:\..*)?"
    rf"|github\.com/pulumi/pulumi(?:-{_LOCAL})?/sdk(?:/.*)?|__future__|json|typing|pathlib|dataclasses|re|base64"
)
_TYPES = re.compile(r"\btype['\"]?:\s*['\"]?(\w+):")
_LEADS_AWAY = re.compile(
    r"\bProvider\s*\(|\bcommand\.(?:local|remote)\b|ssh://|tcp://|\bregistryAuth\b|StackReference|\bRegistryImage\b"
    r"|\bregistry['\"]?\s*[:=]|\bdocker:host\b|(?m:^main:)|\brequire\(\s*[^'\"\s]|\bimport\(\s*[^'\"\s]|__import__|\beval\("
    r"|\bos\.(?:system|popen|exec\w+|spawn\w+|remove|unlink|rmdir|removedirs|rename|replace)\b|\.unlink\(|\.write_\w+\("
    r"|\b(?:rm|rmdir|unlink|writeFile|rename|cp|truncate|appendFile)(?:Sync)?\("
)
"""Another engine or registry, code that is not in these files, files of this machine."""
_REACHES = re.compile(r"(?i)\b(?:host_?path|volume_?name|from_?container|privileged|mounts|capabilities|devices)\b")
"""By which a container reaches more of the machine, or of another one's data."""
_RUNTIMES = re.compile(r"(?m)^runtime:\s*['\"]?(?:\s*name:\s*)?['\"]?(?:nodejs|python|go|yaml)\b")
MOST = 60
"""Files."""


def are_local(call: Call) -> bool:
    """Whether the state lies in a temporary folder, and all that the program makes is on this machine."""
    held = call.scope.lookup("PULUMI_BACKEND_URL")
    folder = call.parsed.value("-C", "--cwd") or call.head.value("-C", "--cwd")
    if not (held.isset and held.known and call.here) or (folder is not None and not folder.known):
        return False
    engines = (call.scope.lookup(name) for name in container_engines.ENGINES)
    if any(value.isset for value in engines) or local_clusters.given(call, "-c", "--config", "--config-file"):
        return False
    backend = _BACKEND.fullmatch("".join(held.items))
    root, home = call.world.root, call.world.home
    if backend is None or not paths.is_temporary(paths.normal(backend[1]), root, home):
        return False
    at = call.locate(folder) if folder is not None else call.cwd
    found = [path for pattern in _PATTERNS for path in call.world.glob(f"{at}/{pattern}") if not _TESTS.search(path)]
    texts = [call.world.read(path) for path in found]
    if not texts or len(texts) > MOST or None in texts or call.world.holds_fetched(at):
        return False
    manifests = (call.world.read(path) or "" for name in _MANIFESTS for path in call.world.glob(f"{at}/{name}"))
    required = {name for text in manifests for name in _REQUIRED.findall(text)}
    if not all(re.fullmatch(_LOCAL, name) for name in required):
        return False
    told = [call.world.read(path) or "" for path in call.world.glob(f"{at}/Pulumi.y*ml")]
    return bool(told) and all(map(_RUNTIMES.search, told)) and all(_is_local(call, text or "", at) for text in texts)


def _is_local(call: Call, text: str, folder: str) -> bool:
    names = ["".join(found) for found in _IMPORTS.findall(text)]
    known = UNKNOWN not in text and all(_KNOWN.fullmatch(name) or _is_beside(call, name, folder) for name in names)
    kinds = [*_TYPES.findall(text), *_TAKEN_IN.findall(text)]
    leads = _LEADS_AWAY.search(text) or _REACHES.search(text)
    return known and not leads and all(re.fullmatch(_LOCAL, kind) for kind in kinds)


def _is_beside(call: Call, name: str, folder: str) -> bool:
    """A module of python's that lies in the program's own folder."""
    first = name.partition(".")[0]
    there = call.world.kind(call.locate(Field(f"{folder}/{first}.py"))) or call.world.kind(f"{folder}/{first}")
    return bool(re.fullmatch(r"[\w.]+", name)) and bool(there)
