"""Whether the cluster that a command speaks to is one of this machine: by its context, or by a kubeconfig.

The current context of the person's kubeconfig counts where the command surely asks that file: nothing of the text, of
its variables or of what runs it may name another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from sentinel_guard.core.analysis import network_addresses, paths, places
from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field

LOCAL_CONTEXTS: tuple[str, ...] = (
    *("kind-*", "k3d-*", "minikube*", "docker-desktop", "docker-for-desktop", "rancher-desktop", "colima*", "orbstack"),
    *("microk8s", "k3s-local", "localhost"),
)
"""Names of clusters in a container of this machine."""
_CONTEXTS = ("--context", "--kube-context", "--kubecontext", "--kubeconfig-context")
_SERVERS = ("--server", "--kube-apiserver", "--cluster", "--tls-server-name", "--apiserver")
_OTHER_LETTERS = {"kubectl": ("-s",), "oc": ("-s",), "istioctl": ("-c",), "tkn": ("-c",)}
_FOLLOW_CURRENT = frozenset(
    (
        *("kubectl", "oc", "helm", "flux", "istioctl", "cilium", "velero", "linkerd", "kapp", "timoni", "tkn", "kn"),
        *("cmctl", "dapr", "crossplane", "ko", "k9s", "odo", "operator-sdk"),
    )
)
"""What works on the current context where no option says otherwise."""
_BY_PROJECT: dict[str, tuple[str, ...]] = {
    "helmfile": ("helmfile.y*ml*", "helmfile.d/*"),
    "skaffold": ("skaffold.y*ml",),
    "devspace": ("devspace.y*ml",),
    "tilt": ("Tiltfile",),
}
"""What works on it where these files of the project name no other one."""
_NAMES_CONTEXT = re.compile(r"(?i)context|kubeconfig|\b(?:bases|helmfiles|requires|imports?|dependencies|load)\b")
_BY_NAME = ("kluctl", "werf", "garden", "tanka")
"""What has ways of its own to choose one."""
TOOLS = frozenset((*_FOLLOW_CURRENT, *_BY_PROJECT, *_BY_NAME))
"""What speaks to the cluster that the kubeconfig names."""
_VARIABLES = (
    *("HELM_KUBECONTEXT", "HELM_KUBEAPISERVER", "HELM_KUBETOKEN", "HELM_KUBETLS_SERVER_NAME", "KUBERNETES_MASTER"),
    *("SKAFFOLD_KUBE_CONTEXT", "SKAFFOLD_PROFILE", "SKAFFOLD_CONFIG", "SKAFFOLD_FILENAME", "SKAFFOLD_KUBECONFIG"),
    *("KAPP_KUBECONFIG", "KAPP_KUBECONFIG_CONTEXT", "ISTIOCONFIG", "HELMFILE_KUBE_CONTEXT", "HELMFILE_ENVIRONMENT"),
)
"""Variables with which these tools choose another cluster."""
HANDS_ON = frozenset(
    (
        *("make", "gmake", "npm", "pnpm", "yarn", "bun", "npx", "just", "task", "go-task", "env", "cross-env", "time"),
        *("timeout", "nice", "nohup", "stdbuf", "command", "exec", "eval", "xargs", "watch", "retry", "unbuffer"),
        *("setsid", "ionice", "chronic"),
    )
)
"""What runs a command on this machine, with the variables and the home that it has itself."""


_SENDS = frozenset(("push", "bootstrap", "mirror", "func"))
"""Verbs of these tools whose other end is a registry, or a repository, and no cluster."""


def is_here(call: Call) -> bool | None:
    """Whether its cluster is certain to be one of this machine; None where this says nothing of a cluster."""
    if call.command.program in TOOLS and _SENDS & {call.command.subcommand, *(item.text for item in call.operands[:2])}:
        return False
    context = call.head.value(*_CONTEXTS) or call.parsed.value(*_CONTEXTS)
    if context is None and call.command.program in TOOLS:
        context = next(iter(given(call, *_CONTEXTS)), None)
    named = context is not None and (context.known or context.text[:1].isalpha())  # what follows may be a number
    if context is not None and named and not call.has(*_SERVERS, "-s", "--kubeconfig"):
        return is_context_here(call, context.text)
    if (file := _own_kubeconfig(call)) is not None:
        return file
    return _is_current_here(call) if call.command.program in TOOLS and context is None else None


def is_context_here(call: Call, name: str) -> bool:
    """Whether a context is called as the tools of clusters in containers call theirs, or is one that such a tool made
    under a name of the session's choice; and no kubeconfig gives it a server elsewhere.
    """
    named = any(fnmatchcase(name, pattern) for pattern in LOCAL_CONTEXTS)
    if not (named or call.world.is_own(f"context {name}")) or _times(call, REWRITTEN):
        return False
    if places.is_away(call.command) or places.is_inside(call.command) or not _is_at_home(call):
        return False
    return all(not call.world.kind(path) or _is_server_here(call, path, name) for path in _kubeconfigs(call))


def _persons(call: Call) -> str:
    """The kubeconfig that is taken where nothing names another."""
    return f"{call.world.home}/.kube/config"


def _kubeconfigs(call: Call) -> list[str]:
    """The files that a command takes its contexts from, as far as they are known."""
    held = call.scope.lookup("KUBECONFIG")
    if not held.isset:
        return [_persons(call)]
    return [call.locate(name) for name in "".join(held.items).split(":") if name] if held.known else []


_SERVER_KEY = re.compile(r"\bserver\b['\"]?\s*:")
_SERVER = re.compile(r"\bserver\b['\"]?[ \t]*:[ \t]*['\"]?(https?://[^\s'\",}#]+)")
_GOES_ROUND = re.compile(r"\\|\b(?:proxy-url|tls-server-name)\b")
"""What a kubeconfig may lead elsewhere with though its servers are here; a key may be spelled with escapes."""
_CURRENT = re.compile(r"(?m)^current-context:[ \t]*[\"']?([\w.@:/-]+)[\"']?[ \t]*$")
_OF_CLUSTER = re.compile(r"(?m)^\s+cluster:[ \t]*[\"']?([^\s\"']+)")


def _is_server_here(call: Call, path: str, context: str) -> bool:
    return call.world.fulfils(path, lambda text: _serves_here(call, text, context))


def _serves_here(call: Call, text: str, context: str) -> bool:
    """Whether the server that a kubeconfig gives this context is here; where it gives none there is nothing to lose.
    Of a form that ``kubectl config`` does not write all servers count.
    """
    if not _SERVER_KEY.search(text):
        return True
    named = [name for entry in _entries(text, "contexts", context) for name in _OF_CLUSTER.findall(entry)]
    clusters = [entry for name in named for entry in _entries(text, "clusters", name)]
    return all(_leads_here(call, part, of_machine=_OF_MINIKUBE in text) for part in clusters or [text])


def _entries(text: str, section: str, name: str) -> Iterator[str]:
    """The entries of a list that bear this name, as ``kubectl config`` writes them."""
    found = re.search(rf"(?m)^{section}:[ \t]*\n((?:(?:[ -].*)?\n)*)", f"{text}\n")
    body = found[1] if found else ""
    indent = len(body) - len(body.lstrip(" "))
    called = re.compile(rf"(?m)(?:\A|^ {{{indent + 2}}})name:[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*$")
    for entry in re.split(rf"(?m)^ {{{indent}}}- ", body)[1:]:
        if called.search(entry):
            yield entry


def _leads_here(call: Call, text: str, *, of_machine: bool) -> bool:
    servers = _SERVER.findall(text)
    if not servers or len(servers) != len(_SERVER_KEY.findall(text)) or _GOES_ROUND.search(text):
        return False
    return all(
        (network_addresses.is_local_address(one) or _OF_DOCKER.match(one) or (of_machine and _VIRTUAL.match(one)))
        and not is_forwarded(call, one)
        for one in servers
    )


_OF_DOCKER = re.compile(r"https://kubernetes\.docker\.internal:\d+/?$")
_VIRTUAL = re.compile(r"https://192\.168\.\d+\.\d+(?::\d+)?/?$")
_OF_MINIKUBE = "minikube.sigs.k8s.io"
"""Its clusters are machines, or containers, with addresses of their own."""


def _own_kubeconfig(call: Call) -> bool | None:
    """Whether a kubeconfig in a temporary folder, or in the repository, that this text names knows this machine alone;
    None where it names none. The person's own is told by its current context.
    """
    if call.command.program not in TOOLS:
        return None
    option = call.head.value("--kubeconfig") or call.parsed.value("--kubeconfig")
    held = call.scope.variables.get("KUBECONFIG")
    name = option if option is not None else Field("".join(held)) if held else None
    if name is None or not name.known or not name.text:
        return None
    path = call.locate(name)
    if not (path.startswith(paths.TEMPORARY) or (call.world.root and path.startswith(f"{call.world.root}/"))):
        return None
    if path == _persons(call):
        return None
    if not _is_plain(call) or path in call.world.copies or _times(call, REWRITTEN):
        return False
    if call.world.is_unseen(path) and f"kubeconfig {path}" not in call.world.own:
        return False
    in_text, own = f"kubeconfig {path}" in call.world.own, call.world.is_own(f"kubeconfig {path}")
    if own and not call.world.fulfils(path, lambda text: _SERVER_KEY.search(text) is not None):
        return in_text or path not in call.world.made()
    return call.world.fulfils(path, lambda text: _leads_here(call, text, of_machine=own or _OF_MINIKUBE in text))


def _is_plain(call: Call) -> bool:
    """Whether neither an option nor a variable of the tool names another cluster, and it runs on this machine with the
    variables of the text.
    """
    program = call.command.program
    names = (*_SERVERS, *_OTHER_LETTERS.get(program, ()))
    if given(call, *names) or call.has(*names):
        return False
    return runs_here(call) and not any(call.scope.lookup(name).isset for name in _VARIABLES)


def runs_here(call: Call) -> bool:
    """Whether a command runs on this machine, with the variables and the home that the text has."""
    through = (via.partition(" ")[0] for via in call.command.via)
    return _is_at_home(call) and all(name in HANDS_ON or name in SHELLS or "/" in name for name in through)


def _is_at_home(call: Call) -> bool:
    return call.scope.variables.get("HOME", (call.world.home,)) == (call.world.home,)


def is_forwarded(call: Call, address: str) -> bool:
    """Whether this text leads that port of this machine to another one: ``ssh -L``, ``kubectl port-forward``."""
    port = re.search(r":(\d+)(?:/|$)", address)
    number = re.compile(rf"(?<!\d){port[1] if port else 443}(?!\d)|[$`\0]")
    return any(number.search(one) for one in call.world.forwards if not one.startswith((CHANGED, REWRITTEN)))


def _is_current_here(call: Call) -> bool:
    """Whether the current context of the person's kubeconfig, which this text has not changed, is a cluster in a
    container of this machine.
    """
    if call.has("--kubeconfig") or not _is_plain(call) or not _asks_current(call):
        return False
    held = call.scope.lookup("KUBECONFIG")
    if not held.isset and call.scope.variables.get(_CHOSEN) == (str(_times(call, CHANGED)),):
        return True
    if _times(call, CHANGED) or (held.isset and not (held.known and ":" not in "".join(held.items))):
        return False
    path = call.locate("".join(held.items)) if held.isset else _persons(call)
    if not call.world.kind(path):
        return call.world.is_own("current cluster")
    return call.world.fulfils(path, lambda text: _names_container(call, text))


def _asks_current(call: Call) -> bool:
    """Whether a tool takes the current context, for all that its options and the project's files say."""
    program = call.command.program
    if program in _FOLLOW_CURRENT:
        return True
    if program not in _BY_PROJECT or not call.here or call.has("-p", "--profile", "-m", "--module", "-e"):
        return False
    chosen = given(call, "-f", "--file", "--filename")
    names = [item.text for item in chosen] or _BY_PROJECT[program]
    texts = [call.world.read(path) for name in names for path in call.world.glob(call.locate(Field(name)))]
    return all(item.known for item in chosen) and all(
        text is not None and not _NAMES_CONTEXT.search(text) for text in texts
    )


def _names_container(call: Call, text: str) -> bool:
    found = _CURRENT.findall(text)
    return len(found) == 1 and is_context_here(call, found[0])


CHANGED = "context of kubectl"
"""Among ``Overlay.forwards``, with a number behind it: from here on another cluster may be meant."""
REWRITTEN = "kubeconfig of kubectl"
"""The same, where a kubeconfig may name other servers from here on."""
_CHOSEN = "chosen context of kubectl"
"""Held like a variable, and so only where the choice was surely made: which change it came behind."""
_CHOOSES = re.compile(
    r"(?:use|set|rename|current)-context|set-cluster|set-credentials|get-credentials|update-kubeconfig"
    r"|kubeconfig|credentials"
)
_SHOWS = re.compile(r"view|get-\w+|current-context")
SWITCHERS = ("kubectx", "kubie", "kubeswitch", "kubech", "ktx", "kcf")
_LOGS_IN = ("oc", "tsh", "vcluster", "civo", "ibmcloud", "loft", "rancher")
_TAKES_CONFIG = frozenset(("login", "connect", "kubeconfig", "config", "project", "context"))
MAKERS = ("kind", "minikube", "k3d", "microk8s", "ctlptl")
"""What makes clusters in containers, or machines, of this one; what they print as a kubeconfig leads there."""


def _times(call: Call, what: str) -> int:
    return sum(one.startswith(what) for one in call.world.forwards)


def note(call: Call) -> None:
    """What a command says of clusters from here on: one that it makes, another context."""
    program, words = call.command.program, [item.text for item in call.fields[1:]]
    if call.command.subcommand == "config":
        words = words[words.index("config") :]
    if program in MAKERS:
        if {"create", "start", "export", "write", "merge"} & {*words[:3]}:
            _note_cluster(call)
    elif _chooses_here(call, words):
        call.scope.hold(_CHOSEN, (str(_times(call, CHANGED)),))
    elif _changes(program, words):
        call.world.forwards.add(f"{CHANGED} {_times(call, CHANGED) + 1}")
        if program not in SWITCHERS and "use-context" not in words:
            call.world.forwards.add(f"{REWRITTEN} {_times(call, REWRITTEN) + 1}")


def _changes(program: str, words: list[str]) -> bool:
    if program in SWITCHERS:
        return True
    if program in ("kubectl", "oc") and words[:1] == ["config"] and len(words) > 1:
        stays = words[1:3] == ["set-context", "--current"] and not any(
            word.startswith(("--cluster", "--user")) for word in words
        )
        return not (stays or _SHOWS.fullmatch(words[1]))
    if program in _LOGS_IN and not _TAKES_CONFIG.isdisjoint(words):
        return True
    return program not in _FOLLOW_CURRENT and any(_CHOOSES.search(word) for word in words if word[:1] != "-")


def _chooses_here(call: Call, words: list[str]) -> bool:
    """``kubectl config use-context kind-x`` and its like, of a cluster of this machine that the kubeconfig knows: where
    there is none of that name the current one stays.
    """
    shift = 1 if call.command.program == "kubectx" else 3 if words[:2] == ["config", "use-context"] else 0
    if not shift or len(words) != shift or call.scope.lookup("KUBECONFIG").isset or not call.fields[-1].known:
        return False
    if not _is_plain(call):
        return False
    name = words[-1]
    there = call.world.fulfils(_persons(call), lambda text: any(_entries(text, "contexts", name)))
    return is_context_here(call, name) and (there or call.world.is_own("current cluster"))


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
