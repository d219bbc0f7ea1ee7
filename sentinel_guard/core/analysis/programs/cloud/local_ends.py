"""What tells that the other end of a cloud CLI is this machine: an address, a context, a kubeconfig, an emulator.

Kubeconfigs of the person are compared with names of clusters in containers, and no word of them goes further
(``Overlay.fulfils``). Where an end is named that the session made, the making is the witness (``made_names``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import pulumi_files, terraform_files

_SERVERS: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(("aws", "awslocal"), (("--endpoint-url",), "AWS_ENDPOINT_URL")),
    "vault": (("-address", "--address"), "VAULT_ADDR"),
    "bao": (("-address", "--address"), "BAO_ADDR"),
    "nomad": (("-address", "--address"), "NOMAD_ADDR"),
    "consul": (("-http-addr", "--http-addr"), "CONSUL_HTTP_ADDR"),
    "argocd": (("--server",), "ARGOCD_SERVER"),
}
"""Options and the variable that name the other end."""


EMULATED = {
    "awslocal": "aws", "tflocal": "terraform", "cdklocal": "cdk", "samlocal": "sam", "pulumilocal": "pulumi",
}  # fmt: skip
"""Wrappers that speak to an emulator of this machine where they are told no other end, and of what."""
_IN_CONTAINER = re.compile(
    r"(?:^|ansible_connection=)(?:community\.docker\.|containers\.podman\.)?(?:docker|podman)(?:\s|$)"
)


def is_here(call: Call) -> bool:
    """Whether the other end is certain to be this machine: a cluster in a container, an emulator."""
    program = call.command.program
    if program in _BY_PROGRAM and _BY_PROGRAM[program](call):
        return True
    context = call.head.value("--context", "--kube-context") or call.parsed.value("--context", "--kube-context")
    named = context is not None and (context.known or context.text[:1].isalpha())  # what follows may be a number
    if context is not None and named and not call.has("--server", "-s", "--kubeconfig"):
        return is_context_here(call, context.text)
    if (file := _own_kubeconfig(call)) is not None:
        return file
    if program in _CLUSTER_TOOLS and context is None:
        return _is_current_here(call)
    names, variable = _SERVERS.get(call.command.program, ((), ""))
    given = call.head.value(*names) or call.parsed.value(*names)
    if given is not None:
        return given.known and network_addresses.is_local_address(given.text)
    set_to = call.scope.lookup(variable) if variable else None
    if set_to is None or not set_to.isset:
        return call.command.program in EMULATED
    return set_to.known and any(map(network_addresses.is_local_address, set_to.items))


def is_context_here(call: Call, name: str) -> bool:
    """Whether a context is called as the tools of clusters in containers call theirs, or is one that such a tool made
    under a name of the session's choice.
    """
    named = any(fnmatchcase(name, pattern) for pattern in terraform_files.LOCAL_CONTEXTS)
    return named or call.world.is_own(f"context {name}")


_PORT = re.compile(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(\d+)(?:/\S*)?")


def is_own_server(call: Call) -> bool:
    """Whether the other end is a server that the session started, at its port: what it holds the session has put
    there.
    """
    names, variable = _SERVERS.get(call.command.program, ((), ""))
    given = call.head.value(*names) or call.parsed.value(*names) if names else None
    held = call.scope.lookup(variable) if variable else None
    address = given.text if given is not None and given.known else ""
    if given is None and held is not None and held.isset and held.known:
        address = "".join(held.items)
    elif given is None and call.command.program == "awslocal":
        address = "http://localhost:4566"
    found = _PORT.fullmatch(address)
    return found is not None and call.world.is_own(f"port {found[1]}") and not _is_forwarded(call, address)


_SERVER_KEY = re.compile(r"\bserver\b['\"]?\s*:")
_SERVER = re.compile(r"\bserver\b['\"]?[ \t]*:[ \t]*['\"]?(https?://[^\s'\",}#]+)")
_GOES_ROUND = re.compile(r"\\|\bproxy-url\b")
"""What a kubeconfig may lead elsewhere with though its servers are here; a key may be spelled with escapes."""
_CURRENT = re.compile(r"(?m)^current-context:[ \t]*[\"']?([\w.@:/-]+)[\"']?[ \t]*$")
_CLUSTER_TOOLS = frozenset(
    (
        *(
            "kubectl",
            "oc",
            "helm",
            "helmfile",
            "flux",
            "skaffold",
            "werf",
            "devspace",
            "kapp",
            "kluctl",
            "odo",
            "tanka",
        ),
        *("timoni", "garden", "cilium", "istioctl", "linkerd", "velero", "operator-sdk", "cmctl", "tkn", "kn", "dapr"),
        *("tilt", "crossplane", "ko", "k9s"),
    )
)
"""What speaks to the cluster that the kubeconfig names."""


def _own_kubeconfig(call: Call) -> bool | None:
    """Whether a kubeconfig in a temporary folder, or in the repository, that this text names knows this machine alone;
    None where it names none. The person's own is a file of secrets, and not looked into.
    """
    if call.command.program not in _CLUSTER_TOOLS:
        return None
    option = call.head.value("--kubeconfig") or call.parsed.value("--kubeconfig")
    held = call.scope.variables.get("KUBECONFIG")
    name = option if option is not None else Field("".join(held)) if held else None
    if name is None or not name.known or not name.text:
        return None
    path = call.locate(name)
    if not (path.startswith(paths.TEMPORARY) or (call.world.root and path.startswith(f"{call.world.root}/"))):
        return None
    text = call.world.read(path) or ""
    own = call.world.is_own(f"kubeconfig {path}")
    if own and not _SERVER_KEY.search(text):
        return True
    servers = _SERVER.findall(text)
    if not servers or len(servers) != len(_SERVER_KEY.findall(text)) or _GOES_ROUND.search(text):
        return False
    plain = not call.has("--server", "-s", "--kube-apiserver")
    of_machine = own or _OF_MINIKUBE in text
    return plain and all(
        (network_addresses.is_local_address(one) or (of_machine and _VIRTUAL.match(one)))
        and not _is_forwarded(call, one)
        for one in servers
    )


_VIRTUAL = re.compile(r"https://192\.168\.\d+\.\d+(?::\d+)?/?$")
_OF_MINIKUBE = "minikube.sigs.k8s.io"
"""Its clusters are machines, or containers, with addresses of their own."""


def _is_forwarded(call: Call, address: str) -> bool:
    """Whether this text leads that port of this machine to another one: ``ssh -L``, ``kubectl port-forward``."""
    port = re.search(r":(\d+)(?:/|$)", address)
    number = re.compile(rf"(?<!\d){port[1] if port else 443}(?!\d)|[$`\0]")
    return any(map(number.search, call.world.forwards))


def _is_current_here(call: Call) -> bool:
    """Whether the current context of the person's kubeconfig, which this text has not changed, is a cluster in a
    container of this machine.
    """
    if CHANGED in call.world.forwards or call.has("--server", "-s", "--kube-apiserver", "--kubeconfig", "--cluster"):
        return False
    held = call.scope.lookup("KUBECONFIG")
    if CHOSEN in call.world.own and not held.isset:
        return True
    if held.isset and not (held.known and ":" not in "".join(held.items)):
        return False
    path = call.locate("".join(held.items)) if held.isset else f"{call.world.home}/.kube/config"
    if not call.world.kind(path):
        return call.world.is_own("current cluster")
    return call.world.fulfils(path, lambda text: _names_container(call, text))


def _names_container(call: Call, text: str) -> bool:
    found = _CURRENT.findall(text)
    return len(found) == 1 and is_context_here(call, found[0])


CHANGED = "context of kubectl"
"""Among ``Overlay.forwards``: from here on another cluster may be meant."""
CHOSEN = "chosen cluster"
"""Among ``Overlay.own``: the text has chosen a cluster of this machine, and no other one since."""
_CHOOSES = re.compile(
    r"(?:use|set|rename)-context|set-cluster|get-credentials|update-kubeconfig|kubeconfig|credentials"
)


def note(call: Call) -> None:
    """What a command says of other ends from here on: clusters that it makes, aliases, another context."""
    program, words = call.command.program, [item.text for item in call.fields[1:]]
    if program in MAKERS:
        if {"create", "start", "export", "write", "merge"} & {*words[:3]}:
            _note_cluster(call)
    elif program in ("mc", "mcli"):
        if words[:2] in (["alias", "set"], ["alias", "s"]) and len(words) > 3:
            here = network_addresses.is_local_address(words[3])
            call.world.own.add(f"mc {words[2]}" if here else f"mc! {words[2]}")  # what once was away is so for good
    elif program == "vagrant":
        if words[:1] == ["up"] and not call.world.kind(call.locate(Field(".vagrant"))):
            call.world.own.add(f"machines of {call.cwd}")
    elif _chooses_here(call, words):
        call.world.forwards.discard(CHANGED)
        call.world.own.add(CHOSEN)
    elif program in SWITCHERS or any(map(_CHOOSES.search, words)):
        call.world.forwards.add(CHANGED)
        call.world.own.discard(CHOSEN)


def _chooses_here(call: Call, words: list[str]) -> bool:
    """``kubectl config use-context kind-x`` and its like, of a cluster of this machine that the kubeconfig knows: where
    there is none of that name the current one stays.
    """
    shift = 1 if call.command.program == "kubectx" else 3 if words[:2] == ["config", "use-context"] else 0
    if not shift or len(words) != shift or call.scope.lookup("KUBECONFIG").isset or not call.fields[-1].known:
        return False
    name = words[-1]
    known = re.compile(rf"(?m)^\s*(?:-\s*)?name:[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*$")
    there = call.world.fulfils(f"{call.world.home}/.kube/config", lambda text: known.search(text) is not None)
    return is_context_here(call, name) and (there or call.world.is_own("current cluster"))


SWITCHERS = ("kubectx", "kubie", "kubeswitch", "kubech", "ktx", "kcf")


MAKERS = ("kind", "minikube", "k3d", "microk8s", "ctlptl")
"""What makes clusters in containers, or machines, of this one; what they print as a kubeconfig leads there."""


def note_written(fields: Sequence[Field], written: Sequence[str], own: set[str]) -> None:
    """``k3d kubeconfig get x > FILE``."""
    words = {item.text for item in fields[1:]}
    if fields[0].text in MAKERS and words & {"kubeconfig", "config"} and not words & {"merge", "write"}:
        own.update(f"kubeconfig {path}" for path in written)


def _note_cluster(call: Call) -> None:
    if call.command.program == "minikube":
        call.world.own.update(f"context {item.text}" for item in given(call, "-p", "--profile") if item.known)
    option = next(iter(given(call, "--kubeconfig", "-o", "--output")), None)
    held = call.scope.variables.get("KUBECONFIG")
    name = option if option is not None else Field("".join(held)) if held else None
    if name is None:
        call.world.own.add("current cluster")
    elif name.known and name.text and not call.world.kind(path := call.locate(name)):
        call.world.own.add(f"kubeconfig {path}")


def given(call: Call, *names: str) -> list[Field]:
    """The values of options, wherever they stand, of a program whose options no table tells."""
    behind = [item for before, item in pairwise(call.fields) if before.text in names]
    within = [item for item in call.fields if item.text.startswith(tuple(f"{name}=" for name in names))]
    return [*(Field(item.text.partition("=")[2], item.known) for item in within), *behind]


def saved_plan(call: Call) -> str:
    """The file of a plan of Terraform that is applied: what it says counts, and not the folder; empty for none."""
    return terraform_files.saved_plan(call) if call.command.program in ("terraform", "tofu") else ""


# Ends that a tool of its own kind names.

_STORES = ("rm", "rb", "mv", "cp", "mirror", "mb", "put", "pipe", "tag", "ilm", "version", "undo")
_INVENTORY = re.compile(r"(?m)^\s*(?![#;\[\s])(\S+)(.*)$")
_SECTION = re.compile(r"(?ms)^\[[^\]\n]*:(?:vars|children)\].*?(?=^\[|\Z)")
_APART = re.compile(r"\bansible_port\s*=\s*(?!22\b)\d+|\bansible_connection\s*=\s*(?:[\w.]*\.)?(?:docker|podman)\b")


def _is_alias_here(call: Call) -> bool:
    """Whether all that ``mc`` is given are files, and buckets of an alias that the session made for this machine."""
    if call.command.subcommand not in _STORES or not call.operands:
        return False
    named = [item for item in call.operands if item.text[:1] not in "./~" and not call.world.kind(call.locate(item))]
    aliases = {item.text.partition("/")[0] for item in named}
    own = all(call.world.is_own(f"mc {name}") and not call.world.is_own(f"mc! {name}") for name in aliases)
    return bool(aliases) and own and all(item.known for item in call.operands)


def _is_ansible_here(call: Call) -> bool:
    """Whether a playbook works on containers, or on virtual machines at ports of this machine, and nowhere else."""
    if any(_IN_CONTAINER.search(v.text) for v in call.parsed.values("-e", "--extra-vars", "-c", "--connection")):
        return True
    given = call.parsed.values("-i", "--inventory", "--inventory-file")
    texts = [call.world.read(call.locate(item)) if item.known else None for item in given]
    return bool(texts) and all(text and _is_inventory_here(text) for text in texts)


def _is_inventory_here(text: str) -> bool:
    if (
        "{" in text
        or re.search(r"(?m)^\s*[\w-]+:\s*$", text)
        or re.search(r"\bansible_(?:host|ssh_common_args)\b", text)
    ):
        hosts = re.findall(r"\bansible_host\s*=\s*(\S+)", text)
        if not hosts or not all(map(network_addresses.is_local_address, hosts)) or "ssh_common_args" in text:
            return False
    rows = _INVENTORY.findall(_SECTION.sub("", text))
    return bool(rows) and all(
        _APART.search(rest) and (network_addresses.is_local_address(name) or "ansible_host" in rest or "docker" in rest)
        for name, rest in rows
    )


def _is_machine_own(call: Call) -> bool:
    """Whether the session brought up the machines that ``vagrant destroy`` takes, where there were none before."""
    plain = all(item.known for item in call.fields) and not call.scope.lookup("VAGRANT_CWD").isset
    return call.here and plain and call.world.is_own(f"machines of {call.cwd}")


_BY_PROGRAM = {
    **dict.fromkeys(("ansible", "ansible-playbook"), _is_ansible_here),
    **dict.fromkeys(("mc", "mcli"), _is_alias_here),
    **dict.fromkeys(("terraform", "tofu"), terraform_files.are_local),
    "pulumi": pulumi_files.are_local,
    "vagrant": _is_machine_own,
}
