"""What tells that the other end of a cloud CLI is this machine: an address, a context, a kubeconfig, an emulator.

Kubeconfigs of the person are compared with names of clusters in containers, and no word of them goes further
(``Overlay.fulfils``). Where an end is named that the session made, the making is the witness (``made_names``).
"""

from __future__ import annotations

import re

from sentinel_guard.core.analysis import network_addresses
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import local_clusters, pulumi_files, terraform_files

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
    if (cluster := local_clusters.is_here(call)) is not None:
        return cluster
    names, variable = _SERVERS.get(call.command.program, ((), ""))
    given = call.head.value(*names) or call.parsed.value(*names)
    if given is not None:
        return given.known and network_addresses.is_local_address(given.text)
    set_to = call.scope.lookup(variable) if variable else None
    if set_to is None or not set_to.isset:
        return call.command.program in EMULATED
    return set_to.known and any(map(network_addresses.is_local_address, set_to.items))


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
    return (
        found is not None and call.world.is_own(f"port {found[1]}") and not local_clusters.is_forwarded(call, address)
    )


def note(call: Call) -> None:
    """What a command says of other ends from here on: clusters that it makes, aliases, another context."""
    program, words = call.command.program, [item.text for item in call.fields[1:]]
    if program in ("mc", "mcli"):
        if words[:2] in (["alias", "set"], ["alias", "s"]) and len(words) > 3:
            here = network_addresses.is_local_address(words[3])
            call.world.own.add(f"mc {words[2]}" if here else f"mc! {words[2]}")  # what once was away is so for good
    elif program == "vagrant":
        if words[:1] == ["up"] and not call.world.kind(call.locate(Field(".vagrant"))):
            call.world.own.add(f"machines of {call.cwd}")
    else:
        local_clusters.note(call)


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
