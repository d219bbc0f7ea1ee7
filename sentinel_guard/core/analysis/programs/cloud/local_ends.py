"""What tells that the other end of a cloud CLI is this machine: an address, a context, a kubeconfig, an emulator.

Kubeconfigs of the person are compared with names of clusters in containers, and no word of them goes further
(``Overlay.fulfils``). Where an end is named that the session made, the making is the witness (``made_names``).
"""

from __future__ import annotations

import re

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
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
_IN_CONTAINER = re.compile(r"(?:community\.docker\.|containers\.podman\.)?(?:docker|podman)")


def is_here(call: Call) -> bool:
    """Whether the other end is certain to be this machine: a cluster in a container, an emulator."""
    program = call.command.program
    if program in _BY_PROGRAM and _BY_PROGRAM[program](call):
        return True
    if program == "tflocal":
        return terraform_files.are_emulated(call)
    if (cluster := local_clusters.is_here(call)) is not None:
        return cluster
    names, variable = _SERVERS.get(call.command.program, ((), ""))
    given = call.head.value(*names) or call.parsed.value(*names)
    if _counts_before(call, variable="" if given is not None else variable):
        return False
    if given is not None:
        return given.known and network_addresses.is_local_address(given.text)
    if variable in call.scope.variables and variable not in call.scope.reaching:
        return False
    set_to = call.scope.lookup(variable) if variable else None
    if set_to is None or not set_to.isset:
        return call.command.program in EMULATED
    return set_to.known and any(map(network_addresses.is_local_address, set_to.items))


_BEFORE = {
    **dict.fromkeys(("vault", "bao"), ("VAULT_AGENT_ADDR", "VAULT_PROXY_ADDR", "BAO_AGENT_ADDR", "BAO_PROXY_ADDR")),
    "argocd": ("--core", "--port-forward", "--port-forward-namespace", "--kube-context"),
}
"""Variables and options by which a tool speaks to another end than the one that it is told."""


def _counts_before(call: Call, variable: str) -> bool:
    names = _BEFORE.get(call.command.program, ())
    if any(item.text.partition("=")[0] in names for item in call.fields[1:]):
        return True
    told = {*call.scope.variables, *call.scope.environ}
    if variable == "AWS_ENDPOINT_URL" and any(name.startswith(("AWS_ENDPOINT_URL_", "AWS_IGNORE_")) for name in told):
        return True
    return not told.isdisjoint(names)


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
    program = call.command.program
    if program in ("mc", "mcli"):
        _note_alias(call)
    elif program in ("terraform", "tofu"):
        terraform_files.note(call)
    elif program == "vagrant":
        parts = call.cwd.split("/")
        above = ("/".join((*parts[:count], ".vagrant")) for count in range(2, len(parts) + 1))
        fresh = call.here and _is_plain_vagrant(call) and not any(map(call.world.kind, above))
        if call.command.subcommand == "up" and fresh:
            call.world.own.add(f"machines of {call.cwd}")
    else:
        local_clusters.note(call)


_SETS_ALIAS = {("alias", "set"): 2, ("alias", "s"): 2, ("config", "host", "add"): 3}


def _note_alias(call: Call) -> None:
    """An alias of ``mc``: where its server is. What once was away is so for good, and one of an unknown form is."""
    if not local_clusters.runs_here(call):
        return
    words = [item.text for item in call.fields[1:] if item.text[:1] != "-"]
    count = next((n for form, n in _SETS_ALIAS.items() if tuple(words[:n]) == form), 0)
    if count and len(words) > count + 1:
        address = words[count + 1]
        plain = words[0] == "alias" and not _has_other_config(call)
        here = plain and network_addresses.is_local_address(address)
        here = here and not local_clusters.is_forwarded(call, address)
        call.world.own.add(f"mc {words[count]}" if here else f"mc! {words[count]}")
    elif {"alias", "config"} & {*words[:2]} and {"import", "add", "i", "set", "s"} & {*words[:4]}:
        call.world.own.add(f"mc! {next((word for word in words if word not in _ALIAS_WORDS), '')}")


_ALIAS_WORDS = ("alias", "config", "host", "add", "import", "i", "set", "s")


def _has_other_config(call: Call) -> bool:
    named = local_clusters.given(call, "-C", "--config-dir") or call.scope.lookup("MC_CONFIG_DIR").isset
    return bool(named) or any(item.text.startswith(("-C", "--config-dir")) for item in call.fields[1:])


def saved_plan(call: Call) -> str:
    """The file of a plan of Terraform that is applied: what it says counts, and not the folder; empty for none."""
    return terraform_files.saved_plan(call) if call.command.program in ("terraform", "tofu") else ""


# Ends that a tool of its own kind names.

_STORES = ("rm", "rb", "mv", "cp", "mirror", "mb", "put", "pipe", "tag", "ilm", "version", "undo")
_TAKES = ("rm", "rb", "mv", "tag", "ilm", "version", "undo")
_INVENTORY = re.compile(r"(?m)^\s*(?![#;\[\s])(\S+)(.*)$")
_SECTION = re.compile(r"(?ms)^\[[^\]\n]*:(?:vars|children)\].*?(?=^\[|\Z)")
_BY_CONTAINER = re.compile(r"\bansible_connection\s*=\s*(?:[\w.]*\.)?(?:docker|podman)\b")
_APART = re.compile(rf"\bansible_port\s*=\s*(?!22\b)\d+|{_BY_CONTAINER.pattern}")


def _is_alias_here(call: Call) -> bool:
    """Whether all that ``mc`` is given are files, and buckets of an alias that the session made for this machine."""
    if call.command.subcommand not in _STORES or not call.operands:
        return False
    if _has_other_config(call) or not local_clusters.runs_here(call):
        return False
    plain = [item for item in call.operands if item.text[:1] not in "./~"]
    takes = call.command.subcommand in _TAKES  # an alias counts before a folder of that name
    named = [item for item in plain if takes or not call.world.kind(call.locate(item))]
    aliases = {item.text.partition("/")[0] for item in named}
    own = all(call.world.is_own(f"mc {name}") and not call.world.is_own(f"mc! {name}") for name in aliases)
    own = own and not any(call.scope.lookup(f"MC_HOST_{name}").isset for name in aliases)
    return bool(aliases) and own and all(item.known for item in call.operands)


def _is_ansible_here(call: Call) -> bool:
    """Whether a playbook works on containers, or on virtual machines at ports of this machine, and nowhere else."""
    if not local_clusters.runs_here(call):
        return False
    extra = call.parsed.values("-e", "--extra-vars")
    words = [word for item in extra for word in item.text.split()]
    ways = [word.partition("=")[2] for word in words if word.startswith("ansible_connection=")]
    asked = [item.text for item in call.parsed.values("-c", "--connection")]
    if any(map(_IN_CONTAINER.fullmatch, (*ways, *asked))) and len(ways) + len(asked) == 1:
        return bool(ways) or not _says_connection(call)
    if _OTHER_WAYS & {item.text.partition("=")[0] for item in call.fields[1:]}:
        return False
    if any(call.scope.lookup(name).isset for name in ("ANSIBLE_SSH_ARGS", "ANSIBLE_SSH_COMMON_ARGS", "ANSIBLE_CONFIG")):
        return False
    if any(not item.known or "ansible_" in item.text or item.text[:1] == "@" for item in extra):
        return False
    given = call.parsed.values("-i", "--inventory", "--inventory-file")
    files = [call.locate(item) if item.known else "" for item in given]
    texts = [call.world.read(path) for path in files]
    beside = {*map(paths.parent, files), *(paths.parent(call.locate(item)) for item in call.operands), call.cwd}
    here = bool(texts) and all(text and _is_inventory_here(call, text) for text in texts)
    return here and not any(_leads_away(call, folder) for folder in beside)


_OTHER_WAYS = {"--ssh-common-args", "--ssh-extra-args", "--scp-extra-args", "--sftp-extra-args"}
_CONNECTION = re.compile(r"(?m)^\s*(?:-\s*)?connection\s*:|\bansible_connection\b|\b(?:delegate_to|add_host)\b")


def _says_connection(call: Call) -> bool:
    """Whether a playbook or an inventory says another connection than an option of the command, which counts last."""
    named = (*call.operands, *call.parsed.values("-i", "--inventory", "--inventory-file"))
    return any(_CONNECTION.search(call.world.read(call.locate(item)) or "") for item in named)


_BESIDE = ("*.y*ml", "group_vars/*", "group_vars/*/*", "host_vars/*", "host_vars/*/*", "roles/*/tasks/*.y*ml")
_ELSEWHERE = re.compile(r"\b(?:delegate_to|add_host|ansible_\w*(?:host|port|connection|ssh_\w+args))\b")


def _leads_away(call: Call, folder: str) -> bool:
    """Whether what lies beside an inventory, or a playbook, may name another machine than the inventory does."""
    found = (path for name in _BESIDE for path in call.world.glob(f"{folder}/{name}"))
    texts = (call.world.read(path) for path in found if call.world.kind(path) == "file")
    return any(text is None or _ELSEWHERE.search(text) for text in texts)


def _is_inventory_here(call: Call, text: str) -> bool:
    text = re.sub(r"(?m)(?:^|\s)[#;].*$", "", text)
    other = re.search(r"(?m)\{|^\s*[\w-]+:\s*$", text)
    if other or re.search(r"\bansible_(?:host|ssh_\w*args)\b", text):
        hosts = re.findall(r"\bansible_host\s*=\s*(\S+)", text)
        if other or not all(map(network_addresses.is_local_address, hosts)) or "args" in text:
            return False
    if any(local_clusters.is_forwarded(call, f":{port}") for port in re.findall(r"ansible_port\s*=\s*(\d+)", text)):
        return False
    rows = _INVENTORY.findall(_SECTION.sub("", text))
    return bool(rows) and all(
        _APART.search(rest)
        and (network_addresses.is_local_address(name) or "ansible_host" in rest or _BY_CONTAINER.search(rest))
        for name, rest in rows
    )


def _is_machine_own(call: Call) -> bool:
    """Whether the session brought up the machines that ``vagrant destroy`` takes, where there were none before."""
    named = any(_GLOBAL_ID.fullmatch(item.text) for item in call.fields[1:])
    return call.here and _is_plain_vagrant(call) and not named and call.world.is_own(f"machines of {call.cwd}")


_GLOBAL_ID = re.compile(r"[0-9a-f]{7,}")
"""Of a machine in any folder."""
_OF_VAGRANT = ("VAGRANT_CWD", "VAGRANT_DOTFILE_PATH", "VAGRANT_HOME", "VAGRANT_VAGRANTFILE")


def _is_plain_vagrant(call: Call) -> bool:
    known = all(item.known for item in call.fields) and local_clusters.runs_here(call)
    return known and not any(call.scope.lookup(name).isset for name in _OF_VAGRANT)


_BY_PROGRAM = {
    **dict.fromkeys(("ansible", "ansible-playbook"), _is_ansible_here),
    **dict.fromkeys(("mc", "mcli"), _is_alias_here),
    **dict.fromkeys(("terraform", "tofu"), terraform_files.are_local),
    "pulumi": pulumi_files.are_local,
    "vagrant": _is_machine_own,
}
